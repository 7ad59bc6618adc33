package tabletest

import (
	"bytes"
	"fmt"
	"slices"
	"testing"
	"time"

	"usertrail/internal/behaviour"
	"usertrail/internal/cell"
	"usertrail/internal/format/hfile"
	"usertrail/internal/format/layout"
	"usertrail/internal/format/manifest"
	"usertrail/internal/format/roll"
	"usertrail/internal/table"
	"usertrail/internal/table/segment"
	"usertrail/internal/tally"
)

// Load creates a table with one small load.
func Load(t *testing.T, way Way, in table.Store) { newWorld(way, in, layout.Reversed{}).make(t, 1) }

// LoadTrails creates a table of a layout with one load for each night. The users are "1", "2" and so on.
// lengths has the number of behaviours of each user in a night. The behaviours are of one kind and one
// second apart. They begin at midnight of the returned date.
func LoadTrails(t *testing.T, way Way, in table.Store, l layout.Layout, nights int, lengths ...int) behaviour.Date {
	w := newWorld(way, in, l)
	made, err := in.New(t.Context(), w.plan())
	if err != nil {
		t.Fatal(err)
	}
	for night := range nights {
		w.loads++
		var records []behaviour.Record
		for user, n := range lengths {
			for i := range int64(n) {
				at := (int64(firstDay)+int64(night))*dayMicros + i*1_000_000
				records = append(records, behaviour.Record{
					User: fmt.Appendf(nil, "%d", user+1), Time: at, Date: behaviour.DateAt(at, time.UTC), ID: int64(w.loads)<<38 | int64(user)<<20 | i,
					Values: [][]byte{fmt.Appendf(nil, "title %d", i), nil},
				})
			}
		}
		w.load(t, made, w.rowsOf(records))
	}
	if err := made.Close(); err != nil {
		t.Fatal(err)
	}
	return firstDay
}

// load adds sorted rows as one load.
func (w *world) load(t *testing.T, to table.Loader, rows []row) *manifest.Load {
	t.Helper()
	ledger, files := w.bring(t, to, rows)
	w.takeIn(t, to, rows, ledger, files)
	return ledger
}

func (w *world) takeIn(t *testing.T, to table.Loader, rows []row, ledger *manifest.Load, files []manifest.File) {
	t.Helper()
	if err := to.TakeIn(t.Context(), ledger, files); err != nil {
		t.Fatal(err)
	}
	w.rows = append(w.rows, rows...)
}

// bring writes the files or puts of a load, but does not commit the load.
func (w *world) bring(t *testing.T, to table.Loader, rows []row) (*manifest.Load, []manifest.File) {
	t.Helper()
	if w.way == Files {
		return w.stage(t, w.stager(t, to), rows)
	}
	return w.put(t, w.putter(t, to), rows)
}

// stager returns a table to which loads add files.
func (w *world) stager(t *testing.T, to table.Loader) table.Stager {
	t.Helper()
	s, ok := table.As[table.Stager](to)
	if !ok {
		t.Fatal("the table takes no files")
	}
	return s
}

// putter returns a table to which loads add puts.
func (w *world) putter(t *testing.T, to table.Loader) table.Putter {
	t.Helper()
	p, ok := table.As[table.Putter](to)
	if !ok {
		t.Fatal("the table accepts no puts")
	}
	return p
}

// put writes the roll of a load and then puts its cells.
func (w *world) put(t *testing.T, to table.Putter, rows []row) (*manifest.Load, []manifest.File) {
	t.Helper()
	ledger := &manifest.Load{Version: manifest.Version, Number: to.NextLoad(), Job: "tabletest"}
	in := manifest.Input{Path: fmt.Sprintf("load %d", ledger.Number), Number: uint32(ledger.Number)}
	for _, r := range rows {
		in.Read += int64(len(r.records))
		in.Loaded += int64(len(r.records))
	}
	ledger.Inputs = []manifest.Input{in}
	f := manifest.File{Roll: to.RollName(uint64(w.loads)), Load: ledger.Number, Span: spanOf(rows), Records: in.Loaded}
	who := entriesOf(rows)
	f.First, f.Last = who[0].user, who[len(who)-1].user
	f.Users = w.writeRoll(t, to, f.Roll, f.Span, rows)
	if err := to.Begin(t.Context(), ledger.Inputs, &f); err != nil {
		t.Fatal(err)
	}
	w.putCells(t, to, rows)
	return ledger, []manifest.File{f}
}

func (w *world) putCells(t *testing.T, to table.Putter, rows []row) {
	t.Helper()
	out, err := to.Writer(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		for _, c := range r.cells {
			if err := out.Put(t.Context(), c); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := out.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
}

// stage writes the files of a load, one for each region that has rows.
func (w *world) stage(t *testing.T, to table.Stager, rows []row) (*manifest.Load, []manifest.File) {
	t.Helper()
	ledger := &manifest.Load{Version: manifest.Version, Number: to.NextLoad(), Job: "tabletest"}
	regions, err := to.Regions(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var out []manifest.File
	for i, region := range regions {
		var in []row
		for _, r := range rows {
			if region.Has(r.key) {
				in = append(in, r)
			}
		}
		if len(in) > 0 {
			out = append(out, w.write(t, to, to.FileName(ledger.Number, i), in))
		}
	}
	for _, f := range out {
		ledger.Inputs = append(ledger.Inputs, manifest.Input{
			Path: f.Name, Number: uint32(ledger.Number), Counts: manifest.Counts{Read: f.Records, Loaded: f.Records},
		})
	}
	return ledger, out
}

// write writes one region's HFile and roll.
func (w *world) write(t *testing.T, to table.Stager, name string, rows []row) manifest.File {
	t.Helper()
	f := manifest.File{Name: name + ".hfile", Roll: name + ".roll", Load: to.NextLoad(), Span: spanOf(rows)}
	out, err := to.Stage(t.Context(), f.Name)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Abort()
	options, err := to.FileOptions(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	h, err := hfile.NewWriter(out, options)
	if err != nil {
		t.Fatal(err)
	}
	var count tally.Counter
	for _, r := range rows {
		for _, c := range r.cells {
			count.Add(c)
			if err := h.Add(c); err != nil {
				t.Fatal(err)
			}
		}
		f.Records += int64(len(r.records))
	}
	meta, err := h.Close()
	if err != nil {
		t.Fatal(err)
	}
	if err := out.Commit(); err != nil {
		t.Fatal(err)
	}
	f.First, f.Last, f.Tally = meta.FirstRow, meta.LastRow, count.Tally
	f.Users = w.writeRoll(t, to, f.Roll, f.Span, rows)
	checkStaged(t, to, f)
	return f
}

func spanOf(rows []row) behaviour.Span {
	s := behaviour.Span{From: rows[0].records[0].Date, To: rows[0].records[0].Date}
	for _, e := range entriesOf(rows) {
		s.From, s.To = min(s.From, e.date), max(s.To, e.date)
	}
	return s
}

// An entry has the parts of a record that a roll holds.
type entry struct {
	user []byte
	date behaviour.Date
	kind int
}

// entriesOf returns the records of rows, in order of users' keys.
func entriesOf(rows []row) []entry {
	var out []entry
	for _, r := range rows {
		for i := range r.records {
			out = append(out, entry{r.user, r.records[i].Date, r.records[i].Kind})
		}
	}
	slices.SortStableFunc(out, func(a, b entry) int { return bytes.Compare(a.user, b.user) })
	return out
}

// writeRoll writes the roll of rows, and returns the number of their users.
func (w *world) writeRoll(t *testing.T, to segment.Stager, name string, span behaviour.Span, rows []row) int64 {
	t.Helper()
	out, err := to.Stage(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Abort()
	r := roll.NewWriter(out, w.schema.IDs(), span)
	for _, e := range entriesOf(rows) {
		if err := r.Add(e.user, e.date, e.kind, 1); err != nil {
			t.Fatal(err)
		}
	}
	meta, err := r.Close()
	if err != nil {
		t.Fatal(err)
	}
	if err := out.Commit(); err != nil {
		t.Fatal(err)
	}
	return meta.Users
}

// checkStaged reads a staged file before the table adds it.
func checkStaged(t *testing.T, to table.Stager, f manifest.File) {
	t.Helper()
	in, err := to.Staged(t.Context(), f.Name)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	h, err := hfile.Open(in, in.Size())
	if err != nil {
		t.Fatal(err)
	}
	var back tally.Counter
	if err := h.Verify(func(c *cell.Cell) error { back.Add(c); return nil }); err != nil || back.Tally != f.Tally {
		t.Fatalf("%s holds %s, %v; written were %s", f.Name, back.Tally, err, f.Tally)
	}
}
