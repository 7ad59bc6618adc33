package dfs

import (
	"context"
	"fmt"
	"io"
)

// Copy makes a file of the bytes of another, whole or not at all.
func Copy(ctx context.Context, fs FS, from, to string) error {
	in, err := fs.Open(ctx, from)
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
