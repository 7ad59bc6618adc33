package manifest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"regexp"

	"usertrail/internal/store/dfs"
)

// beginning matches the beginning of each file that Write writes.
var beginning = regexp.MustCompile(`^\s*\{\s*"sha256"\s*:\s*"[0-9a-f]{64}"\s*,\s*"version"\s*:\s*[0-9]+\s*,`)

// headBytes is the largest number of bytes that Written reads of a file. Manifests begin with the fields that it needs.
const headBytes = 1 << 20

// An owned is a manifest of which some fields may have been read.
type owned interface {
	// ours reports whether the manifest has fields that every release writes.
	ours() bool
}

func (e *Extract) ours() bool {
	return e.Query.Active != "" && e.Query.Users != "" && e.Query.Format != ""
}

func (t *Table) ours() bool {
	return t.Layout != "" && t.Family != "" && t.Schema != nil && len(t.Schema.Kinds) > 0
}

// Written reports whether a directory is a table or a result of extract. infos has at least the files of the directory that are
// called ExtractName or TableName. Such a file is a manifest if one of these is true:
//
//	it begins as all files that Write writes
//	it has the fields that every release writes
//
// A damaged manifest is recognized by its beginning, and so is the manifest of a newer release. A link counts as the file that it
// refers to.
func Written(ctx context.Context, fs dfs.FS, infos []dfs.Info) (bool, error) {
	for _, info := range infos {
		var v owned
		switch dfs.Base(info.Name) {
		case ExtractName:
			v = new(Extract)
		case TableName:
			v = new(Table)
		}
		if v == nil {
			continue
		}
		if is, err := isOurs(ctx, fs, info, v); is || err != nil {
			return is, err
		}
	}
	return false, nil
}

// isOurs reports whether info is of a manifest. v, which is empty, has the fields of the manifest.
func isOurs(ctx context.Context, fs dfs.FS, info dfs.Info, v owned) (bool, error) {
	if info.Dir || info.Special || info.Lost {
		return false, nil
	}
	f, err := fs.Open(ctx, info.Name)
	if errors.Is(err, iofs.ErrNotExist) || errors.Is(err, iofs.ErrPermission) {
		// It disappeared in the meantime, or it is not for this user. If it is a manifest, the other files of the folder are not either, and
		// each of them is an error of its own.
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, headBytes))
	if err != nil {
		return false, fmt.Errorf("read %s: %w", info.Name, err)
	}
	if beginning.Match(text) {
		return true, nil
	}
	_, _ = readObject(bytes.NewReader(text), v, "") // v has the fields before any damage
	return v.ours(), nil
}
