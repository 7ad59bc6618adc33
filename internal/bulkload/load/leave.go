package load

import (
	"errors"
	"fmt"
	iofs "io/fs"
	"syscall"

	"usertrail/internal/bulkload"
	"usertrail/internal/format/job"
	"usertrail/internal/format/manifest"
	"usertrail/internal/store/dfs"
)

// One file that cannot be loaded fails itself and its day. All others are loaded, and the
// load ends with the error of the file.

// leave records that nothing of a file is loaded, and why.
func (l *load) leave(f job.Input, err error) {
	l.failed = append(l.failed, err)
	l.leftOut = append(l.leftOut, manifest.LeftOut{Path: f.Rel, Part: l.partOf(f), Error: err.Error(), TooBad: errors.Is(err, bulkload.ErrTooBad)})
	l.result.Failed = append(l.result.Failed, bulkload.Failed{Path: f.Path, Error: err.Error()})
}

// An unreadError is why a delivered file cannot be read where it is stored, while others can.
type unreadError struct {
	path  string
	cause error
	step  string // what to do about it
}

func (e *unreadError) Error() string {
	return fmt.Sprintf("%s: it cannot be read: %v: %s; then load again", e.path, e.cause, e.step)
}

func (e *unreadError) Unwrap() error { return e.cause }

// unread makes err, of reading a delivered file, an unreadError if it is the fault of that
// file alone. Other errors stay as they are: they end the load.
func unread(path string, err error) error {
	step := ""
	switch {
	case err == nil:
		return nil
	case errors.Is(err, dfs.ErrSpecial):
		step = "deliver a file in its place"
	case errors.Is(err, iofs.ErrPermission):
		step = "let the user that loads read the file"
	case errors.Is(err, iofs.ErrNotExist), errors.Is(err, syscall.ELOOP):
		step = "it was removed, or it is a link to nothing: deliver the file, or remove the link"
	case errors.Is(err, syscall.EIO):
		step = "its disk is damaged: deliver the file again"
	default:
		return err
	}
	if inner := (*iofs.PathError)(nil); errors.As(err, &inner) {
		err = inner.Err
	}
	return &unreadError{path, err, step}
}

// ownFault says whether an error is the fault of one delivered file.
func ownFault(err error) bool {
	own := (*unreadError)(nil)
	return errors.Is(err, bulkload.ErrChanged) || errors.As(err, &own)
}
