package delivered

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"syscall"

	"usertrail/internal/bulkload"
	"usertrail/internal/format/job"
	"usertrail/internal/format/manifest"
	"usertrail/internal/store/dfs"
)

// A faultError is an error of one delivered file alone.
type faultError struct {
	text  string
	cause error // may be nil
}

func (e *faultError) Error() string { return e.text }

func (e *faultError) Unwrap() error { return e.cause }

// Unread returns err, an error of reading a delivered file. If the cause is in that file alone, Unread
// adds the path and the next step. It returns other errors unchanged: they end the load.
func Unread(path string, err error) error {
	step := ""
	switch {
	case err == nil:
		return nil
	case errors.Is(err, dfs.ErrSpecial):
		step = "deliver a file in its place"
	case errors.Is(err, iofs.ErrPermission):
		step = "let the user that loads read the file"
	case errors.Is(err, iofs.ErrNotExist), errors.Is(err, syscall.ELOOP), errors.Is(err, syscall.ENAMETOOLONG), errors.Is(err, dfs.ErrNotDir):
		step = "it was removed, or it is a link to nothing: mount the disk to which the link leads, or deliver the file"
	case errors.Is(err, syscall.EIO):
		step = "its disk is damaged: deliver the file again"
	default:
		return err
	}
	if inner := (*iofs.PathError)(nil); errors.As(err, &inner) {
		err = inner.Err
	}
	text := fmt.Sprintf("%s: it cannot be read: %v: %s; then load again", path, err, step)
	if errors.Is(err, dfs.ErrNotDir) {
		err = iofs.ErrNotExist // its status is the status of a wrong command line
	}
	return &faultError{text, err}
}

// OwnFault reports whether an error is a fault of one delivered file alone.
func OwnFault(err error) bool {
	own := (*faultError)(nil)
	return errors.Is(err, bulkload.ErrChanged) || errors.As(err, &own)
}

// SameAs compares a file with the file that was loaded under its name. It reads the bytes only if the
// size or the modification time differs. If the bytes differ, the error wraps ErrChanged.
func SameAs(ctx context.Context, fs dfs.FS, f job.Input, old *manifest.Input) error {
	if f.Size == old.Size && f.Modified.Equal(old.Modified) {
		return nil
	}
	sum, err := Digest(ctx, fs, f.Path)
	if err != nil {
		return Unread(f.Path, err)
	}
	return SameBytes(f, sum, old)
}

// SameBytes compares the digest of a file with the file that was loaded under its name. If it differs, the error wraps
// ErrChanged.
func SameBytes(f job.Input, sum string, old *manifest.Input) error {
	if sum == old.SHA256 {
		return nil
	}
	return fmt.Errorf("%s: %w: it had %d bytes, sha256 %s, and has %d, %s; deliver only the new records as a file of another name; if another job loaded a file of this name, the paths of both jobs must differ below their roots",
		f.Path, bulkload.ErrChanged, old.Size, old.SHA256, f.Size, sum)
}

// SameAgain compares the digest of a file with the file of its name from which earlier loads read records. If it differs, the error
// wraps ErrChanged. The size and the modification time can be equal: cp -p and rsync -t keep the time of a corrected log.
func (f *File) SameAgain(sum string) error {
	if f.Loaded == "" {
		return nil
	}
	return SameBytes(f.Input, sum, &manifest.Input{Size: f.Size, SHA256: f.Loaded})
}

// Digest returns the SHA-256 of a file in hexadecimal.
func Digest(ctx context.Context, fs dfs.FS, path string) (string, error) {
	f, err := dfs.OpenRegular(ctx, fs, path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", fmt.Errorf("read %s: %w", path, err)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// Unchanged returns an error if a file is not as it was found.
func Unchanged(ctx context.Context, fs dfs.FS, f *File) error {
	info, err := fs.Stat(ctx, f.Path)
	if err != nil {
		return Unread(f.Path, err)
	}
	if info.Size != f.Size || !info.Modified.Equal(f.Modified) {
		return Written(f.Path)
	}
	return nil
}

// Written returns the error of a file that changed while it was read.
func Written(path string) error {
	return &faultError{text: path + ": it was written to while it was read: load it when it is whole"}
}
