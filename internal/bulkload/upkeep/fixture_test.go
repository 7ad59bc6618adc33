package upkeep_test

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"usertrail/internal/behaviour"
	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/load"
	"usertrail/internal/bulkload/upkeep"
	"usertrail/internal/bulkload/verify"
	"usertrail/internal/extract"
	"usertrail/internal/extract/place"
	"usertrail/internal/extract/query"
	"usertrail/internal/extract/userlist"
	"usertrail/internal/format/job"
	"usertrail/internal/format/manifest"
	"usertrail/internal/format/roll"
	"usertrail/internal/store/dfs"
	"usertrail/internal/store/dfs/dfstest"
	"usertrail/internal/store/dfs/local"
	"usertrail/internal/table"
	"usertrail/internal/table/files"
	"usertrail/internal/test/testkit"
	"usertrail/internal/test/testworld"
)

// A fixture is a directory with the logs of a generated world, and with tables next to them.
type fixture struct {
	dir   string
	place string // folder of the tables
	fs    dfs.FS
	job   *job.Job
	w     *testworld.W
}

func newFixture(t testing.TB, w *testworld.W) *fixture {
	t.Helper()
	h := &fixture{dir: testkit.Scratch(t), fs: local.New(), w: w}
	h.place = h.dir
	var err error
	if h.job, err = job.Parse(filepath.Join(h.dir, "usertrail.yaml"), []byte(w.Job())); err != nil {
		t.Fatal(err)
	}
	h.job.Table.Regions = 3
	if err := os.Mkdir(filepath.Join(h.dir, "logs"), 0o755); err != nil {
		t.Fatal(err)
	}
	return h
}

// deliver writes files of the world under the job's log directory.
func (h *fixture) deliver(t testing.TB, list ...testworld.File) {
	t.Helper()
	for _, f := range list {
		name := filepath.Join(h.dir, "logs", filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, compressed(t, f), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func compressed(t testing.TB, f testworld.File) []byte {
	t.Helper()
	var b bytes.Buffer
	var err error
	switch filepath.Ext(f.Name) {
	case ".gz":
		z := gzip.NewWriter(&b)
		_, err = z.Write(f.Text)
		err = errors.Join(err, z.Close())
	case ".zst":
		z, e := zstd.NewWriter(&b)
		if e != nil {
			t.Fatal(e)
		}
		_, err = z.Write(f.Text)
		err = errors.Join(err, z.Close())
	default:
		return f.Text
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func (h *fixture) store(name string) files.Store {
	return files.Store{FS: h.fs, Dir: dfs.Join(h.place, name)}
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
		h.deliver(t, list...)
		for _, name := range tables {
			h.load(t, name)
		}
		after(i)
	}
}

// tryLoad loads the delivered files that the table does not have yet.
func (h *fixture) tryLoad(ctx context.Context, name string) (bulkload.Result, error) {
	s := h.store(name)
	return load.Run(ctx, load.Config{
		Resources: bulkload.Resources{FS: s.FS, Store: s, Workers: 2, Memory: 8 << 20, Temp: filepath.Join(h.dir, "sorted")},
		Job:       h.job, Span: h.w.Span,
	})
}

func (h *fixture) upkeep(name string) upkeep.Config {
	return upkeep.Config{FS: h.fs, Store: h.store(name), KeepFor: upkeep.DefaultKeepFor, Workers: 2, Memory: 8 << 20}
}

// open opens a table. The table is closed when the test ends.
func (h *fixture) open(t testing.TB, name string) *files.Table {
	t.Helper()
	opened, err := files.Open(t.Context(), h.fs, dfs.Join(h.place, name))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := opened.Close(); err != nil {
			t.Error(err)
		}
	})
	return opened
}

// ask runs a query on a table and returns the bytes of the result's parts.
func (h *fixture) ask(ctx context.Context, t testing.TB, opened table.Table, q testworld.Question) (map[string]string, error) {
	t.Helper()
	users := userlist.All()
	if q.Users != nil {
		var err error
		if users, err = userlist.Read(strings.NewReader(strings.Join(q.Users, "\n")), "list", opened.Info().Layout, 1<<30); err != nil {
			t.Fatal(err)
		}
	}
	out := filepath.Join(testkit.Scratch(t), "out")
	_, err := extract.Run(ctx, extract.Config{
		Spec:   query.Spec{Users: users, Span: q.Span, Types: q.Kinds, Active: q.Active},
		Target: place.Target{FS: local.New(), Out: out},
		Table:  opened, Workers: 2,
	})
	all := dfstest.Snapshot(t, local.New(), out)
	maps.DeleteFunc(all, func(name, _ string) bool { return !strings.HasPrefix(dfs.Base(name), "part-") })
	return all, err
}

// sameAnswers runs the same queries on two tables, for the dates from one date on.
func (h *fixture) sameAnswers(t testing.TB, what, got, want string, from behaviour.Date) {
	t.Helper()
	a, b := h.open(t, got), h.open(t, want)
	for i, q := range h.w.Questions(h.w.Seed, 4) {
		clipped := q
		if clipped.Span.From = max(q.Span.From, from); clipped.Span.From > q.Span.To {
			continue
		}
		have, err := h.ask(t.Context(), t, a, q)
		if err != nil {
			t.Fatalf("%s, question %d: %v", what, i, err)
		}
		must, err := h.ask(t.Context(), t, b, clipped)
		if err != nil {
			t.Fatal(err)
		}
		if !maps.Equal(have, must) {
			t.Fatalf("%s: question %d (%+v) has another answer", what, i, q)
		}
	}
}

// verified fails the test if a table does not hold the cells in its ledgers.
func (h *fixture) verified(t testing.TB, what, name string) {
	t.Helper()
	r, err := verify.Run(t.Context(), verify.Config{Store: h.store(name)})
	if err != nil {
		t.Fatalf("%s: %v: %+v", what, err, r)
	}
	if r.Unlocated != "" {
		t.Errorf("%s: ranges of rows were not compared: %s", what, r.Unlocated)
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
	opened := h.open(t, name)
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
	opened := h.open(t, got)
	for _, f := range opened.Files() {
		if m := h.roll(t, opened, &f).Meta(); m.Records != f.Records || m.Users != f.Users {
			t.Errorf("%s: the roll of %s has %d records of %d users, its HFile %d of %d", what, f.Name, m.Records, m.Users, f.Records, f.Users)
		}
	}
}

// lasting returns the visible files of a table, without its lock and without times.
func (h *fixture) lasting(t testing.TB, name string) map[string]string {
	t.Helper()
	all := dfstest.Snapshot(t, h.fs, dfs.Join(h.place, name))
	delete(all, "lock")
	delete(all, "retired.json")
	return all
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
