package convert_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"usertrail/internal/behaviour"
	"usertrail/internal/bulkload/convert"
	"usertrail/internal/bulkload/replay"
	"usertrail/internal/bulkload/upkeep"
	"usertrail/internal/format/layout"
	"usertrail/internal/format/manifest"
	"usertrail/internal/table"
	"usertrail/internal/tally"
	"usertrail/internal/test/testkit"
	"usertrail/internal/test/testtable"
	"usertrail/internal/test/testworld"
)

// layouts returns the names of all layouts, and of one layout with another size.
func layouts() []string { return append(layout.Names(), "fixed/8") }

// place returns the path of a table's folder.
func place(parts ...string) string {
	return strings.ReplaceAll(strings.Join(parts, "-"), "/", "")
}

func (h *fixture) conversion(from, to, out string) convert.Config {
	return convert.Config{
		FS: h.FS, From: h.Store(from), Out: h.Store(out), Layout: to,
		Temp: filepath.Join(h.Dir, "sorted-"+out), Workers: 2, Memory: 8 << 20,
	}
}

// convert converts a table into another one.
func (h *fixture) convert(t testing.TB, from, to, out string) convert.Result {
	t.Helper()
	r, err := convert.Run(t.Context(), h.conversion(from, to, out))
	if err != nil {
		t.Fatalf("%s to %s: %v", from, to, err)
	}
	return r
}

// A past describes the history of a table: loads, merged files, bad records that were corrected
// and replayed, and dropped days.
type past struct {
	nights   [][]testworld.File
	compact  []bool // whether a compact follows each night
	bad      testworld.File
	drop     behaviour.Date // the first date of the world for no drop
	corrects int            // the night after which the bad record is replayed
}

func (h *fixture) draw(dice *rand.Rand) past {
	n := 4
	p := past{nights: make([][]testworld.File, n), compact: make([]bool, n), corrects: 1 + dice.IntN(2), drop: h.w.Span.From + behaviour.Date(dice.IntN(3))}
	for i, f := range h.w.Files {
		if i > 0 {
			i = dice.IntN(n)
		}
		p.nights[i] = append(p.nights[i], f)
	}
	for i := range p.compact {
		p.compact[i] = dice.IntN(2) == 0
	}
	day := h.w.Span.To
	p.bad = testworld.File{Name: fmt.Sprintf("%s/play.bad.csv", day), Text: fmt.Appendf(nil, "who,when,title,seconds\n10,%s 12:00:00,again,many\n10,%s 12:00:01,good,1\n", day, day)}
	p.nights[0] = append(p.nights[0], p.bad)
	return p
}

// live loads all nights of a past but the last one into tables of several layouts.
func (h *fixture) live(t testing.TB, p past, names []string) {
	t.Helper()
	for night, list := range p.nights[:len(p.nights)-1] {
		h.Deliver(t, list...)
		for _, name := range names {
			h.load(t, place(name), name)
			if night == p.corrects {
				h.replay(t, place(name), name, p.bad)
			}
			cfg := upkeep.Config{FS: h.FS, Store: h.Store(place(name)), Workers: 2, Memory: 8 << 20}
			if p.compact[night] {
				if _, err := upkeep.Compact(t.Context(), cfg); err != nil && !isNothing(err) {
					t.Fatal(err)
				}
			}
			if night == 1 && p.drop > h.w.Span.From {
				if _, err := upkeep.Drop(t.Context(), cfg, p.drop); err != nil && !isNothing(err) {
					t.Fatal(err)
				}
			}
		}
	}
}

// replay loads a bad record after its correction.
func (h *fixture) replay(t testing.TB, name, l string, f testworld.File) {
	t.Helper()
	quarantine := h.Store(name).Quarantine(f.Name)
	b, err := os.ReadFile(quarantine)
	if err != nil {
		t.Fatal(err)
	}
	testkit.WriteFile(t, quarantine, strings.ReplaceAll(string(b), "many", "7"))
	cfg := h.config(name, l)
	if r, err := replay.Run(t.Context(), replay.Config{Resources: cfg.Resources, Job: cfg.Job}, quarantine); err != nil || r.Loaded != 1 {
		t.Fatalf("replay: %+v, %v", r.Counts, err)
	}
}

// TestEveryLayoutBecomesEveryOther converts tables with a past into every other layout. Each
// new table holds the cells in its ledgers. Extracts from it have the same results as extracts
// from the old table, before and after one more night. After a conversion back, the table has
// the original cells.
func TestEveryLayoutBecomesEveryOther(t *testing.T) {
	for _, seed := range testkit.Seeds(t, 1, 2) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			h := newFixture(t, testworld.Numbered(seed, 8))
			dice := rand.New(rand.NewPCG(seed, 1))
			p := h.draw(dice)
			h.live(t, p, layouts())
			results := h.results(t, place("reversed"))
			for _, from := range layouts() {
				before := h.lasting(t, place(from))
				for _, to := range layouts() {
					if from != to {
						h.there(t, from, to, results)
					}
				}
				if !maps.Equal(h.lasting(t, place(from)), before) {
					t.Errorf("%s is not as it was", from)
				}
			}
			last := layouts()[dice.IntN(len(layouts()))]
			h.backAgain(t, last)
			h.oneMoreNight(t, p)
		})
	}
}

// there converts a table and checks the new table.
func (h *fixture) there(t *testing.T, from, to string, results []map[string]string) {
	t.Helper()
	out := place(from, "to", to)
	r := h.convert(t, place(from), to, out)
	a, b := h.Opened(t, place(from)), h.Opened(t, out)
	var records int64
	for _, f := range a.Files() {
		records += f.Records
	}
	if r.Records != records || r.Files != len(b.Files()) || r.Loads != len(a.Manifest().Loads) {
		t.Errorf("%s to %s: %+v, want %d records in %d files of %d loads", from, to, r, records, len(b.Files()), len(a.Manifest().Loads))
	}
	h.Verified(t, out, out)
	for i, got := range h.results(t, out) {
		if !maps.Equal(got, results[i]) {
			t.Errorf("%s to %s: query %d has another result", from, to, i)
		}
	}
	for name, text := range h.lasting(t, place(from)) {
		if strings.HasPrefix(name, "quarantine/") && h.lasting(t, out)[name] != text {
			t.Errorf("%s to %s: %s is not as it was", from, to, name)
		}
	}
}

// results returns the results of several queries on a table.
func (h *fixture) results(t testing.TB, name string) []map[string]string {
	t.Helper()
	opened := h.Opened(t, name)
	var out []map[string]string
	for _, q := range append(h.w.Queries(h.w.Seed, 2), testworld.Query{Kinds: h.w.Names(), Span: h.w.Span, Active: "any"}) {
		got, err := testtable.Ask(t.Context(), t, opened, q)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		out = append(out, got)
	}
	return out
}

// backAgain converts tables back into their original layout. For each load and day it compares
// the cells with the original cells.
func (h *fixture) backAgain(t *testing.T, from string) {
	t.Helper()
	want := h.days(t, place(from))
	for _, by := range layouts() {
		if by == from {
			continue
		}
		out := place(from, "by", by)
		h.convert(t, place(from, "to", by), from, out)
		h.Verified(t, out, out)
		if got := h.days(t, out); !slices.Equal(got, want) {
			t.Errorf("%s by way of %s is of other cells", from, by)
		}
	}
}

// days returns the days of all loads of a table, and a day with the sum of its files.
func (h *fixture) days(t testing.TB, name string) []manifest.Day {
	t.Helper()
	opened := h.Opened(t, name)
	ledgers, err := table.Ledgers(t.Context(), opened)
	if err != nil {
		t.Fatal(err)
	}
	var out []manifest.Day
	for _, l := range ledgers {
		out = append(out, l.Days...)
	}
	var all tally.Tally
	for _, f := range opened.Files() {
		all.Add(f.Tally)
	}
	return append(out, manifest.Day{Tally: all})
}

// oneMoreNight loads the last night into all tables.
func (h *fixture) oneMoreNight(t *testing.T, p past) {
	t.Helper()
	h.Deliver(t, p.nights[len(p.nights)-1]...)
	h.load(t, place("reversed"), "reversed")
	want := h.results(t, place("reversed"))
	for _, from := range layouts() {
		for _, to := range layouts() {
			out := place(from, "to", to)
			if from == to || (from != "reversed" && to != "reversed") {
				continue
			}
			h.load(t, out, to)
			h.Verified(t, "one more night in "+out, out)
			for i, got := range h.results(t, out) {
				if !maps.Equal(got, want[i]) {
					t.Errorf("one more night in %s: query %d has another result", out, i)
				}
			}
			if r, err := h.loads(t.Context(), out, to); !isNothing(err) {
				t.Errorf("again one more night in %s: %+v, %v", out, r.Counts, err)
			}
		}
	}
}
