package show_test

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"sync"
	"testing"
	_ "time/tzdata" // for zones that the machine may not have

	"usertrail/internal/bulkload"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"usertrail/internal/behaviour"
	"usertrail/internal/bulkload/load"
	"usertrail/internal/cell"
	"usertrail/internal/extract/show"
	"usertrail/internal/format/job"
	"usertrail/internal/store/dfs"
	"usertrail/internal/store/dfs/local"
	"usertrail/internal/table"
	"usertrail/internal/table/catalog"
	"usertrail/internal/table/files"
	"usertrail/internal/test/testkit"
	"usertrail/internal/test/testworld"
)

// A fixture is a directory with logs, and the table trails next to them.
type fixture struct {
	dir string
	job *job.Job
}

func newFixture(t testing.TB, text string) *fixture {
	t.Helper()
	h := &fixture{dir: testkit.Scratch(t)}
	var err error
	if h.job, err = job.Parse(filepath.Join(h.dir, "usertrail.yaml"), []byte(text)); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return h
}

// deliver writes a file of the logs.
func (h *fixture) deliver(t testing.TB, name string, text []byte) {
	t.Helper()
	name = filepath.Join(h.dir, "logs", filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	testkit.WriteFile(t, name, string(text))
}

// deliverWorld writes the files of a world, compressed by the endings of their names.
func (h *fixture) deliverWorld(t testing.TB, list ...testworld.File) {
	t.Helper()
	for _, f := range list {
		var b bytes.Buffer
		var z io.WriteCloser
		switch filepath.Ext(f.Name) {
		case ".gz":
			z = gzip.NewWriter(&b)
		case ".zst":
			var err error
			if z, err = zstd.NewWriter(&b); err != nil {
				t.Fatal(err)
			}
		default:
			h.deliver(t, f.Name, f.Text)
			continue
		}
		if _, err := z.Write(f.Text); err != nil {
			t.Fatal(err)
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		h.deliver(t, f.Name, b.Bytes())
	}
}

func (h *fixture) store() files.Store {
	return files.Store{FS: local.New(), Dir: dfs.Join(h.dir, "trails")}
}

// load loads all days of span, and opens the table.
func (h *fixture) load(t testing.TB, span behaviour.Span) table.Loader {
	t.Helper()
	s := h.store()
	_, err := load.Run(t.Context(), load.Config{
		Resources: bulkload.Resources{FS: s.FS, Store: s, Workers: 1, Memory: 64 << 20, Temp: dfs.Join(s.Dir, catalog.TempName)},
		Job:       h.job, Span: span,
	})
	if err != nil {
		t.Fatalf("load of %s: %v", span, err)
	}
	return h.open(t)
}

func (h *fixture) open(t testing.TB) table.Loader {
	t.Helper()
	opened, err := h.store().Open(t.Context())
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

// A spy records which days are read, and counts the cells and the reads by ranges.
type spy struct {
	table.Loader

	mu     sync.Mutex
	spans  []behaviour.Span
	cells  int
	ranges int
}

func (s *spy) Read(ctx context.Context, q table.Query, emit func(*cell.Cell) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.spans = append(s.spans, q.Span)
	if q.Ranges != nil {
		s.ranges++
	}
	return s.Loader.Read(ctx, q, func(c *cell.Cell) error {
		s.cells++
		return emit(c)
	})
}

// A shown is an event as a writer received it.
type shown struct {
	row        testworld.Row
	nth, ofDay int
}

// A gatherer keeps the events that it receives.
type gatherer struct {
	asked *show.Asked
	rows  []shown
	ended bool
}

func (g *gatherer) Begin(a *show.Asked) error {
	g.asked = a
	return nil
}

func (g *gatherer) Add(b *show.Behaviour) error {
	r := testworld.Row{
		User: g.asked.User, Date: behaviour.Date(b.Date).String(), Time: behaviour.Timestamp.Text(behaviour.AppendInt64(nil, b.Time)),
		Behaviour: g.asked.Schema.Kinds[b.Kind].Name, ID: b.ID, Values: map[string]string{},
	}
	for i := range g.asked.Fields {
		f := &g.asked.Fields[i]
		if v := f.Of(b); v != nil {
			r.Values[f.Name] = f.Type.Text(v)
		}
	}
	g.rows = append(g.rows, shown{r, b.Nth, b.OfDay})
	return nil
}

func (g *gatherer) End() error {
	g.ended = true
	return nil
}

// pages joins all pages of a trail.
func pages(t testing.TB, c show.Config) []shown {
	t.Helper()
	var all []shown
	for {
		var g gatherer
		_, r, err := show.Page(t.Context(), c, &g)
		if err != nil {
			t.Fatalf("page after %q: %v", c.After, err)
		}
		if int64(len(g.rows)) != r.Events || !g.ended || c.Page > 0 && len(g.rows) > c.Page {
			t.Fatalf("%d events were shown on a page of %d, %d are counted; ended: %t", len(g.rows), c.Page, r.Events, g.ended)
		}
		all = append(all, g.rows...)
		if r.Next == "" {
			return all
		}
		if len(g.rows) != c.Page {
			t.Fatalf("a page of %d events, where %d were asked for and more follow", len(g.rows), c.Page)
		}
		c.After = r.Next
	}
}
