package snapshot_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"usertrail/internal/cell"
	"usertrail/internal/format/hfile"
	"usertrail/internal/format/layout"
	"usertrail/internal/split"
	"usertrail/internal/table"
	"usertrail/internal/table/snapshot"
)

func everything(yield func(split.Region) bool) { yield(split.Region{}) }

// read returns the cells of a query, each as a line.
func read(t *testing.T, from table.Table, q table.Query) ([]string, error) {
	t.Helper()
	var out []string
	err := from.Read(t.Context(), q, func(c *cell.Cell) error { out = append(out, c.String()); return nil })
	return out, err
}

func expect(t *testing.T, what string, got []string, want ...*cell.Cell) {
	t.Helper()
	var lines []string
	for _, c := range want {
		lines = append(lines, c.String())
	}
	if !slices.Equal(got, lines) {
		t.Errorf("%s: there are\n%s\nwant\n%s", what, strings.Join(got, "\n"), strings.Join(lines, "\n"))
	}
}

// TestFilesAreFoundInAnyDirectory reads a table with two daughters of a split region. They have
// files of their own, halves of the parent's files, links, and halves of linked files. Some files
// are in the archive.
func TestFilesAreFoundInAnyDirectory(t *testing.T) {
	d := newDisk(t)
	parent := diskRegion{id: 1, split: true, offline: true}
	left, right := diskRegion{end: "m", id: 2}, diskRegion{start: "m", id: 2}
	p := d.encoded(parent)
	a, b := put("a", "q", 5, "a"), put("x", "q", 5, "x")
	n := d.put(t, "data/ns/t/"+p+"/d/11", hfile.Options{}, a, b)
	half := func(side string) diskFile { return diskFile{"11." + p, side + " m", n} }
	old, link := put("a", "q", 4, "old"), put("l", "q", 1, "linked")
	own := d.put(t, "data/ns/t/"+d.encoded(left)+"/d/22", hfile.Options{}, old)
	d.put(t, "archive/data/default/other/99/d/33", hfile.Options{}, link)
	far, farther := put("k", "q", 1, "k"), put("z", "q", 1, "z")
	d.put(t, "data/space/far/98/d/44_SeqId_7_", hfile.Options{}, far, farther)
	left.files = []diskFile{half("bottom"), {"22", "", own}, {"other=99-33", "", 0}, {"space=far=98-44_SeqId_7_." + p, "bottom m", 0}}
	right.files = []diskFile{half("top"), {"space=far=98-44_SeqId_7_." + p, "top m", 0}}
	parent.files = []diskFile{{"11", "", n}}
	d.regions = []diskRegion{right, parent, left}

	got, err := d.cells(t)
	if err != nil {
		t.Fatal(err)
	}
	expect(t, "all", got, a, far, link, b, farther)

	s, err := d.open(t)
	if err != nil {
		t.Fatal(err)
	}
	regions, err := s.Regions(t.Context())
	if want := split.Points([][]byte{[]byte("m")}).Regions(); err != nil || fmt.Sprint(regions) != fmt.Sprint(want) {
		t.Errorf("regions %s, %v, want %s", regions, err, want)
	}
	if v := s.Info().Version; v != "snapshot s of 1700000000000" {
		t.Errorf("version %q", v)
	}
	rows := [][]byte{[]byte("a"), []byte("b"), []byte("z")}
	got, err = read(t, s, table.Query{Rows: slices.Values(rows), Hints: table.Hints{Bounds: split.Region{Start: []byte("a"), End: []byte("z\x00")}}})
	if err != nil {
		t.Fatal(err)
	}
	expect(t, "rows", got, a, farther)
}

// TestAFileMayMove archives a file that is looked for, and one that is gone.
func TestAFileMayMove(t *testing.T) {
	d := newDisk(t)
	r := diskRegion{id: 1, files: []diskFile{{name: "11"}}}
	at := "data/ns/t/" + d.encoded(r) + "/d/11"
	c := put("a", "q", 5, "a")
	d.put(t, at, hfile.Options{}, c)
	d.regions = []diskRegion{r}
	d.take(t, "s")
	s, err := d.open(t)
	if err != nil {
		t.Fatal(err)
	}
	archived := filepath.Join(d.root, "archive", at)
	if err := errors.Join(os.MkdirAll(filepath.Dir(archived), 0o777), os.Rename(filepath.Join(d.root, at), archived)); err != nil {
		t.Fatal(err)
	}
	got, err := read(t, s, table.Query{Ranges: everything})
	if err != nil {
		t.Fatal(err)
	}
	expect(t, "after the move", got, c)
	if err := os.Remove(archived); err != nil {
		t.Fatal(err)
	}
	if s, err = d.open(t); err != nil {
		t.Fatal(err)
	}
	if _, err := read(t, s, table.Query{Ranges: everything}); !errors.Is(err, snapshot.ErrGone) || !strings.Contains(err.Error(), archived) {
		t.Errorf("a file that is gone: %v, want ErrGone and where it was looked for", err)
	}
}

// TestQueriesForServersAreRefused makes queries that only servers support, and opens
// snapshots that are not of the table.
func TestQueriesForServersAreRefused(t *testing.T) {
	tagged := func(typ byte) *cell.Cell {
		c := put("a", "q", 5, "a")
		c.Tags = []byte{0, 2, typ, 1}
		return c
	}
	one := func(c *cell.Cell) func(*testing.T, *disk) {
		return func(t *testing.T, d *disk) {
			r := diskRegion{id: 1, files: []diskFile{{name: "11"}}}
			d.put(t, "data/ns/t/"+d.encoded(r)+"/d/11", hfile.Options{Tags: true}, c)
			d.regions = []diskRegion{r}
		}
	}
	for what, c := range map[string]struct {
		make func(*testing.T, *disk)
		says string
		fit  bool
	}{
		"another table's": {func(_ *testing.T, d *disk) { d.table = "u" }, "of table ns:u", false},
		"old layout":      {func(_ *testing.T, d *disk) { d.layout = 1 }, "its layout is version 1, not 2; take another with a newer HBase", false},
		"no regions":      {func(*testing.T, *disk) {}, "no regions", false},
		"a gap": {func(_ *testing.T, d *disk) {
			d.regions = []diskRegion{{end: "b", id: 1}, {start: "c", id: 1}}
		}, "gap", false},
		"no end":        {func(_ *testing.T, d *disk) { d.regions = []diskRegion{{end: "b", id: 1}} }, "gap", false},
		"large values":  {func(_ *testing.T, d *disk) { d.family = map[string]string{"IS_MOB": "true"} }, "IS_MOB", false},
		"permissions":   {one(tagged(1)), "permissions", false},
		"labels":        {one(tagged(2)), "has visibility labels; read it through the servers: --plan auto", false},
		"a large value": {one(tagged(5)), "large value", false},
		"a wrong tag":   {one(&cell.Cell{Row: []byte("a"), Family: []byte("d"), Type: cell.Put, Tags: []byte{0, 9, 8}}), "tags", true},
		"no type":       {one(&cell.Cell{Row: []byte("a"), Family: []byte("d"), Type: 77}), "type", true},
		"another size": {func(t *testing.T, d *disk) {
			one(put("a", "q", 1, ""))(t, d)
			d.regions[0].files[0].size = 5
		}, "the snapshot says 5", true},
		"no name of a file": {func(_ *testing.T, d *disk) {
			d.regions = []diskRegion{{id: 1, files: []diskFile{{name: "a.b"}}}}
		}, "no name", true},
	} {
		d := newDisk(t)
		c.make(t, d)
		_, err := d.cells(t)
		if err == nil || !strings.Contains(err.Error(), c.says) || errors.Is(err, table.ErrUnfit) == c.fit {
			t.Errorf("%s: %v, want an error that says %q, unfit: %t", what, err, c.says, !c.fit)
		}
	}
	d := newDisk(t)
	if _, err := d.open(t); !errors.Is(err, snapshot.ErrNone) {
		t.Errorf("no snapshot: %v, want ErrNone", err)
	}
}

// TestFilesOfOtherTimesAreLeftOut queries few times. A file of other times is read only if it has
// deletes for these times.
func TestFilesOfOtherTimesAreLeftOut(t *testing.T) {
	a, b, late := put("a", "q", 5, "a"), put("b", "q", 5, "b"), put("c", "q", 100, "c")
	gone := &cell.Cell{Row: []byte("a"), Family: []byte("d"), Qualifier: []byte("q"), Time: 100, Type: cell.DeleteColumn}
	for what, x := range map[string]struct{ later, want []*cell.Cell }{
		"later cells":    {[]*cell.Cell{late}, []*cell.Cell{a, b}},
		"a later delete": {[]*cell.Cell{gone, late}, []*cell.Cell{b, late}},
	} {
		d := newDisk(t)
		r := diskRegion{id: 1, files: []diskFile{{name: "11"}, {name: "22"}}}
		at := "data/ns/t/" + d.encoded(r) + "/d/"
		d.put(t, at+"11", hfile.Options{}, a, b)
		d.put(t, at+"22", hfile.Options{}, x.later...)
		d.regions = []diskRegion{r}
		d.take(t, "s")
		s, err := d.open(t)
		if err != nil {
			t.Fatal(err)
		}
		got, err := read(t, s, table.Query{Ranges: everything, Hints: table.Hints{Times: &layout.Times{First: 4000, Last: 6999}}})
		if err != nil {
			t.Fatal(err)
		}
		expect(t, what, got, x.want...)
	}
}
