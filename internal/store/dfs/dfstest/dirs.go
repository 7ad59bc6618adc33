package dfstest

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"testing"

	"usertrail/internal/store/dfs"
)

func testStat(t *testing.T, w world) {
	write(t, w, w.at("dir", "file"), "12345")
	in, err := w.Stat(w.ctx, w.at("dir", "file"))
	if err != nil || in.Name != w.at("dir", "file") || in.Size != 5 || in.Dir || in.Modified.IsZero() {
		t.Errorf("a file is %+v, %v", in, err)
	}
	in, err = w.Stat(w.ctx, w.at("dir"))
	if err != nil || in.Name != w.at("dir") || in.Size != 0 || !in.Dir {
		t.Errorf("a directory is %+v, %v", in, err)
	}
}

func testListOrder(t *testing.T, w world) {
	var want []string
	for _, name := range []string{"b", "a", "B", "a.b", "a-b", "é", "中", "10", "9", "_SUCCESS", ".hidden"} {
		write(t, w, w.at("dir", name), name)
		want = append(want, w.at("dir", name))
	}
	write(t, w, w.at("dir", "a,b", "not this"), "")
	want = append(want, w.at("dir", "a,b"))
	slices.Sort(want)
	infos, err := w.List(w.ctx, w.at("dir"))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, in := range infos {
		got = append(got, in.Name)
		base := strings.TrimPrefix(in.Name, w.at("dir")+"/")
		if dir := base == "a,b"; in.Dir != dir || !dir && in.Size != int64(len(base)) {
			t.Errorf("%s is listed as %+v", base, in)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("listed %q, want %q", got, want)
	}
	if infos, err := w.List(w.ctx, w.at("dir")+"/"); err != nil || len(infos) != len(want) || infos[0].Name != want[0] {
		t.Errorf("with a slash at its end: %+v, %v", infos, err)
	}
}

func testListHides(t *testing.T, w world) {
	write(t, w, w.at("seen"), "")
	for _, name := range []string{"unseen", "seen", strings.Repeat("long", 63) + ".gz"} {
		p := w.pending(t, w.at(name), "half")
		defer p.Abort()
	}
	w.expect(t, map[string]string{"seen": ""})
}

func testListFile(t *testing.T, w world) {
	write(t, w, w.at("file"), "")
	if infos, err := w.List(w.ctx, w.at("file")); !errors.Is(err, dfs.ErrNotDir) {
		t.Errorf("List of a file gave %v, %v; want dfs.ErrNotDir", infos, err)
	}
	if err := w.Mkdir(w.ctx, w.at("file", "below")); !errors.Is(err, dfs.ErrNotDir) {
		t.Errorf("Mkdir below a file: %v; want dfs.ErrNotDir", err)
	}
	write(t, w, w.at("dir", "file"), "")
	if f, err := w.Open(w.ctx, w.at("dir")); err == nil {
		f.Close()
		t.Error("a directory can be opened as a file")
	}
}

func testMkdir(t *testing.T, w world) {
	for range 2 {
		if err := w.Mkdir(w.ctx, w.at("a", "b", "c")); err != nil {
			t.Fatal(err)
		}
	}
	if in, err := w.Stat(w.ctx, w.at("a", "b", "c")); err != nil || !in.Dir {
		t.Errorf("got %+v, %v; want a directory", in, err)
	}
	if infos, err := w.List(w.ctx, w.at("a", "b", "c")); err != nil || len(infos) != 0 {
		t.Errorf("a new directory lists %v, %v", infos, err)
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if err := w.Mkdir(w.ctx, w.at("x", "y", "z")); err != nil {
				t.Errorf("one of many: %v", err)
			}
		})
	}
	wg.Wait()
}

func testPublish(t *testing.T, w world) {
	write(t, w, w.at("work", "part-0"), "0")
	write(t, w, w.at("work", "deep", "part-1"), "1")
	if err := w.Publish(w.ctx, w.at("work"), w.at("out")); err != nil {
		t.Fatal(err)
	}
	w.expect(t, map[string]string{"out/part-0": "0", "out/deep/part-1": "1"})
	if _, err := w.Stat(w.ctx, w.at("work")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the old name: %v, want fs.ErrNotExist", err)
	}
	if err := w.Publish(w.ctx, w.at("out")+"/", w.at("again")+"/"); err != nil {
		t.Errorf("names with a slash at their end: %v", err)
	}
	if err := w.Publish(w.ctx, w.at("nothing"), w.at("new")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Publish of nothing: %v, want fs.ErrNotExist", err)
	}
}

func testPublishFile(t *testing.T, w world) {
	write(t, w, w.at("a"), "first")
	write(t, w, w.at("b"), "second")
	if err := w.Publish(w.ctx, w.at("a"), w.at("out")); err != nil {
		t.Fatal(err)
	}
	if err := w.Publish(w.ctx, w.at("b"), w.at("out")); !errors.Is(err, fs.ErrExist) {
		t.Errorf("the second: %v, want fs.ErrExist", err)
	}
	w.expect(t, map[string]string{"out": "first", "b": "second"})
}

func testPublishTaken(t *testing.T, w world) {
	write(t, w, w.at("work", "new"), "new")
	write(t, w, w.at("full", "old"), "old")
	write(t, w, w.at("file"), "old")
	if err := w.Mkdir(w.ctx, w.at("empty")); err != nil {
		t.Fatal(err)
	}
	before := Snapshot(t, w.FS, w.root)
	for _, to := range []string{"full", "file", "empty", "work"} {
		if err := w.Publish(w.ctx, w.at("work"), w.at(to)); !errors.Is(err, fs.ErrExist) {
			t.Errorf("Publish over %s: %v, want fs.ErrExist", to, err)
		}
		w.expect(t, before)
	}
}

func testPublishRace(t *testing.T, w world) {
	for round := range 10 {
		to := w.at("out", fmt.Sprint(round))
		const publishers = 8
		for i := range publishers {
			write(t, w, w.at(fmt.Sprint("work", i), "who"), fmt.Sprint(i))
		}
		if err := w.Mkdir(w.ctx, w.at("out")); err != nil {
			t.Fatal(err)
		}
		errs := make([]error, publishers)
		var wg sync.WaitGroup
		for i := range publishers {
			wg.Go(func() { errs[i] = w.Publish(w.ctx, w.at(fmt.Sprint("work", i)), to) })
		}
		wg.Wait()
		var winners []string
		for i, err := range errs {
			switch {
			case err == nil:
				winners = append(winners, fmt.Sprint(i))
			case !errors.Is(err, fs.ErrExist):
				t.Errorf("a publisher that came second: %v, want fs.ErrExist", err)
			case read(t, w, w.at(fmt.Sprint("work", i), "who")) != fmt.Sprint(i):
				t.Errorf("a publisher that came second lost its files")
			}
		}
		if len(winners) != 1 || read(t, w, to+"/who") != winners[0] {
			t.Fatalf("published by %v, there is what %s wrote; want one", winners, read(t, w, to+"/who"))
		}
	}
}

func testRemove(t *testing.T, w world) {
	write(t, w, w.at("dir", "deep", "file"), "")
	write(t, w, w.at("dir", "file"), "")
	write(t, w, w.at("kept"), "kept")
	for range 2 { // the second time it does not exist, and that is not an error
		if err := w.Remove(w.ctx, w.at("dir")); err != nil {
			t.Error(err)
		}
	}
	w.expect(t, map[string]string{"kept": "kept"})
	if err := w.Remove(w.ctx, w.at("kept")); err != nil {
		t.Error(err)
	}
	w.expect(t, map[string]string{})
}

// testSweep leaves pending files as a dying process leaves them: neither committed nor
// aborted.
func testSweep(t *testing.T, w world) {
	write(t, w, w.at("table", "region", "kept"), "kept")
	write(t, w, w.at("table", ".kept.tmp"), "kept")
	dying := FaultAt(w.FS, 6, Dead) // after three calls each of Create and Write
	for _, name := range []string{"a", "region/b", "region/deep/c"} {
		p, err := dying.Create(w.ctx, w.at("table", name))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Write(pattern(300_000)); err != nil {
			t.Fatal(err)
		}
		defer p.Abort() // the disk is dead by then, so nothing happens
	}
	if err := dying.Mkdir(w.ctx, w.at("table")); !errors.Is(err, ErrInjected) {
		t.Fatalf("the disk lives: %v", err)
	}
	outside := w.pending(t, w.at("elsewhere"), "still being written")
	for range 2 {
		if err := w.Sweep(w.ctx, w.at("table")); err != nil {
			t.Fatal(err)
		}
	}
	if err := outside.Commit(); err != nil {
		t.Errorf("a pending file outside was swept: %v", err)
	}
	w.expect(t, map[string]string{"table/region/kept": "kept", "table/.kept.tmp": "kept", "elsewhere": "still being written"})
	if err := w.Sweep(w.ctx, w.at("not there")); err != nil {
		t.Errorf("Sweep of nothing: %v", err)
	}
	inside, below := w.pending(t, w.at("table", "work", "a"), "still being written"), w.pending(t, w.at("table", "work", "deep", "b"), "this too")
	if err := w.Sweep(w.ctx, w.at("table"), w.at("table", "work"), w.at("table", "not there")); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(inside.Commit(), below.Commit()); err != nil {
		t.Errorf("Sweep swept a folder that it was not to touch: %v", err)
	}
}
