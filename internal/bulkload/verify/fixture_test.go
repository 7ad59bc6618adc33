package verify_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cespare/xxhash/v2"

	"usertrail/internal/behaviour"
	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/load"
	"usertrail/internal/bulkload/replay"
	"usertrail/internal/bulkload/verify"
	"usertrail/internal/cell"
	"usertrail/internal/format/hfile"
	"usertrail/internal/format/job"
	"usertrail/internal/format/manifest"
	"usertrail/internal/store/dfs/local"
	"usertrail/internal/table"
	"usertrail/internal/table/files"
	"usertrail/internal/tally"
	"usertrail/internal/test/testkit"
	"usertrail/internal/test/testworld"
)

// A fixture is a directory with the logs of a world, and a table that was loaded from them.
type fixture struct {
	dir string
	w   *testworld.W
	job *job.Job
}

func newFixture(t *testing.T, w *testworld.W) *fixture {
	t.Helper()
	h := &fixture{dir: testkit.Scratch(t), w: w}
	h.is(t, w.Job())
	return h
}

// is makes text the fixture's job.
func (h *fixture) is(t *testing.T, text string) {
	t.Helper()
	var err error
	if h.job, err = job.Parse(filepath.Join(h.dir, "usertrail.yaml"), []byte(text)); err != nil {
		t.Fatal(err)
	}
	h.job.Table.Regions = 5
}

// loaded returns a fixture of a world whose files are all loaded. A separate load loads the
// late files.
func loaded(t *testing.T, seed uint64) *fixture {
	t.Helper()
	h := newFixture(t, testworld.World(seed, 30))
	for _, write := range []func(string) error{h.w.WriteEarly, h.w.WriteLate} {
		if err := write(h.dir); err != nil {
			t.Fatal(err)
		}
		h.load(t)
	}
	return h
}

func (h *fixture) store() files.Store {
	return files.Store{FS: local.New(), Dir: filepath.Join(h.dir, "trails")}
}

func (h *fixture) config() load.Config {
	s := h.store()
	return load.Config{Resources: bulkload.Resources{FS: s.FS, Store: s, Workers: 2, Memory: 64 << 20, Temp: filepath.Join(h.dir, "tmp")}, Job: h.job, Span: h.w.Span}
}

func (h *fixture) load(t *testing.T) {
	t.Helper()
	_, err := load.Run(t.Context(), h.config())
	if err != nil && !errors.Is(err, bulkload.ErrNothing) {
		t.Fatal(err)
	}
}

// deliver writes a file of the logs.
func (h *fixture) deliver(t *testing.T, name, text string) {
	t.Helper()
	name = filepath.Join(h.dir, "logs", name)
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, name, []byte(text))
}

// replay corrects the bad records of a delivered file, and loads them.
func (h *fixture) replay(t *testing.T, name, from, to string) {
	t.Helper()
	bad := h.store().Quarantine(name)
	write(t, bad, bytes.ReplaceAll(read(t, bad), []byte(from), []byte(to)))
	if _, err := replay.Run(t.Context(), replay.Config{Resources: h.config().Resources, Job: h.job}, bad); err != nil {
		t.Fatal(err)
	}
}

// everything returns the whole content of the world.
func (h *fixture) everything() testworld.Result { return h.w.Oracle(h.w.Queries(1, 1)[0]) }

// manifest returns the table's manifest.
func (h *fixture) manifest(t *testing.T) *manifest.Table {
	t.Helper()
	m := new(manifest.Table)
	if err := json.Unmarshal(read(t, h.path("manifest.json")), m); err != nil {
		t.Fatal(err)
	}
	return m
}

func (h *fixture) setManifest(t *testing.T, m *manifest.Table) {
	t.Helper()
	b, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	write(t, h.path("manifest.json"), b)
}

func (h *fixture) path(name string) string { return filepath.Join(h.dir, "trails", name) }

func read(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func write(t *testing.T, name string, b []byte) {
	t.Helper()
	testkit.WriteFile(t, name, string(b))
}

// cells returns the cells of one of the table's files.
func (h *fixture) cells(t *testing.T, name string) []*cell.Cell {
	t.Helper()
	b := read(t, h.path(name))
	r, err := hfile.Open(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	var out []*cell.Cell
	if err := r.Verify(func(c *cell.Cell) error { out = append(out, c.Clone()); return nil }); err != nil {
		t.Fatal(err)
	}
	return out
}

// rewrite replaces the cells of a file, in order, and updates the manifest to match. Only the
// ledgers still show the difference.
func (h *fixture) rewrite(t *testing.T, name string, cells []*cell.Cell) {
	t.Helper()
	slices.SortStableFunc(cells, cell.Compare)
	var b bytes.Buffer
	w, err := hfile.NewWriter(&b, hfile.Options{Encoding: hfile.FastDiff, BlockSize: 4 << 10})
	if err != nil {
		t.Fatal(err)
	}
	var sum tally.Counter
	for _, c := range cells {
		if err := w.Add(c); err != nil {
			t.Fatal(err)
		}
		sum.Add(c)
	}
	meta, err := w.Close()
	if err != nil {
		t.Fatal(err)
	}
	write(t, h.path(name), b.Bytes())
	m := h.manifest(t)
	i := slices.IndexFunc(m.Files, func(f manifest.File) bool { return f.Name == name })
	f := &m.Files[i]
	f.First, f.Last = meta.FirstRow, meta.LastRow
	f.Tally, f.Size, f.Sum = sum.Tally, int64(b.Len()), fmt.Sprintf("%016x", xxhash.Sum64(b.Bytes()))
	h.setManifest(t, m)
}

// all returns the cells of all files.
func (h *fixture) all(t *testing.T) []*cell.Cell {
	t.Helper()
	var out []*cell.Cell
	for _, f := range h.manifest(t).Files {
		out = append(out, h.cells(t, f.Name)...)
	}
	return out
}

func (h *fixture) verify(t *testing.T, change ...func(*verify.Config)) (verify.Result, error) {
	t.Helper()
	cfg := verify.Config{Store: h.store()}
	for _, c := range change {
		c(&cfg)
	}
	return verify.Run(t.Context(), cfg)
}

// asRows hides that the table consists of files. It is then read as rows, like a live table.
func asRows(c *verify.Config) { c.Store = rowStore{Store: c.Store} }

// A rowStore is a store whose table has only the methods of a Loader. The table may be
// replaced by another one.
type rowStore struct {
	table.Store
	open func(table.Loader) table.Loader
}

func (s rowStore) Open(ctx context.Context) (table.Loader, error) {
	t, err := s.Store.Open(ctx)
	if err != nil {
		return nil, err
	}
	if s.open != nil {
		return s.open(t), nil
	}
	return rows{t}, nil
}

type rows struct{ table.Loader }

// A difference is an oracle's result for a changed table. The oracle compares plain lists of
// cells, day by day.
type difference struct {
	days    []string // date, behaviour, verdict
	foreign int
}

// oracle compares cells before and after.
func (h *fixture) oracle(before, after []*cell.Cell) difference {
	names := map[string]string{}
	for _, k := range h.w.Schema.Kinds {
		names[fmt.Sprintf("%05d", k.ID)] = k.Name
	}
	had, has := map[string][]string{}, map[string][]string{}
	var d difference
	for _, x := range []struct {
		cells []*cell.Cell
		into  map[string][]string
	}{{before, had}, {after, has}} {
		for _, c := range x.cells {
			parts := strings.Split(string(c.Row), ",")
			name := names[parts[len(parts)-1]]
			if len(parts) != 3 || name == "" {
				d.foreign++
				continue
			}
			day := parts[1]
			key := day[:4] + "-" + day[4:6] + "-" + day[6:] + " " + name
			x.into[key] = append(x.into[key], fmt.Sprintf("%q %q %q %d %d %q", c.Row, c.Family, c.Qualifier, c.Time, c.Type, c.Value))
		}
	}
	for key := range had {
		if len(has[key]) == 0 {
			has[key] = nil
		}
	}
	for key, now := range has {
		then := had[key]
		slices.Sort(now)
		slices.Sort(then)
		if slices.Equal(now, then) {
			continue
		}
		verdict := verify.Other
		switch {
		case len(now) == 0:
			verdict = verify.Missing
		case len(then) == 0:
			verdict = verify.Unknown
		case len(now) < len(then):
			verdict = verify.Fewer
		case len(now) > len(then):
			verdict = verify.More
		}
		d.days = append(d.days, key+" "+string(verdict))
	}
	slices.Sort(d.days)
	return d
}

// check compares a result with the oracle's. If the changed row's region exists, the result
// must name it.
func (d difference) check(t *testing.T, what string, r verify.Result, err error, changed ...[]byte) {
	t.Helper()
	var days []string
	for _, x := range r.Days {
		days = append(days, fmt.Sprintf("%s %s %s", x.Date, x.Behaviour, x.Verdict))
	}
	slices.Sort(days)
	if !slices.Equal(days, d.days) || r.ForeignCells != int64(d.foreign) || r.DifferingDays != len(d.days) {
		t.Errorf("%s: differ %q, %d foreign cells; want %q, %d", what, days, r.ForeignCells, d.days, d.foreign)
	}
	if want := len(d.days) + d.foreign; errors.Is(err, verify.ErrDiffers) != (want > 0) || err != nil && want == 0 {
		t.Errorf("%s: %v, want ErrDiffers: %t", what, err, want > 0)
	}
	for _, g := range r.Regions {
		if !slices.ContainsFunc(changed, g.Has) {
			t.Errorf("%s: %s differs, and no row of it was changed", what, g.Region)
		}
	}
	for _, row := range changed {
		if !slices.ContainsFunc(r.Regions, func(g verify.Range) bool { return g.Has(row) }) {
			t.Errorf("%s: no region of row %q is named: %v", what, row, r.Regions)
		}
	}
}

func day(t *testing.T, s string) behaviour.Date {
	t.Helper()
	d, err := behaviour.ParseDate(s)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// plays is a job of one behaviour.
const plays = `
logs: {path: "logs/{date}/{behaviour}.*", max_bad: 50%}
table: trails
user: user
behaviours: {play: {id: 1, fields: {title: string}}}
`
