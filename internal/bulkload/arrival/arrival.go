// Package arrival waits for logs that come late. A load that waits begins when
// the logs have arrived. If required logs are missing when the wait ends, it fails with
// job.ErrNoInput.
//
// For each requested day and behaviour, Wait waits for one of these:
//
//	the job names a marker   the marker
//	it does not              a file; and every file that exists has been settled: its
//	                         size and modification time have not changed for Settle
//
// A file on HDFS must also be closed by its writer. If the file is open when the wait
// ends, the load leaves it out.
//
// If the job requires some of the behaviours, Wait does not wait for files of the other
// behaviours. But a file that exists must be whole: it has its marker, or it is settled.
//
// When the time is over, Wait fails if a required log is missing. Other missing files are not an
// error. A file that exists and may not be whole is no error either: the load leaves it out, and loads
// the others. A file that was loaded while it grew would differ from its ledger in all later loads.
//
// Between the wait and the load another run may hold the table for hours. The load therefore
// calls Unsettled again when it has the table's lock, and leaves out files that have changed.
package arrival

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"usertrail/internal/behaviour"
	"usertrail/internal/format/job"
	"usertrail/internal/store/dfs"
)

const (
	// lookEvery is the longest time between two looks. A look lists a few folders.
	lookEvery = 30 * time.Second
	// sayEvery is the time between two messages while a wait continues.
	sayEvery = 10 * time.Minute
	// shortSettle is the longest Settle of which a wait for late logs says nothing. It is the default.
	shortSettle = time.Minute
	// maxNamed is the largest number of missing items that a message names.
	maxNamed = 5
	// askedAtOnce is the number of requests to the NameNode at the same time. Each request is
	// about one file.
	askedAtOnce = 8
)

// Config is one wait.
type Config struct {
	FS     dfs.FS
	Job    *job.Job
	Span   behaviour.Span
	Kinds  []int         // requested
	For    time.Duration // how long
	Settle time.Duration // how long a file must not change, if the job names no marker
	// Standing makes Wait ignore missing files. When the time is over, Wait succeeds unless
	// the file system is unavailable. Unsettled then returns the files that are not settled.
	Standing bool
	// Say receives messages about missing items: at the beginning, every sayEvery, and at the end.
	Say func(text string)
	// At receives the missing items at every look.
	At func(text string)
}

// A lack is an item that a wait needs.
type lack struct {
	text   string
	fatal  bool // no load may begin without it
	moving bool // the file exists, and is not settled
}

// A file holds the size and time of a delivered file, and when they were first seen.
type file struct {
	size     int64
	modified time.Time
	since    time.Time
}

// A Watch is a wait for some logs. It remembers the files that it saw.
type Watch struct {
	Config
	began    time.Time
	seen     map[string]file
	requires bool // some of the requested behaviours are required, and Wait waits only for these
}

// New returns a wait whose time begins now.
func New(cfg Config) *Watch {
	w := &Watch{Config: cfg, began: time.Now(), seen: map[string]file{}}
	w.requires = slices.ContainsFunc(cfg.Kinds, func(k int) bool { return cfg.Job.Behaviours[k].Required })
	return w
}

// Wait returns nil when the logs have arrived. It also returns nil when the time is over and no
// required file is missing. It may be called again.
func (w *Watch) Wait(ctx context.Context) error {
	every := min(lookEvery, max(w.Settle/2, time.Millisecond))
	if w.Settle <= 0 {
		every = lookEvery
	}
	logged := time.Time{}
	for first := true; ; first = false {
		lacks, err := w.look(ctx)
		if first && w.Standing {
			w.began = time.Now() // the time of a slow look is not used to watch the files
		}
		unreachable := errors.Is(err, dfs.ErrUnavailable)
		if unreachable {
			lacks = []lack{{text: err.Error(), fatal: true}}
		} else if err != nil {
			return err
		}
		if len(lacks) == 0 {
			if !logged.IsZero() {
				w.Say(w.done())
			}
			return nil
		}
		left := w.For - time.Since(w.began)
		if left <= 0 {
			return w.giveUp(lacks, err)
		}
		w.At(texts(lacks))
		switch {
		case logged.IsZero() && w.worthSaying(lacks):
			w.Say(fmt.Sprintf("waiting, for %s at the most: %s", w.For, texts(lacks)))
			logged = time.Now()
		case !logged.IsZero() && time.Since(logged) >= sayEvery:
			w.Say(fmt.Sprintf("still waiting, after %s: %s", w.waited(), texts(lacks)))
			logged = time.Now()
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(min(every, left)):
		}
	}
}

// done returns the message at the end of a wait that nothing lacks.
func (w *Watch) done() string {
	if w.Standing {
		return fmt.Sprintf("no log has changed for %s", w.Settle)
	}
	return fmt.Sprintf("all logs have arrived after %s", w.waited())
}

// worthSaying reports whether a message is needed. It is not needed while a wait for late logs only looks
// again at files that exist, and a look takes no longer than shortSettle.
func (w *Watch) worthSaying(lacks []lack) bool {
	return w.Standing || w.Settle > shortSettle || time.Since(w.began) > 2*w.Settle || slices.ContainsFunc(lacks, func(l lack) bool { return !l.moving })
}

func (w *Watch) waited() time.Duration { return time.Since(w.began).Round(time.Second) }

// giveUp returns the result of a wait whose time is over.
func (w *Watch) giveUp(lacks []lack, unreachable error) error {
	if unreachable != nil || w.Standing {
		return unreachable
	}
	fatal := slices.DeleteFunc(slices.Clone(lacks), func(l lack) bool { return !l.fatal })
	if len(fatal) > 0 {
		return fmt.Errorf("%w: waited %s: %s: deliver it, or wait longer with --wait", job.ErrNoInput, w.waited(), texts(fatal))
	}
	w.Say(fmt.Sprintf("waited %s, and continue without: %s", w.waited(), texts(lacks)))
	return nil
}

// texts names the first few lacks.
func texts(lacks []lack) string {
	var out []string
	for i, l := range lacks {
		if i == maxNamed {
			out = append(out, fmt.Sprintf("and %d more", len(lacks)-i))
			break
		}
		out = append(out, l.text)
	}
	return strings.Join(out, "; ")
}

// look returns the items that are lacking now.
func (w *Watch) look(ctx context.Context) ([]lack, error) {
	found, err := w.Job.Find(ctx, w.FS, w.Span, w.Kinds)
	if errors.Is(err, job.ErrNoInput) && w.Standing {
		return nil, nil // the load reports it
	}
	if errors.Is(err, job.ErrNoInput) {
		return []lack{{text: err.Error(), fatal: true}}, nil
	}
	if err != nil {
		return nil, err
	}
	var lacks []lack
	if w.Standing {
		lacks = w.moving(found)
	} else if w.Job.Marker != nil {
		lacks, err = w.unmarked(ctx, found)
	} else {
		lacks = append(w.missing(found), w.moving(found)...)
	}
	if err != nil || slices.ContainsFunc(lacks, func(l lack) bool { return l.fatal }) {
		return lacks, err
	}
	open, err := w.written(ctx, found)
	return append(lacks, open...), err
}

// written returns the files that a writer has open.
func (w *Watch) written(ctx context.Context, found job.Found) ([]lack, error) {
	open := make([]bool, len(found.Inputs))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(askedAtOnce)
	for i := range found.Inputs {
		g.Go(func() (err error) {
			open[i], err = dfs.Written(ctx, w.FS, found.Inputs[i].Path)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	var out []lack
	for i, in := range found.Inputs {
		if open[i] {
			out = append(out, lack{text: in.Path + " is still being written"})
		}
	}
	return out, nil
}

// missing returns the files that the wait needs and that do not exist.
func (w *Watch) missing(found job.Found) []lack {
	var out []lack
	for _, m := range found.Missing {
		if required := len(w.Job.RequiredOf(m, w.Kinds)) > 0; required || !w.requires {
			out = append(out, lack{text: fmt.Sprintf("%s of %s: %s", w.name(m.Kind), m.Date, m.Path), fatal: required})
		}
	}
	if len(found.Inputs) == 0 && len(found.Missing) == 0 { // the path does not show what is missing
		out = append(out, lack{text: fmt.Sprintf("any file of %s below %s", w.Span, w.Job.Pattern.Root)})
	}
	return out
}

// moving returns the files that are not settled.
func (w *Watch) moving(found job.Found) []lack {
	var out []lack
	now := time.Now()
	for i := range found.Inputs {
		if in := &found.Inputs[i]; !w.unchanged(in, now) {
			out = append(out, lack{fmt.Sprintf("%s has %d bytes, and must not change for %s", in.Path, in.Size, w.Settle), false, true})
		}
	}
	return out
}

// unchanged reports whether a file has not changed for Settle.
func (w *Watch) unchanged(in *job.Input, now time.Time) bool {
	was, ok := w.seen[in.Path]
	if !ok || was.size != in.Size || !was.modified.Equal(in.Modified) {
		was = file{in.Size, in.Modified, now}
		w.seen[in.Path] = was
	}
	return now.Sub(was.since) >= w.Settle
}

// Unsettled returns the files that are not settled. If the job names a marker, Unsettled returns
// nil, because the marker shows that a file is whole.
func (w *Watch) Unsettled(files []job.Input) []job.Input {
	if w.Job.Marker != nil {
		return nil
	}
	var out []job.Input
	now := time.Now()
	for i := range files {
		if !w.unchanged(&files[i], now) {
			out = append(out, files[i])
		}
	}
	return out
}

// unmarked returns the markers that the wait needs and that do not exist.
func (w *Watch) unmarked(ctx context.Context, found job.Found) ([]lack, error) {
	marked, err := w.Job.Marker.Find(ctx, w.FS, w.Span)
	if err != nil {
		return nil, err
	}
	var out []lack
	for d := w.Span.From; d <= w.Span.To; d++ {
		for _, k := range w.Kinds {
			if marked(d, k) {
				continue
			}
			required := w.Job.Behaviours[k].Required
			there := slices.ContainsFunc(found.Inputs, func(in job.Input) bool {
				return (in.Date == nil || *in.Date == d) && (in.Kind < 0 || in.Kind == k)
			})
			if !required && !there && w.requires {
				continue
			}
			l := lack{text: fmt.Sprintf("the marker %s", w.Job.Marker.Path(d, k)), fatal: required && !there}
			if i := slices.IndexFunc(out, func(o lack) bool { return o.text == l.text }); i >= 0 {
				out[i].fatal = out[i].fatal || l.fatal
			} else {
				out = append(out, l)
			}
		}
	}
	return out, nil
}

// name returns the behaviour of a file. kind is -1 for a file of several behaviours.
func (w *Watch) name(kind int) string {
	if kind < 0 {
		return "the log"
	}
	return w.Job.Schema.Kinds[kind].Name
}
