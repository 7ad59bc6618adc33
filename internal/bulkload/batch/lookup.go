package batch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/dustin/go-humanize"

	"usertrail/internal/behaviour"
	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/target"
	"usertrail/internal/cell"
	"usertrail/internal/column"
	"usertrail/internal/format/layout"
	"usertrail/internal/table/fetch"
	"usertrail/internal/trail"
)

// A dayKey is a date and behaviour of one user.
type dayKey struct {
	date behaviour.Date
	kind int // of the table
}

// A lookup reads the records that a user has in the table.
type lookup struct {
	ctx  context.Context
	to   *target.Table
	most int64 // bytes
}

// events returns the events of a day that the user with a key has in the table, with the
// values of the given fields of the day's kind. It fails if the events need too much memory.
func (l *lookup) events(user []byte, day dayKey, fields []int) (*trail.Batch, error) {
	t := l.to
	want := layout.Want{Kinds: []int{day.kind}, Span: behaviour.Span{From: day.date, To: day.date}, Fields: make([][]bool, len(t.Schema.Kinds))}
	for k := range want.Fields {
		want.Fields[k] = make([]bool, len(t.Schema.Kinds[k].Fields))
	}
	for _, f := range fields {
		want.Fields[day.kind][f] = true
	}
	where, err := fetch.NewWhere(t.Layout, t.Schema, want, fetch.Auto)
	if err != nil {
		return nil, err
	}
	d := t.Layout.Decoder(t.Schema, want)
	out := &trail.Batch{Most: int(l.most)}
	out.Reset()
	d.Into(out, func(key []byte) (uint32, bool) { return 0, bytes.Equal(key, user) })
	var skipped layout.Foreign
	err = t.Read(l.ctx, where.Query(slices.Values([][]byte{user})), func(c *cell.Cell) error { return skipped.Skip(d.Add(c)) })
	if err == nil {
		err = d.Flush()
	}
	if errors.Is(err, trail.ErrFull) {
		return nil, l.tooMany(user, day, err)
	}
	return out, err
}

// tooMany returns the error for a user whose records in the table need too much memory to be
// compared with new records.
func (l *lookup) tooMany(user []byte, day dayKey, why error) error {
	id, err := l.to.Layout.AppendUser(nil, user)
	if err != nil {
		return err
	}
	return fmt.Errorf("%w: user %q: the records of %s on %s in the table are compared with new ones, and take more than %s: raise --memory: %w",
		bulkload.ErrRequest, id, l.to.Schema.Kinds[day.kind].Name, day.date, humanize.IBytes(uint64(l.most)), why)
}

// present finds the corrected records that are in the table.
type present struct {
	layout  layout.Layout
	events  *lookup
	unknown bool // a killed replay may have left records
	user    []byte
	ids     map[dayKey]map[int64]bool // of user: column IDs
}

// has reports whether the corrected record r of a file is in the table, in row or elsewhere. If a replay was killed,
// has returns false: the replay puts all records again.
func (p *present) has(ctx context.Context, of Corrected, row []byte, r *behaviour.Record) (bool, error) {
	if p.unknown {
		return false, nil
	}
	if user := p.layout.UserKey(row); string(user) != string(p.user) {
		p.user = append(p.user[:0], user...)
		clear(p.ids)
	}
	day := dayKey{r.Date, r.Kind}
	ids := p.ids[day]
	if ids == nil {
		events, err := p.events.events(p.user, day, nil)
		if err != nil {
			return false, err
		}
		ids = map[int64]bool{}
		for i := range events.Events {
			ids[events.Events[i].ID] = true
		}
		p.ids[day] = ids
	}
	_, offset := column.Place(r.ID)
	if slices.ContainsFunc(of.Numbers(), func(n uint32) bool { return ids[column.ID(n, offset)] }) {
		return true, nil
	}
	return of.Held(ctx, offset)
}
