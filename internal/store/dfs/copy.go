package dfs

import (
	"context"
	"fmt"
	"io"
)

// Copy copies the file from to the file to. The new file is whole, or it does not exist.
func Copy(ctx context.Context, fs FS, from, to string) error {
	in, err := OpenRegular(ctx, fs, from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := fs.Create(ctx, to)
	if err != nil {
		return err
	}
	defer out.Abort()
	if _, err := io.Copy(out, in); err != nil {
		return fmt.Errorf("copy %s to %s: %w", from, to, err)
	}
	return out.Commit()
}
