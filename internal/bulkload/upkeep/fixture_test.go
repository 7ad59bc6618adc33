package upkeep_test

import (
	"context"
	"errors"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"usertrail/internal/behaviour"
	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/load"
	"usertrail/internal/bulkload/upkeep"
	"usertrail/internal/format/manifest"
	"usertrail/internal/format/roll"
	"usertrail/internal/table/files"
	"usertrail/internal/test/testtable"
	"usertrail/internal/test/testworld"
)

// A fixture is a directory with the logs of a generated world, and with tables.
type fixture struct {
	testtable.Fixture
	w *testworld.W
}

func newFixture(t testing.TB, w *testworld.W) *fixture {
	t.Helper()
	h := &fixture{*testtable.New(t, w.Job()), w}
	h.Job.Table.Regions = 3
	return h
}

// load loads the delivered files that the table does not have yet.
func (h *fixture) load(t testing.TB, name string) bulkload.Result {
	t.Helper()
	r, err := h.tryLoad(t.Context(), name)
	allOlder := errors.Is(err, bulkload.ErrRequest) && r.Older > 0
	if err != nil && !errors.Is(err, bulkload.ErrNothing) && !allOlder {
		t.Fatal(err)
	}
	return r
}

// nights divides the world's files at random into n nights, and loads each night into all of
// the tables. It calls after when a night is loaded.
func (h *fixture) nights(t testing.TB, dice *rand.Rand, n int, tables []string, after func(night int)) {
	t.Helper()
	by := make([][]testworld.File, n)
	for i, f := range h.w.Files {
		if i > 0 {
			i = dice.IntN(n) // the first night is never empty
		}
		by[i] = append(by[i], f)
	}
	for i, list := range by {
		h.Deliver(t, list...)
		for _, name := range tables {
			h.load(t, name)
		}
		after(i)
	}
}

// tryLoad loads the delivered files that the table does not have yet.
func (h *fixture) tryLoad(ctx context.Context, name string) (bulkload.Result, error) {
	return load.Run(ctx, h.LoadConfig(name, h.w.Span))
}

func (h *fixture) upkeep(name string) upkeep.Config {
	return upkeep.Config{FS: h.FS, Store: h.Store(name), KeepFor: upkeep.DefaultKeepFor, Workers: 2, Memory: 8 << 20}
}

// sameResults runs the same queries on two tables, for the dates from one date on.
func (h *fixture) sameResults(t testing.TB, what, got, want string, from behaviour.Date) {
	t.Helper()
	a, b := h.Opened(t, got), h.Opened(t, want)
	for i, q := range h.w.Queries(h.w.Seed, 4) {
		clipped := q
		if clipped.Span.From = max(q.Span.From, from); clipped.Span.From > q.Span.To {
			continue
		}
		have, err := testtable.Ask(t.Context(), t, a, q)
		if err != nil {
			t.Fatalf("%s, query %d: %v", what, i, err)
		}
		must, err := testtable.Ask(t.Context(), t, b, clipped)
		if err != nil {
			t.Fatal(err)
		}
		if !maps.Equal(have, must) {
			t.Fatalf("%s: query %d (%+v) has another result", what, i, q)
		}
	}
}

// A named holds one user's entries of all rolls of a table.
type named struct {
	days    map[behaviour.Date]uint64 // IDs of behaviours
	records int64
}

// rolled returns the entries of all rolls of a table, for the dates from one date on. The
// records count all dates.
func (h *fixture) rolled(t testing.TB, name string, from behaviour.Date) map[string]named {
	t.Helper()
	opened := h.Opened(t, name)
	out := map[string]named{}
	for _, f := range opened.Files() {
		r := h.roll(t, opened, &f)
		ids := r.Meta().IDs
		it := r.Iterator()
		for it.Next() {
			e := it.Entry()
			u, ok := out[string(e.User)]
			if !ok {
				u.days = map[behaviour.Date]uint64{}
			}
			u.records += e.Records
			for j, d := range e.Days {
				for i, id := range ids {
					if d.Date >= from && e.Kinds(j).Has(i) {
						u.days[d.Date] |= 1 << id
					}
				}
			}
			out[string(e.User)] = u
		}
		if err := it.Err(); err != nil {
			t.Fatal(err)
		}
	}
	maps.DeleteFunc(out, func(_ string, u named) bool { return len(u.days) == 0 })
	return out
}

func (h *fixture) roll(t testing.TB, opened *files.Table, f *manifest.File) *roll.Reader {
	t.Helper()
	file, err := opened.Staged(t.Context(), f.Roll)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	r, err := roll.Open(file, file.Size())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// sameRolls compares the rolls of two tables. It also compares counts if no days were dropped.
func (h *fixture) sameRolls(t testing.TB, what, got, want string, from behaviour.Date) {
	t.Helper()
	a, b := h.rolled(t, got, behaviour.MinDate), h.rolled(t, want, from)
	if len(a) != len(b) {
		t.Errorf("%s: rolls name %d users, want %d", what, len(a), len(b))
	}
	for user, w := range b {
		g := a[user]
		if !maps.Equal(g.days, w.days) || from == behaviour.MinDate && g.records != w.records {
			t.Fatalf("%s: of %q the rolls say %v, %d records; want %v, %d", what, user, g.days, g.records, w.days, w.records)
		}
	}
	opened := h.Opened(t, got)
	for _, f := range opened.Files() {
		if m := h.roll(t, opened, &f).Meta(); m.Records != f.Records || m.Users != f.Users {
			t.Errorf("%s: the roll of %s has %d records of %d users, its HFile %d of %d", what, f.Name, m.Records, m.Users, f.Records, f.Users)
		}
	}
}

// lasting returns the visible files of a table, without its lock and without times.
func (h *fixture) lasting(t testing.TB, name string) map[string]string {
	t.Helper()
	return h.Lasting(t, name, "retired.json")
}

// names returns the names of the files in one folder of a table.
func names(all map[string]string, folder string) []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if strings.HasPrefix(name, folder+"/") {
			out = append(out, name)
		}
	}
	return out
}
