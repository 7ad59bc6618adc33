// Package extracttest has what tests of extracts share: fixtures of logs, tables and queries,
// processes that are killed, and comparisons of results.
package extracttest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"usertrail/internal/behaviour"
	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/load"
	"usertrail/internal/extract"
	"usertrail/internal/extract/memory"
	"usertrail/internal/extract/place"
	"usertrail/internal/extract/query"
	"usertrail/internal/extract/userlist"
	"usertrail/internal/format/job"
	"usertrail/internal/store/dfs"
	"usertrail/internal/store/dfs/local"
	"usertrail/internal/table"
	"usertrail/internal/table/catalog"
	"usertrail/internal/table/fetch"
	"usertrail/internal/table/files"
	"usertrail/internal/test/testkit"
	"usertrail/internal/test/testworld"
)

// A Fixture is a directory with logs and a job, and tables next to them.
type Fixture struct {
	Dir   string
	FS    dfs.FS
	Job   *job.Job
	Sizes memory.Sizes // of extracts
}

// New makes a fixture without logs. text is its job file.
func New(t testing.TB, text string) *Fixture {
	t.Helper()
	h := &Fixture{Dir: testkit.Scratch(t), FS: local.New(), Sizes: SmallSizes}
	var err error
	if h.Job, err = job.Parse(filepath.Join(h.Dir, "usertrail.yaml"), []byte(text)); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return h
}

// Delivered makes a fixture of a world with all its log files.
func Delivered(t testing.TB, w *testworld.W) *Fixture {
	t.Helper()
	h := New(t, w.Job())
	h.Deliver(t, w.Files...)
	return h
}

// Deliver writes log files of a world.
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
	Unrolled  bool // the extract does not use the rolls
	Unsure    bool // the rolls name behaviours that are gone
	Output    query.Output
	PieceSize int64
}

// Store returns the store of the table called name.
func (h *Fixture) Store(name string) files.Store {
	return files.Store{FS: h.FS, Dir: dfs.Join(h.Dir, name)}
}

// LoadConfig returns the configuration of a load of the days of span.
func (h *Fixture) LoadConfig(u Turn, span behaviour.Span) load.Config {
	j := *h.Job
	j.Table.Regions = u.Regions
	return load.Config{
		Resources: bulkload.Resources{FS: h.FS, Store: h.Store(u.Name), Workers: u.Workers, Memory: u.Memory, Temp: dfs.Join(h.Dir, u.Name, catalog.TempName)},
		Job:       &j, Span: span,
	}
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

// Extract extracts the result of q into the directory out.
func (h *Fixture) Extract(ctx context.Context, q testworld.Question, u Turn, out string) (extract.Result, error) {
	c, err := h.Config(ctx, q, u, out)
	if err != nil {
		return extract.Result{}, err
	}
	r, err := extract.Run(ctx, c)
	return r, errors.Join(err, c.Table.Close())
}

// conditions returns the conditions of q.
func conditions(q testworld.Question) query.Conditions {
	c := q.Conditions
	return query.Conditions{
		Where: c.Where.Text, WhereFirst: c.WhereFirst && (c.Where.Text != "" || c.Hours != ""), Having: c.Having.Text,
		Sequence: c.Sequence(), Without: c.Without, Fields: c.Fields, Hours: c.Hours, Context: c.Context, At: c.At, Latest: c.Latest,
	}
}

// Opened returns the table of a turn. The test closes it at its end.
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

// Question returns the configuration of an extract from the table in.
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
