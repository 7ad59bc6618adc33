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
		for _, v := range []owned{new(Table), new(Loading), new(Extract)} {
			is, err := has(ctx, fs, at, v)
			if err != nil {
				return Outer{}, err
			}
			if is {
				_, result := v.(*Extract)
				return Outer{Dir: at, Result: result}, nil
			}
		}
	}
	return Outer{}, nil
}

// has reports whether dir has the file of v, which is empty.
func has(ctx context.Context, fs dfs.FS, dir string, v owned) (bool, error) {
	base := ExtractName
	switch v.(type) {
	case *Table:
		base = TableName
	case *Loading:
		base = LoadingName
	}
	info, err := fs.Stat(ctx, dfs.Join(dir, base))
	if errors.Is(err, iofs.ErrNotExist) || errors.Is(err, iofs.ErrPermission) || errors.Is(err, dfs.ErrNotDir) {
		return false, nil
	}
	if err != nil || info.Dir || info.Special || info.Lost {
		return false, err
	}
	return isOurs(ctx, fs, info.Name, v)
}

// ours returns false: files of other programs may have the same few fields.
func (l *Loading) ours() bool { return false }
