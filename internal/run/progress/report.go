package progress

import (
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
)

// A report is the state of a step at one moment.
type report struct {
	title, unit string
	done, total int64 // total is 0 if it is not known
	took        time.Duration
	counts      []count
}

type count struct {
	name string
	n    int64
}

// perSecond returns the average over the step so far. It varies less than the rate of the
// last moments. The time left is computed from it.
func (r report) perSecond() float64 {
	if r.took <= 0 {
		return 0
	}
	return float64(r.done) / r.took.Seconds()
}

// left returns the remaining time, and whether it is known.
func (r report) left() (time.Duration, bool) {
	rate := r.perSecond()
	if rate <= 0 || r.total < r.done {
		return 0, false
	}
	seconds := float64(r.total-r.done) / rate
	return time.Duration(seconds * float64(time.Second)).Round(time.Second), true
}

func (r report) amount(n int64) string {
	if r.unit == Bytes {
		return humanize.Bytes(uint64(max(n, 0)))
	}
	return humanize.Comma(n)
}

// rate returns the rate as text: 109 MB/s, 1,200 parts/s, 3.5 regions/s or 10 regions/min.
func (r report) rate() string {
	v := r.perSecond()
	switch {
	case r.unit == Bytes:
		return humanize.Bytes(uint64(max(v, 0))) + "/s"
	case v >= 100:
		return humanize.Comma(int64(v)) + " " + r.unit + "/s"
	case v >= 1 || v == 0:
		return fmt.Sprintf("%.3g %s/s", v, r.unit)
	}
	return fmt.Sprintf("%.3g %s/min", v*60, r.unit)
}

// tookText returns the duration as text: exact for a short step, rounded for a long one.
func (r report) tookText() string {
	if r.took < time.Minute {
		return r.took.Round(100 * time.Millisecond).String()
	}
	return r.took.Round(time.Second).String()
}

// countsText returns the counters as text: "1,234 records, 5 quarantined".
func (r report) countsText() string {
	var parts []string
	for _, c := range r.counts {
		parts = append(parts, humanize.Comma(c.n)+" "+c.name)
	}
	return strings.Join(parts, ", ")
}

// sentence returns the last report as text: "reading logs: 1.5 GB in 13.8s (109 MB/s),
// 10,000,000 records". If the step did not reach its total, the text has the total, too.
func (r report) sentence() string {
	s := r.title + ": " + r.amount(r.done)
	if r.done < r.total {
		s += " of " + r.amount(r.total)
	}
	if r.unit != Bytes {
		s += " " + r.unit
	}
	s += fmt.Sprintf(" in %s (%s)", r.tookText(), r.rate())
	if c := r.countsText(); c != "" {
		s += ", " + c
	}
	return s
}

// attrs returns the report for a log.
func (r report) attrs(last bool) []slog.Attr {
	out := []slog.Attr{slog.String(r.unit, r.amount(r.done))}
	if r.total > 0 && (!last || r.done < r.total) {
		out = append(out, slog.String("of", r.amount(r.total)))
	}
	out = append(out, slog.String("rate", r.rate()))
	if last {
		out = append(out, slog.String("took", r.tookText()))
	} else if left, ok := r.left(); ok {
		out = append(out, slog.String("left", left.String()))
	}
	for _, c := range r.counts {
		out = append(out, slog.Int64(c.name, c.n))
	}
	return out
}
