package bulkload

import (
	"bytes"
	"context"
	"encoding/binary"
	"slices"

	"usertrail/internal/behaviour"
	"usertrail/internal/cell"
	"usertrail/internal/job"
	"usertrail/internal/layout"
	"usertrail/internal/split"
	"usertrail/internal/table"
	"usertrail/internal/trail"
)

// unique finds the records whose key fields repeat, where the job names such
// fields: among a user's records of one behaviour and date, those in the table
// included. Of records that agree the first loaded stays; of those of one batch,
// the one of the least column ID.
type unique struct {
	*batch
	ctx   context.Context
	fresh bool // the table is empty, nothing needs to be looked up

	row  []byte
	seen map[string]int64 // column ID of the record that has the key
	key  []byte
}

func newUnique(ctx context.Context, b *batch) *unique {
	_, puts := b.target.(table.Putter) // of which some may be there without a ledger
	fresh := b.target.NextLoad() == 1 && !puts
	return &unique{batch: b, ctx: ctx, fresh: fresh, seen: map[string]int64{}}
}

// uniqueOf says which key fields the job names, by the table's kinds; of the zero
// Unique nothing is asked.
func uniqueOf(j *job.Job, to *behaviour.Schema, kinds []mapped) []job.Unique {
	out := make([]job.Unique, len(to.Kinds))
	for k, settings := range j.Behaviours {
		m := kinds[k]
		a := settings.Unique
		if m.fields != nil {
			a.Fields = make([]int, 0, len(settings.Unique.Fields))
			for _, f := range settings.Unique.Fields {
				a.Fields = append(a.Fields, slices.Index(m.fields, f))
			}
		}
		out[m.kind] = a
	}
	return out
}

// repeats says whether r is a duplicate of another record of its row. A killed load
// of puts may have left r itself there.
func (u *unique) repeats(row []byte, r *behaviour.Record) (bool, error) {
	a := &u.load.unique[r.Kind]
	if !a.Asked() {
		return false, nil
	}
	if !bytes.Equal(row, u.row) {
		u.row = append(u.row[:0], row...)
		clear(u.seen)
		if !u.fresh {
			if err := u.lookUp(r); err != nil {
				return false, err
			}
		}
	}
	k := u.keyOf(a, r.Time, func(i int) []byte { return r.Values[i] })
	if id, ok := u.seen[string(k)]; ok {
		return id != r.ID, nil
	}
	u.seen[string(k)] = r.ID
	return false, nil
}

// keyOf is a record's key fields as one string. The row tells the user.
func (u *unique) keyOf(a *job.Unique, micros int64, value func(int) []byte) []byte {
	k := u.key[:0]
	if a.Time {
		k = binary.BigEndian.AppendUint64(k, uint64(micros))
	}
	for _, f := range a.Fields {
		v := value(f)
		if v == nil {
			k = append(k, 0)
			continue
		}
		k = append(binary.AppendUvarint(k, uint64(len(v))+1), v...)
	}
	u.key = k
	return k
}

// lookUp takes the keys of the row's records that are in the table.
func (u *unique) lookUp(r *behaviour.Record) error {
	span := behaviour.Span{From: r.Date, To: r.Date}
	d := u.layout.Decoder(u.schema, layout.Want{Kinds: []int{r.Kind}, Span: span})
	var b trail.Batch
	b.Reset()
	d.Into(&b, func([]byte) (uint32, bool) { return 0, true })
	only := split.Region{Start: u.row, End: append(bytes.Clone(u.row), 0)}
	err := u.target.Read(u.ctx, table.Query{
		Bounds: only, Span: span,
		Ranges: func(yield func(split.Region) bool) { yield(only) },
	}, func(c *cell.Cell) error { return d.Add(c) })
	if err != nil {
		return err
	}
	if err := d.Flush(); err != nil {
		return err
	}
	a := &u.load.unique[r.Kind]
	for i := range b.Events {
		e := &b.Events[i]
		u.seen[string(u.keyOf(a, e.Time, func(f int) []byte { return b.Value(b.Refs[int(e.Refs)+f]) }))] = e.ID
	}
	return nil
}
