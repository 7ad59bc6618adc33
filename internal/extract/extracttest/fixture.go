// Package extracttest has what tests of extracts share: fixtures of logs, tables and queries,
// processes that are killed, and comparisons of results.
package extracttest

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"usertrail/internal/activity"
	"usertrail/internal/behaviour"
	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/load"
	"usertrail/internal/cell"
	"usertrail/internal/extract"
	"usertrail/internal/extract/memory"
	"usertrail/internal/extract/notfound"
	"usertrail/internal/extract/place"
	"usertrail/internal/extract/query"
	"usertrail/internal/extract/userlist"
	"usertrail/internal/format/job"
	"usertrail/internal/format/layout"
	"usertrail/internal/format/manifest"
	"usertrail/internal/format/trailfile"
	"usertrail/internal/split"
	"usertrail/internal/store/dfs"
	"usertrail/internal/store/dfs/dfstest"
	"usertrail/internal/store/dfs/local"
	"usertrail/internal/table"
	"usertrail/internal/table/catalog"
	"usertrail/internal/table/fetch"
	"usertrail/internal/table/files"
	"usertrail/internal/test/testkit"
	"usertrail/internal/test/testworld"
)

// A Fixture is a directory with logs and a job, and tables beside them.
type Fixture struct {
	Dir   string
	FS    dfs.FS
	Job   *job.Job
	Sizes memory.Sizes // of extracts
}

// New makes a fixture of the job file's text. No logs are in it yet.
func New(t testing.TB, text string) *Fixture {
	t.Helper()
	h := &Fixture{Dir: testkit.Scratch(t), FS: local.New(), Sizes: SmallSizes}
	var err error
	if h.Job, err = job.Parse(filepath.Join(h.Dir, "usertrail.yaml"), []byte(text)); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return h
}

// Delivered makes a fixture of a world, everything delivered.
func Delivered(t testing.TB, w *testworld.W) *Fixture {
	t.Helper()
	h := New(t, w.Job())
	h.Deliver(t, w.Files...)
	return h
}

// Deliver writes files of a world below the job's logs.
func (h *Fixture) Deliver(t testing.TB, list ...testworld.File) {
	t.Helper()
	for _, f := range list {
		name := filepath.Join(h.Dir, "logs", filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, compressed(t, f), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// compressed returns f, compressed as its name says.
func compressed(t testing.TB, f testworld.File) []byte {
	t.Helper()
	var b bytes.Buffer
	var z io.WriteCloser
	var err error
	switch filepath.Ext(f.Name) {
	case ".gz":
		z = gzip.NewWriter(&b)
	case ".zst":
		if z, err = zstd.NewWriter(&b); err != nil {
			t.Fatal(err)
		}
	default:
		return f.Text
	}
	if _, err := z.Write(f.Text); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// SplitLate tells the files that a first load does not find yet from the others.
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

// A Turn is all that must not matter for an answer.
type Turn struct {
	Name    string // of the table
	Workers int
	Memory  int64
	Regions int

	Overwrite bool
	Unrolled  bool // asked without its rolls
	Unsure    bool // asked with rolls that name too much
	Output    query.Output
	PieceSize int64
}

// unsure is a table whose rolls name behaviours that are gone.
type unsure struct{ table.Table }

func (t unsure) Info() table.Info {
	info := t.Table.Info()
	info.Sealed = false
	return info
}

func (t unsure) Users(ctx context.Context, r split.Region, span behaviour.Span) (table.Users, error) {
	users, err := t.Table.Users(ctx, r, span)
	return unsureUsers{users}, err
}

type unsureUsers struct{ table.Users }

func (u unsureUsers) User() table.User {
	user := u.Users.User()
	user.Did |= activity.Of(len(user.Key) % 4)
	user.Sure = false
	return user
}

func (h *Fixture) Store(name string) files.Store {
	return files.Store{FS: h.FS, Dir: dfs.Join(h.Dir, name)}
}

// LoadConfig is a load of all days of span.
func (h *Fixture) LoadConfig(u Turn, span behaviour.Span) load.Config {
	j := *h.Job
	j.Table.Regions = u.Regions
	return load.Config{
		FS: h.FS, Job: &j, Store: h.Store(u.Name), Span: span,
		Workers: u.Workers, Memory: u.Memory, Temp: dfs.Join(h.Dir, u.Name, catalog.TempName),
	}
}

func (h *Fixture) Load(t testing.TB, u Turn, span behaviour.Span) bulkload.Result {
	t.Helper()
	r, err := load.Run(t.Context(), h.LoadConfig(u, span))
	if err != nil {
		t.Fatalf("load of %s: %v", span, err)
	}
	return r
}

// Open opens the table.
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

// Config is a question about the table, which is to be closed, for the directory out. A
// nil list is everybody.
func (h *Fixture) Config(ctx context.Context, q testworld.Question, u Turn, out string) (extract.Config, error) {
	asked, err := h.Open(ctx, u)
	if err != nil {
		return extract.Config{}, err
	}
	users := userlist.All()
	if q.Users != nil {
		list := strings.NewReader(strings.Join(q.Users, "\n"))
		if users, err = userlist.Read(list, "list", asked.Info().Layout, 1<<30); err != nil {
			return extract.Config{}, errors.Join(err, asked.Close())
		}
	}
	return extract.Config{
		Spec:   query.Spec{Users: users, Span: q.Span, Types: q.Kinds, Active: q.Active, Conditions: conditions(q), Output: u.Output},
		Target: place.Target{FS: h.FS, Out: out, Overwrite: u.Overwrite},
		Table:  asked, Sizes: h.Sizes, Workers: u.Workers, PieceSize: u.PieceSize,
	}, nil
}

// Extract extracts an answer from the table into the directory out.
func (h *Fixture) Extract(ctx context.Context, q testworld.Question, u Turn, out string) (extract.Result, error) {
	c, err := h.Config(ctx, q, u, out)
	if err != nil {
		return extract.Result{}, err
	}
	r, err := extract.Run(ctx, c)
	return r, errors.Join(err, c.Table.Close())
}

// conditions returns the conditions of a question as extract takes them.
func conditions(q testworld.Question) query.Conditions {
	c := q.Conditions
	return query.Conditions{
		Where: c.Where.Text, WhereFirst: c.WhereFirst && (c.Where.Text != "" || c.Hours != ""), Having: c.Having.Text,
		Sequence: c.Sequence(), Without: c.Without, Fields: c.Fields, Hours: c.Hours, Context: c.Context, At: c.At, Latest: c.Latest,
	}
}

// Answer extracts an answer and reads it back.
func (h *Fixture) Answer(t testing.TB, q testworld.Question, u Turn) testworld.Answer {
	t.Helper()
	out := filepath.Join(testkit.Scratch(t), "out")
	r, err := h.Extract(t.Context(), q, u, out)
	if err != nil {
		t.Fatalf("extract %+v: %v", q, err)
	}
	return h.Read(t, r, out)
}

// Read reads an answer back.
func (h *Fixture) Read(t testing.TB, r extract.Result, out string) testworld.Answer {
	t.Helper()
	rows := ReadTrails(t, h.FS, out)
	lost, err := dfs.ReadFile(t.Context(), h.FS, filepath.Join(out, notfound.FileName))
	if n := int64(bytes.Count(lost, []byte("\n"))); n != r.NotFound || n != r.Users-r.Found || (err == nil) != (n > 0) {
		t.Errorf("%s: of %d users %d were found, it says %d were not, and names %d, %v", out, r.Users, r.Found, r.NotFound, n, err)
	}
	if r.Events != int64(len(rows)) {
		t.Errorf("%s: says it wrote %d behaviours, there are %d", out, r.Events, len(rows))
	}
	return testworld.Answer{Users: int(r.Users), Found: int(r.Found), Active: int(r.Active), Rows: rows}
}

// ReadTrails reads all parts. It checks that each part is in order and that each user is in
// one part. Parts are in order of users' keys, and the rows returned are in order of users' IDs.
func ReadTrails(t testing.TB, fs dfs.FS, dir string) []testworld.Row {
	t.Helper()
	parts, err := dfs.Glob(t.Context(), fs, dir+"/part-*.parquet")
	if err != nil || len(parts) == 0 {
		t.Fatalf("%d parts in %s: %v", len(parts), dir, err)
	}
	var all []testworld.Row
	partOf := map[string]string{}
	for _, p := range parts {
		rows := readPart(t, fs, p.Name)
		if !slices.IsSortedFunc(rows, func(a, b testworld.Row) int { return cmp.Compare(a.User, b.User) }) {
			t.Errorf("%s: users are not in order", p.Name)
		}
		for _, r := range rows {
			if have, ok := partOf[r.User]; ok && have != p.Name {
				t.Fatalf("user %q is in %s and in %s", r.User, have, p.Name)
			}
			partOf[r.User] = p.Name
		}
		all = append(all, rows...)
	}
	slices.SortStableFunc(all, func(a, b testworld.Row) int { return cmp.Compare(a.User, b.User) })
	return all
}

func readPart(t testing.TB, fs dfs.FS, name string) []testworld.Row {
	t.Helper()
	file, err := fs.Open(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	f, err := trailfile.Open(file, file.Size())
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	info, err := f.Info()
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	lines, err := f.Head(int(info.Rows) + 1)
	if err != nil || len(lines) != int(info.Rows) {
		t.Fatalf("%s: %d rows of %d: %v", name, len(lines), info.Rows, err)
	}
	rows := make([]testworld.Row, len(lines))
	for i, line := range lines {
		rows[i] = rowOf(t, info.Columns, line)
	}
	return rows
}

func rowOf(t testing.TB, columns []trailfile.ColumnInfo, line []string) testworld.Row {
	t.Helper()
	id, err := strconv.ParseInt(line[4], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	row := testworld.Row{User: line[0], Date: line[1], Time: line[2], Behaviour: line[3], ID: id, Values: map[string]string{}}
	for i, c := range columns[5:] {
		if v := line[5+i]; v != "" {
			row.Values[c.Name] = v
		}
	}
	return row
}

// Same reports the first difference between an answer and the one that must be.
func Same(t testing.TB, what string, got, want testworld.Answer) {
	t.Helper()
	if got.Users != want.Users || got.Found != want.Found || got.Active != want.Active {
		t.Errorf("%s: %d users, %d found, %d active; want %d, %d, %d", what, got.Users, got.Found, got.Active, want.Users, want.Found, want.Active)
	}
	for i := range min(len(got.Rows), len(want.Rows)) {
		if g, w := got.Rows[i], want.Rows[i]; g.String() != w.String() {
			t.Fatalf("%s: row %d of %d is\n%s\nwant\n%s", what, i, len(want.Rows), g, w)
		}
	}
	if len(got.Rows) != len(want.Rows) {
		t.Fatalf("%s: %d rows, want %d", what, len(got.Rows), len(want.Rows))
	}
}

// Parts are the bytes of an answer's trail files.
func Parts(t testing.TB, fs dfs.FS, dir string) map[string]string {
	t.Helper()
	return OnlyParts(dfstest.Snapshot(t, fs, dir))
}

func OnlyParts(all map[string]string) map[string]string {
	out := maps.Clone(all)
	maps.DeleteFunc(out, func(name, _ string) bool { return !strings.HasPrefix(dfs.Base(name), "part-") })
	return out
}

// Unread is a table whose rows cannot be read.
type Unread struct{ *files.Table }

var errRead = errors.New("a row was read")

func (Unread) Read(context.Context, table.Query, func(*cell.Cell) error) error { return errRead }

// Narrow is a table in which reading few columns is cheaper, as in HBase.
type Narrow struct{ *files.Table }

func (n Narrow) Info() table.Info {
	info := n.Table.Info()
	info.Narrow = true
	return info
}

// Opened is the table of a turn, until the test ends.
func (h *Fixture) Opened(t *testing.T, u Turn) *files.Table {
	t.Helper()
	opened, err := files.Open(t.Context(), h.FS, h.Store(u.Name).Dir)
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

// Question is a world's question as extract takes it.
func (h *Fixture) Question(t *testing.T, q testworld.Question, in table.Table) extract.Config {
	t.Helper()
	users := userlist.All()
	if q.Users != nil {
		var err error
		if users, err = userlist.Read(strings.NewReader(strings.Join(q.Users, "\n")), "list", in.Info().Layout, 1<<30); err != nil {
			t.Fatal(err)
		}
	}
	return extract.Config{
		Spec:   query.Spec{Users: users, Span: q.Span, Types: q.Kinds, Active: q.Active, Conditions: conditions(q)},
		Target: place.Target{FS: h.FS, Out: filepath.Join(testkit.Scratch(t), "out")},
		Table:  in, Sizes: h.Sizes, Plan: fetch.Auto, Workers: 2,
	}
}

// Cost runs an extract, and returns its result and the cost in its manifest.
func Cost(t *testing.T, c extract.Config) (extract.Result, manifest.Cost) {
	t.Helper()
	r, err := extract.Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	m := new(manifest.Extract)
	if err := manifest.Read(t.Context(), c.FS, filepath.Join(c.Out, place.ManifestName), m); err != nil {
		t.Fatal(err)
	}
	if m.Cost == nil {
		t.Fatal("the manifest tells of no cost")
	}
	return r, *m.Cost
}

// Lasting returns the lasting files of a table: all but its lock.
func Lasting(t *testing.T, h *Fixture, name string) map[string]string {
	t.Helper()
	got := dfstest.Snapshot(t, h.FS, dfs.Join(h.Dir, name))
	delete(got, "lock")
	return got
}

// Named returns the files that a table's manifest names and the manifest itself. Exactly
// these files can be read as the table.
func Named(all map[string]string) map[string]string {
	out := maps.Clone(all)
	m := all[catalog.ManifestName]
	maps.DeleteFunc(out, func(name, _ string) bool {
		return name != catalog.ManifestName && !strings.Contains(m, name)
	})
	return out
}

// Differ names a file in which two snapshots differ.
func Differ(got, want map[string]string) string {
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if have, ok := got[name]; !ok {
			return name + " is missing"
		} else if have != want[name] {
			return name + " differs"
		}
	}
	for _, name := range slices.Sorted(maps.Keys(got)) {
		if _, ok := want[name]; !ok {
			return name + " is there"
		}
	}
	return ""
}

// Leftovers are the files that lie below dir besides an answer and its lock,
// hidden ones too.
func Leftovers(t *testing.T, dir string) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(dir, func(name string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		base := filepath.Base(name)
		ours := strings.HasPrefix(name, filepath.Join(dir, "out")+"/") &&
			(strings.HasPrefix(base, "part-") || base == place.ManifestName || base == place.SuccessName || base == notfound.FileName)
		if !ours && base != ".out.lock" {
			out = append(out, strings.TrimPrefix(name, dir))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// ReadManifest reads what an answer says of itself.
func ReadManifest(t *testing.T, fs dfs.FS, out string) *manifest.Extract {
	t.Helper()
	m := new(manifest.Extract)
	if err := manifest.Read(t.Context(), fs, dfs.Join(out, place.ManifestName), m); err != nil {
		t.Fatal(err)
	}
	return m
}

// Laid loads a world into a table of each layout, and calls yield with the turn that
// asks it.
func Laid(t *testing.T, w *testworld.W, h *Fixture, yield func(name string, u Turn)) {
	t.Helper()
	for _, name := range layout.Names() {
		h.Job.Layout = name
		u := Turn{Name: name, Workers: 2, Memory: 64 << 20}
		h.Load(t, u, w.Span)
		yield(name, u)
	}
}

var Plain = Turn{Name: "trails", Workers: 2, Memory: 64 << 20}

// Tiny is a world of few files, so that a load of it makes few operations.
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
