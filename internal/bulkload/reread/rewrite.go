package reread

import (
	"context"
	"fmt"
	"io"

	"usertrail/internal/cell"
	"usertrail/internal/format/hfile"
	"usertrail/internal/format/manifest"
	"usertrail/internal/store/dfs"
	"usertrail/internal/table"
	"usertrail/internal/table/segment"
	"usertrail/internal/tally"
)

// rewriteAll replaces the HFiles whose records get values.
func (x *reread) rewriteAll(ctx context.Context) ([]*adder, error) {
	if err := x.room(ctx); err != nil {
		return nil, err
	}
	load := x.to.NextLoad()
	done, err := x.join(ctx, "adding the values", func(ctx context.Context, p *place) sink {
		return &rewriter{ctx: ctx, to: x.files, place: p, name: x.files.FileName(load, p.part)}
	})
	if err == nil {
		x.settle(done)
	}
	return done, err
}

// A rewriter writes an HFile with the cells of another one and with new cells, and copies its roll: the new cells are of its
// records. A new cell replaces the cell with the same key. The rewriter creates the files when the first new cell comes.
type rewriter struct {
	ctx   context.Context
	to    table.OfFiles
	place *place
	name  string // without an ending

	in       dfs.File
	it       *hfile.Iterator
	more     bool // it is at a cell that was not written
	out      *segment.HFile
	old      tally.Counter // of the cells of the other HFile
	replaced tally.Counter // of those that are not written
	written  tally.Counter
	ended    bool
}

// open opens the old HFile and creates the new one.
func (w *rewriter) open() (err error) {
	if w.in, err = w.to.Staged(w.ctx, w.place.file.Name); err != nil {
		return err
	}
	h, err := hfile.Open(w.in, w.in.Size())
	if err != nil {
		return err
	}
	w.it = h.Iterator(hfile.IterOptions{ReadAhead: readAhead})
	w.more = w.it.First()
	w.out, err = segment.CreateHFile(w.ctx, w.to, w.name+segment.HFileEnding)
	return err
}

// add writes a new cell, after the old cells before it.
func (w *rewriter) add(c *cell.Cell) error {
	if w.out == nil {
		if err := w.open(); err != nil {
			return err
		}
	}
	if err := w.copy(c); err != nil {
		return err
	}
	return w.write(c)
}

// copy writes the old cells before c, and leaves out the one with the key of c. If c is nil, it writes all of them.
func (w *rewriter) copy(c *cell.Cell) error {
	for n := 0; w.more; n++ {
		if n&0xfff == 0 && w.ctx.Err() != nil {
			return context.Cause(w.ctx)
		}
		old, order := w.it.Cell(), -1
		if c != nil {
			order = cell.Compare(old, c)
		}
		if order > 0 {
			return nil
		}
		w.old.Add(old)
		if order == 0 {
			w.replaced.Add(old)
		} else if err := w.write(old); err != nil {
			return err
		}
		w.more = w.it.Next()
	}
	return w.it.Err()
}

func (w *rewriter) write(c *cell.Cell) error {
	w.written.Add(c)
	return w.out.Add(c)
}

// finish completes the files, and returns their entry for the manifest. It returns an empty entry if there is no new
// cell.
func (w *rewriter) finish(replaced tally.Tally) (manifest.File, error) {
	if w.out == nil {
		return manifest.File{}, nil
	}
	if err := w.copy(nil); err != nil {
		return manifest.File{}, err
	}
	f := w.place.file
	if w.old.Tally != f.Tally {
		return f, table.Damaged("%s holds %s; %s were written", f.Name, w.old.Tally, f.Tally)
	}
	if w.replaced.Tally != replaced {
		return f, fmt.Errorf("%s: %s would be replaced, and its records were decoded from %s", f.Name, w.replaced.Tally, replaced)
	}
	if err := w.copyRoll(&f); err != nil {
		return f, err
	}
	meta, err := w.out.Finish(w.ctx, w.written.Tally)
	if err != nil {
		return f, err
	}
	w.ended = true
	f.Name, f.Tally, f.Size, f.Sum = w.name+segment.HFileEnding, w.written.Tally, meta.Size, meta.Sum
	return f, nil
}

// copyRoll copies the roll, and sets its name in f.
func (w *rewriter) copyRoll(f *manifest.File) error {
	in, err := w.to.Staged(w.ctx, f.Roll)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := segment.NewOutput(w.ctx, w.to, w.name+segment.RollEnding)
	if err != nil {
		return err
	}
	defer out.Abort()
	if _, err := io.Copy(out, in); err != nil {
		return fmt.Errorf("copy %s: %w", f.Roll, err)
	}
	if err := dfs.CheckSum(out.Sum(), f.RollSum); err != nil {
		return table.Damaged("%s: %v", f.Roll, err)
	}
	f.Roll, f.RollSize = w.name+segment.RollEnding, out.Size()
	return out.Commit()
}

// close closes the old HFile, and removes a new one that is not finished.
func (w *rewriter) close() error {
	if w.out != nil && !w.ended {
		w.out.Abort()
	}
	if w.in == nil {
		return nil
	}
	return w.in.Close()
}
