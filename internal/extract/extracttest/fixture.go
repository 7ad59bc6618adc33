// Package extracttest has what tests of extracts share: fixtures of logs, tables and queries,
// processes that are killed, and comparisons of results.
package extracttest

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"usertrail/internal/behaviour"
	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/load"
	"usertrail/internal/extract"
	"usertrail/internal/extract/memory"
	"usertrail/internal/extract/place"
	"usertrail/internal/extract/query"
	"usertrail/internal/table"
	"usertrail/internal/table/fetch"
	"usertrail/internal/test/testkit"
	"usertrail/internal/test/testtable"
	"usertrail/internal/test/testworld"
)

// A Fixture is a directory with logs and a job, and the sizes of extracts from its tables.
type Fixture struct {
	testtable.Fixture
	Sizes memory.Sizes // of extracts
}

// New makes a fixture without logs. text is its job file.
func New(t testing.TB, text string) *Fixture {
	t.Helper()
	return &Fixture{*testtable.New(t, text), SmallSizes}
}

// Delivered makes a fixture of a world with all its log files.
func Delivered(t testing.TB, w *testworld.W) *Fixture {
	t.Helper()
	h := New(t, w.Job())
	h.Deliver(t, w.Files...)
	return h
}

// SplitLate separates the files that a first load does not find from the other files.
func SplitLate(list []testworld.File) (first, late []testworld.File) {
	for _, f := range list {
		if f.Late {
			late = append(late, f)
		} else {
			first = append(first, f)
		}
	}
	return first, late
}

// A Turn has the settings that do not change the rows of a result.
type Turn struct {
	Name    string // of the table
	Workers int
	Memory  int64
	Regions int

	Overwrite bool
	Append    bool // add to the result in the directory
	Unrolled  bool // the extract does not use the rolls
	Unsure    bool // the rolls name behaviours that are gone
	Output    query.Output
	PieceSize int64
}

// LoadConfig returns the configuration of a load of the days of span.
func (h *Fixture) LoadConfig(u Turn, span behaviour.Span) load.Config {
	j := *h.Job
	j.Table.Regions = u.Regions
	c := h.Fixture.LoadConfig(u.Name, span)
	c.Job, c.Workers, c.Memory = &j, u.Workers, u.Memory
	return c
}

// Load loads the days of span.
func (h *Fixture) Load(t testing.TB, u Turn, span behaviour.Span) bulkload.Result {
	t.Helper()
	r, err := load.Run(t.Context(), h.LoadConfig(u, span))
	if err != nil {
		t.Fatalf("load of %s: %v", span, err)
	}
	return r
}

// Open opens the table of a turn.
func (h *Fixture) Open(ctx context.Context, u Turn) (table.Table, error) {
	opened, err := h.Store(u.Name).Open(ctx)
	switch {
	case err != nil:
		return nil, err
	case u.Unrolled:
		return table.Unrolled(opened), nil
	case u.Unsure:
		return unsure{opened}, nil
	}
	return opened, nil
}

// Config returns the configuration of an extract into the directory out. The caller closes its table.
// If q.Users is nil, the extract is for all users.
func (h *Fixture) Config(ctx context.Context, q testworld.Query, u Turn, out string) (extract.Config, error) {
	asked, err := h.Open(ctx, u)
	if err != nil {
		return extract.Config{}, err
	}
	users, err := testtable.UserList(asked, q)
	if err != nil {
		return extract.Config{}, errors.Join(err, asked.Close())
	}
	return extract.Config{
		Spec:   query.Spec{Users: users, Span: q.Span, Types: q.Kinds, Active: q.Active, Conditions: conditions(q), Output: u.Output},
		Target: place.Target{FS: h.FS, Out: out, Overwrite: u.Overwrite, Append: u.Append},
		Table:  asked, Sizes: h.Sizes, Workers: u.Workers, PieceSize: u.PieceSize,
	}, nil
}

// Extract extracts the result of q into the directory out.
func (h *Fixture) Extract(ctx context.Context, q testworld.Query, u Turn, out string) (extract.Result, error) {
	c, err := h.Config(ctx, q, u, out)
	if err != nil {
		return extract.Result{}, err
	}
	r, err := extract.Run(ctx, c)
	return r, errors.Join(err, c.Table.Close())
}

// conditions returns the conditions of q.
func conditions(q testworld.Query) query.Conditions {
	c := q.Conditions
	return query.Conditions{
		Where: c.Where.Text, WhereFirst: c.WhereFirst && (c.Where.Text != "" || c.Hours != ""), Having: c.Having.Text,
		Sequence: c.Sequence(), Without: c.Without, Fields: c.Fields, Hours: c.Hours, Context: c.Context, At: c.At, Latest: c.Latest,
	}
}

// Query returns the configuration of an extract from the table in.
func (h *Fixture) Query(t *testing.T, q testworld.Query, in table.Table) extract.Config {
	t.Helper()
	users, err := testtable.UserList(in, q)
	if err != nil {
		t.Fatal(err)
	}
	return extract.Config{
		Spec:   query.Spec{Users: users, Span: q.Span, Types: q.Kinds, Active: q.Active, Conditions: conditions(q)},
		Target: place.Target{FS: h.FS, Out: filepath.Join(testkit.Scratch(t), "out")},
		Table:  in, Sizes: h.Sizes, Plan: fetch.Auto, Workers: 2,
	}
}

// Plain is a turn for tests that need nothing special.
var Plain = Turn{Name: "trails", Workers: 2, Memory: 64 << 20}

// Tiny returns a world of few files and its fixture. A load makes few operations.
func Tiny(t *testing.T) (*testworld.W, *Fixture) {
	t.Helper()
	w := testworld.World(3, 3)
	h := New(t, w.Job())
	var some []testworld.File
	for _, f := range w.Files {
		if f.Records > 0 && len(some) < 4 {
			some = append(some, f)
		}
	}
	h.Deliver(t, some...)
	return w, h
}
