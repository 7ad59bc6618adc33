package manifest

import (
	"context"
	"errors"
	iofs "io/fs"

	"usertrail/internal/store/dfs"
)

// An Outer is a directory in which runs accept no files of others: loads remove them from a table, extract --append refuses a
// result with them, and no result is published in their place.
type Outer struct {
	Dir        string // "" if there is none
	Result     bool   // a result of extract
	Unfinished string // the directory of an unfinished extract or plan: Dir itself, or the one whose result will be Dir
	// Without Result and Unfinished, Dir is a table of files or a catalog.
}

// Around returns the innermost Outer that contains the path name at any depth. A damaged manifest is enough, and so is the
// record of a first load that is planned, is under way or was killed. The name itself may be the result of an unfinished extract.
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
		}{{TableName, new(Table)}, {LoadingName, new(Loading)}, {ExtractName, new(Extract)}, {QueryName, new(unfinished)}} {
			is, err := has(ctx, fs, dfs.Join(at, f.name), f.v)
			if err != nil {
				return Outer{}, err
			}
			if !is {
				continue
			}
			o := Outer{Dir: at, Result: f.name == ExtractName}
			if f.name == QueryName {
				o.Unfinished = at
			}
			return o, nil
		}
		partial, err := planned(ctx, fs, at)
		if err != nil {
			return Outer{}, err
		}
		if partial != "" {
			return Outer{Dir: at, Unfinished: partial}, nil
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
