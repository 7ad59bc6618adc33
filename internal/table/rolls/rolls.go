// Package rolls tells who has rows of a table from the rolls of its loads (package
// roll), merged. A roll is a file beside those of a load, or in the catalog of a live
// table, and names each user with the days and behaviours of its records.
//
// Rolls are by load. Whatever regions a table had then, those of now are answered for
// by cutting rolls at their keys.
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
	"usertrail/internal/dfs"
	"usertrail/internal/layout"
	"usertrail/internal/manifest"
	"usertrail/internal/roll"
	"usertrail/internal/split"
	"usertrail/internal/table"
)

const (
	// keepIdle is how many rolls stay open that nobody reads: the next region most
	// often asks for those of loads that have one roll for all regions.
	keepIdle = 128
	// openAtOnce is how many are opened at the same time, each with a few reads.
	openAtOnce = 8
)

// Rolls are those in one directory. They may be used by many goroutines at once.
type Rolls struct {
	fs  dfs.FS
	dir string

	mu   sync.Mutex
	all  map[string]*opened
	idle []*opened // the longest first
}

// New returns the rolls in dir. It touches no file.
func New(fs dfs.FS, dir string) *Rolls { return &Rolls{fs: fs, dir: dir, all: map[string]*opened{}} }

// A Question asks for the users of a region who have rows in a span.
type Question struct {
	Layout layout.Layout
	Schema *behaviour.Schema
	Region split.Region
	Span   behaviour.Span
	// Files have the rolls of all rows that loads brought.
	Files []manifest.File
	// Perhaps are rolls of rows of which some may be in the table.
	Perhaps []manifest.File
	// Unsure says that rows may be gone that Files tell of.
	Unsure bool
}

// Users merges the rolls that can have users of the region. The rolls are read until
// it is closed; what ends ctx does not end their reads, for they are others' too.
func (s *Rolls) Users(ctx context.Context, q Question) (table.Users, error) {
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
		g.Go(func() error { return c.open(ctx, s, q.Schema) })
	}
	if err := g.Wait(); err != nil {
		return nil, errors.Join(err, m.Close())
	}
	return m, nil
}

// hasUsers says whether a roll can have users of the region within the span. A user
// whose rows are in two regions is in the one that has the key.
func (q *Question) hasUsers(f *manifest.File) bool {
	if !f.Span.Overlaps(q.Span) {
		return false
	}
	if !q.Layout.Traits().Together {
		return true // users are not in order of the file's rows
	}
	first := f.First
	if key := q.Layout.UserKey(f.First); key != nil {
		first = key // it is a row
	}
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

// hold returns the roll of a name, open until as many have let it go.
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
		return nil, errors.Join(err, s.letGo(o))
	}
	return o, nil
}

// open opens the roll, unless it is. What could not be opened is tried again by the
// next who asks.
func (o *opened) open(ctx context.Context, fs dfs.FS, name string) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.roll != nil {
		return nil
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	file, err := fs.Open(context.WithoutCancel(ctx), name)
	if err != nil {
		return err
	}
	r, err := roll.Open(file, file.Size())
	if err != nil {
		return errors.Join(fmt.Errorf("open %s: %w", name, err), file.Close())
	}
	o.file, o.roll = file, r
	return nil
}

// letGo ends what hold began.
func (s *Rolls) letGo(o *opened) error {
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

// Close closes what is open. Nobody may be reading.
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
