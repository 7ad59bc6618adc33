package extract_test

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
	"usertrail/internal/extract"
	"usertrail/internal/extract/memory"
	"usertrail/internal/extract/notfound"
	"usertrail/internal/extract/place"
	"usertrail/internal/extract/query"
	"usertrail/internal/extract/userlist"
	"usertrail/internal/format/job"
	"usertrail/internal/format/trailfile"
	"usertrail/internal/split"
	"usertrail/internal/store/dfs"
	"usertrail/internal/store/dfs/dfstest"
	"usertrail/internal/store/dfs/local"
	"usertrail/internal/table"
	"usertrail/internal/table/catalog"
	"usertrail/internal/table/files"
	"usertrail/internal/test/testkit"
	"usertrail/internal/test/testworld"
)

// A fixture is a directory with logs and a job, and tables beside them.
type fixture struct {
	dir   string
	fs    dfs.FS
	job   *job.Job
	sizes memory.Sizes // of extracts
}

// newFixture makes a fixture of the job file's text. No logs are in it yet.
func newFixture(t testing.TB, text string) *fixture {
	t.Helper()
	h := &fixture{dir: testkit.Scratch(t), fs: local.New(), sizes: sizes}
	var err error
	if h.job, err = job.Parse(filepath.Join(h.dir, "usertrail.yaml"), []byte(text)); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return h
}

// inhabit makes a fixture of a world, everything delivered.
func inhabit(t testing.TB, w *testworld.W) *fixture {
	t.Helper()
	h := newFixture(t, w.Job())
	h.deliver(t, w.Files...)
	return h
}

// deliver writes files of a world below the job's logs.
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

// late tells the files that a first load does not find yet from the others.
func late(list []testworld.File) (first, late []testworld.File) {
	for _, f := range list {
		if f.Late {
			late = append(late, f)
		} else {
			first = append(first, f)
		}
	}
	return first, late
}

// A turn is all that must not matter for an answer.
type turn struct {
	name    string // of the table
	workers int
	memory  int64
	regions int

	overwrite bool
	unrolled  bool // asked without its rolls
	unsure    bool // asked with rolls that name too much
	output    query.Output
	pieceSize int64
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

func (h *fixture) store(name string) files.Store {
	return files.Store{FS: h.fs, Dir: dfs.Join(h.dir, name)}
}

// config is a load of all days of span.
func (h *fixture) config(u turn, span behaviour.Span) load.Config {
	j := *h.job
	j.Table.Regions = u.regions
	return load.Config{
		FS: h.fs, Job: &j, Store: h.store(u.name), Span: span,
		Workers: u.workers, Memory: u.memory, Temp: dfs.Join(h.dir, u.name, catalog.TempName),
	}
}

func (h *fixture) load(t testing.TB, u turn, span behaviour.Span) bulkload.Result {
	t.Helper()
	r, err := load.Run(t.Context(), h.config(u, span))
	if err != nil {
		t.Fatalf("load of %s: %v", span, err)
	}
	return r
}

// open opens the table.
func (h *fixture) open(ctx context.Context, u turn) (table.Table, error) {
	opened, err := h.store(u.name).Open(ctx)
	switch {
	case err != nil:
		return nil, err
	case u.unrolled:
		return table.Unrolled(opened), nil
	case u.unsure:
		return unsure{opened}, nil
	}
	return opened, nil
}

// asks is a question about the table, which is to be closed, for the directory out. A
// nil list is everybody.
func (h *fixture) asks(ctx context.Context, q testworld.Question, u turn, out string) (extract.Config, error) {
	asked, err := h.open(ctx, u)
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
		Spec:   query.Spec{Users: users, Span: q.Span, Types: q.Kinds, Active: q.Active, Conditions: conditions(q), Output: u.output},
		Target: place.Target{FS: h.fs, Out: out, Overwrite: u.overwrite},
		Table:  asked, Sizes: h.sizes, Workers: u.workers, PieceSize: u.pieceSize,
	}, nil
}

// ask extracts an answer from the table into the directory out.
func (h *fixture) ask(ctx context.Context, q testworld.Question, u turn, out string) (extract.Result, error) {
	c, err := h.asks(ctx, q, u, out)
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

// answer extracts an answer and reads it back.
func (h *fixture) answer(t testing.TB, q testworld.Question, u turn) testworld.Answer {
	t.Helper()
	out := filepath.Join(testkit.Scratch(t), "out")
	r, err := h.ask(t.Context(), q, u, out)
	if err != nil {
		t.Fatalf("extract %+v: %v", q, err)
	}
	return h.read(t, r, out)
}

// read reads an answer back.
func (h *fixture) read(t testing.TB, r extract.Result, out string) testworld.Answer {
	t.Helper()
	rows := readTrails(t, h.fs, out)
	lost, err := dfs.ReadFile(t.Context(), h.fs, filepath.Join(out, notfound.FileName))
	if n := int64(bytes.Count(lost, []byte("\n"))); n != r.NotFound || n != r.Users-r.Found || (err == nil) != (n > 0) {
		t.Errorf("%s: of %d users %d were found, it says %d were not, and names %d, %v", out, r.Users, r.Found, r.NotFound, n, err)
	}
	if r.Events != int64(len(rows)) {
		t.Errorf("%s: says it wrote %d behaviours, there are %d", out, r.Events, len(rows))
	}
	return testworld.Answer{Users: int(r.Users), Found: int(r.Found), Active: int(r.Active), Rows: rows}
}

// readTrails reads all parts. It checks that each part is in order and that each user is in
// one part. Parts are in order of users' keys, and the rows returned are in order of users' IDs.
func readTrails(t testing.TB, fs dfs.FS, dir string) []testworld.Row {
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

// same reports the first difference between an answer and the one that must be.
func same(t testing.TB, what string, got, want testworld.Answer) {
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

// parts are the bytes of an answer's trail files.
func parts(t testing.TB, fs dfs.FS, dir string) map[string]string {
	t.Helper()
	return onlyParts(dfstest.Snapshot(t, fs, dir))
}

func onlyParts(all map[string]string) map[string]string {
	out := maps.Clone(all)
	maps.DeleteFunc(out, func(name, _ string) bool { return !strings.HasPrefix(dfs.Base(name), "part-") })
	return out
}
