package trailfile

import (
	"errors"
	"fmt"
	"io"
	"math"
)

const magic = "PAR1"

// maxGroups is the largest number of row groups that a footer can number.
const maxGroups = math.MaxInt16 + 1

// A Writer writes one trail file as Parquet, and another one after Reset. Only one goroutine
// may use it.
type Writer struct {
	schema Schema
	opts   Options
	pages  pages
	group  *group
	footer footer
	sample int   // rows at the start of the file
	judged bool  // whether it is decided which string columns keep a dictionary
	err    error // the first error; the file is not usable after it
	closed bool
}

// Meta describes a finished file.
type Meta struct {
	Rows   int64  `json:"rows"`
	Bytes  int64  `json:"bytes"`
	Groups int    `json:"groups"`          // row groups, or record batches; 0 if the format has none
	First  string `json:"first,omitempty"` // user of the first row
	Last   string `json:"last,omitempty"`  // user of the last row
}

// NewWriter begins a file on w. The file is complete when Close returns without an error.
func NewWriter(w io.Writer, s Schema, o Options) (*Writer, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	if err := s.Validate(); err != nil {
		return nil, err
	}
	codec, err := newCompressor(o.Codec)
	if err != nil {
		return nil, err
	}
	out := &Writer{schema: s, opts: o, group: newGroup(s), sample: sampleRows(len(s.Columns)), pages: pages{codec: codec}}
	out.Reset(w)
	return out, nil
}

// Reset begins another file on out, with the same schema and options, in the memory of the
// previous file. It may be called at any time.
func (w *Writer) Reset(out io.Writer) {
	w.pages.w, w.pages.offset = out, 0
	w.group.restart()
	w.footer = footer{order: w.schema.Order}
	w.judged, w.err, w.closed = false, nil, false
}

// Write adds the rows of b. They must sort after all rows written before, by user and time.
// Write keeps no reference to b. The division of rows into batches does not change the file.
// After an error the file is not usable.
func (w *Writer) Write(b *Batch) error {
	if w.closed {
		return ErrClosed
	}
	if w.err == nil {
		w.err = w.add(b)
	}
	return w.err
}

func (w *Writer) add(b *Batch) error {
	if err := w.schema.check(b); err != nil {
		return fmt.Errorf("trailfile: %w", err)
	}
	first := w.footer.rows + int64(w.group.rows) // number of b's first row
	for from := 0; from < b.Rows; {
		to := w.fit(b, from)
		if to == from {
			if err := w.flush(); err != nil {
				return err
			}
			continue
		}
		if err := w.group.add(b, from, to, first); err != nil {
			return fmt.Errorf("trailfile: %w", err)
		}
		from = to
		if !w.judged && w.group.rows == w.sample {
			w.judge()
		}
	}
	return nil
}

// fit returns the end of the rows of b that can be added at once. It ends at the end of the
// group, of the sample, of a step, or of b.
func (w *Writer) fit(b *Batch, from int) int {
	step := stepRows(len(w.schema.Columns))
	into := w.group.rows % step
	if w.group.rows > 0 && into == 0 && w.group.memory() >= w.opts.GroupMemory {
		return from
	}
	n := min(w.opts.GroupRows-w.group.rows, step-into)
	if !w.judged && w.group.rows < w.sample {
		n = min(n, w.sample-w.group.rows)
	}
	return w.schema.Fit(b, from, min(b.Rows, from+n), w.group.bytes(), w.opts.GroupBytes, w.group.rows == 0)
}

// stepRows returns the number of rows after which the memory of a group is compared with its limit. It depends on the schema
// alone, as the file does.
func stepRows(columns int) int { return max(64, min(4<<10, 64<<10/columns)) }

func (w *Writer) judge() {
	w.group.judge()
	w.judged = true
}

// flush writes the collected rows as a row group.
func (w *Writer) flush() error {
	if !w.judged {
		w.judge()
	}
	if err := w.start(); err != nil {
		return err
	}
	if n := w.opts.groups(); len(w.footer.groups) == n {
		return fmt.Errorf("trailfile: more than %d row groups", n)
	}
	if err := w.writeGroup(); err != nil {
		return fmt.Errorf("trailfile: row group %d: %w", len(w.footer.groups), err)
	}
	w.group.reset()
	return nil
}

func (w *Writer) writeGroup() error {
	begin := w.pages.offset
	chunks := make([]*chunk, len(w.group.columns))
	for i, c := range w.group.columns {
		var err error
		if chunks[i], err = w.pages.chunk(c, w.group.rows, w.opts.PageBytes); err != nil {
			return err
		}
	}
	if err := w.pages.bloom(chunks[0], w.group.user); err != nil {
		return err
	}
	if w.opts.Parts {
		for _, c := range chunks {
			c.index, c.offsets.PageLocations = nil, nil
		}
	}
	w.footer.add(chunks, w.group.rows, begin)
	return nil
}

// Break ends a part: the row group ends, and the rows after it may sort before the rows that
// were written. It needs Options.Parts.
func (w *Writer) Break() error {
	switch {
	case w.closed:
		return ErrClosed
	case !w.opts.Parts:
		return errors.New("trailfile: the options of the file allow one part only")
	}
	if w.err == nil && w.group.rows > 0 {
		w.err = w.flush()
	}
	w.group.user.started = false
	return w.err
}

// start writes the bytes before the first row group.
func (w *Writer) start() error {
	if w.pages.offset > 0 {
		return nil
	}
	if err := w.pages.write([]byte(magic)); err != nil {
		return fmt.Errorf("trailfile: begin: %w", err)
	}
	return nil
}

// Close writes the remaining rows and the footer, and returns a description of the file. It
// does not close the underlying writer. A second Close returns the error of the first.
func (w *Writer) Close() (Meta, error) {
	if w.err == nil && !w.closed {
		w.err = w.finish()
	}
	w.closed = true
	return Meta{
		Rows:   w.footer.rows,
		Bytes:  w.pages.offset,
		Groups: len(w.footer.groups),
		First:  string(w.group.user.first),
		Last:   string(w.group.user.last),
	}, w.err
}

func (w *Writer) finish() error {
	if w.group.rows > 0 {
		if err := w.flush(); err != nil {
			return err
		}
	}
	if err := w.start(); err != nil {
		return err
	}
	if err := w.footer.write(&w.pages, w.group.columns); err != nil {
		return fmt.Errorf("trailfile: footer: %w", err)
	}
	return nil
}
