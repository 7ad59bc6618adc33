// Package quantity writes numbers with their nouns.
package quantity

import (
	"github.com/dustin/go-humanize"
	"github.com/dustin/go-humanize/english"
)

// Of returns a number with its noun, such as "1 record" or "2,000 records".
func Of[N int | int64](n N, noun string) string {
	return humanize.Comma(int64(n)) + " " + english.PluralWord(int(n), noun, "")
}
