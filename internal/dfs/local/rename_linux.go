package local

import (
	"errors"

	"golang.org/x/sys/unix"
)

// renameNew renames from to to, which must not be there.
func renameNew(from, to string) error {
	err := error(unix.EINTR)
	for errors.Is(err, unix.EINTR) { // as file systems over a network answer to signals
		err = unix.Renameat2(unix.AT_FDCWD, from, unix.AT_FDCWD, to, unix.RENAME_NOREPLACE)
	}
	// EINVAL is how a file system says that it does not know the flag, and also
	// the answer to moving a directory into itself, which the second way repeats.
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EOPNOTSUPP) {
		return renamePortably(from, to)
	}
	return err
}
