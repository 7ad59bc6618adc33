package quarantine

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"log/slog"

	"usertrail/internal/store/dfs"
)

// Remove removes the quarantine files of the delivered files at paths. nameOf returns the name of
// the quarantine file of a path. log gets the names of the files of corrected lines.
func Remove(ctx context.Context, fs dfs.FS, log *slog.Logger, paths []string, nameOf func(path string) string) error {
	if len(paths) == 0 {
		return nil
	}
	list, err := fs.List(ctx, dfs.Dir(nameOf("x")))
	if errors.Is(err, iofs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("quarantine: %w", inPlace(ctx, fs, nameOf("x"), err))
	}
	there := map[string]bool{}
	for _, f := range list {
		there[dfs.Base(f.Name)] = true
	}
	for _, path := range paths {
		name := nameOf(path)
		if !there[dfs.Base(name)] {
			continue
		}
		if err := removeOf(ctx, fs, log, name, path); err != nil {
			return fmt.Errorf("quarantine %s: %w", name, err)
		}
	}
	return nil
}

// removeOf removes the lines of the delivered file called path from the quarantine file called name. Lines of other paths stay: a
// person has moved them here, or an old release gave two paths one name. If no line stays, removeOf removes the file.
func removeOf(ctx context.Context, fs dfs.FS, log *slog.Logger, name, path string) error {
	f, err := open(ctx, fs, name)
	if err != nil {
		return err
	}
	defer f.Close()
	kept := newKeeper(ctx, fs, log, name)
	defer kept.end()
	to, err := fs.Create(ctx, name)
	if err != nil {
		return err
	}
	defer to.Abort()
	stay := 0
	for r, first := bufio.NewReader(f), true; ; first = false {
		line, err := r.ReadBytes('\n')
		if err != nil && err != io.EOF {
			return err
		}
		var b Record
		damaged := b.Place(line) != nil // the keeper accepts the line, which has no marks
		switch {
		case first && damaged:
			return nil // it is no quarantine file
		case len(line) <= 1:
		case damaged, b.Path == path:
			if err := kept.add(line, &b); err != nil {
				return err
			}
		default:
			stay++
			if _, err := to.Write(line); err != nil {
				return err
			}
		}
		if err == io.EOF {
			break
		}
	}
	if err := kept.commit(); err != nil {
		return err
	}
	if stay > 0 {
		return to.Commit()
	}
	return fs.Remove(ctx, name)
}
