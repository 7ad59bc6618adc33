package extract

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/cespare/xxhash/v2"

	"usertrail/internal/format/manifest"
	"usertrail/internal/format/trailfile"
	"usertrail/internal/run/breakpoint"
)

// batchRows is how many rows are gathered into columns at a time, and batchBytes how
// many bytes of fields, if these come first: few enough to stay in the processor's cache
// until they are encoded.
const (
	batchRows  = 4 << 10
	batchBytes = 1 << 20
)

// A partWriter writes parts, one after the other.
type partWriter struct {
	q      *question
	schema trailfile.Schema // of the files
	long   *longMaker       // one of the two
	wide   *wideMaker
	file   fileWriter
	batch  trailfile.Batch
	ids    []byte
	users  []named
}

// named is a user's trail with the user ID, a piece of partWriter.ids.
type named struct {
	id []byte
	slice
}

func newPartWriter(q *question) *partWriter {
	w := &partWriter{q: q, schema: q.schema.Without(q.output.Partition)}
	if q.output.Shape == trailfile.WideShape {
		w.wide = newWideMaker(q)
	} else {
		w.long = newLongMaker(q, w.schema)
	}
	w.batch = trailfile.NewBatch(w.schema)
	return w
}

// write writes the file of p to out, whole or not at all, and lets go of p.
func (w *partWriter) write(ctx context.Context, out outlet, p *part) error {
	defer func() {
		for _, t := range p.trails {
			t.Release()
		}
	}()
	name := w.q.output.partName(p.number)
	if err := w.sortUsers(p); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	f, err := w.writeFile(ctx, out, name, w.rows)
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	f.Users, f.Events = int64(len(p.users)), p.events
	r := partRecord{Files: []manifest.TrailPart{f}, Number: p.number, Users: f.Users, Events: f.Events, Last: p.last, Counts: p.counts, Found: p.found}
	if err := out.done(ctx, r); err != nil {
		return err
	}
	breakpoint.Reach(breakpoint.Part)
	return nil
}

// writeFile writes one file, of the rows that rows adds to the batch.
func (w *partWriter) writeFile(ctx context.Context, out outlet, name string, rows func() error) (manifest.TrailPart, error) {
	f, err := out.create(ctx, name)
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

// sortUsers puts a part's users in order of user ID.
func (w *partWriter) sortUsers(p *part) error {
	w.ids, w.users = w.ids[:0], w.users[:0]
	l := w.q.info.Layout
	for _, u := range p.users {
		at := len(w.ids)
		var err error
		if w.ids, err = l.AppendUser(w.ids, u.key()); err != nil {
			return err
		}
		w.users = append(w.users, named{id: w.ids[at:len(w.ids):len(w.ids)], slice: u})
	}
	slices.SortFunc(w.users, func(a, b named) int { return bytes.Compare(a.id, b.id) })
	return nil
}

// open begins a file with the memory of the one before.
func (w *partWriter) open(out io.Writer) (err error) {
	if w.file != nil {
		w.file.Reset(out)
		return nil
	}
	w.file, err = w.q.output.newFile(out, w.schema)
	return err
}

// rows writes the rows of a part's users.
func (w *partWriter) rows() error {
	for i := range w.users {
		u := &w.users[i]
		if w.wide != nil {
			w.wide.row(&w.batch, u)
			if err := w.flush(batchRows); err != nil {
				return err
			}
			continue
		}
		for j, events := 0, u.events(); j < len(events); j++ {
			if err := w.long.row(&w.batch, u, &events[j]); err != nil {
				return err
			}
			if err := w.flush(batchRows); err != nil {
				return err
			}
		}
	}
	return nil
}

// flush hands the rows gathered to the file once there are as many as least, or
// batchBytes of them.
func (w *partWriter) flush(least int) error {
	if w.batch.Rows < least && (w.long == nil || w.long.bytes < batchBytes) {
		return nil
	}
	if w.long != nil {
		w.long.bytes = 0
	}
	err := w.file.Write(&w.batch)
	w.batch.Reset()
	return err
}
