package command

import (
	"strconv"
	"testing"
	"time"
)

func TestSecondsHaveThreeDecimals(t *testing.T) {
	for ms := range 10_000 {
		text := strconv.FormatFloat(thousandths(time.Duration(ms)*time.Millisecond), 'f', -1, 64)
		if len(text) > len("9.999") {
			t.Errorf("%d ms are %s s", ms, text)
		}
	}
}
