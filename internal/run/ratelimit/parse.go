package ratelimit

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"
)

// Form shows the syntax of limits.
const Form = "gets=5000/s,puts=20000/s,bytes=50MiB/s, or one or two of them"

// Parse reads limits in the syntax of Form; "/s" is optional. Its error lists all mistakes
// at once, in one line.
func Parse(s string) (Limits, error) {
	var l Limits
	var errs []error
	for part := range strings.SplitSeq(s, ",") {
		if err := l.set(strings.TrimSpace(part)); err != nil {
			errs = append(errs, err)
		}
	}
	if err := errors.Join(errs...); err != nil {
		return Limits{}, fmt.Errorf("%w; write %s", errors.New(strings.ReplaceAll(err.Error(), "\n", "; ")), Form)
	}
	return l, nil
}

// set reads one limit, such as gets=5000/s.
func (l *Limits) set(part string) error {
	name, text, ok := strings.Cut(part, "=")
	if !ok {
		return fmt.Errorf("%q has no =", part)
	}
	var to *int64
	read := count
	switch name = strings.TrimSpace(name); name {
	case "gets":
		to = &l.Gets
	case "puts":
		to = &l.Puts
	case "bytes":
		to, read = &l.Bytes, size
	default:
		return fmt.Errorf("%q is none of gets, puts, bytes", name)
	}
	if *to != 0 {
		return fmt.Errorf("%s is there twice", name)
	}
	text, unit, ok := strings.Cut(strings.TrimSpace(text), "/")
	if ok && unit != "s" {
		return fmt.Errorf("%s is bounded by the second, /s, not /%s", name, unit)
	}
	n, err := read(text)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	*to = n
	return nil
}

// most is the largest limit. Larger ones would never be reached.
const most = 1 << 50

func count(text string) (int64, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 1 || n > most {
		return 0, fmt.Errorf("%q is not a whole number from 1 on", text)
	}
	return n, nil
}

func size(text string) (int64, error) {
	n, err := humanize.ParseBytes(text)
	if err != nil || n < 1 || n > most {
		return 0, fmt.Errorf("%q is not a size such as 512KiB or 50MiB", text)
	}
	return int64(n), nil
}

// String returns l in the syntax that Parse reads.
func (l Limits) String() string {
	var parts []string
	for _, p := range []struct {
		name string
		n    int64
	}{{"gets", l.Gets}, {"puts", l.Puts}} {
		if p.n > 0 {
			parts = append(parts, fmt.Sprintf("%s=%d/s", p.name, p.n))
		}
	}
	if l.Bytes > 0 {
		parts = append(parts, "bytes="+bytesText(l.Bytes)+"/s")
	}
	return strings.Join(parts, ",")
}

// bytesText returns n exactly, in the largest unit that divides it.
func bytesText(n int64) string {
	units := []string{"B", "KiB", "MiB", "GiB", "TiB"}
	i := 0
	for i+1 < len(units) && n%1024 == 0 {
		n /= 1024
		i++
	}
	return strconv.FormatInt(n, 10) + units[i]
}
