package load

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/dustin/go-humanize"

	"usertrail/internal/behaviour"
	"usertrail/internal/bulkload"
	"usertrail/internal/cell"
	"usertrail/internal/format/job"
	"usertrail/internal/format/layout"
	"usertrail/internal/table"
	"usertrail/internal/table/fetch"
	"usertrail/internal/trail"
)

// unique finds records whose key fields repeat, if the job names key fields. It compares a
// user's records of one behaviour and date, including the records in the table. If records
// have the same key, the first loaded record stays. Within a batch, the first record is the
// first in order of the file's date, the file's path, and the position in the file.
type unique struct {
	*batch
	ctx   context.Context
	fresh bool // the table is empty, nothing needs to be looked up

	user []byte
	seen map[dayKey]map[string]int64 // of user: column ID of the record that has a key
	key  []byte
}

// A dayKey is a date and behaviour of one user.
type dayKey struct {
	date behaviour.Date
	kind int // index in the schema's kinds
}

func newUnique(ctx context.Context, b *batch) *unique {
	_, puts := table.As[table.Putter](b.target) // of which some may be there without a ledger
	fresh := b.target.NextLoad() == 1 && !puts
	return &unique{batch: b, ctx: ctx, fresh: fresh, seen: map[dayKey]map[string]int64{}}
}

// uniqueOf returns the key fields that the job names, by the table's kinds. A zero Unique
// means that the kind has no key fields.
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

// repeats reports whether r is a duplicate of another record of the user of row. Records of one
// date and kind come in the order of delivery. A killed load of puts may have left r itself in
// the table.
func (u *unique) repeats(row []byte, r *behaviour.Record) (bool, error) {
	a := &u.load.unique[r.Kind]
	if !a.Asked() {
		return false, nil
	}
	if user := u.layout.UserKey(row); !bytes.Equal(user, u.user) {
		u.user = append(u.user[:0], user...)
		clear(u.seen)
	}
	seen, err := u.of(r)
	if err != nil {
		return false, err
	}
	k := u.keyOf(a, r.Time, func(i int) []byte { return r.Values[i] })
	if id, ok := seen[string(k)]; ok {
		return id != r.ID, nil
	}
	seen[string(k)] = r.ID
	return false, nil
}

// of returns the keys of the user's records of r's date and kind.
func (u *unique) of(r *behaviour.Record) (map[string]int64, error) {
	day := dayKey{r.Date, r.Kind}
	seen := u.seen[day]
	if seen != nil {
		return seen, nil
	}
	seen = map[string]int64{}
	u.seen[day] = seen
	if u.fresh {
		return seen, nil
	}
	return seen, u.lookUp(day, seen)
}

// keyOf returns a record's key fields as one string. The next call overwrites it.
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

// lookUp adds to seen the keys of the user's records of a day that are in the table.
func (u *unique) lookUp(day dayKey, seen map[string]int64) error {
	a := &u.load.unique[day.kind]
	b, err := u.eventsOf(u.ctx, u.user, day, a.Fields)
	if err != nil {
		return err
	}
	for i := range b.Events {
		e := &b.Events[i]
		seen[string(u.keyOf(a, e.Time, func(f int) []byte { return b.Value(b.Refs[int(e.Refs)+f]) }))] = e.ID
	}
	return nil
}

// eventsOf returns the events of a day that the user with a key has in the table, with the
// values of the given fields of the day's kind. It fails if the events take more than userMemory.
func (b *batch) eventsOf(ctx context.Context, user []byte, day dayKey, fields []int) (*trail.Batch, error) {
	want := layout.Want{Kinds: []int{day.kind}, Span: behaviour.Span{From: day.date, To: day.date}, Fields: make([][]bool, len(b.schema.Kinds))}
	for k := range want.Fields {
		want.Fields[k] = make([]bool, len(b.schema.Kinds[k].Fields))
	}
	for _, f := range fields {
		want.Fields[day.kind][f] = true
	}
	where, err := fetch.NewWhere(b.layout, b.schema, want, fetch.Auto)
	if err != nil {
		return nil, err
	}
	d := b.layout.Decoder(b.schema, want)
	out := &trail.Batch{Most: int(b.cfg.userMemory())}
	out.Reset()
	d.Into(out, func(key []byte) (uint32, bool) { return 0, bytes.Equal(key, user) })
	var skipped layout.Foreign
	err = b.target.Read(ctx, where.Query(slices.Values([][]byte{user})), func(c *cell.Cell) error { return skipped.Skip(d.Add(c)) })
	if err == nil {
		err = d.Flush()
	}
	if errors.Is(err, trail.ErrFull) {
		return nil, b.tooManyThere(user, day, err)
	}
	return out, err
}

// tooManyThere returns the error for a user whose records in the table take too much memory to
// be compared with new records.
func (b *batch) tooManyThere(user []byte, day dayKey, why error) error {
	id, err := b.layout.AppendUser(nil, user)
	if err != nil {
		return err
	}
	return fmt.Errorf("%w: user %q: the records of %s on %s in the table are compared with new ones, and take more than %s: raise --memory: %w",
		bulkload.ErrRequest, id, b.schema.Kinds[day.kind].Name, day.date, humanize.IBytes(uint64(b.cfg.userMemory())), why)
}
