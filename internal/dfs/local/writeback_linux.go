package local

import (
	"os"

	"golang.org/x/sys/unix"
)

// startWriteback asks for a piece of f to be sent to disk and does not wait. It
// is a hint: file systems that do not know it lose nothing but time at fsync.
func startWriteback(f *os.File, off, n int64) {
	_ = unix.SyncFileRange(int(f.Fd()), off, n, unix.SYNC_FILE_RANGE_WRITE)
}
