package manifest

import (
	"context"
	"errors"
	iofs "io/fs"

	"usertrail/internal/store/dfs"
)

// Around returns the directory of the table of files, or of the catalog, that contains the path
// name at any depth. It returns "" if no such directory contains it. Loads remove unknown files
// from such a directory.
func Around(ctx context.Context, fs dfs.FS, name string) (string, error) {
	at, err := dfs.Real(ctx, fs, name)
	if err != nil {
		return "", err
	}
	for dir := dfs.Dir(at); dir != at; dir = dfs.Dir(at) {
		at = dir
		var t Table
		err := Read(ctx, fs, dfs.Join(at, TableName), &t)
		switch {
		case err == nil && t.Schema != nil:
			return at, nil
		case err == nil, errors.Is(err, iofs.ErrNotExist), errors.Is(err, iofs.ErrPermission), errors.Is(err, ErrDamaged), errors.Is(err, dfs.ErrNotDir):
		default:
			return "", err
		}
	}
	return "", nil
}
