package record

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
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
// they are read whole.
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
		if n, known := windowOf(data[:headBytes]); !known || n != int64(windows[0]) {
			t.Errorf("windows of %d: the first is %d (%v)", windows, n, known)
		}
	}
}

// skippable returns a frame of zstd that decoders skip, with size bytes in it.
func skippable(size int) []byte {
	return append(binary.LittleEndian.AppendUint32([]byte{0x50, 0x2a, 0x4d, 0x18}, uint32(size)), make([]byte, size)...)
}

// TestUnpacking checks the memory that is reserved for the decompression of files.
func TestUnpacking(t *testing.T) {
	small := windowed(t, "user\n", 1<<10)
	large := windowed(t, strings.Repeat("user\n", 4<<20), 16<<20)
	single, err := zstd.NewWriter(nil, zstd.WithSingleSegment(true))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		path string
		data []byte
		want int64
	}{
		{"a.csv", large, 0},
		{"a.csv.gz", large, 0},
		{"a.bz2", nil, bzip2Memory},
		{"small.zst", small, MinWindow},
		{"large.zst", large, 16 << 20},
		{"large.ZST", large, 16 << 20},
		{"single.zst", single.EncodeAll(make([]byte, 9<<20), nil), 9 << 20},
		{"pzstd.zst", append(skippable(4), large...), 16 << 20},
		{"two.zst", slices.Concat(skippable(4), skippable(100), large), 16 << 20},
		{"long.zst", append(skippable(headBytes), large...), MaxWindow},
		{"skippable.zst", skippable(4), MaxWindow},
		{"empty.zst", nil, MaxWindow},
		{"text.zst", []byte("user,time\n"), MaxWindow},
	} {
		if n := Unpacking(bytes.NewReader(c.data), c.path); n != c.want {
			t.Errorf("%s: %d bytes, want %d", c.path, n, c.want)
		}
	}
	f := plays()
	f.Window = MinWindow
	_, err = readAll(bytes.NewReader(append(skippable(4), large...)), playFile("a.csv.zst"), f, 1<<16)
	if !errors.Is(err, ErrWindow) || !strings.Contains(err.Error(), "16 MiB") {
		t.Errorf("after a skippable frame: %v, want the window", err)
	}
}
