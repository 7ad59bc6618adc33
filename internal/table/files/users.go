package files

import (
	"bytes"
	"context"

	"usertrail/internal/activity"
	"usertrail/internal/behaviour"
	"usertrail/internal/dfs"
	"usertrail/internal/manifest"
	"usertrail/internal/roll"
	"usertrail/internal/split"
	"usertrail/internal/table"
)

// Users implements table.Table: the rolls of all files that can hold rows of the
// region and span, merged. They name exactly the users that have rows.
func (t *Table) Users(ctx context.Context, r split.Region, span behaviour.Span) (table.Users, error) {
	m := t.Manifest()
	u := &users{region: r, span: span}
	for i := range m.Files {
		f := &m.Files[i]
		if !f.Span.Overlaps(span) || !t.hasUsers(f, r) {
			continue
		}
		rd, err := t.openRoll(ctx, f)
		if err != nil {
			return nil, err
		}
		u.rolls = append(u.rolls, newRollCursor(rd, f, m.Schema, dfs.Join(t.Dir(), f.Roll)))
	}
	return u, nil
}

// hasUsers says whether a file can have users of a region. One whose rows are in two
// regions is in the one that has the key, which may end before the file's first row.
func (t *Table) hasUsers(f *manifest.File, r split.Region) bool {
	first := f.First[:t.Layout().UserKeyLen(f.First)]
	before := len(r.Start) > 0 && bytes.Compare(f.Last, r.Start) < 0
	after := len(r.End) > 0 && bytes.Compare(first, r.End) >= 0
	return !before && !after
}

// users merges rolls by key. There are few of them, one for each load that
// touched the region, so the smallest is looked for among all.
type users struct {
	region split.Region
	span   behaviour.Span
	rolls  []*rollCursor
	user   table.User
	begun  bool
	err    error
}

// SeekGE implements table.Users.
func (u *users) SeekGE(key []byte) bool {
	if bytes.Compare(key, u.region.Start) < 0 {
		key = u.region.Start
	}
	for _, r := range u.rolls {
		if r.ok = r.seek(key); !r.ok && r.err() != nil {
			u.err = r.err()
			return false
		}
	}
	u.begun = true
	return u.gather()
}

// Next implements table.Users.
func (u *users) Next() bool {
	if !u.begun {
		return u.SeekGE(u.region.Start)
	}
	return u.err == nil && u.gather()
}

// User implements table.Users.
func (u *users) User() table.User { return u.user }

// Err implements table.Users.
func (u *users) Err() error { return u.err }

// Close implements table.Users. The table holds the rolls open for the next.
func (u *users) Close() error { return nil }

// gather takes the smallest key from all rolls that have it. A user without a
// row in the span is passed over.
func (u *users) gather() bool {
	for {
		var least *rollCursor
		for _, r := range u.rolls {
			if r.ok && (least == nil || bytes.Compare(r.key(), least.key()) < 0) {
				least = r
			}
		}
		if least == nil || len(u.region.End) > 0 && bytes.Compare(least.key(), u.region.End) >= 0 {
			return false
		}
		u.user = table.User{Key: append(u.user.Key[:0], least.key()...), Sure: true}
		for _, r := range u.rolls {
			if !r.ok || !bytes.Equal(r.key(), u.user.Key) {
				continue
			}
			did, records := r.within(u.span)
			u.user.Did |= did
			u.user.Records += records
			if r.ok = r.next(); !r.ok && r.err() != nil {
				u.err = r.err()
				return false
			}
		}
		if u.user.Did != 0 {
			return true
		}
	}
}

// A rollCursor is a place in one roll.
type rollCursor struct {
	it    *roll.Iterator
	name  string
	kinds []int // schema's kind of each of the roll's behaviour IDs
	same  bool  // kinds is 0, 1, 2, …
	ok    bool
}

func newRollCursor(r *roll.Reader, f *manifest.File, s *behaviour.Schema, name string) *rollCursor {
	c := &rollCursor{it: r.Iterator(), name: name, same: true}
	for i, id := range r.Meta().IDs {
		k, _ := s.KindByID(id)
		c.kinds = append(c.kinds, k)
		c.same = c.same && k == i
	}
	return c
}

func (c *rollCursor) key() []byte { return c.it.Entry().User }
func (c *rollCursor) next() bool  { return c.it.Next() }
func (c *rollCursor) err() error  { return c.it.Err() }

// seek goes forward to key, unless it is there or past it already.
func (c *rollCursor) seek(key []byte) bool {
	if c.ok && bytes.Compare(c.key(), key) >= 0 {
		return true
	}
	return c.it.SeekGE(key)
}

// within returns what the user at hand did on the days of span.
func (c *rollCursor) within(span behaviour.Span) (activity.Set, int64) {
	e := c.it.Entry()
	var did uint64
	for _, d := range e.Days {
		if span.Has(d.Date) {
			did |= d.Kinds
		}
	}
	if c.same || did == 0 {
		return activity.Set(did), e.Records
	}
	var set activity.Set
	for i, k := range c.kinds {
		if did>>i&1 != 0 {
			set |= activity.Of(k)
		}
	}
	return set, e.Records
}
