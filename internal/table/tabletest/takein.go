package tabletest

import (
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"reflect"
	"slices"
	"testing"

	"usertrail/internal/behaviour"
	"usertrail/internal/format/manifest"
	"usertrail/internal/split"
	"usertrail/internal/store/dfs"
	"usertrail/internal/table"
)

func testBirth(t *testing.T, w *world) {
	if _, err := w.store.Open(t.Context()); !errors.Is(err, table.ErrNoTable) {
		t.Fatalf("an empty place: %v, want ErrNoTable", err)
	}
	lock, err := w.store.Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Unlock()
	made, err := w.store.New(t.Context(), w.plan())
	if err != nil {
		t.Fatal(err)
	}
	if n := made.NextLoad(); n != 1 {
		t.Errorf("the first load is number %d, want 1", n)
	}
	if loads, err := table.Ledgers(t.Context(), made); err != nil || len(loads) != 0 {
		t.Errorf("a new table has %d ledgers, %v", len(loads), err)
	}
	rows := w.drawn(20)
	ledger, files := w.bring(t, made, rows)
	if _, err := w.store.Open(t.Context()); !errors.Is(err, table.ErrNoTable) {
		t.Errorf("before its first load is taken in: %v, want ErrNoTable", err)
	}
	w.takeIn(t, made, rows, ledger, files)
	if err := made.Close(); err != nil {
		t.Error(err)
	}
	info := w.open(t).Info()
	if info.Layout.Name() != w.layout.Name() || !reflect.DeepEqual(info.Schema, w.schema) || info.Address != w.store.Address() {
		t.Errorf("the table is %+v", info)
	}
}

func testRegions(t *testing.T, w *world) {
	got, err := w.some(t).Regions(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if want := Splits.Regions(); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("regions are %s, want %s", got, want)
	}
}

// testStaged stages files of a load that is never committed. The files change no result, and a sweep
// removes them.
func testStaged(t *testing.T, w *world) {
	from := w.stager(t, w.some(t))
	all, next := w.cells(every), from.NextLoad()
	_, staged := w.stage(t, from, w.drawn(60))
	again := w.stager(t, w.open(t))
	expect(t, "with a staged load", scan(t, again, everything()), all, all)
	if loads, err := table.Ledgers(t.Context(), again); err != nil || len(loads) != next-1 || again.NextLoad() != next {
		t.Errorf("%d ledgers, next load %d, %v; want %d, %d", len(loads), again.NextLoad(), err, next-1, next)
	}
	recovered(t, again)
	for _, f := range staged {
		if in, err := again.Staged(t.Context(), f.Name); !errors.Is(err, iofs.ErrNotExist) {
			t.Errorf("%s is there after Recover: %v", f.Name, err)
			if err == nil {
				in.Close()
			}
		}
	}
}

// recovered calls Recover, which has no load to finish.
func recovered(t *testing.T, l table.Loader) {
	t.Helper()
	finished, err := l.Recover(t.Context())
	if err != nil || len(finished) != 0 {
		t.Fatalf("Recover finished %d loads, %v; want none", len(finished), err)
	}
}

func testRecover(t *testing.T, w *world) {
	from := w.stager(t, w.some(t))
	p, err := from.Stage(t.Context(), from.FileName(from.NextLoad(), 0))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(p, "what a killed load was writing"); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		recovered(t, from)
	}
	p.Abort()
	all := w.cells(every)
	expect(t, "after Recover", scan(t, w.open(t), everything()), all, all)
	if got, _ := walk(t, w.open(t), split.Region{}, allDays); len(got) != len(w.did(split.Region{}, allDays)) {
		t.Errorf("after Recover there are %d users, want %d", len(got), len(w.did(split.Region{}, allDays)))
	}
}

// testBegun puts the cells of files. The table lists the files from Begin until a ledger has them. A second
// put of the same cells changes nothing.
func testBegun(t *testing.T, w *world) {
	made := w.putter(t, w.some(t))
	begun := func(l table.Loader) []string {
		list, err := l.(table.Putter).Begun(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var paths []string
		for _, in := range list {
			paths = append(paths, in.Path)
		}
		slices.Sort(paths)
		return paths
	}
	if got := begun(made); len(got) != 0 {
		t.Errorf("after a load that ended %q are begun", got)
	}
	other := manifest.Input{Path: "other", Number: 77}
	if err := made.Begin(t.Context(), []manifest.Input{other}, nil); err != nil {
		t.Fatal(err)
	}
	rows := w.drawn(30)
	ledger, _ := w.bring(t, made, rows)
	again := w.open(t)
	if got, want := begun(again), []string{ledger.Inputs[0].Path, "other"}; !slices.Equal(got, want) {
		t.Errorf("%q are begun, want %q", got, want)
	}
	ledger, files := w.bring(t, again, rows)
	w.takeIn(t, again, rows, ledger, files)
	if got := begun(again); !slices.Equal(got, []string{"other"}) {
		t.Errorf("after the load %q are begun, want the other file", got)
	}
	all := w.cells(every)
	expect(t, "put twice", scan(t, w.open(t), everything()), all, all)
	last := w.open(t)
	ended := &manifest.Load{Version: manifest.Version, Number: last.NextLoad(), Inputs: []manifest.Input{other}}
	if err := last.TakeIn(t.Context(), ended, nil); err != nil {
		t.Fatal(err)
	}
	if got := begun(last); len(got) != 0 {
		t.Errorf("after a load of the other file %q are begun", got)
	}
}

// testKilledPuts kills loads of puts. The table names the users of a killed load at once, with or without a
// roll of the load. It still names them when other loads have ended.
func testKilledPuts(t *testing.T, w *world) {
	to := w.putter(t, w.some(t))
	rows := w.drawn(40)
	half := rows[:len(rows)/2]
	who := entriesOf(rows)
	f := manifest.File{Roll: to.RollName(99), Span: spanOf(rows), First: who[0].user, Last: who[len(who)-1].user}
	f.Users = w.writeRoll(t, to, f.Roll, f.Span, rows)
	if err := to.Begin(t.Context(), []manifest.Input{{Path: "half", Number: 70}}, &f); err != nil {
		t.Fatal(err)
	}
	w.putCells(t, to, half)
	w.rows = append(w.rows, half...)
	w.namesAll(t, "a load that left its roll")

	w.load(t, to, w.drawn(20))
	if _, err := to.Recover(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.namesAll(t, "a load that ended after it")

	if err := to.Begin(t.Context(), []manifest.Input{{Path: "unrolled", Number: 71}}, nil); err != nil {
		t.Fatal(err)
	}
	more := w.drawn(20)
	w.putCells(t, to, more)
	w.rows = append(w.rows, more...)
	w.namesAll(t, "a load that left no roll")
}

// namesAll fails unless the table names all users that have cells.
func (w *world) namesAll(t *testing.T, after string) {
	t.Helper()
	got, _ := walk(t, w.open(t), split.Region{}, allDays)
	for key, did := range w.did(split.Region{}, allDays) {
		if got[key].And(did) != did {
			t.Errorf("after %s user %q did %v, want at least %v", after, key, got[key], did)
		}
	}
}

// testLedgers loads three times. The ledgers of these loads follow the ledgers that the table has.
func testLedgers(t *testing.T, w *world) {
	made := w.some(t)
	want, err := table.Ledgers(t.Context(), made)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		want = append(want, w.load(t, made, w.drawn(30)))
	}
	// A load of empty files has a ledger, too.
	empty := &manifest.Load{Version: manifest.Version, Number: made.NextLoad(), Inputs: []manifest.Input{{Path: "empty"}}}
	if err := made.TakeIn(t.Context(), empty, nil); err != nil {
		t.Fatal(err)
	}
	want = append(want, empty)
	again := w.open(t)
	for _, l := range []table.Loader{made, again} {
		got, err := table.Ledgers(t.Context(), l)
		if err != nil || len(got) != len(want) || l.NextLoad() != len(want)+1 {
			t.Fatalf("%d ledgers, next load %d, %v; want %d", len(got), l.NextLoad(), err, len(want))
		}
		for i := range want {
			if !slices.EqualFunc(got[i].Inputs, want[i].Inputs, func(a, b manifest.Input) bool { return reflect.DeepEqual(a, b) }) || got[i].Number != i+1 {
				t.Errorf("ledger %d is %+v, want %+v", i, got[i], want[i])
			}
		}
	}
}

// testExtend adds a behaviour and a field. The table refuses another type of a field, and another name of an
// ID.
func testExtend(t *testing.T, w *world) {
	to := w.some(t)
	more := &behaviour.Schema{Zone: "UTC", Kinds: []behaviour.Kind{
		{ID: 1, Name: "play", Fields: []behaviour.Field{{Name: "seconds", Type: behaviour.Int64}}},
		{ID: 9, Name: "order"},
	}}
	if err := to.Extend(more); err != nil {
		t.Fatal(err)
	}
	if kinds := w.open(t).Info().Schema.Kinds; len(kinds) != len(w.schema.Kinds) {
		t.Errorf("before the next load the table has %d behaviours, want %d", len(kinds), len(w.schema.Kinds))
	}
	w.load(t, to, w.drawn(30))
	again := w.open(t)
	s := again.Info().Schema
	if len(s.Kinds) != len(w.schema.Kinds)+1 || len(s.Kinds[0].Fields) != 3 {
		t.Errorf("the schema is %+v, want a behaviour more, and 3 fields of play", s)
	}
	all := w.cells(every)
	expect(t, "both loads", scan(t, again, everything()), all, all)
	for _, wrong := range []behaviour.Kind{{ID: 1, Name: "pray"}, {ID: 5, Name: "play"}, {ID: 1, Name: "play", Fields: []behaviour.Field{{Name: "title", Type: behaviour.Bool}}}} {
		if err := again.Extend(&behaviour.Schema{Zone: "UTC", Kinds: []behaviour.Kind{wrong}}); err == nil {
			t.Errorf("%+v was taken into the schema", wrong)
		}
	}
}

func testLock(t *testing.T, w *world) {
	lock, err := w.store.Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.store.Lock(t.Context()); !errors.Is(err, dfs.ErrLocked) {
		t.Errorf("a second lock: %v, want ErrLocked", err)
	}
	if err := lock.Unlock(); err != nil {
		t.Fatal(err)
	}
	if lock, err = w.store.Lock(t.Context()); err != nil {
		t.Fatalf("after Unlock: %v", err)
	}
	if err := lock.Unlock(); err != nil {
		t.Fatal(err)
	}
}
