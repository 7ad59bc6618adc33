package manifest

import (
	"context"
	"errors"
	iofs "io/fs"

	"usertrail/internal/store/dfs"
)

// An Outer is a directory in which runs accept no files of others: loads remove them from a table, and extract --append refuses a
// result with them.
type Outer struct {
	Dir    string // "" if there is none
	Result bool   // a result of extract; otherwise a table of files or a catalog
}

// Around returns the innermost Outer that contains the path name at any depth. A damaged manifest is enough, and so is the
// record of a first load that is planned, is under way or was killed.
func Around(ctx context.Context, fs dfs.FS, name string) (Outer, error) {
	at, err := dfs.Real(ctx, fs, name)
	if err != nil {
		return Outer{}, err
	}
	for dir := dfs.Dir(at); dir != at; dir = dfs.Dir(at) {
		at = dir
		for _, f := range []struct {
			name string
			v    owned
		}{{TableName, new(Table)}, {LoadingName, new(Loading)}, {ExtractName, new(Extract)}} {
			is, err := has(ctx, fs, dfs.Join(at, f.name), f.v)
			if err != nil {
				return Outer{}, err
			}
			if is {
				return Outer{Dir: at, Result: f.name == ExtractName}, nil
			}
		}
	}
	return Outer{}, nil
}

// has does isOurs for a file that may be absent. A link to itself is no manifest.
func has(ctx context.Context, fs dfs.FS, name string, v owned) (bool, error) {
	info, err := fs.Stat(ctx, name)
	if errors.Is(dfs.Lost(err), iofs.ErrNotExist) || errors.Is(err, iofs.ErrPermission) || errors.Is(err, dfs.ErrNotDir) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return isOurs(ctx, fs, info, v)
}

// ours returns false: files of other programs may have the same few fields.
func (l *Loading) ours() bool { return false }
