package snapshot

import (
	"bytes"
	"context"
	"fmt"

	"usertrail/internal/activity"
	"usertrail/internal/behaviour"
	"usertrail/internal/cell"
	"usertrail/internal/split"
	"usertrail/internal/table"
)

// Users implements table.Table. Who has rows is known only to the rows: a user that
// is looked for by SeekGE may be there, and may have done everything. Next goes
// through the rows, and wants no more of each than one cell that is seen.
func (t *Table) Users(ctx context.Context, r split.Region, span behaviour.Span) (table.Users, error) {
	return &users{ctx: ctx, anybody: table.NewAnybody(r, t.info.Schema), span: span, walk: walk{t: t, within: r, regions: t.among(r)}}, nil
}

type users struct {
	ctx     context.Context
	anybody table.Anybody
	span    behaviour.Span

	walk walk
	row  []byte // the first of a user who was not described yet
	user table.User
	err  error
}

// SeekGE implements table.Users.
func (u *users) SeekGE(key []byte) bool { return u.err == nil && u.anybody.SeekGE(key, &u.user) }

// Next implements table.Users.
func (u *users) Next() bool {
	past := bytes.Clone(u.user.Key) // a user who was sought may not come again
	for u.err == nil {
		var found bool
		if found, u.err = u.gather(); !found || u.err != nil {
			return false
		}
		if u.user.Did != 0 && bytes.Compare(u.user.Key, past) > 0 {
			return true
		}
	}
	return false
}

// gather describes the user of the next rows.
func (u *users) gather() (bool, error) {
	u.user = table.User{Key: u.user.Key[:0], Sure: true}
	layout, schema := u.walk.t.info.Layout, u.walk.t.info.Schema
	for {
		if u.row == nil {
			row, err := u.walk.next(u.ctx)
			if err != nil || row == nil {
				return len(u.user.Key) > 0, err
			}
			u.row = row
		}
		date, kind, ok := layout.ParseRow(schema, u.row)
		if !ok {
			return false, fmt.Errorf("row %.64q is none of the table's layout and behaviours", u.row)
		}
		key := u.row[:layout.UserKeyLen(u.row)]
		if len(u.user.Key) == 0 {
			u.user.Key = append(u.user.Key, key...)
		}
		if !bytes.Equal(key, u.user.Key) {
			return true, nil
		}
		if u.span.Has(date) {
			u.user.Did |= activity.Of(kind)
		}
		u.row = nil
	}
}

// User implements table.Users.
func (u *users) User() table.User { return u.user }

// Err implements table.Users.
func (u *users) Err() error { return u.err }

// A walk goes through the rows of some regions.
type walk struct {
	t       *Table
	within  split.Region
	regions []*region // the first is the one to read
	merge   *merge    // of it; nil until it is begun
}

// next returns the next row that has a cell, nil after the last. It is valid until
// the next call.
func (w *walk) next(ctx context.Context) ([]byte, error) {
	for len(w.regions) > 0 {
		c, err := w.cell(ctx)
		if err != nil {
			return nil, explain(err)
		}
		if c != nil {
			w.merge.leaveRow()
			return c.Row, nil
		}
		w.t.release(w.regions[0])
		w.merge, w.regions = nil, w.regions[1:]
	}
	return nil, nil
}

// cell returns the next cell of the first region.
func (w *walk) cell(ctx context.Context) (*cell.Cell, error) {
	if w.merge == nil {
		r := w.regions[0]
		within := overlap(w.within, r.Region)
		m, err := w.t.begin(ctx, r, within, nil)
		if err != nil {
			w.regions = nil // begin has released it
			return nil, err
		}
		w.merge = m
		if err := m.seek(within.Start, within.End); err != nil {
			return nil, err
		}
	}
	return w.merge.next(ctx)
}
