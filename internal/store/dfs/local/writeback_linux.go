package local

import (
	"os"

	"golang.org/x/sys/unix"
)

// startWriteback asks the kernel to write a piece of f to disk and does not wait. The request
// is a hint: if a file system does not know it, only the fsync takes longer.
func startWriteback(f *os.File, off, n int64) {
	_ = unix.SyncFileRange(int(f.Fd()), off, n, unix.SYNC_FILE_RANGE_WRITE)
}
