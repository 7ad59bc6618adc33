package report

import (
	"context"
	"errors"
	"fmt"
	"io"

	"golang.org/x/sync/errgroup"

	"usertrail/internal/behaviour"
	"usertrail/internal/format/manifest"
	"usertrail/internal/format/trailfile"
	"usertrail/internal/run/progress"
	"usertrail/internal/store/dfs"
)

// Config selects one report.
type Config struct {
	FS       dfs.FS
	Dir      string // directory of an extract
	Workers  int    // number of parts that are read at once; 1
	Progress progress.Config
}

// Make reads the result of an extract and returns a report on it. If the directory holds no
// result, it returns the errors of manifest.ReadExtract. If Make cannot read the result, the
// error wraps ErrUnfit.
func Make(ctx context.Context, c Config) (*Report, error) {
	s, err := open(ctx, c.FS, c.Dir)
	if err != nil {
		return nil, err
	}
	all, err := s.sum(ctx, max(1, c.Workers), c.Progress)
	if err != nil {
		return nil, err
	}
	return s.draw(all), nil
}

// sum reads all parts, each with one worker.
func (s *source) sum(ctx context.Context, workers int, cfg progress.Config) (*sums, error) {
	p := progress.Start(cfg)
	defer p.Done()
	p.Step("reading parts", "events", s.m.Events)
	g, ctx := errgroup.WithContext(ctx)
	jobs := make(chan *manifest.TrailPart)
	g.Go(func() error {
		defer close(jobs)
		for i := range s.m.Parts {
			select {
			case jobs <- &s.m.Parts[i]:
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
		return nil
	})
	each := make([]*sums, workers)
	for i := range each {
		each[i] = newSums(s)
		g.Go(func() error {
			for part := range jobs {
				if err := s.read(ctx, each[i], part, p); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	all := each[0]
	for _, more := range each[1:] {
		all.add(more)
	}
	return all, nil
}

// read adds one part to a worker's sums.
func (s *source) read(ctx context.Context, to *sums, part *manifest.TrailPart, p *progress.Progress) error {
	f, t, err := s.part(ctx, part)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := s.readRows(ctx, to, t, part, p); err != nil {
		return fmt.Errorf("%s: %w", f.name, s.changed(ctx, part, err))
	}
	return nil
}

func (s *source) readRows(ctx context.Context, to *sums, t *trailfile.File, part *manifest.TrailPart, p *progress.Progress) error {
	rows, err := t.Rows(s.stepColumns()...)
	if errors.Is(err, trailfile.ErrNoTrails) {
		return fmt.Errorf("%w: %w", ErrUnfit, err)
	}
	if err != nil {
		return err
	}
	defer rows.Close()
	r := newReading(to, rows)
	for {
		b, err := rows.Next()
		if err == io.EOF {
			break
		}
		if err == nil {
			err = r.take(b)
		}
		if err == nil {
			err = context.Cause(ctx)
		}
		if err != nil {
			return err
		}
		p.Add(int64(b.Rows))
	}
	r.end()
	if r.events != part.Events || r.users != part.Users {
		return fmt.Errorf("it has %d events of %d users; %s says %d of %d", r.events, r.users, manifestName, part.Events, part.Users)
	}
	return nil
}

// stepColumns returns the columns with the times of the steps.
func (s *source) stepColumns() []string {
	var names []string
	for i := range s.m.Sequence {
		names = append(names, trailfile.StepColumn(i))
	}
	return names
}

// draw makes a report from the sums.
func (s *source) draw(all *sums) *Report {
	m, q := s.m, &s.m.Query
	shown := choose(q.Types, all.kinds)
	r := &Report{
		Counts: Counts{Users: m.Users, Found: m.Found, Active: m.Active, Kept: all.users, Events: all.events, Files: int64(len(m.Parts))},
		Asked: Asked{
			Table: m.Table, Zone: m.Zone, Span: q.Span, Types: q.Types, Active: q.Active, All: q.Users == "all",
			Conditions: q.Conditions(s.zone),
		},
		Kinds:    shown.kinds,
		Days:     all.days.draw(s.span, shown),
		Lengths:  all.lengths.draw(),
		Follows:  all.follows.draw(shown),
		Sequence: s.sequence(all),
		Samples:  all.samples.draw(s.span, shown),
	}
	for i := range m.Parts {
		r.Bytes += m.Parts[i].Size
	}
	return r
}

// reading is the state of one part that is being added to sums.
type reading struct {
	*sums
	rows   *trailfile.Rows
	kinds  []int // maps the part's numbers of behaviours to the numbers of sums
	user   []byte
	trail  trail
	begun  bool
	events int64
	users  int64
}

func newReading(s *sums, rows *trailfile.Rows) *reading { return &reading{sums: s, rows: rows} }

// take adds rows.
func (r *reading) take(b *trailfile.Behaviours) error {
	for _, name := range r.rows.Schema().Kinds[len(r.kinds):] {
		k, ok := r.names[name]
		if !ok {
			return fmt.Errorf("it holds the behaviour %q, which was not asked for", name)
		}
		r.kinds = append(r.kinds, k)
	}
	r.events += int64(b.Rows)
	for i := range b.Rows {
		user := b.User.Data[b.User.Off[i]:b.User.Off[i+1]]
		if !r.begun || string(user) != string(r.user) {
			r.end()
			r.begin(user, b, i)
		}
		r.behaviour(&r.trail, r.kinds[b.Behaviour[i]], behaviour.Date(b.Date[i]), b.Time[i])
	}
	return nil
}

// begin begins the trail whose first row is row i.
func (r *reading) begin(user []byte, b *trailfile.Behaviours, i int) {
	r.user, r.begun = append(r.user[:0], user...), true
	r.users++
	r.trail.begin(r.sums, user)
	r.between.add(b.Fields, i)
}

// end ends the trail of the previous user, if there is one.
func (r *reading) end() {
	if r.begun {
		r.sums.end(&r.trail)
	}
	r.begun = false
}
