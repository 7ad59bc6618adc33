package quarantine

import (
	"context"
	"errors"
	"fmt"
	"syscall"

	"usertrail/internal/store/dfs"
	"usertrail/internal/table"
)

// moveAway is the next step if something else has the name of a quarantine file or of the folder of these files.
const moveAway = "move it away, then type the same command again"

// open opens the quarantine file called name.
func open(ctx context.Context, fs dfs.FS, name string) (dfs.File, error) {
	f, err := dfs.OpenRegular(ctx, fs, name)
	return f, inPlace(ctx, fs, name, err)
}

// inPlace adds the next step to an error of the quarantine file called name: something else has the name of the file or of its folder.
// It returns any other error as it is.
func inPlace(ctx context.Context, fs dfs.FS, name string, err error) error {
	switch {
	case errors.Is(err, dfs.ErrNotDir):
		return fmt.Errorf("%w: a file has the name of the folder quarantine: %s", err, moveAway)
	case errors.Is(err, syscall.EISDIR), errors.Is(err, dfs.ErrSpecial):
		return fmt.Errorf("%w: %w: %s", table.ErrUnfit, err, moveAway)
	case !errors.Is(err, syscall.ELOOP):
		return err
	}
	if _, folder := fs.Stat(ctx, dfs.Dir(name)); errors.Is(folder, syscall.ELOOP) {
		return fmt.Errorf("%w: %w: a link to itself has the name of the folder quarantine: %s", table.ErrUnfit, err, moveAway)
	}
	return fmt.Errorf("%w: %w: a link to itself has the name of the file: %s", table.ErrUnfit, err, moveAway)
}

// openPart opens the bad records of a piece, or of a range that it read.
func openPart(ctx context.Context, fs dfs.FS, name string) (dfs.File, error) {
	f, err := dfs.OpenRegular(ctx, fs, name)
	return f, dfs.InPlace(err, "remove it, and run the piece again")
}
