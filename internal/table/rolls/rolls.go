// Package rolls lists the users who have rows in a table. It merges the rolls of the table's
// loads (package roll). A roll is a file next to the HFiles of a load, or in the catalog of a
// live table. It names each user with the days and behaviours of the user's records.
//
// A roll follows the regions at the time of its load. A query is about a current region:
// the package cuts the rolls at the keys of that region.
package rolls

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"usertrail/internal/behaviour"
	"usertrail/internal/format/layout"
	"usertrail/internal/format/manifest"
	"usertrail/internal/format/roll"
	"usertrail/internal/split"
	"usertrail/internal/store/dfs"
	"usertrail/internal/table"
)

const (
	// keepIdle is the number of unused rolls that stay open. The next region often needs
	// them, if a load has one roll for all regions.
	keepIdle = 128
	// openAtOnce is the number of rolls that are opened at the same time.
	openAtOnce = 8
)

// Rolls are the rolls in one directory. Many goroutines may use them at once.
type Rolls struct {
	fs  dfs.FS
	dir string

	mu   sync.Mutex
	all  map[string]*opened
	idle []*opened // the longest idle first
}

// New returns the rolls in dir. It reads no file.
func New(fs dfs.FS, dir string) *Rolls { return &Rolls{fs: fs, dir: dir, all: map[string]*opened{}} }

// A Query requests the users of a region with rows in a span.
type Query struct {
	Layout layout.Layout
	Schema *behaviour.Schema
	Region split.Region
	Span   behaviour.Span
	// Files have the rolls of all rows that committed loads wrote.
	Files []manifest.File
	// Perhaps are rolls of unfinished loads. Some of their rows may be in the table.
	Perhaps []manifest.File
	// Unsure means that some rows of Files may have expired.
	Unsure bool
}

// Users merges the rolls that can have users of the region. It reads the rolls until it is
// closed. The end of ctx does not end reads, because other callers share the open rolls.
func (s *Rolls) Users(ctx context.Context, q Query) (table.Users, error) {
	m := &merge{rolls: s, region: q.Region, span: q.Span}
	for i := range q.Files {
		m.want(&q, &q.Files[i], !q.Unsure)
	}
	for i := range q.Perhaps {
		if !slices.ContainsFunc(m.cursors, func(c *cursor) bool { return c.file.Roll == q.Perhaps[i].Roll }) {
			m.want(&q, &q.Perhaps[i], false)
		}
	}
	var g errgroup.Group
	g.SetLimit(openAtOnce)
	for _, c := range m.cursors {
		g.Go(func() error { return c.open(ctx, s, &q) })
	}
	if err := g.Wait(); err != nil {
		return nil, errors.Join(err, m.Close())
	}
	return m, nil
}

// hasUsers reports whether a roll can have users of the region within the span. If the rows of
// a user are in two regions, the user belongs to the region that has the key.
func (q *Query) hasUsers(f *manifest.File) bool {
	if !f.Span.Overlaps(q.Span) {
		return false
	}
	if !q.Layout.Traits().Together {
		return true // users are not in order of the file's rows
	}
	first := userOf(q.Layout, f.First)
	before := len(q.Region.Start) > 0 && bytes.Compare(f.Last, q.Region.Start) < 0
	after := len(q.Region.End) > 0 && bytes.Compare(first, q.Region.End) >= 0
	return !before && !after
}

// opened is a roll that is open, or is being opened.
type opened struct {
	name    string
	readers int // of Rolls.mu

	mu   sync.Mutex
	file dfs.File
	roll *roll.Reader
}

// hold returns an open roll by name. Each call of hold needs a call of release.
func (s *Rolls) hold(ctx context.Context, name string) (*opened, error) {
	s.mu.Lock()
	o := s.all[name]
	if o == nil {
		o = &opened{name: name}
		s.all[name] = o
	}
	if o.readers == 0 {
		s.idle = slices.DeleteFunc(s.idle, func(x *opened) bool { return x == o })
	}
	o.readers++
	s.mu.Unlock()
	if err := o.open(ctx, s.fs, dfs.Join(s.dir, name)); err != nil {
		return nil, errors.Join(err, s.release(o))
	}
	return o, nil
}

// open opens the roll, unless it is open. If that fails, the next call tries again.
func (o *opened) open(ctx context.Context, fs dfs.FS, name string) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.roll != nil {
		return nil
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	file, err := dfs.OpenRegular(context.WithoutCancel(ctx), fs, name)
	if err != nil {
		return dfs.Lost(table.Unreadable(err))
	}
	r, err := roll.Open(file, file.Size())
	if err != nil {
		return errors.Join(fmt.Errorf("open %s: %w", name, table.Corrupt(err)), file.Close())
	}
	o.file, o.roll = file, r
	return nil
}

// release releases a roll that hold returned.
func (s *Rolls) release(o *opened) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if o.readers--; o.readers > 0 {
		return nil
	}
	if s.idle = append(s.idle, o); len(s.idle) <= keepIdle {
		return nil
	}
	oldest := s.idle[0]
	s.idle = s.idle[1:]
	delete(s.all, oldest.name)
	return oldest.close()
}

func (o *opened) close() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.file == nil {
		return nil
	}
	err := o.file.Close()
	o.file, o.roll = nil, nil
	return err
}

// Close closes all open rolls. No caller may be reading.
func (s *Rolls) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for _, o := range s.all {
		errs = append(errs, o.close())
	}
	clear(s.all)
	s.idle = nil
	return errors.Join(errs...)
}
