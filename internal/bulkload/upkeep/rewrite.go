package upkeep

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/dustin/go-humanize/english"

	"usertrail/internal/behaviour"
	"usertrail/internal/bulkload"
	"usertrail/internal/cell"
	"usertrail/internal/format/layout"
	"usertrail/internal/format/manifest"
	"usertrail/internal/store/dfs"
	"usertrail/internal/table/catalog"
	"usertrail/internal/table/segment"
	"usertrail/internal/table/shuffle"
	"usertrail/internal/tally"
)

// A job makes one file from the rows of several files, from a date on.
type job struct {
	name   string // without an ending
	files  []manifest.File
	from   behaviour.Date
	region int
}

// rewritten is a file that was made from other files. It has no records if all of their rows
// were removed.
type rewritten struct {
	file   manifest.File
	inputs []manifest.File
	region int
	left   tally.Tally // cells of removed rows
}

// A rewriter writes one file and its roll. It counts the cells and records that it writes and
// removes.
type rewriter struct {
	job           job
	out           *segment.Writer
	written, left tally.Counter
	records, all  int64 // written records, and all records
	span          behaviour.Span

	row    []byte
	teller layout.Teller
	rows   *segment.RowDecoder // decodes no values
	counts segment.Counts      // counts of the current row
}

// rewriteAll merges files into one file. If the records are too large to read all files at
// once, it merges parts of the list, and makes several files.
func (r *run) rewriteAll(ctx context.Context, j job) ([]rewritten, error) {
	done, err := r.rewrite(ctx, j)
	if tooMany := (*memoryError)(nil); !errors.As(err, &tooMany) {
		return []rewritten{done}, err
	}
	if len(j.files) <= 2 {
		return nil, fmt.Errorf("%w: the records of %s are too large: %w: raise --memory, or lower --workers", bulkload.ErrRequest, j.files[len(j.files)-1].Name, err)
	}
	var out []rewritten
	half := (len(j.files) + 1) / 2
	for i, files := range [][]manifest.File{j.files[:half], j.files[half:]} {
		if len(files) < 2 {
			continue // the next round merges it
		}
		part := j
		part.files, part.name = files, fmt.Sprintf("%s-%d", j.name, i)
		done, err := r.rewriteAll(ctx, part)
		if err != nil {
			return nil, err
		}
		out = append(out, done...)
	}
	return out, nil
}

// rewrite merges files into one file and reads it back. It then compares the written and
// removed cells with the cells of the inputs in the manifest.
func (r *run) rewrite(ctx context.Context, j job) (out rewritten, err error) {
	info := r.table.Info()
	want := joined(j.files)
	w := &rewriter{job: j, out: segment.New(ctx, r.table, segment.Config{
		Name: j.name, Layout: info.Layout, Schema: info.Schema, Spill: r.spill(j.name, "roll"),
		Span: behaviour.Span{From: max(want.Span.From, j.from), To: want.Span.To},
	})}
	defer w.out.Abort()
	w.span = behaviour.Span{From: behaviour.MaxDate, To: behaviour.MinDate}
	w.teller = info.Layout.Teller(info.Schema)
	everyone := layout.Everyone(info.Schema, behaviour.AllDays)
	w.rows = segment.NewRowDecoder(ctx, info.Layout, info.Schema, everyone, r.spill(j.name, "rows"))
	defer w.rows.Close() // a later sweep removes runs that remain

	at := r.progress.Worker("merging")
	defer at.End()
	at.At("%s of region %d into %s", english.Plural(len(j.files), "file", ""), j.region, j.name)
	if err := r.read(ctx, w); err != nil {
		return out, fmt.Errorf("merge %s into %s: %w", english.Plural(len(j.files), "file", ""), j.name, err)
	}
	have := w.written.Tally
	have.Add(w.left.Tally)
	if have != want.Tally || w.all != want.Records {
		return out, fmt.Errorf("merge %s into %s: %w: they hold %s of %s, and the manifest says %s of %d",
			english.Plural(len(j.files), "file", ""), j.name, ErrDamaged, have, english.Plural(int(w.all), "record", ""), want.Tally, want.Records)
	}
	out = rewritten{inputs: j.files, region: j.region, left: w.left.Tally}
	if w.records == 0 {
		return out, nil
	}
	at.At("%s: completing it and reading it back", j.name)
	out.file, err = w.finish(&want)
	return out, err
}

// spill configures how data of a file is sorted on disk if it is too large for memory.
func (r *run) spill(name, what string) shuffle.Config {
	return shuffle.Config{
		FS: r.cfg.FS, Dir: dfs.Join(r.cfg.Store.Address(), catalog.TempName, name, what), Memory: segment.RowMemory(r.cfg.Memory, r.cfg.Workers),
	}
}

// read adds all cells of the inputs to w, and reports progress.
func (r *run) read(ctx context.Context, w *rewriter) (err error) {
	m, err := r.openMerge(ctx, w.job.files)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.close()) }()
	told := r.progress.Share(amount(w.job.files))
	defer told.End()
	for n := int64(0); ; n++ {
		if n&0xfff == 0 {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			told.UpTo(n)
		}
		c := m.cell()
		if c == nil {
			return w.endRow()
		}
		if err := w.add(c); err != nil {
			return err
		}
		if err := m.next(); err != nil {
			return err
		}
	}
}

// amount returns the bytes and the cells of files.
func amount(files []manifest.File) (size, cells int64) {
	for i := range files {
		size += files[i].Size
		cells += files[i].Tally.Cells
	}
	return size, cells
}

// add adds one cell. Cells are added in order.
func (w *rewriter) add(c *cell.Cell) error {
	if !bytes.Equal(c.Row, w.row) {
		if err := w.endRow(); err != nil {
			return err
		}
		w.row = append(w.row[:0], c.Row...)
	}
	told, ok := w.teller.Tell(c)
	if !ok {
		return fmt.Errorf("%w: the row %.64q, column %.64q is of none of its behaviours", ErrDamaged, c.Row, c.Qualifier)
	}
	if err := w.rows.Add(c); err != nil {
		return err
	}
	if told.Date < w.job.from {
		w.left.Add(c)
		return nil
	}
	w.written.Add(c)
	return w.out.Add(c)
}

// endRow counts the records of the completed row.
func (w *rewriter) endRow() error {
	if len(w.row) == 0 {
		return nil
	}
	if err := w.rows.End(w.record); err != nil {
		return err
	}
	if len(w.counts.List()) == 0 {
		return nil
	}
	err := w.out.EndRow(w.row, &w.counts)
	w.counts.Reset()
	return err
}

// record counts a record.
func (w *rewriter) record(r *behaviour.Record) error {
	w.all++
	if r.Date < w.job.from {
		return nil
	}
	w.records++
	w.span.AddDay(r.Date)
	w.counts.Add(r.Date, r.Kind)
	return nil
}

// finish completes the HFile and the roll, and returns their entry for the manifest. of
// describes the inputs.
func (w *rewriter) finish(of *manifest.File) (manifest.File, error) {
	f, err := w.out.Finish(w.written.Tally)
	f.Span, f.Records, f.Load, f.Loads = w.span, w.records, of.Load, of.Loads
	f.Apart = of.Apart
	return f, err
}
