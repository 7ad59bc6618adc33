package record

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// windowed returns a zstd file of frames. Each window is the window of a frame of text in bytes.
func windowed(t *testing.T, text string, windows ...int) []byte {
	t.Helper()
	var b bytes.Buffer
	for _, n := range windows {
		w, err := zstd.NewWriter(&b, zstd.WithWindowSize(n))
		if err != nil {
			t.Fatal(err)
		}
		writeAll(t, w, text)
	}
	return b.Bytes()
}

// TestWindows reads zstd files whose windows are too large for the memory, also in a later frame. With more memory,
// they are read whole. Their memory is known before.
func TestWindows(t *testing.T) {
	const window = 1 << 20
	text := manyPlays(30_000)
	if len(text) <= window {
		t.Fatalf("the text of %d bytes fits into the window", len(text))
	}
	for _, windows := range [][]int{{window}, {window / 4, window}} {
		data := windowed(t, text, windows...)
		f := plays()
		f.Window = window / 2
		_, err := readAll(bytes.NewReader(data), playFile("day/a.csv.zst"), f, 1<<16)
		if !errors.Is(err, ErrWindow) || !errors.Is(err, ErrLarge) || errors.Is(err, ErrCompressed) || !strings.Contains(err.Error(), "day/a.csv.zst") || !strings.Contains(err.Error(), "512 KiB") {
			t.Errorf("windows of %d: %v, want ErrWindow, the file and the limit", windows, err)
		}
		if len(windows) == 1 && !strings.Contains(fmt.Sprint(err), "1.0 MiB") {
			t.Errorf("%v: want the window of the file", err)
		}
		for _, f.Window = range []int64{window, 0} {
			got, err := readAll(bytes.NewReader(data), playFile("a.csv.zst"), f, 1<<16)
			if err != nil || len(got.lines) < 30_000*len(windows) {
				t.Errorf("windows of %d, at most %d: %d records, %v", windows, f.Window, len(got.lines), err)
			}
		}
		if n := Unpacking(bytes.NewReader(data), "a.csv.zst"); n != int64(windows[0]) {
			t.Errorf("windows of %d: Unpacking returns %d", windows, n)
		}
	}
	whole, err := zstd.NewWriter(nil, zstd.WithSingleSegment(true))
	if err != nil {
		t.Fatal(err)
	}
	one := whole.EncodeAll([]byte("user\n"), nil)
	for path, data := range map[string][]byte{"a.csv": one, "a.csv.gz": one, "empty.zst": nil, "text.zst": []byte("user,time\n")} {
		if n := Unpacking(bytes.NewReader(data), path); n != 0 {
			t.Errorf("%s: Unpacking returns %d, want 0", path, n)
		}
	}
	if n := Unpacking(bytes.NewReader(one), "a.zst"); n != int64(len("user\n")) {
		t.Errorf("a frame of 5 bytes: Unpacking returns %d", n)
	}
	if n := Unpacking(bytes.NewReader(nil), "a.bz2"); n < 900_000 {
		t.Errorf("bzip2: Unpacking returns %d", n)
	}
}
