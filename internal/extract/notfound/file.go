package notfound

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/cespare/xxhash/v2"

	"usertrail/internal/format/layout"
	"usertrail/internal/format/manifest"
	"usertrail/internal/store/dfs"
	"usertrail/internal/table/shuffle"
)

// FileName is the file of a result that names the users of the list that were not found: one
// ID on each line, in the order of the IDs' bytes. If all users were found, there is no file.
// Spark, Hive and pyarrow skip the file when they read the directory, because its name begins
// with an underscore.
const FileName = manifest.NotFoundName

// A File is the place of the file that names users.
type File struct {
	FS     dfs.FS
	Dir    string // of the file
	Sort   string // directory for sorting; Write removes it
	Memory int64  // for sorting, in bytes
	Step   string // next step if a directory, a pipe or a link to itself is in the place of the file
}

// Write counts the users that were not found, and writes their IDs into f.
func (s *Search) Write(ctx context.Context, f *File, l layout.Layout) (m Count, err error) {
	m.File, err = f.Write(ctx, func(yield func(id []byte) error) error {
		return s.each(l, func(id []byte) error {
			m.count(id)
			return yield(id)
		})
	})
	return m, err
}

// Count counts the users that were not found. It writes no file.
func (s *Search) Count(l layout.Layout) (m Count, err error) {
	err = s.each(l, func(id []byte) error {
		m.count(id)
		return nil
	})
	return m, err
}

// Write writes the user IDs that each yields, in the order of their bytes. If there is no ID, it
// writes no file and returns nil.
func (f *File) Write(ctx context.Context, each func(yield func(id []byte) error) error) (file *manifest.NamesFile, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("write %s: %w", f.name(), err)
		}
	}()
	var sorter *shuffle.Sorter
	defer func() {
		if sorter != nil {
			err = errors.Join(err, sorter.Close(ctx), f.FS.Remove(context.WithoutCancel(ctx), f.Sort))
		}
	}()
	n := uint64(0)
	err = each(func(id []byte) (err error) {
		if sorter == nil {
			if sorter, err = f.sorter(ctx); err != nil {
				return err
			}
		}
		n++
		return sorter.Shard(0).Add(ctx, 0, id, n, nil)
	})
	if err != nil || sorter == nil {
		return nil, err
	}
	if err := sorter.Finish(ctx); err != nil {
		return nil, err
	}
	it, err := sorter.Part(ctx, 0)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, it.Close()) }()
	return f.lines(ctx, it)
}

func (f *File) name() string { return dfs.Join(f.Dir, FileName) }

// sorter returns a sorter of IDs.
func (f *File) sorter(ctx context.Context) (*shuffle.Sorter, error) {
	if err := f.FS.Remove(ctx, f.Sort); err != nil { // of a run that was killed
		return nil, err
	}
	return shuffle.New(shuffle.Config{FS: f.FS, Dir: f.Sort, Memory: f.Memory})
}

// lines writes the rows of it, one on each line.
func (f *File) lines(ctx context.Context, it *shuffle.Iterator) (*manifest.NamesFile, error) {
	w, err := f.FS.Create(ctx, f.name())
	if err != nil {
		return nil, dfs.InPlace(err, f.Step)
	}
	defer w.Abort()
	h := xxhash.New()
	out := bufio.NewWriter(io.MultiWriter(w, h))
	file := &manifest.NamesFile{Name: FileName}
	for it.Next() {
		file.Size += int64(len(it.Row())) + 1
		out.Write(it.Row()) // Flush returns the error, too
		out.WriteByte('\n')
	}
	if err := errors.Join(it.Err(), out.Flush()); err != nil {
		return nil, err
	}
	file.Sum = fmt.Sprintf("%016x", h.Sum64())
	return file, dfs.InPlace(w.Commit(), f.Step)
}
