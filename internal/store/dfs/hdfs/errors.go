package hdfs

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"

	"github.com/colinmarc/hdfs/v2"

	"usertrail/internal/store/dfs"
)

// Errors that no other file system has.
var (
	// ErrQuota is returned when a directory's quota of names or space is exhausted.
	ErrQuota = errors.New("quota exceeded")
	// ErrSwept is returned by Commit when another process removed the pending file.
	ErrSwept = errors.New("the unfinished file was removed by another process")
)

// These are classes of Java's exceptions, by the last part of their name.
const (
	accessControl    = "AccessControlException"
	alreadyCreated   = "AlreadyBeingCreatedException"
	recovering       = "RecoveryInProgressException"
	parentNotDir     = "ParentNotDirectoryException"
	nameQuota        = "NSQuotaExceededException"
	spaceQuota       = "DSQuotaExceededException"
	typeQuota        = "QuotaByStorageTypeExceededException"
	safeMode         = "SafeModeException"
	standby          = "StandbyException"
	retriable        = "RetriableException"
	leaseExpired     = "LeaseExpiredException"
	notFound         = "FileNotFoundException"
	invalidPath      = "InvalidPathException"
	componentTooLong = "PathComponentTooLongException"
)

// exception returns the class of the Java exception in err, or "" if err has none.
func exception(err error) string {
	var remote hdfs.Error
	if !errors.As(err, &remote) {
		return ""
	}
	class := remote.Exception()
	return class[strings.LastIndexAny(class, ".$")+1:]
}

// passing reports whether a request that failed with err may succeed later. If an
// error is neither a response of the NameNode nor a known error of the library, it is an
// error of the connection.
func passing(err error) bool {
	if final(err) {
		return false
	}
	var remote hdfs.Error
	if errors.As(err, &remote) {
		switch exception(err) {
		case safeMode, standby, retriable:
			return true
		}
		return false
	}
	for _, final := range []error{
		fs.ErrNotExist, fs.ErrExist, fs.ErrPermission, fs.ErrInvalid, fs.ErrClosed, syscall.ENOTEMPTY, syscall.EISDIR,
		errors.ErrUnsupported, dfs.ErrNotDir, dfs.ErrUnavailable, context.Canceled, context.DeadlineExceeded,
		hdfs.ErrReplicating, ErrSwept, dfs.ErrLockLost, ErrReplaced,
	} {
		if errors.Is(err, final) {
			return false
		}
	}
	return true
}

// plain returns err without the library's own path, and a Java exception in one line.
func plain(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		err = path.Err
	}
	var remote hdfs.Error
	if !errors.As(err, &remote) {
		return err
	}
	line, _, _ := strings.Cut(remote.Message(), "\n")
	return fmt.Errorf("%s: %s", exception(err), line)
}

// named returns err as an error of op on name.
func (c *cluster) named(op, name string, err error) error {
	if err == nil {
		return nil
	}
	return &fs.PathError{Op: op, Path: name, Err: c.meaning(err)}
}

// meaning translates an exception into an error of this package.
func (c *cluster) meaning(err error) error {
	switch exception(err) {
	case accessControl:
		err = fs.ErrPermission
	case parentNotDir:
		return dfs.ErrNotDir
	case notFound:
		return fs.ErrNotExist
	case leaseExpired:
		return ErrSwept
	case invalidPath, componentTooLong:
		return fmt.Errorf("%w: %w", fs.ErrInvalid, plain(err))
	case nameQuota, spaceQuota, typeQuota:
		return fmt.Errorf("%w: %w", ErrQuota, plain(err))
	}
	if errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("%w for user %s", fs.ErrPermission, c.user)
	}
	if errors.Is(err, dfs.ErrUnavailable) {
		return err // plain already
	}
	return plain(err)
}
