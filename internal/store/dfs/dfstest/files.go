package dfstest

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"maps"
	"strings"
	"sync"
	"testing"

	"usertrail/internal/store/dfs"
)

func (w world) pending(t *testing.T, name, contents string) dfs.Pending {
	t.Helper()
	p, err := w.Create(w.ctx, name)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := io.WriteString(p, contents); err != nil || n != len(contents) {
		t.Fatalf("write %d of %d bytes: %v", n, len(contents), err)
	}
	return p
}

// expect compares everything that can be seen with want.
func (w world) expect(t *testing.T, want map[string]string) {
	t.Helper()
	if got := Snapshot(t, w.FS, w.root); !maps.Equal(got, want) {
		t.Errorf("visible are %q, want %q", got, want)
	}
}

func testVisibility(t *testing.T, w world) {
	name := w.at("day", "part-0")
	p := w.pending(t, name, strings.Repeat("whole ", 200_000)) // more than any buffer
	defer p.Abort()
	if f, err := w.Open(w.ctx, name); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Open before Commit: %v, %v; want fs.ErrNotExist", f, err)
	}
	if _, err := w.Stat(w.ctx, name); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Stat before Commit: %v; want fs.ErrNotExist", err)
	}
	w.expect(t, map[string]string{})
	if err := p.Commit(); err != nil {
		t.Fatal(err)
	}
	w.expect(t, map[string]string{"day/part-0": strings.Repeat("whole ", 200_000)})
}

// testReplace reads a file repeatedly while it is replaced repeatedly. A reader must see one
// version or the other.
func testReplace(t *testing.T, w world) {
	name := w.at("manifest.json")
	versions := []string{strings.Repeat("a", 100_000), strings.Repeat("b", 90_000)}
	write(t, w, name, versions[0])
	var wg sync.WaitGroup
	stop := make(chan struct{})
	wg.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			f, err := w.Open(w.ctx, name)
			if err != nil {
				t.Errorf("a reader meanwhile: %v", err)
				return
			}
			b, err := io.ReadAll(f)
			f.Close()
			if err != nil || string(b) != versions[0] && string(b) != versions[1] {
				t.Errorf("a reader meanwhile saw %d bytes of neither version, %v", len(b), err)
				return
			}
		}
	})
	for i := range 20 {
		write(t, w, name, versions[(i+1)%2])
	}
	close(stop)
	wg.Wait()
	w.expect(t, map[string]string{"manifest.json": versions[0]})
}

// testCreateNew creates a file that must not exist: first where it does not, then where
// another file was created in the meantime, by both methods.
func testCreateNew(t *testing.T, w world) {
	name := w.at("loads", "000001.json")
	begin := func(text string) dfs.Pending {
		p, err := w.CreateNew(w.ctx, name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(p, text); err != nil {
			t.Fatal(err)
		}
		return p
	}
	first, second, given := begin("first"), begin("second"), begin("given up")
	given.Abort()
	w.expect(t, map[string]string{})
	if err := first.Commit(); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := second.Commit(); !errors.Is(err, fs.ErrExist) {
			t.Errorf("Commit of the second: %v, want fs.ErrExist", err)
		}
	}
	if err := begin("third").Commit(); !errors.Is(err, fs.ErrExist) {
		t.Errorf("Commit of the third: %v, want fs.ErrExist", err)
	}
	w.expect(t, map[string]string{"loads/000001.json": "first"})
	write(t, w, name, "replaced")
	w.expect(t, map[string]string{"loads/000001.json": "replaced"})
}

func testIdempotence(t *testing.T, w world) {
	p := w.pending(t, w.at("kept"), "once")
	for i := range 3 {
		if err := p.Commit(); err != nil {
			t.Errorf("Commit %d: %v", i, err)
		}
	}
	p.Abort()
	p.Abort()
	if n, err := p.Write([]byte("late")); err == nil {
		t.Errorf("Write after Commit took %d bytes", n)
	}
	w.expect(t, map[string]string{"kept": "once"})
}

func testAbort(t *testing.T, w world) {
	write(t, w, w.at("file"), "before")
	p := w.pending(t, w.at("file"), "thrown away")
	p.Abort()
	p.Abort()
	if err := p.Commit(); err == nil {
		t.Error("Commit after Abort says that it is committed")
	}
	if _, err := p.Write([]byte("late")); err == nil {
		t.Error("Write after Abort says that it has written")
	}
	w.expect(t, map[string]string{"file": "before"})
}

func testScratch(t *testing.T, w world) {
	for _, name := range []string{w.at("tmp", "run-0"), w.at("tmp", "run-1")} {
		p, err := w.Scratch(w.ctx, name)
		if err != nil {
			t.Fatal(err)
		}
		defer p.Abort()
		if _, err := io.WriteString(p, "sorted"); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Stat(w.ctx, name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("Stat before Commit: %v; want fs.ErrNotExist", err)
		}
		if name == w.at("tmp", "run-1") {
			p.Abort()
			continue
		}
		if err := p.Commit(); err != nil {
			t.Fatal(err)
		}
	}
	w.expect(t, map[string]string{"tmp/run-0": "sorted"})
}

func testCreateDirs(t *testing.T, w world) {
	write(t, w, w.at("a", "b", "c", "file"), "deep")
	w.expect(t, map[string]string{"a/b/c/file": "deep"})
}

func testCreateOverDir(t *testing.T, w world) {
	write(t, w, w.at("dir", "file"), "inside")
	for _, name := range []string{w.at("dir"), w.at("dir") + "/", w.at("new") + "/"} {
		p, err := w.Create(w.ctx, name)
		if err == nil {
			defer p.Abort()
			err = p.Commit()
		}
		if err == nil {
			t.Errorf("a file was created as %s", name)
		}
	}
	w.expect(t, map[string]string{"dir/file": "inside"})
	if in, err := w.Stat(w.ctx, w.at("new")); err == nil {
		t.Errorf("a name that ends in a slash made %+v", in)
	}
}

func testEmptyFile(t *testing.T, w world) {
	write(t, w, w.at("_SUCCESS"), "")
	w.expect(t, map[string]string{"_SUCCESS": ""})
	f, err := w.Open(w.ctx, w.at("_SUCCESS"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if n, err := f.ReadAt(make([]byte, 1), 0); n != 0 || err != io.EOF {
		t.Errorf("ReadAt gave %d, %v; want 0, EOF", n, err)
	}
}

// pattern returns bytes without repeated pieces.
func pattern(n int) []byte {
	b := make([]byte, n)
	x := uint32(1)
	for i := range b {
		x ^= x << 13
		x ^= x >> 17
		x ^= x << 5
		b[i] = byte(x)
	}
	return b
}

func testBigFile(t *testing.T, w world) {
	want := pattern(20<<20 + 7)
	p, err := w.Create(w.ctx, w.at("big"))
	if err != nil {
		t.Fatal(err)
	}
	defer p.Abort()
	for rest, size := want, 1; len(rest) > 0; size = size*3 + 1 { // small pieces, then large ones
		size = min(size, len(rest))
		if n, err := p.Write(rest[:size]); n != size || err != nil {
			t.Fatalf("wrote %d of %d: %v", n, size, err)
		}
		rest = rest[size:]
	}
	if err := p.Commit(); err != nil {
		t.Fatal(err)
	}
	f, err := w.Open(w.ctx, w.at("big"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if f.Size() != int64(len(want)) {
		t.Errorf("size %d, want %d", f.Size(), len(want))
	}
	if got, err := io.ReadAll(f); err != nil || !bytes.Equal(got, want) {
		t.Errorf("read %d bytes that are not those written, %v", len(got), err)
	}
}

func testReadAt(t *testing.T, w world) {
	want := pattern(1 << 20)
	write(t, w, w.at("file"), string(want))
	f, err := w.Open(w.ctx, w.at("file"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			b := make([]byte, 5000)
			for i := range 100 {
				off := (g*7919 + i*104729) % (len(want) - len(b))
				n, err := f.ReadAt(b, int64(off))
				if n != len(b) || err != nil || !bytes.Equal(b, want[off:off+n]) {
					t.Errorf("ReadAt %d gave %d bytes, %v, or not those written", off, n, err)
					return
				}
			}
		})
	}
	wg.Wait()
	b := make([]byte, 10)
	if n, err := f.ReadAt(b, int64(len(want)-4)); n != 4 || err != io.EOF {
		t.Errorf("ReadAt over the end gave %d, %v; want 4, EOF", n, err)
	}
	// ReadAt does not move Read.
	if n, err := io.ReadFull(f, b); err != nil || !bytes.Equal(b, want[:10]) {
		t.Errorf("Read after ReadAt gave %x (%d, %v), want the beginning", b, n, err)
	}
}

func testNames(t *testing.T, w world) {
	want := map[string]string{}
	for _, name := range []string{
		"with blanks/two  blanks .csv",
		"节目/播放 2014-09-01.csv",
		"emoji 👩‍👩‍👧/é.txt",
		"e\u0301 combining",
		"percent%20encoded",
		"plus+and&more;even=this",
		`quote"and'apostrophe`,
		"back\\slash",
		".hidden",
		".almost.tmp",
		".almost.0123456789abcde.tmp",
		"0123456789abcdef.tmp",
		"-dash",
		"#hash?question",
		strings.Repeat("long", 63) + ".gz", // 255 bytes, the limit of most file systems
	} {
		write(t, w, w.at(name), "contents of "+name)
		want[name] = "contents of " + name
	}
	if name := "colon:port"; !w.NoColon {
		write(t, w, w.at(name), "contents of "+name)
		want[name] = "contents of " + name
	} else if _, err := w.Create(w.ctx, w.at(name)); !errors.Is(err, fs.ErrInvalid) {
		t.Errorf("Create of %s: %v, want fs.ErrInvalid", name, err)
	}
	w.expect(t, want)
}
