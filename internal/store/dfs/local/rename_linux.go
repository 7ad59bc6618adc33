package local

import (
	"errors"

	"golang.org/x/sys/unix"
)

// renameNew renames from to to, which must not exist.
func renameNew(from, to string) error {
	err := error(unix.EINTR)
	for errors.Is(err, unix.EINTR) { // network file systems return EINTR after signals
		err = unix.Renameat2(unix.AT_FDCWD, from, unix.AT_FDCWD, to, unix.RENAME_NOREPLACE)
	}
	// A file system that does not know the flag returns EINVAL. A move of a directory into
	// itself returns EINVAL too, and renamePortably then returns it again.
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EOPNOTSUPP) {
		return renamePortably(from, to)
	}
	return err
}
