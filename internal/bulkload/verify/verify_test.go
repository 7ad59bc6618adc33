package verify_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cespare/xxhash/v2"

	"usertrail/internal/behaviour"
	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/verify"
	"usertrail/internal/cell"
	"usertrail/internal/format/manifest"
	"usertrail/internal/split"
	"usertrail/internal/store/dfs"
	"usertrail/internal/table"
	"usertrail/internal/table/files"
	"usertrail/internal/tally"
	"usertrail/internal/test/testkit"
	"usertrail/internal/test/testworld"
)

// ways are the ways of reading a table: as its files, and as rows.
var ways = map[string]func(*verify.Config){"files": func(*verify.Config) {}, "rows": asRows}

// TestTablesAreAsTheyWereLoaded loads worlds in two nights and compares them. The counts must
// equal the counts of the world's oracle.
func TestTablesAreAsTheyWereLoaded(t *testing.T) {
	for _, seed := range testkit.Seeds(t, 1, 2, 3) {
		h := loaded(t, seed)
		result := h.everything()
		days := map[string]bool{}
		for _, row := range result.Rows {
			days[row.Date+row.Behaviour] = true
		}
		want := verify.Result{Cells: h.manifest(t).Total().Cells, Records: int64(len(result.Rows)), Compared: len(days)}
		for way, change := range ways {
			for _, workers := range []int{1, 4} {
				got, err := h.verify(t, change, func(c *verify.Config) { c.Workers = workers })
				if err != nil {
					t.Errorf("world %d, by %s: %v", seed, way, err)
				}
				if fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", want) {
					t.Errorf("world %d, by %s with %d workers: %+v, want %+v", seed, way, workers, got, want)
				}
			}
		}
	}
}

// TestDuplicatesAndReplayedRecordsCount delivers a file again under another name, and replays
// a bad record.
func TestDuplicatesAndReplayedRecordsCount(t *testing.T) {
	h := newFixture(t, testworld.World(4, 10))
	h.is(t, plays)
	date := h.w.Span.From.String()
	text := "user,time,title\na," + date + " 10:00:00,one\nb,soon,two\nc," + date + " 11:00:00,three\n"
	steps := []struct {
		do    func()
		cells int64
	}{
		{func() { h.deliver(t, date+"/play.1.csv", text); h.load(t) }, 2},
		{func() { h.deliver(t, date+"/play.2.csv", text); h.load(t) }, 2},
		{func() { h.replay(t, date+"/play.1.csv", "soon", date+" 12:00:00") }, 3},
		{func() { h.deliver(t, date+"/play.3.csv", text+"d,"+date+" 10:00:00,\n"); h.load(t) }, 6},
	}
	for i, step := range steps {
		step.do()
		for way, as := range ways {
			r, err := h.verify(t, as)
			if err != nil || r.Cells != step.cells || r.Records != step.cells || r.Unlocated != "" {
				t.Errorf("step %d, by %s: %v, %d cells, %q; want %d", i, way, err, r.Cells, r.Unlocated, step.cells)
			}
		}
	}
}

// A change damages the cells of a file in one way. It returns the new cells and the rows that
// it changed.
type change func(r *rand.Rand, cells []*cell.Cell) ([]*cell.Cell, [][]byte)

func pick(r *rand.Rand, cells []*cell.Cell) (int, *cell.Cell) {
	i := r.IntN(len(cells))
	return i, cells[i].Clone()
}

var changes = map[string]change{
	"one removed": func(r *rand.Rand, cells []*cell.Cell) ([]*cell.Cell, [][]byte) {
		i, c := pick(r, cells)
		return slices.Delete(cells, i, i+1), [][]byte{c.Row}
	},
	"another value": func(r *rand.Rand, cells []*cell.Cell) ([]*cell.Cell, [][]byte) {
		i, c := pick(r, cells)
		c.Value = append(c.Value, 'x')
		cells[i] = c
		return cells, [][]byte{c.Row}
	},
	"another time": func(r *rand.Rand, cells []*cell.Cell) ([]*cell.Cell, [][]byte) {
		i, c := pick(r, cells)
		c.Time++
		cells[i] = c
		return cells, [][]byte{c.Row}
	},
	"one deleted by a marker": func(r *rand.Rand, cells []*cell.Cell) ([]*cell.Cell, [][]byte) {
		_, c := pick(r, cells)
		c.Type, c.Value = cell.DeleteColumn, nil
		return append(cells, c), [][]byte{c.Row}
	},
	"one added": func(r *rand.Rand, cells []*cell.Cell) ([]*cell.Cell, [][]byte) {
		_, c := pick(r, cells)
		c.Qualifier = append([]byte("zz,"), c.Qualifier...)
		return append(cells, c), [][]byte{c.Row}
	},
	"one twice": func(r *rand.Rand, cells []*cell.Cell) ([]*cell.Cell, [][]byte) {
		_, c := pick(r, cells)
		return append(cells, c), [][]byte{c.Row}
	},
	"another day": func(r *rand.Rand, cells []*cell.Cell) ([]*cell.Cell, [][]byte) {
		i, c := pick(r, cells)
		old := c.Row
		c.Row = slices.Concat(old[:len(old)-14], []byte("29991231"), old[len(old)-6:])
		cells[i] = c
		return cells, [][]byte{old, c.Row}
	},
	"another behaviour": func(r *rand.Rand, cells []*cell.Cell) ([]*cell.Cell, [][]byte) {
		i, c := pick(r, cells)
		old := c.Row
		id := "00001"
		if bytes.HasSuffix(old, []byte(id)) {
			id = "00007"
		}
		c.Row = slices.Concat(old[:len(old)-5], []byte(id))
		cells[i] = c
		return cells, [][]byte{old, c.Row}
	},
	"a row of no behaviour": func(r *rand.Rand, cells []*cell.Cell) ([]*cell.Cell, [][]byte) {
		_, c := pick(r, cells)
		c.Row = append(c.Row[:len(c.Row)-5], "00002"...)
		return append(cells, c), nil
	},
	"two values swapped": func(r *rand.Rand, cells []*cell.Cell) ([]*cell.Cell, [][]byte) {
		i, a := pick(r, cells)
		j, b := pick(r, cells)
		if bytes.Equal(a.Value, b.Value) {
			a.Value = []byte("a value")
			cells[i] = a
			return cells, [][]byte{a.Row}
		}
		a.Value, b.Value = b.Value, a.Value
		cells[i], cells[j] = a, b
		return cells, [][]byte{a.Row, b.Row}
	},
}

// TestWhatChangedIsNamed changes the cells of a file, with a manifest that hides the change.
// It compares the result with an oracle that compares all cells.
func TestWhatChangedIsNamed(t *testing.T) {
	random := rand.New(rand.NewPCG(slices.Max(testkit.Seeds(t, 1)), 1))
	for what, change := range changes {
		h := loaded(t, 5)
		before := h.all(t)
		f := h.manifest(t).Files[random.IntN(len(h.manifest(t).Files))]
		cells, changed := change(random, h.cells(t, f.Name))
		h.rewrite(t, f.Name, cells)
		want := h.oracle(before, h.all(t))
		for way, as := range ways {
			r, err := h.verify(t, as)
			want.check(t, fmt.Sprintf("%s in %s, by %s", what, f.Name, way), r, err, changed...)
		}
	}
}

// TestADayThatIsGoneIsNamed removes all rows of a behaviour on a date.
func TestADayThatIsGoneIsNamed(t *testing.T) {
	h := loaded(t, 6)
	before := h.all(t)
	row := h.cells(t, h.manifest(t).Files[0].Name)[0].Row
	ending := row[len(row)-14:]
	var gone [][]byte
	for _, f := range h.manifest(t).Files {
		cells := h.cells(t, f.Name)
		kept := slices.DeleteFunc(slices.Clone(cells), func(c *cell.Cell) bool {
			if bytes.HasSuffix(c.Row, ending) {
				gone = append(gone, c.Row)
				return true
			}
			return false
		})
		if len(kept) < len(cells) {
			h.rewrite(t, f.Name, kept)
		}
	}
	want := h.oracle(before, h.all(t))
	if len(want.days) != 1 || !strings.HasSuffix(want.days[0], string(verify.Missing)) {
		t.Fatalf("the oracle says %q", want.days)
	}
	r, err := h.verify(t)
	want.check(t, "a day that is gone", r, err, gone...)
	if r.Days[0].Found.Cells != 0 || r.Days[0].Expected.Cells != int64(len(gone)) {
		t.Errorf("%+v, want %d cells to be gone", r.Days[0], len(gone))
	}
}

// TestDamageIsNamed changes single bytes of a file, and truncates it. The other files must
// still be compared.
func TestDamageIsNamed(t *testing.T) {
	h := loaded(t, 7)
	m := h.manifest(t)
	random := rand.New(rand.NewPCG(7, 7))
	for _, name := range []string{m.Files[1].Name, m.Files[1].Roll} {
		whole := read(t, h.path(name))
		damages := map[string][]byte{"empty": {}, "cut off": whole[:len(whole)/2], "longer": append(slices.Clone(whole), 0)}
		for range 40 {
			at := random.IntN(len(whole))
			b := slices.Clone(whole)
			b[at] ^= 1 << random.IntN(8)
			damages[fmt.Sprintf("byte %d", at)] = b
		}
		for what, b := range damages {
			write(t, h.path(name), b)
			r, err := h.verify(t, func(c *verify.Config) { c.Workers = 2 })
			if !errors.Is(err, verify.ErrDiffers) || r.DamagedFiles != 1 || r.MissingFiles != 0 || len(r.Files) != 1 || r.Files[0].Name != name || r.Files[0].Why == nil {
				t.Errorf("%s, %s: %v, damaged %v; want that file alone", name, what, err, r.Files)
			}
			if rest := m.Total().Cells - m.Files[1].Tally.Cells; r.Cells < rest {
				t.Errorf("%s, %s: %d cells are compared, want the %d of other files at least", name, what, r.Cells, rest)
			}
			if strings.HasSuffix(name, ".roll") && r.DifferingDays > 0 {
				t.Errorf("%s, %s: %d days differ", name, what, r.DifferingDays)
			}
		}
		write(t, h.path(name), whole)
	}
	if _, err := h.verify(t); err != nil {
		t.Errorf("all is as it was: %v", err)
	}
}

// TestMissingFilesAreNamed removes an HFile or a roll, or puts a link to itself in its place.
func TestMissingFilesAreNamed(t *testing.T) {
	for _, x := range [][2]bool{{false, false}, {true, false}, {false, true}, {true, true}} {
		roll, link := x[0], x[1]
		h := loaded(t, 8)
		before := h.all(t)
		f := h.manifest(t).Files[0]
		gone, name := h.cells(t, f.Name), f.Name
		if roll {
			gone, name = nil, f.Roll
		}
		if err := os.Remove(h.path(name)); err != nil {
			t.Fatal(err)
		}
		if link {
			if err := os.Symlink(filepath.Base(name), h.path(name)); err != nil {
				t.Fatal(err)
			}
		}
		r, err := h.verify(t)
		if !errors.Is(err, verify.ErrDiffers) || r.MissingFiles != 1 || r.DamagedFiles != 0 || len(r.Files) != 1 || r.Files[0].Name != name {
			t.Errorf("without %s: %v, %+v", name, err, r.Files)
		}
		if want := int64(len(before) - len(gone)); r.Cells != want || (r.DifferingDays > 0) == roll {
			t.Errorf("without %s: %d cells, %d days differ; want %d cells", name, r.Cells, r.DifferingDays, want)
		}
	}
}

// TestAPipeIsDamage puts a pipe in the place of a file. To read it would block.
func TestAPipeIsDamage(t *testing.T) {
	h := loaded(t, 8)
	for _, name := range []string{h.manifest(t).Files[0].Name, h.manifest(t).Files[0].Roll} {
		whole := read(t, h.path(name))
		if err := errors.Join(os.Remove(h.path(name)), syscall.Mkfifo(h.path(name), 0o600)); err != nil {
			t.Fatal(err)
		}
		r, err := h.verify(t)
		if !errors.Is(err, verify.ErrDiffers) || r.DamagedFiles != 1 || r.MissingFiles != 0 || len(r.Files) != 1 || r.Files[0].Name != name {
			t.Errorf("%s is a pipe: %v, %+v", name, err, r.Files)
		}
		if err := os.Remove(h.path(name)); err != nil {
			t.Fatal(err)
		}
		write(t, h.path(name), whole)
	}
}

// TestTheStepForTheCatalogIsItsOwn damages a file that no record depends on. The last error has the step of this file.
func TestTheStepForTheCatalogIsItsOwn(t *testing.T) {
	h := loaded(t, 1)
	testkit.WriteFile(t, h.path("loading.json"), "{")
	_, err := h.verify(t, func(*verify.Config) {})
	if want := "loading.json: damaged record of a load: unexpected end of JSON input: remove it"; !errors.Is(err, verify.ErrDiffers) || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "new table") {
		t.Errorf("%v, want %q", err, want)
	}
}

// TestARollOfAnotherFileDoesNotFit replaces a roll by another one, and updates the manifest
// to match.
func TestARollOfAnotherFileDoesNotFit(t *testing.T) {
	h := loaded(t, 9)
	m := h.manifest(t)
	other := read(t, h.path(m.Files[1].Roll))
	write(t, h.path(m.Files[0].Roll), other)
	m.Files[0].RollSum = fmt.Sprintf("%016x", xxhash.Sum64(other))
	h.setManifest(t, m)
	r, err := h.verify(t)
	if !errors.Is(err, verify.ErrDiffers) || r.DifferingDays != 0 || len(r.Files) != 1 || r.Files[0].Name != m.Files[0].Roll {
		t.Errorf("%v, %+v; want the roll alone to be named", err, r.Files)
	}
}

// TestOnlyWhatIsAskedForIsCompared changes one cell. It compares only the day of the cell,
// and then all other days.
func TestOnlyWhatIsAskedForIsCompared(t *testing.T) {
	h := loaded(t, 10)
	f := h.manifest(t).Files[0]
	cells := h.cells(t, f.Name)
	row := string(cells[0].Row)
	d := day(t, fmt.Sprintf("%s-%s-%s", row[len(row)-14:len(row)-10], row[len(row)-10:len(row)-8], row[len(row)-8:len(row)-6]))
	name := ""
	var others []string
	for _, k := range h.w.Schema.Kinds {
		if fmt.Sprintf("%05d", k.ID) == row[len(row)-5:] {
			name = k.Name
		} else {
			others = append(others, k.Name)
		}
	}
	h.rewrite(t, f.Name, cells[1:])
	for _, x := range []struct {
		span  *behaviour.Span
		types []string
		want  int
	}{
		{nil, nil, 1},
		{&behaviour.Span{From: d, To: d}, nil, 1},
		{nil, []string{name}, 1},
		{&behaviour.Span{From: d, To: d}, []string{name}, 1},
		{&behaviour.Span{From: d + 1, To: d + 400}, nil, 0},
		{&behaviour.Span{From: d - 400, To: d - 1}, nil, 0},
		{nil, others, 0},
	} {
		for way, as := range ways {
			r, err := h.verify(t, as, func(c *verify.Config) { c.Span, c.Types = x.span, x.types })
			if r.DifferingDays != x.want || errors.Is(err, verify.ErrDiffers) != (x.want > 0) {
				t.Errorf("span %v, types %q, by %s: %d days differ, %v; want %d", x.span, x.types, way, r.DifferingDays, err, x.want)
			}
			if all := x.span == nil && x.types == nil; (r.Unlocated == "") != all || (r.DifferingRegions > 0) != all {
				t.Errorf("span %v, types %q, by %s: %d regions differ, %q", x.span, x.types, way, r.DifferingRegions, r.Unlocated)
			}
		}
	}
	if _, err := h.verify(t, func(c *verify.Config) { c.Types = []string{"plau"} }); !errors.Is(err, bulkload.ErrRequest) || !strings.Contains(err.Error(), "play") {
		t.Errorf("a behaviour there is none: %v, want an error that names those there are", err)
	}
}

// cutAnew is a table that had different regions at each of its loads.
type cutAnew struct {
	rows
	points []split.Points // by load
	cells  [][]*cell.Cell // by load
}

func (c cutAnew) EachLedger(ctx context.Context, f func(*manifest.Load) error) error {
	i := 0
	return c.rows.EachLedger(ctx, func(l *manifest.Load) error {
		l.Regions = nil
		for _, r := range c.points[i].Regions() {
			var sum tally.Counter
			for _, x := range c.cells[i] {
				if r.Has(x.Row) {
					sum.Add(x)
				}
			}
			l.Regions = append(l.Regions, manifest.Region{First: r.Start, Tally: sum.Tally})
		}
		i++
		return f(l)
	})
}

// TestLoadsMayHaveFoundOtherRegions compares ranges. Their ends are ends of regions in all
// loads, or have no cells on one side. The reported range must be the narrowest possible one.
func TestLoadsMayHaveFoundOtherRegions(t *testing.T) {
	h := loaded(t, 1)
	m := h.manifest(t)
	if len(m.Loads) != 2 {
		t.Fatalf("%d loads, want 2", len(m.Loads))
	}
	all := h.all(t)
	random := rand.New(rand.NewPCG(11, 11))
	someRows := func(n int) split.Points {
		var p split.Points
		for range n {
			p = append(p, all[random.IntN(len(all))].Row)
		}
		slices.SortFunc(p, bytes.Compare)
		return slices.CompactFunc(p, bytes.Equal)
	}
	for round := range 20 {
		common := someRows(3)
		c := cutAnew{points: make([]split.Points, 2), cells: make([][]*cell.Cell, 2)}
		for i := range c.points {
			c.points[i] = slices.Concat(common, someRows(random.IntN(6)))
			slices.SortFunc(c.points[i], bytes.Compare)
			c.points[i] = slices.CompactFunc(c.points[i], bytes.Equal)
			for _, f := range m.Files {
				if f.Load == m.Loads[i].Number {
					c.cells[i] = append(c.cells[i], h.cells(t, f.Name)...)
				}
			}
		}
		as := func(cfg *verify.Config) {
			cfg.Store = rowStore{cfg.Store, func(l table.Loader) table.Loader { return cutAnew{rows{l}, c.points, c.cells} }}
		}
		if r, err := h.verify(t, as); err != nil || r.Unlocated != "" {
			t.Fatalf("round %d: %v, %q; want all to be as it was loaded", round, err, r.Unlocated)
		}

		f := m.Files[random.IntN(len(m.Files))]
		was := read(t, h.path(f.Name))
		cells := h.cells(t, f.Name)
		i := random.IntN(len(cells))
		row := cells[i].Row
		h.rewrite(t, f.Name, slices.Delete(cells, i, i+1))
		r, err := h.verify(t, as)
		if !errors.Is(err, verify.ErrDiffers) || len(r.Regions) != 1 || !r.Regions[0].Has(row) {
			t.Errorf("round %d: %v, regions %v; want the one of %q", round, err, r.Regions, row)
		} else if want := narrowest(c, row); r.Regions[0].String() != want.String() {
			t.Errorf("round %d: %s is named, want %s", round, r.Regions[0].Region, want)
		}
		write(t, h.path(f.Name), was)
		h.setManifest(t, m)
	}
}

// narrowest returns the smallest range around row such that no region of any load has cells
// on both sides of an end of the range.
func narrowest(c cutAnew, row []byte) split.Region {
	var out split.Region
	for _, points := range c.points {
		for _, p := range points {
			cuts := true
			for i, cells := range c.cells {
				if slices.ContainsFunc(c.points[i], func(q []byte) bool { return bytes.Equal(p, q) }) {
					continue
				}
				region := c.points[i].Regions()[c.points[i].Of(p)]
				if slices.ContainsFunc(cells, func(x *cell.Cell) bool { return region.Has(x.Row) }) {
					cuts = false
				}
			}
			switch {
			case !cuts:
			case bytes.Compare(p, row) <= 0 && bytes.Compare(p, out.Start) > 0:
				out.Start = p
			case bytes.Compare(p, row) > 0 && (len(out.End) == 0 || bytes.Compare(p, out.End) < 0):
				out.End = p
			}
		}
	}
	return out
}

// TestOlderLedgersTellOnlyDays removes the regions from a ledger.
func TestOlderLedgersTellOnlyDays(t *testing.T) {
	h := loaded(t, 12)
	m := h.manifest(t)
	l := new(manifest.Load)
	s := h.store()
	name := h.path(m.Loads[0].Name)
	if err := manifest.Read(t.Context(), s.FS, name, l); err != nil {
		t.Fatal(err)
	}
	l.Regions = nil
	if err := s.FS.Remove(t.Context(), name); err != nil {
		t.Fatal(err)
	}
	if err := manifest.WriteLedger(t.Context(), s.FS, s.Dir, &m.Loads[0], l); err != nil {
		t.Fatal(err)
	}
	if err := manifest.Write(t.Context(), s.FS, h.path("manifest.json"), m); err != nil {
		t.Fatal(err)
	}
	if r, err := h.verify(t); err != nil || !strings.Contains(r.Unlocated, "load 1") {
		t.Errorf("%v, %q; want to be told that load 1 tells no regions", err, r.Unlocated)
	}
	f := m.Files[0]
	h.rewrite(t, f.Name, h.cells(t, f.Name)[1:])
	if r, err := h.verify(t); !errors.Is(err, verify.ErrDiffers) || r.DifferingDays != 1 || r.DifferingRegions != 0 {
		t.Errorf("%v, %d days and %d regions differ; want a day alone", err, r.DifferingDays, r.DifferingRegions)
	}
}

// A busy table is a table that a load is writing to.
type busy struct {
	rows
	begun, handed []manifest.Input
	next          int
}

func (b busy) Begun(context.Context) ([]manifest.Input, error) { return b.begun, nil }
func (b busy) NextLoad() int                                   { return b.next }

func (b busy) Handover(context.Context) (*manifest.Handover, error) {
	if b.handed == nil {
		return nil, nil
	}
	return &manifest.Handover{Load: &manifest.Load{Inputs: b.handed}}, nil
}

// TestUnfinishedLoadsMayBeWhy adds a cell to a table and removes another one while a load is
// under way. The load can only explain the added cell.
func TestUnfinishedLoadsMayBeWhy(t *testing.T) {
	for _, ended := range []bool{false, true} {
		for what, more := range map[string]bool{"one added": true, "one removed": false} {
			h := loaded(t, 13)
			f := h.manifest(t).Files[0]
			cells, _ := changes[what](rand.New(rand.NewPCG(1, 1)), h.cells(t, f.Name))
			h.rewrite(t, f.Name, cells)
			opened := 0
			r, err := h.verify(t, func(c *verify.Config) {
				c.Store = rowStore{c.Store, func(l table.Loader) table.Loader {
					opened++
					b := busy{rows: rows{l}, next: 3}
					if !ended {
						b.begun = []manifest.Input{{Path: "a.csv"}}
						b.handed = []manifest.Input{{Path: "b.csv"}}
					} else if opened > 2 {
						b.next = 5
					}
					return b
				}}
			})
			if !errors.Is(err, verify.ErrDiffers) || len(r.Days) != 1 || r.Days[0].Maybe != more || strings.Contains(err.Error(), "not finished") != more {
				t.Errorf("%s: %v, %+v; want it to be perhaps a load's: %t", what, err, r.Days, more)
			}
			if ended && !slices.Equal(r.Since, []int{3, 4}) || !ended && !slices.Equal(r.Unfinished, []string{"a.csv", "b.csv"}) {
				t.Errorf("%s: loads %d ended, %q are unfinished", what, r.Since, r.Unfinished)
			}
		}
	}
}

// A passing table is a table whose cells expire.
type passing struct {
	rows
	ttl time.Duration
}

func (p passing) TTL(context.Context) (time.Duration, error) { return p.ttl, nil }

// TestExpiredDaysDoNotDiffer removes the first cells of days, which have expired or not. An
// extra cell is a difference even if it is old.
func TestExpiredDaysDoNotDiffer(t *testing.T) {
	for what, x := range map[string]struct {
		change          string
		ttl             time.Duration
		expired, differ int
	}{
		"for ever":     {"one removed", 0, 0, 1},
		"young":        {"one removed", 100 * 365 * 24 * time.Hour, 0, 1},
		"old":          {"one removed", 24 * time.Hour, 1, 0},
		"old, and new": {"one added", 24 * time.Hour, 0, 1},
	} {
		h := loaded(t, 14)
		f := h.manifest(t).Files[0]
		cells, _ := changes[x.change](rand.New(rand.NewPCG(2, 2)), h.cells(t, f.Name))
		h.rewrite(t, f.Name, cells)
		r, err := h.verify(t, func(c *verify.Config) {
			c.Now = h.w.Span.To.Start(time.UTC).Add(1000 * time.Hour)
			c.Store = rowStore{c.Store, func(l table.Loader) table.Loader { return passing{rows{l}, x.ttl} }}
		})
		if r.ExpiredDays != x.expired || r.DifferingDays != x.differ || errors.Is(err, verify.ErrDiffers) != (x.differ > 0) {
			t.Errorf("%s: %v, %d days are expired and %d differ; want %d and %d", what, err, r.ExpiredDays, r.DifferingDays, x.expired, x.differ)
		}
		if (r.Unlocated != "") != (x.expired > 0) || x.expired > 0 && r.Days[0].Verdict != verify.Expired {
			t.Errorf("%s: %q, %+v", what, r.Unlocated, r.Days)
		}
	}
}

// A broken table has files that cannot be read now.
type broken struct {
	*files.Table
	err error
}

func (b broken) Staged(context.Context, string) (dfs.File, error) { return nil, b.err }

// TestWhatMayBeWellLaterIsAnError checks that only a problem of the table itself is a
// finding. A file that this user may not read is none.
func TestWhatMayBeWellLaterIsAnError(t *testing.T) {
	h := loaded(t, 15)
	for _, x := range []struct {
		err   error
		found bool
	}{{dfs.ErrUnavailable, false}, {fs.ErrPermission, false}, {fs.ErrNotExist, true}, {errors.New("input/output error"), true}} {
		_, err := h.verify(t, func(c *verify.Config) {
			c.Store = rowStore{c.Store, func(l table.Loader) table.Loader { return broken{l.(*files.Table), x.err} }}
		})
		if x.err == fs.ErrPermission && !errors.Is(err, table.ErrUnfit) {
			t.Errorf("%v, want an unfit table", err)
		}
		if errors.Is(err, verify.ErrDiffers) != x.found || errors.Is(err, x.err) == x.found {
			t.Errorf("%v: %v, want a finding: %t", x.err, err, x.found)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for way, as := range ways {
		cfg := verify.Config{Store: h.store()}
		as(&cfg)
		if _, err := verify.Run(ctx, cfg); !errors.Is(err, context.Canceled) {
			t.Errorf("by %s, interrupted: %v", way, err)
		}
	}
}

func TestThereMustBeATable(t *testing.T) {
	h := newFixture(t, testworld.World(1, 1))
	if _, err := h.verify(t); !errors.Is(err, table.ErrNoTable) {
		t.Errorf("%v, want ErrNoTable", err)
	}
}
