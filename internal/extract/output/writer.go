package output

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/cespare/xxhash/v2"

	"usertrail/internal/extract/memory"
	"usertrail/internal/extract/query"
	"usertrail/internal/format/manifest"
	"usertrail/internal/format/trailfile"
	"usertrail/internal/run/breakpoint"
)

// Rows are collected into columns until there are batchRows rows, batchCells values and nulls, or batchBytes bytes of fields. These
// rows fit into the processor's cache until they are encoded.
const (
	batchRows  = 4 << 10
	batchCells = 1 << 20
	batchBytes = 1 << 20
)

// A Writer writes parts, one after the other.
type Writer struct {
	q      *query.Query
	sizes  memory.Sizes
	schema trailfile.Schema // of the files
	long   *longMaker       // nil if the result is wide
	wide   *wideMaker
	file   fileWriter
	batch  trailfile.Batch
	most   int // rows of batch
}

// NewWriter returns a writer of parts of the result of q.
func NewWriter(q *query.Query, sizes memory.Sizes) *Writer {
	w := &Writer{q: q, sizes: sizes, schema: q.Schema.Without(q.Output.Partition)}
	if q.Output.Shape == trailfile.WideShape {
		w.wide = newWideMaker(q)
	} else {
		w.long = newLongMaker(q, w.schema)
	}
	w.batch = trailfile.NewBatch(w.schema)
	w.most = max(1, min(batchRows, batchCells/len(w.schema.Columns)))
	return w
}

// Write writes the file of p to out, and releases p. If it fails, the file does not exist.
func (w *Writer) Write(ctx context.Context, out Sink, p *Part) error {
	defer p.release()
	name := w.q.Output.PartName(p.number)
	slices.SortFunc(p.users, func(a, b named) int { return bytes.Compare(a.id, b.id) })
	f, err := w.writeFile(ctx, out, name, func() error { return w.rows(p.users) })
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	f.Users, f.Events = int64(len(p.users)), p.events
	r := Record{Files: []manifest.TrailPart{f}, Number: p.number, Users: f.Users, Events: f.Events, Last: p.last, Counts: p.counts, Found: p.found}
	if err := out.Done(ctx, r); err != nil {
		return err
	}
	breakpoint.Reach(breakpoint.Part)
	return nil
}

// writeFile writes one file. rows adds its rows to the batch.
func (w *Writer) writeFile(ctx context.Context, out Sink, name string, rows func() error) (manifest.TrailPart, error) {
	f, err := out.Create(ctx, name)
	if err != nil {
		return manifest.TrailPart{}, err
	}
	defer f.Abort()
	h := xxhash.New()
	if err := w.open(io.MultiWriter(f, h)); err != nil {
		return manifest.TrailPart{}, err
	}
	w.batch.Reset()
	if err := rows(); err != nil {
		return manifest.TrailPart{}, err
	}
	if err := w.flush(0); err != nil {
		return manifest.TrailPart{}, err
	}
	meta, err := w.file.Close()
	if err != nil {
		return manifest.TrailPart{}, err
	}
	return manifest.TrailPart{Name: name, Size: meta.Bytes, Sum: fmt.Sprintf("%016x", h.Sum64())}, f.Commit()
}

// open begins a file. It uses the memory of the file before.
func (w *Writer) open(out io.Writer) (err error) {
	if w.file != nil {
		w.file.Reset(out)
		return nil
	}
	w.file, err = newFile(out, &w.q.Output, w.schema, w.sizes)
	return err
}

// rows writes the rows of users.
func (w *Writer) rows(users []named) error {
	for i := range users {
		u := &users[i]
		if w.wide != nil {
			w.wide.row(&w.batch, u)
			if err := w.flush(w.most); err != nil {
				return err
			}
			continue
		}
		for j, events := 0, u.events(); j < len(events); j++ {
			if err := w.long.row(&w.batch, u, &events[j]); err != nil {
				return err
			}
			if err := w.flush(w.most); err != nil {
				return err
			}
		}
	}
	return nil
}

// flush writes the collected rows to the file if there are at least so many rows, or batchBytes
// bytes.
func (w *Writer) flush(least int) error {
	if w.batch.Rows < least && (w.long == nil || w.long.bytes < batchBytes) {
		return nil
	}
	if w.long != nil {
		w.long.fill(&w.batch)
		w.long.bytes = 0
	}
	err := w.file.Write(&w.batch)
	w.batch.Reset()
	return err
}
