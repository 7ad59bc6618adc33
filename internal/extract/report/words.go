package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"
)

// count returns a number with separators between thousands.
func count(n int64) string { return humanize.Comma(n) }

func size(bytes int64) string { return humanize.Bytes(uint64(bytes)) }

// share formats a part of a whole in percent. It returns 0% and 100% only if they are exact,
// and – if the whole is 0.
func share(n, of int64) string {
	if of == 0 {
		return "–"
	}
	p := 100 * float64(n) / float64(of)
	switch {
	case n > 0 && p < 0.1:
		return "<0.1%"
	case n < of && p > 99:
		return ">99%"
	case p > 0 && p < 9.95:
		return strconv.FormatFloat(p, 'f', 1, 64) + "%"
	}
	return strconv.FormatFloat(p, 'f', 0, 64) + "%"
}

// bar returns the length of a bar as a width in SVG. A number above 0 is always visible.
func bar(n, most int64) string {
	if n == 0 || most == 0 {
		return "0"
	}
	return strconv.FormatFloat(math.Max(0.3, 100*float64(n)/float64(most)), 'f', 1, 64) + "%"
}

// heatLevels is the number of colours, the colour of 0 not included.
const heatLevels = 8

// heat returns the class of a cell's colour.
func heat(n, most int64) string {
	if n == 0 || most == 0 {
		return "h0"
	}
	return "h" + strconv.Itoa(min(heatLevels, 1+int(float64(n-1)/float64(most)*heatLevels)))
}

// per returns a mean.
func per(n, of int64) string {
	if of == 0 {
		return "–"
	}
	return humanize.CommafWithDigits(math.Round(10*float64(n)/float64(of))/10, 1)
}

// lengthsText returns the name of a bin.
func lengthsText(b Bin) string {
	if b.From == b.To {
		return count(b.From)
	}
	return count(b.From) + "–" + count(b.To)
}

// timesText returns the name of a bin of times.
func timesText(b TimeBin) string {
	switch {
	case b.From == 0:
		return "under " + lasting(b.To)
	case b.To == 0:
		return lasting(b.From) + " and more"
	}
	from, to := lasting(b.From), lasting(b.To)
	number, unit, _ := strings.Cut(from, " ")
	if strings.HasSuffix(to, " "+unit) {
		return number + "–" + to
	}
	return from + " – " + to
}

// lasting returns a duration in its two largest units.
func lasting(seconds float64) string {
	const day = 24 * 60 * 60
	n := int64(math.Round(seconds))
	two := func(large int64, one string, small int64, other string) string {
		if rest := n % large / small; rest > 0 {
			return fmt.Sprintf("%s %s %d %s", count(n/large), one, rest, other)
		}
		return fmt.Sprintf("%s %s", count(n/large), one)
	}
	switch {
	case seconds < 9.95:
		return strconv.FormatFloat(math.Round(seconds*10)/10, 'f', -1, 64) + " s"
	case n < 60:
		return fmt.Sprintf("%d s", n)
	case n < 60*60:
		return two(60, "min", 1, "s")
	case n < day:
		return two(60*60, "h", 60, "min")
	}
	return two(day, "d", 60*60, "h")
}

// activeText returns the rule for active users in words.
func activeText(rule string) string {
	n, ok := strings.CutPrefix(rule, "min:")
	switch {
	case rule == "all":
		return "who did every one of these behaviours"
	case rule == "any":
		return "who did at least one of these behaviours"
	case ok:
		return "who did at least " + n + " of these behaviours"
	}
	return rule
}
