package progress

import (
	"context"
	"fmt"
	"io"
	"log/slog"

	"github.com/schollz/progressbar/v3"
)

// Above returns a writer for the log of a program that also draws a bar on
// terminal. Each Write must have whole lines. It first erases the bar; the next tick
// draws the bar again below.
func Above(terminal io.Writer) io.Writer { return beside{terminal} }

type beside struct{ terminal io.Writer }

// wipe moves the cursor to the beginning of the line and clears the line.
const wipe = "\r\x1b[K"

func (w beside) Write(b []byte) (int, error) {
	n, err := w.terminal.Write(append([]byte(wipe), b...))
	return max(0, n-len(wipe)), err
}

// silence reports nothing.
type silence struct{}

func (silence) begin(report)  {}
func (silence) update(report) {}
func (silence) end(report)    {}

// lines reports to a log.
type lines struct{ log *slog.Logger }

func (l lines) begin(report) {}

func (l lines) update(r report) {
	l.log.LogAttrs(context.Background(), slog.LevelInfo, r.title, r.attrs(false)...)
}

func (l lines) end(r report) {
	l.log.LogAttrs(context.Background(), slog.LevelInfo, r.title, r.attrs(true)...)
}

// bar draws on a terminal, and leaves one line for each step. It ignores errors of drawing:
// a terminal that was closed must not end the run.
type bar struct {
	out   io.Writer
	drawn *progressbar.ProgressBar // the bar of the current step
	total int64
}

func (b *bar) begin(r report) {
	b.total = r.total
	b.drawn = progressbar.NewOptions64(barTotal(r.total),
		progressbar.OptionSetWriter(b.out),
		progressbar.OptionUseANSICodes(true),
		progressbar.OptionSetWidth(30),
		progressbar.OptionShowCount(),
		progressbar.OptionShowBytes(r.unit == Bytes),
		progressbar.OptionSetPredictTime(true),
		progressbar.OptionSetItsString(r.unit),
		progressbar.OptionSetSpinnerChangeInterval(0), // otherwise the bar has a goroutine that never ends
		showRate(r.unit),
	)
	b.drawn.StartWithoutRender()
}

func (b *bar) update(r report) {
	switch {
	case barTotal(b.total) == barTotal(r.total):
	case b.total <= 0 || r.total <= 0:
		b.drawn.Clear()
		b.begin(r) // a bar with a total counts differently from a bar without
	default:
		b.total = r.total
		b.drawn.ChangeMax64(r.total)
	}
	b.drawn.Describe(describe(r))
	b.drawn.Set64(drawable(r))
}

func (b *bar) end(r report) {
	b.drawn.Clear()
	fmt.Fprintln(b.out, r.sentence())
}

// showRate adds the rate of a counted unit. The library shows the rate of bytes itself.
func showRate(unit string) progressbar.Option {
	if unit == Bytes {
		return func(*progressbar.ProgressBar) {}
	}
	return progressbar.OptionShowIts()
}

// barTotal returns a total for the bar: -1 if it is unknown.
func barTotal(total int64) int64 {
	if total <= 0 {
		return -1
	}
	return total
}

// drawable returns the amount that a bar may show as done. It is less than the total,
// because a bar at its total is finished, and the total may still grow.
func drawable(r report) int64 {
	if r.total > 0 {
		return min(r.done, r.total-1)
	}
	return r.done
}

func describe(r report) string {
	if c := r.countsText(); c != "" {
		return r.title + ", " + c
	}
	return r.title
}
