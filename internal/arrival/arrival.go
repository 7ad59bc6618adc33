// Package arrival waits for logs that come late. A load that waits begins when all
// that it waits for has arrived, or ends with job.ErrNoInput when its patience does.
//
// What is waited for, of each day and behaviour that is asked for:
//
//	the job names a marker   the marker
//	it does not              a file, and that every file that is there stands still:
//	                         it has the size and the time of change that it had
//	                         Settle before
//
// A file on HDFS must also be closed by its writer. If it is open when patience ends, the
// load leaves it out.
//
// Where the job requires some of the behaviours, of the others no file is waited for;
// but what is there must be whole: have its marker, or stand still.
//
// At the end of its patience Wait fails if something is missing that the job requires,
// or if something is there that may not be whole. A file that is loaded by half is a
// changed file for ever after. What else is missing is ordinary.
//
// Between the wait and the load another run may hold the table for hours. So the load asks
// Unsettled again when it has the table's lock, and leaves out what has changed.
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
	"usertrail/internal/dfs"
	"usertrail/internal/job"
)

const (
	// lookEvery is the most that lies between two looks: a look lists a few folders.
	lookEvery = 30 * time.Second
	// sayEvery is how often a wait says that it goes on.
	sayEvery = 10 * time.Minute
	// maxNamed is how much of what is missing is named.
	maxNamed = 5
	// askedAtOnce is how many files the NameNode is asked about at once.
	askedAtOnce = 8
)

// Config is one wait.
type Config struct {
	FS     dfs.FS
	Job    *job.Job
	Span   behaviour.Span
	Kinds  []int         // asked for
	For    time.Duration // how long
	Settle time.Duration // how long a file has to stand still, where there are no markers
	// Standing waits for nothing that is missing. When patience ends, Wait succeeds, and Unsettled
	// tells which files do not stand still.
	Standing bool
	// Say is told what is waited for: at first, now and then, and at the end.
	Say func(text string)
	// At is told the same at every look.
	At func(text string)
}

// A lack is something that is waited for.
type lack struct {
	text   string
	fatal  bool // no load may begin without it
	moving bool // it is there, and has not stood still long enough
}

// A file is what was seen of a delivered file, and since when.
type file struct {
	size     int64
	modified time.Time
	since    time.Time
}

// A Watch is a wait for some logs, and what was seen of them.
type Watch struct {
	Config
	began    time.Time
	seen     map[string]file
	requires bool // some of the asked behaviours are required, and only those are waited for
}

// New returns a wait whose patience begins now.
func New(cfg Config) *Watch {
	w := &Watch{Config: cfg, began: time.Now(), seen: map[string]file{}}
	w.requires = slices.ContainsFunc(cfg.Kinds, func(k int) bool { return cfg.Job.Behaviours[k].Required })
	return w
}

// Wait returns when the logs have arrived, or when patience has ended and nothing that
// is missing or growing keeps a load from being made. It may be called again.
func (w *Watch) Wait(ctx context.Context) error {
	every := min(lookEvery, max(w.Settle/2, time.Millisecond))
	if w.Settle <= 0 {
		every = lookEvery
	}
	said := time.Time{}
	for {
		lacks, err := w.look(ctx)
		unreachable := errors.Is(err, dfs.ErrUnavailable)
		if unreachable {
			lacks = []lack{{text: err.Error(), fatal: true}}
		} else if err != nil {
			return err
		}
		if len(lacks) == 0 {
			if !said.IsZero() {
				w.Say(fmt.Sprintf("all has arrived after %s", w.waited()))
			}
			return nil
		}
		left := w.For - time.Since(w.began)
		if left <= 0 {
			return w.giveUp(lacks, err)
		}
		w.At(texts(lacks))
		switch {
		case said.IsZero() && w.worthSaying(lacks):
			w.Say(fmt.Sprintf("waiting, for %s at the most: %s", w.For, texts(lacks)))
			said = time.Now()
		case !said.IsZero() && time.Since(said) >= sayEvery:
			w.Say(fmt.Sprintf("still waiting, after %s: %s", w.waited(), texts(lacks)))
			said = time.Now()
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(min(every, left)):
		}
	}
}

// worthSaying says whether it is more than that what is there has to be looked at
// once more.
func (w *Watch) worthSaying(lacks []lack) bool {
	return time.Since(w.began) > 2*w.Settle || slices.ContainsFunc(lacks, func(l lack) bool { return !l.moving })
}

func (w *Watch) waited() time.Duration { return time.Since(w.began).Round(time.Second) }

// giveUp is the end of a wait that was not enough.
func (w *Watch) giveUp(lacks []lack, unreachable error) error {
	if unreachable != nil || w.Standing {
		return unreachable
	}
	fatal := slices.DeleteFunc(slices.Clone(lacks), func(l lack) bool { return !l.fatal })
	if len(fatal) > 0 {
		return fmt.Errorf("%w: waited %s: %s", job.ErrNoInput, w.waited(), texts(fatal))
	}
	w.Say(fmt.Sprintf("waited %s, and go on without: %s", w.waited(), texts(lacks)))
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

// look says what is lacking now.
func (w *Watch) look(ctx context.Context) ([]lack, error) {
	found, err := w.Job.Find(ctx, w.FS, w.Span, w.Kinds)
	if errors.Is(err, job.ErrNoInput) && w.Standing {
		return nil, nil // the load says it
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

// written are the files that a writer has open.
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

// missing are the files that are waited for and are not there.
func (w *Watch) missing(found job.Found) []lack {
	var out []lack
	for _, m := range found.Missing {
		if required := w.Job.Behaviours[m.Kind].Required; required || !w.requires {
			out = append(out, lack{text: fmt.Sprintf("%s of %s: %s", w.name(m.Kind), m.Date, m.Path), fatal: required})
		}
	}
	if len(found.Inputs) == 0 && len(found.Missing) == 0 { // the path does not tell what is missing
		out = append(out, lack{text: fmt.Sprintf("any file of %s below %s", w.Span, w.Job.Pattern.Root)})
	}
	return out
}

// moving are the files that have not stood still long enough.
func (w *Watch) moving(found job.Found) []lack {
	var out []lack
	now := time.Now()
	for i := range found.Inputs {
		if in := &found.Inputs[i]; !w.stands(in, now) {
			out = append(out, lack{fmt.Sprintf("%s has %d bytes, and has to stand still for %s", in.Path, in.Size, w.Settle), true, true})
		}
	}
	return out
}

// stands says whether a file has stood still long enough.
func (w *Watch) stands(in *job.Input, now time.Time) bool {
	was, ok := w.seen[in.Path]
	if !ok || was.size != in.Size || !was.modified.Equal(in.Modified) {
		was = file{in.Size, in.Modified, now}
		w.seen[in.Path] = was
	}
	return now.Sub(was.since) >= w.Settle
}

// Unsettled returns those of the files that have not stood still long enough. Where the job
// names a marker there are none: the marker tells.
func (w *Watch) Unsettled(files []job.Input) []job.Input {
	if w.Job.Marker != nil {
		return nil
	}
	var out []job.Input
	now := time.Now()
	for i := range files {
		if !w.stands(&files[i], now) {
			out = append(out, files[i])
		}
	}
	return out
}

// unmarked are the markers that are waited for.
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
			l := lack{text: fmt.Sprintf("the marker %s", w.Job.Marker.Path(d, k)), fatal: required || there}
			if i := slices.IndexFunc(out, func(o lack) bool { return o.text == l.text }); i >= 0 {
				out[i].fatal = out[i].fatal || l.fatal
			} else {
				out = append(out, l)
			}
		}
	}
	return out, nil
}

func (w *Watch) name(kind int) string { return w.Job.Schema.Kinds[kind].Name }
