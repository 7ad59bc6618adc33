package local

import "os"

// startEvery is how much is written before the kernel is asked to begin
// bringing it to disk. With less the requests are many, with more the fsync at
// the end is long.
const startEvery = 8 << 20

// writeback writes to f and has the kernel send full pieces to disk while the
// next ones are being made.
type writeback struct {
	f       *os.File
	written int64
	started int64 // up to here write-back was asked for
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
