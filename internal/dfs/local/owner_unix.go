//go:build unix

package local

import (
	"io/fs"
	"os"
	"syscall"
)

// ownedByMe says whether a file belongs to the user of this process.
func ownedByMe(fi fs.FileInfo) bool {
	s, ok := fi.Sys().(*syscall.Stat_t)
	return ok && int(s.Uid) == os.Geteuid()
}
