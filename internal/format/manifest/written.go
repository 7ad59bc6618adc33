package manifest

import (
	"context"
	"slices"

	"usertrail/internal/store/dfs"
)

// Written reports whether a directory is a table or a result of extract. infos are the files of the directory.
func Written(ctx context.Context, fs dfs.FS, infos []dfs.Info) bool {
	return slices.ContainsFunc(infos, func(info dfs.Info) bool {
		switch dfs.Base(info.Name) {
		case ExtractName:
			return Read(ctx, fs, info.Name, new(Extract)) == nil
		case TableName:
			t := new(Table)
			return Read(ctx, fs, info.Name, t) == nil && t.Schema != nil
		}
		return false
	})
}
