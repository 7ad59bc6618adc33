package manifest

import (
	"context"
	"errors"
	"fmt"
	iofs "io/fs"

	"usertrail/internal/run/exit"
	"usertrail/internal/store/dfs"
)

// Names in the directory of a result. A result is complete if it has the file SuccessName.
const (
	ExtractName = "_manifest.json"
	SuccessName = "_SUCCESS"
)

var (
	// ErrNoDirectory is returned for a result whose directory does not exist.
	ErrNoDirectory = exit.New(exit.NoInput, "no such directory")
	// ErrNoResult is returned for a directory without a complete result.
	ErrNoResult = exit.New(exit.Usage, "no extract here")
)

// ReadExtract reads the manifest of a complete result. It does not read the parts.
func ReadExtract(ctx context.Context, fs dfs.FS, dir string) (*Extract, error) {
	if _, err := fs.Stat(ctx, dir); errors.Is(err, iofs.ErrNotExist) {
		return nil, fmt.Errorf("%w: %s", ErrNoDirectory, dir)
	} else if err != nil {
		return nil, err
	}
	m := new(Extract)
	err := Read(ctx, fs, dfs.Join(dir, ExtractName), m)
	if errors.Is(err, iofs.ErrNotExist) || errors.Is(err, dfs.ErrNotDir) {
		return nil, fmt.Errorf("%w: %s has no %s: name the directory that extract --out made", ErrNoResult, dir, ExtractName)
	}
	if err != nil {
		return nil, AdviseExtract(err)
	}
	if _, err := fs.Stat(ctx, dfs.Join(dir, SuccessName)); errors.Is(err, iofs.ErrNotExist) {
		return nil, fmt.Errorf("%w: %s has no %s: the extract is not finished, or was copied only in part", ErrNoResult, dir, SuccessName)
	} else if err != nil {
		return nil, err
	}
	return m, nil
}

// AdviseExtract adds the next step to the error of a damaged manifest of a result.
func AdviseExtract(err error) error {
	if errors.Is(err, ErrDamaged) {
		return fmt.Errorf("%w: move the result away, and extract it again", err)
	}
	return err
}

// A FileState describes how a file of a result has changed since it was written.
type FileState string

// The states of a file of a result. StateOf never returns OtherBytes.
const (
	Whole      FileState = "whole"
	Missing    FileState = "missing"
	OtherSize  FileState = "other size"
	OtherBytes FileState = "other bytes" // the size is right, the digest is not
)

// StateOf returns the state of the file called name, as far as its size shows. size is its size in the
// manifest.
func StateOf(ctx context.Context, fs dfs.FS, name string, size int64) (FileState, error) {
	info, err := fs.Stat(ctx, name)
	switch {
	case errors.Is(err, iofs.ErrNotExist):
		return Missing, nil
	case err != nil:
		return "", err
	case info.Dir || info.Size != size:
		return OtherSize, nil
	}
	return Whole, nil
}

// BytesOf returns the state of the file called name. It reads the whole file. size and sum are its size
// and its xxh64 in the manifest.
func BytesOf(ctx context.Context, fs dfs.FS, name string, size int64, sum string) (FileState, error) {
	state, err := StateOf(ctx, fs, name, size)
	if state != Whole || err != nil {
		return state, err
	}
	err = dfs.CheckFile(ctx, fs, name, size, sum)
	if errors.Is(err, dfs.ErrDamaged) {
		return OtherBytes, nil
	}
	return state, err
}
