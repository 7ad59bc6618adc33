package record

import (
	"cmp"
	"fmt"
	"io"
	"math"

	"github.com/klauspost/compress/zstd"
)

// The limits for the window of a zstd file, in bytes. A decoder holds the window in memory.
const (
	// MinWindow is the smallest limit. RFC 8878 recommends that each decoder supports this window, and the
	// levels up to 19 need no larger one.
	MinWindow = 8 << 20
	// MaxWindow is the largest limit. The zstd command has the same one.
	MaxWindow = 128 << 20
)

// ErrWindow is wrapped if a zstd file needs a larger window than Format.Window. It wraps ErrLarge.
var ErrWindow = fmt.Errorf("%w: the window of zstd", ErrLarge)

// Unpacking returns about how many bytes of memory the decompression of a file takes. It reads the beginning
// of a zstd file. A later frame of the file may need more: see Grow.
func Unpacking(r io.ReaderAt, path string) int64 {
	switch compression(path) {
	case ".bz2":
		return bzip2Memory
	case ".zst":
		head := make([]byte, headBytes)
		n, _ := r.ReadAt(head, 0) // opening the file returns the error
		if window, known := windowOf(head[:n]); known {
			return max(window, MinWindow)
		}
		return MaxWindow
	}
	return 0
}

// bzip2Memory is the memory for a block of bzip2 in bytes.
const bzip2Memory = 4 << 20

// headBytes is the size of the beginning of a zstd file that windowOf decodes. The skippable frames before the first
// frame, such as those of pzstd, are usually shorter.
const headBytes = 1 << 10

// windowOf returns the window that the first frame of a zstd file needs, in bytes. It is not known if the bytes have
// no header of a frame.
func windowOf(head []byte) (window int64, known bool) {
	var h zstd.Header
	for {
		rest, err := h.DecodeAndStrip(head)
		if err != nil {
			return 0, false
		}
		if !h.Skippable {
			break
		}
		if int64(len(rest)) < int64(h.SkippableSize) {
			return 0, false
		}
		head = rest[h.SkippableSize:]
	}
	return windowIn(&h), true
}

// windowIn returns the window of a frame in bytes.
func windowIn(h *zstd.Header) int64 {
	if h.SingleSegment {
		return int64(min(h.FrameContentSize, math.MaxInt64))
	}
	return int64(min(h.WindowSize, math.MaxInt64))
}

// Memory returns the most memory in bytes that it takes to read a file, to parse its records, and to find where
// a record begins.
func (f *Format) Memory(path string) int64 {
	most := int64(min(f.maxLine(), f.held()))
	sum := 4 * most // the Reader, the Parser, and a buffer that grows
	if f.Header {
		sum += 8 * most // the names of the columns may be short
	}
	switch compression(path) {
	case ".bz2":
		sum += bzip2Memory
	case ".zst":
		sum += cmp.Or(f.Window, MaxWindow)
	}
	if f.WhyWhole(path) == "" {
		sum += 2 * int64(min(f.maxLine(), maxNear))
	}
	return sum
}
