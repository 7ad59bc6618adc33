// Package tabletest is the conformance suite of table. Every implementation passes it: a query
// returns exactly the loaded cells that it requests, and a load is visible as a whole or not at
// all. The test of an implementation only calls Run.
//
// The suite writes files, or puts cells, as bulkload does, but with plain loops. It compares
// results with filters over a list of cells. It does not check speed.
package tabletest

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"usertrail/internal/behaviour"
	"usertrail/internal/cell"
	"usertrail/internal/format/layout"
	"usertrail/internal/split"
	"usertrail/internal/store/dfs"
	"usertrail/internal/table"
)

// An Opener returns a store without a table, for one test only. The test creates a table of the layout in
// it. If a table must exist before, the Opener creates it with the settings of the layout's Traits.
type Opener func(t *testing.T, l layout.Layout) table.Store

// A Way is how a load adds cells to a table.
type Way int

// The ways.
const (
	Files Way = iota
	Puts
)

// Run runs the suite with loads of one way. It reads tables of all layouts. Only one table, of the layout
// reversed, goes through all steps of a table's life, because a real cluster needs seconds for each
// table. Tables are independent, so Run calls open concurrently.
func Run(t *testing.T, way Way, open Opener) {
	for _, name := range layout.Names() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, err := layout.ByName(name)
			if err != nil {
				t.Fatal(err)
			}
			w := newWorld(way, open(t, l), l)
			testReads(t, w, w.make(t, 4))
		})
	}
	t.Run("life", func(t *testing.T) {
		t.Parallel()
		testLife(t, newWorld(way, open(t, layout.Reversed{}), layout.Reversed{}))
	})
}

// testLife creates a table, changes it, and kills loads of it. A step leaves the table with
// exactly the rows of w, and the last step leaves killed loads, too. Each step can run alone.
func testLife(t *testing.T, w *world) {
	for _, c := range []struct {
		name string
		test func(*testing.T, *world)
		ways []Way
	}{
		{"a store has one lock", testLock, nil},
		{"bad records and plans are in the catalog", testCatalog, nil},
		{"a table is there once a load is in it", testBirth, nil},
		{"regions are those of the plan", testRegions, nil},
		{"ledgers come back in order", testLedgers, nil},
		{"Read stops where emit does", testScanStops, nil},
		{"Read ends with its context", testScanCancelled, nil},
		{"a table is for many goroutines", testConcurrent, nil},
		{"what was not taken in is not there", testStaged, []Way{Files}},
		{"Recover leaves what was taken in", testRecover, []Way{Files}},
		{"a schema grows with a load", testExtend, nil},
		{"what was begun to be put is remembered", testBegun, []Way{Puts}},
		{"whom a killed load of puts left is named", testKilledPuts, []Way{Puts}},
	} {
		if c.ways == nil || slices.Contains(c.ways, w.way) {
			t.Run(c.name, func(t *testing.T) { c.test(t, w) })
		}
	}
}

// testCatalog compares the folders of a store.
func testCatalog(t *testing.T, w *world) {
	dir := w.store.Catalog()
	for what, got := range map[string]string{
		"bad records": dfs.Dir(dfs.Dir(w.store.Quarantine("2014-09-01/play.csv"))),
		"plans":       dfs.Dir(w.store.Plans()),
	} {
		if got != dir {
			t.Errorf("the folder of %s is in %s, want the catalog %s", what, got, dir)
		}
	}
}

// testReads runs all queries of the suite. They do not change the table.
func testReads(t *testing.T, w *world, from table.Table) {
	for _, c := range []struct {
		name string
		test func(*testing.T, *world, table.Table)
	}{
		{"Read gives every cell of the ranges once", testScan},
		{"Read gives every cell of the rows once", testGet},
		{"Read gives all that a user's query asks for", testQueries},
		{"Read gives what comes newest", testNewest},
		{"Read gives the rows that are like others", testFuzzy},
		{"Read gives what is needed with and without hints", testHints},
		{"Exist finds the rows that are there", testExist},
		{"Users names everybody", testUsers},
		{"Users goes forward to a key", testUsersSeek},
		{"Users come from rows where rolls are not asked", testUnrolled},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(t, w, from) })
	}
}

// A world is a table and its loaded cells.
type world struct {
	way    Way
	store  table.Store
	schema *behaviour.Schema
	layout layout.Layout
	dice   *rand.Rand
	loads  int
	rows   []row // all loaded rows
}

// A row has the cells of one row of one load, and the records of these cells.
type row struct {
	key, user []byte
	records   []behaviour.Record
	cells     []*cell.Cell
}

var (
	firstDay = behaviour.DateOf(2014, 9, 1)
	lastDay  = firstDay + 5
	allDays  = behaviour.Span{From: firstDay, To: lastDay}
)

func newWorld(way Way, s table.Store, l layout.Layout) *world {
	page := behaviour.Kind{ID: 7, Name: "page_view"}
	for i := range 7 {
		page.Fields = append(page.Fields, behaviour.Field{Name: fmt.Sprintf("part_%d", i), Type: behaviour.String})
	}
	return &world{
		way: way, store: s, layout: l, dice: rand.New(rand.NewPCG(7, 7)),
		schema: &behaviour.Schema{Zone: "UTC", Kinds: []behaviour.Kind{
			{ID: 1, Name: "play", Fields: []behaviour.Field{{Name: "title", Type: behaviour.String}, {Name: "titles", Type: behaviour.String}}},
			{ID: 2, Name: "login"},
			page,
		}},
	}
}

// Splits are the split points of the suite's tables. No user has the last key. If the regions of a table are
// created before the suite opens it, they need these split points, too.
var Splits = split.Points{[]byte("2"), []byte("7zz")}

func (w *world) plan() table.Plan {
	return table.Plan{
		Layout: w.layout.Name(), Compression: "snappy", Schema: w.schema,
		Splits: func(context.Context) (split.Points, error) { return Splits, nil },
	}
}

// make creates the table with its first loads, and opens it again.
func (w *world) make(t *testing.T, loads int) table.Loader {
	t.Helper()
	made, err := w.store.New(t.Context(), w.plan())
	if err != nil {
		t.Fatal(err)
	}
	for range loads {
		w.load(t, made, w.drawn(60))
	}
	if err := made.Close(); err != nil {
		t.Fatal(err)
	}
	return w.open(t)
}

// some opens the table. If the table has no load, some creates it.
func (w *world) some(t *testing.T) table.Loader {
	t.Helper()
	if w.loads == 0 {
		return w.make(t, 1)
	}
	return w.open(t)
}

func (w *world) open(t *testing.T) table.Loader {
	t.Helper()
	opened, err := w.store.Open(t.Context())
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

// drawn returns random rows of one load, in order. Users, days and moments repeat from load to load. Column
// IDs repeat on another day or in another behaviour.
func (w *world) drawn(n int) []row {
	w.loads++
	var out []behaviour.Record
	type place struct {
		date behaviour.Date
		kind int
	}
	ids := map[place]int64{}
	for range n {
		at := place{firstDay + behaviour.Date(w.dice.IntN(allDays.Days())), w.dice.IntN(len(w.schema.Kinds))}
		r := behaviour.Record{User: w.anyUser(), Kind: at.kind, Date: at.date, ID: int64(w.loads)<<38 | ids[at]}
		ids[at]++
		r.Time = int64(r.Date)*dayMicros + pick(w, 0, 1, 5_000_000_001, dayMicros-1, w.dice.Int64N(dayMicros))
		for range w.schema.Kinds[r.Kind].Fields {
			r.Values = append(r.Values, pick(w, nil, []byte{}, []byte("value"), bytes.Repeat([]byte("long"), 50)))
		}
		out = append(out, r)
	}
	return w.rowsOf(out)
}

// rowsOf returns the rows of records, in order.
func (w *world) rowsOf(records []behaviour.Record) []row {
	byKey := map[string][]behaviour.Record{}
	for _, r := range records {
		key := string(w.layout.AppendRow(nil, w.schema, &r))
		byKey[key] = append(byKey[key], r)
	}
	var out []row
	for key, some := range byKey {
		out = append(out, w.row([]byte(key), some))
	}
	slices.SortFunc(out, func(a, b row) int { return bytes.Compare(a.key, b.key) })
	return out
}

const dayMicros = 86_400_000_000

func pick[T any](w *world, of ...T) T { return of[w.dice.IntN(len(of))] }

// anyUser returns one of forty users. Each ID is a number of at most six digits. Some IDs are a
// prefix of another ID. The first digits of the IDs differ, and so do the last digits.
func (w *world) anyUser() []byte { return fmt.Appendf(nil, "%d", w.dice.IntN(40)*25641) }

func (w *world) row(key []byte, records []behaviour.Record) row {
	enc := w.layout.Encoder(w.schema, "d")
	slices.SortFunc(records, func(a, b behaviour.Record) int { return cmp.Or(cmp.Compare(a.ID, b.ID), cmp.Compare(a.Time, b.Time)) })
	for i := range records {
		enc.Add(&records[i])
	}
	out := row{key: key, user: w.layout.UserKey(key), records: records}
	// The encoder fails only where emit does.
	_ = enc.Cells(key, func(c *cell.Cell) error { out.cells = append(out.cells, c.Clone()); return nil })
	return out
}

// dayOf returns the day of the record of a cell.
func dayOf(c *cell.Cell) behaviour.Date { return behaviour.DateAt(c.Time*1000, time.UTC) }
