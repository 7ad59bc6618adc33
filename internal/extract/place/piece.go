package place

import (
	"context"
	"errors"
	"fmt"
	iofs "io/fs"
	"syscall"

	"usertrail/internal/store/dfs"
)

// CheckPiece returns an error that wraps fs.ErrExist if the directory called name of p has a file or a directory that no piece made: a
// piece that begins again removes all files there.
func (p *Place) CheckPiece(ctx context.Context, name string) error {
	foreign, err := notStaged(ctx, p.FS, p.Name(name))
	if errors.Is(err, iofs.ErrNotExist) || errors.Is(err, dfs.ErrNotDir) || errors.Is(err, syscall.ELOOP) {
		return nil // Piece makes the directory, or has the next step
	}
	if err != nil || foreign == "" {
		return err
	}
	return fmt.Errorf("%w: %s is not of an extract: move it away, and run the piece again", iofs.ErrExist, dfs.Join(p.Name(name), foreign))
}

// ofResult reports whether a file of a Staging is of a complete result. The directory of a piece, which is a part of a result, has no such file.
func ofResult(base string) bool { return base == ManifestName || base == SuccessName }
