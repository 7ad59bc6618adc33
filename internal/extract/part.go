package extract

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/cespare/xxhash/v2"

	"usertrail/internal/behaviour"
	"usertrail/internal/manifest"
	"usertrail/internal/trail"
	"usertrail/internal/trailfile"
)

// batchRows is how many rows are gathered into columns at a time: few enough to
// stay in the processor's cache until they are encoded.
const batchRows = 4 << 10

// groupRows lets a part be one row group, unless one of its users is very busy.
const groupRows = PartEvents * 3 / 2

// A partWriter writes parts, one after the other.
type partWriter struct {
	q      *question
	schema trailfile.Schema
	slots  [][]int // by kind: which column each of its fields is
	behave []uint8 // by kind: its index among the asked
	file   *trailfile.Writer
	batch  trailfile.Batch
	ids    []byte
	users  []named
}

// firstField is the first column that is a field.
const firstField = 5

// named is a user's trail with the user ID, a piece of partWriter.ids.
type named struct {
	id []byte
	slice
}

func newPartWriter(q *question) *partWriter {
	s := q.info.Schema
	fields := s.Columns(q.kinds)
	w := &partWriter{
		q:      q,
		schema: trailfile.Long(q.names(), 0, fields),
		slots:  make([][]int, len(s.Kinds)),
		behave: make([]uint8, len(s.Kinds)),
	}
	for i, k := range q.kinds {
		w.behave[k] = uint8(i)
		for _, f := range s.Kinds[k].Fields {
			w.slots[k] = append(w.slots[k], firstField+slices.IndexFunc(fields, func(c behaviour.Field) bool { return c.Name == f.Name }))
		}
	}
	w.batch = trailfile.NewBatch(w.schema)
	return w
}

// write writes p under its name in out, whole or not at all, and lets go of it.
func (w *partWriter) write(ctx context.Context, out *staging, p *part) error {
	defer func() {
		for _, t := range p.trails {
			t.Release()
		}
	}()
	name := partName(p.number)
	if err := w.sortUsers(p); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	f, err := out.create(ctx, name)
	if err != nil {
		return err
	}
	defer f.Abort()
	h := xxhash.New()
	s := &sum{Writer: io.MultiWriter(f, h)}
	if err := w.rows(s); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	if err := f.Commit(); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return out.done(ctx, partRecord{
		TrailPart: manifest.TrailPart{
			Name: name, Users: int64(len(p.users)), Events: p.events,
			Size: s.bytes, Sum: fmt.Sprintf("%016x", h.Sum64()),
		},
		Number: p.number, Last: p.last, Found: p.found,
	})
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

// rows writes the sorted users' trails.
func (w *partWriter) rows(out *sum) error {
	if err := w.open(out); err != nil {
		return err
	}
	w.batch.Reset()
	for _, u := range w.users {
		for i, events := 0, u.events(); i < len(events); i++ {
			if err := w.row(u.id, u.trails.Batch, &events[i]); err != nil {
				return err
			}
			if w.batch.Rows == batchRows {
				if err := w.file.Write(&w.batch); err != nil {
					return err
				}
				w.batch.Reset()
			}
		}
	}
	if err := w.file.Write(&w.batch); err != nil {
		return err
	}
	_, err := w.file.Close()
	return err
}

// open begins a file with the memory of the one before.
func (w *partWriter) open(out io.Writer) (err error) {
	if w.file != nil {
		w.file.Reset(out)
		return nil
	}
	w.file, err = trailfile.NewWriter(out, w.schema, trailfile.Options{GroupRows: groupRows})
	return err
}

// row appends one behaviour to the columns.
func (w *partWriter) row(id []byte, from *trail.Batch, e *trail.Event) error {
	b := &w.batch
	c := b.Columns
	c[0].Str.Append(id)
	c[1].Small = append(c[1].Small, e.Date)
	c[2].Int = append(c[2].Int, e.Time)
	c[3].Code = append(c[3].Code, w.behave[e.Kind])
	c[4].Int = append(c[4].Int, e.ID)
	slots := w.slots[e.Kind]
	for i, slot := range slots {
		if v := from.Value(from.Refs[int(e.Refs)+i]); v != nil {
			if err := appendValue(&c[slot], v, b.Rows); err != nil {
				k := w.q.info.Schema.Kinds[e.Kind]
				return fmt.Errorf("user %q, %s, id %d, field %s: %w", id, k.Name, e.ID, k.Fields[i].Name, err)
			}
		}
	}
	b.Rows++
	for i := firstField; i < len(c); i++ {
		if len(c[i].Valid) < b.Rows {
			appendNull(&c[i])
		}
	}
	return nil
}

// appendValue adds a row's value to its column; row is the number of rows there.
func appendValue(c *trailfile.Values, v []byte, row int) error {
	if err := c.Type.Check(v); err != nil {
		return err
	}
	if len(c.Valid) > row {
		return fmt.Errorf("two values in one row")
	}
	c.Valid = append(c.Valid, true)
	switch c.Type {
	case behaviour.String:
		c.Str.Append(v)
	case behaviour.Int64, behaviour.Timestamp:
		c.Int = append(c.Int, behaviour.ToInt64(v))
	case behaviour.Double:
		c.Double = append(c.Double, behaviour.ToDouble(v))
	case behaviour.Day:
		c.Small = append(c.Small, int32(behaviour.ToDate(v)))
	case behaviour.Bool:
		c.Small = append(c.Small, int32(v[0]&1))
	}
	return nil
}

func appendNull(c *trailfile.Values) {
	c.Valid = append(c.Valid, false)
	switch c.Type {
	case behaviour.String:
		c.Str.Append(nil)
	case behaviour.Int64, behaviour.Timestamp:
		c.Int = append(c.Int, 0)
	case behaviour.Double:
		c.Double = append(c.Double, 0)
	default:
		c.Small = append(c.Small, 0)
	}
}

func partName(n int) string { return fmt.Sprintf("part-%05d.parquet", n) }
