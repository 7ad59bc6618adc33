package cli

import (
	"github.com/dustin/go-humanize"
	"github.com/dustin/go-humanize/english"
)

// Count returns a number with its noun, such as "1 record" or "2,000 records".
func Count[N int | int64](n N, noun string) string {
	return humanize.Comma(int64(n)) + " " + english.PluralWord(int(n), noun, "")
}
