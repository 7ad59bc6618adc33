package local

import "os"

// startEvery is the number of bytes that are written before the kernel is asked to begin
// writing them to disk. A lower number makes many requests. With a higher number the fsync at
// the end takes long.
const startEvery = 8 << 20

// writeback writes to f and asks the kernel to write full pieces to disk while the
// next pieces are being made.
type writeback struct {
	f       *os.File
	written int64
	started int64 // the offset up to which write-back was requested
}

func (w *writeback) Write(b []byte) (int, error) {
	n, err := w.f.Write(b)
	w.written += int64(n)
	if err == nil && w.written-w.started >= startEvery {
		startWriteback(w.f, w.started, w.written-w.started)
		w.started = w.written
	}
	return n, err
}
