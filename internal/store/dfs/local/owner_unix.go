//go:build unix

package local

import (
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
)

// ownedByMe reports whether a file belongs to the user of this process.
func ownedByMe(fi fs.FileInfo) bool {
	s, ok := fi.Sys().(*syscall.Stat_t)
	return ok && int(s.Uid) == os.Geteuid()
}

// whose returns a text with the user who may not write a file, and its owner. If the file
// cannot be examined, the text is about the nearest folder above it that can.
func whose(name string) string {
	fi, err := os.Stat(name)
	for err != nil {
		above := filepath.Dir(name)
		if above == name {
			return ""
		}
		name = above
		fi, err = os.Stat(name)
	}
	s, ok := fi.Sys().(*syscall.Stat_t)
	if !ok {
		return ""
	}
	return fmt.Sprintf(": the user %s may not write %s, which belongs to %s, with the mode %v", userName(os.Geteuid()), name, userName(int(s.Uid)), fi.Mode())
}

// userName returns the name of a user, or the user's number if there is no name.
func userName(id int) string {
	if u, err := user.LookupId(strconv.Itoa(id)); err == nil {
		return u.Username
	}
	return strconv.Itoa(id)
}
