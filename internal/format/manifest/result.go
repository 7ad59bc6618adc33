package manifest

import (
	"context"
	"errors"
	"fmt"
	iofs "io/fs"
	"strings"

	"usertrail/internal/run/exit"
	"usertrail/internal/store/dfs"
)

// Names in the directory of a result. A result is complete if it has the file SuccessName.
const (
	ExtractName  = "_manifest.json"
	SuccessName  = "_SUCCESS"
	NotFoundName = "_not-found.txt" // the users of the list that were not found
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
		if step := Replaced(ctx, fs, dir); step != "" {
			return nil, fmt.Errorf("%w: %s: %s", ErrNoDirectory, dir, step)
		}
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
	if complete, err := IsComplete(ctx, fs, dir); err != nil {
		return nil, err
	} else if !complete {
		return nil, fmt.Errorf("%w: %s has no %s: the extract is not finished, or was copied only in part", ErrNoResult, dir, SuccessName)
	}
	return m, nil
}

// IsComplete reports whether a directory has the file of a complete result. A directory, pipe, socket or device
// in its place is no such file.
func IsComplete(ctx context.Context, fs dfs.FS, dir string) (bool, error) {
	info, err := fs.Stat(ctx, dfs.Join(dir, SuccessName))
	err = dfs.Lost(err)
	if errors.Is(err, iofs.ErrNotExist) || errors.Is(err, dfs.ErrNotDir) {
		return false, nil
	}
	return err == nil && !info.Dir && !info.Special, err
}

// Foreign returns the names, below the directory of the result e, of the files and directories that do not belong to e. A
// directory is named without its files. list is the contents of the directory.
func (e *Extract) Foreign(ctx context.Context, fs dfs.FS, list []dfs.Info) (names []string, err error) {
	files, dirs := map[string]bool{ExtractName: true, SuccessName: true, NotFoundName: true}, map[string]bool{}
	for _, f := range e.NamesFiles() {
		files[f.Name] = true
	}
	for _, p := range e.Parts {
		files[p.Name] = true
		if at := strings.LastIndexByte(p.Name, '/'); at > 0 {
			dirs[p.Name[:at]] = true
		}
	}
	for _, f := range list {
		base := dfs.Base(f.Name)
		switch {
		case !f.Dir && files[base]:
			continue
		case !f.Dir || !dirs[base]:
			names = append(names, base)
			continue
		}
		below, err := fs.List(ctx, f.Name)
		if err != nil {
			return nil, err
		}
		for _, g := range below {
			if name := dfs.Join(base, dfs.Base(g.Name)); g.Dir || !files[name] {
				names = append(names, name)
			}
		}
	}
	return names, nil
}

// ForeignStep is the next step for files and directories that do not belong to a result.
const ForeignStep = "if extract --append is running, let it end; if it was killed, type the same command again; if " + ExtractName + " is an older one, put the newest one back; otherwise move them away"

// ForeignError returns an error if names, which Foreign returned, are any. Other programs read every file in the
// directory of a result.
func ForeignError(names []string) error {
	switch len(names) {
	case 0:
		return nil
	case 1:
		return fmt.Errorf("%s is not of the result: %s", names[0], ForeignStep)
	}
	return fmt.Errorf("%s and %d more are not of the result: %s", names[0], len(names)-1, ForeignStep)
}

// CheckForeign returns an error if the directory dir of the result e holds files or directories that do not belong
// to e.
func (e *Extract) CheckForeign(ctx context.Context, fs dfs.FS, dir string) error {
	list, err := fs.List(ctx, dir)
	if err != nil {
		return err
	}
	names, err := e.Foreign(ctx, fs, list)
	if err != nil {
		return err
	}
	return ForeignError(names)
}

// AdviseExtract adds the next step to the error of a damaged manifest of a result.
func AdviseExtract(err error) error {
	if errors.Is(err, ErrDamaged) {
		return fmt.Errorf("%w: move the result away, and extract it again", err)
	}
	return err
}

// Again returns the next step for a damaged result. foreign has the names that Foreign returned: extract --overwrite
// does not replace a result with such files.
func Again(foreign []string) string {
	if len(foreign) == 0 {
		return "extract the result again with --overwrite"
	}
	return fmt.Sprintf("--overwrite does not replace it, because it holds %s, which is not of the result: move the result away, and extract it again", foreign[0])
}

// Again returns the next step for the result e in dir, which is damaged.
func (e *Extract) Again(ctx context.Context, fs dfs.FS, dir string) string {
	var names []string
	if list, err := fs.List(ctx, dir); err == nil {
		names, _ = e.Foreign(ctx, fs, list) // an error leaves the usual step
	}
	return Again(names)
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
// manifest. If something else is in the place of the directory of the file, the file is missing.
func StateOf(ctx context.Context, fs dfs.FS, name string, size int64) (FileState, error) {
	info, err := fs.Stat(ctx, name)
	err = dfs.Lost(err)
	switch {
	case errors.Is(err, iofs.ErrNotExist) || errors.Is(err, dfs.ErrNotDir):
		return Missing, nil
	case err != nil:
		return "", err
	case info.Dir || info.Special || info.Size != size:
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
