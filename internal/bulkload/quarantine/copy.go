package quarantine

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"

	"usertrail/internal/store/dfs"
)

// Copy copies the quarantine file called from to the name to. keeps chooses the lines of an
// earlier file that stay. log gets the name of the file of corrected lines that do not stay.
func Copy(ctx context.Context, fs dfs.FS, log *slog.Logger, from, to string, keeps Keeps) error {
	return rewrite(ctx, fs, log, []string{from}, to, keeps, func(_ int, line []byte) ([]byte, error) { return line, nil })
}

// rewrite joins quarantine files, and changes each line. The first argument of change is the index of the file.
func rewrite(ctx context.Context, fs dfs.FS, log *slog.Logger, from []string, to string, keeps Keeps, change func(file int, line []byte) ([]byte, error)) error {
	w, err := newWriter(ctx, fs, log, to, keeps)
	if err != nil {
		return err
	}
	defer w.end()
	for i, name := range from {
		if err := w.addFile(ctx, fs, name, func(line []byte) ([]byte, error) { return change(i, line) }); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return w.commit()
}

// addFile adds the lines of a quarantine file, after a change.
func (w *writer) addFile(ctx context.Context, fs dfs.FS, name string, change func(line []byte) ([]byte, error)) error {
	f, err := openPart(ctx, fs, name)
	if err != nil {
		return err
	}
	defer f.Close()
	for r := bufio.NewReader(f); ; {
		line, err := r.ReadBytes('\n')
		if err == io.EOF && len(line) == 0 {
			return nil
		}
		if err == io.EOF {
			err = io.ErrUnexpectedEOF // every line of these files ends in a newline
		}
		if err == nil {
			line, err = change(line)
		}
		if err == nil {
			err = w.add(line)
		}
		if err != nil {
			return err
		}
	}
}

// A Range is a file with the bad records of a range of a delivered file. The range counts its
// lines from 1.
type Range struct {
	Name   string
	Before int64 // lines of the delivered file before the range
}

// Join writes the bad records of a delivered file that was read in ranges as the file called to.
// sha is the digest of the delivered file. keeps and log are as for Copy.
func Join(ctx context.Context, fs dfs.FS, log *slog.Logger, ranges []Range, to, sha string, keeps Keeps) error {
	names := make([]string, len(ranges))
	for i, r := range ranges {
		names[i] = r.Name
	}
	return rewrite(ctx, fs, log, names, to, keeps, func(i int, line []byte) ([]byte, error) { return sealed(line, ranges[i].Before, sha) })
}
