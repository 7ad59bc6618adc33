package record

import (
	"fmt"
	"io"

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
// of a zstd file.
func Unpacking(r io.ReaderAt, path string) int64 {
	switch compression(path) {
	case ".bz2":
		return bzip2Memory
	case ".zst":
		head := make([]byte, zstd.HeaderMaxSize)
		n, _ := r.ReadAt(head, 0) // opening the file returns the error
		return windowOf(head[:n])
	}
	return 0
}

// bzip2Memory is the memory for a block of bzip2 in bytes.
const bzip2Memory = 4 << 20

// windowOf returns the window that the first frame of a zstd file needs, in bytes. It is 0 if the bytes are no
// frame.
func windowOf(head []byte) int64 {
	var h zstd.Header
	if err := h.Decode(head); err != nil {
		return 0
	}
	if h.SingleSegment {
		return int64(min(h.FrameContentSize, 1<<62))
	}
	return int64(min(h.WindowSize, 1<<62))
}

// Memory returns the most memory in bytes that it takes to read a file, to parse its records, and to find where
// a record begins.
func (f *Format) Memory(path string) int64 {
	most := int64(min(f.maxLine(), f.held()))
	sum := 4 * most // the Reader, the Parser, and a buffer that grows
	switch compression(path) {
	case ".bz2":
		sum += bzip2Memory
	case ".zst":
		sum += f.window()
	}
	if f.WhyWhole(path) == "" {
		sum += 2 * int64(min(f.maxLine(), maxNear))
	}
	return sum
}

func (f *Format) window() int64 {
	if f.Window <= 0 {
		return MaxWindow
	}
	return f.Window
}
