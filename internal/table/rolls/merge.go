package rolls

import (
	"bytes"
	"container/heap"
	"context"
	"errors"
	"fmt"

	"usertrail/internal/activity"
	"usertrail/internal/behaviour"
	"usertrail/internal/format/manifest"
	"usertrail/internal/format/roll"
	"usertrail/internal/split"
	"usertrail/internal/store/dfs"
	"usertrail/internal/table"
)

// A merge iterates over the users of several rolls. It returns each user once.
type merge struct {
	rolls   *Rolls
	region  split.Region
	span    behaviour.Span
	cursors []*cursor // of all rolls of the query

	left  places
	user  table.User
	days  []activity.Set // the user's kinds on each day, from each roll
	begun bool
	at    bool // user is valid
	err   error
}

// want adds a roll, if it can have requested users.
func (m *merge) want(q *Query, f *manifest.File, sure bool) {
	if q.hasUsers(f) {
		m.cursors = append(m.cursors, &cursor{file: f, sure: sure})
	}
}

// SeekGE implements table.Users.
func (m *merge) SeekGE(key []byte) bool {
	if m.at && bytes.Compare(m.user.Key, key) >= 0 {
		return true
	}
	m.seek(key)
	return m.gather()
}

// seek moves all rolls that are before key to key, or to the beginning of the region.
func (m *merge) seek(key []byte) {
	if bytes.Compare(key, m.region.Start) < 0 {
		key = m.region.Start
	}
	if !m.begun {
		m.begun = true
		for _, c := range m.cursors {
			if c.it.SeekGE(key) {
				m.left = append(m.left, c)
			} else if m.failed(c) {
				return
			}
		}
		heap.Init(&m.left)
		return
	}
	for len(m.left) > 0 && bytes.Compare(m.left[0].key(), key) < 0 {
		if m.moved(m.left[0].it.SeekGE(key)); m.err != nil {
			return
		}
	}
}

// Next implements table.Users.
func (m *merge) Next() bool {
	if !m.begun {
		m.seek(m.region.Start)
	}
	return m.gather()
}

// User implements table.Users.
func (m *merge) User() table.User { return m.user }

// Days implements table.Daily.
func (m *merge) Days() []activity.Set { return m.days }

// Err implements table.Users.
func (m *merge) Err() error { return m.err }

// Close implements table.Users.
func (m *merge) Close() error {
	var errs []error
	for _, c := range m.cursors {
		if c.held != nil {
			errs = append(errs, m.rolls.release(c.held))
		}
	}
	m.cursors, m.left = nil, nil
	return errors.Join(errs...)
}

// gather moves to the user with the smallest key and collects the user from all rolls that have
// the key. It skips users without a row in the span.
func (m *merge) gather() bool {
	for m.err == nil && len(m.left) > 0 {
		least := m.left[0].key()
		if len(m.region.End) > 0 && bytes.Compare(least, m.region.End) >= 0 {
			break
		}
		m.user, m.days = table.User{Key: append(m.user.Key[:0], least...)}, m.days[:0]
		var sure activity.Set
		for m.err == nil && len(m.left) > 0 && bytes.Equal(m.left[0].key(), m.user.Key) {
			c := m.left[0]
			did, records := c.within(m.span, &m.days)
			m.user.Did = m.user.Did.Or(did)
			m.user.Records += records
			if c.sure {
				sure = sure.Or(did)
			}
			m.moved(c.it.Next())
		}
		if m.user.Sure = m.user.Did == sure; m.err == nil && !m.user.Did.Empty() {
			m.at = true
			return true
		}
	}
	m.at = false
	return false
}

// moved restores the heap after the roll on top has moved. ok means that the roll has another
// user.
func (m *merge) moved(ok bool) {
	switch {
	case ok:
		heap.Fix(&m.left, 0)
	case !m.failed(m.left[0]):
		heap.Pop(&m.left)
	}
}

// failed reports whether a roll ended because of a read error.
func (m *merge) failed(c *cursor) bool {
	if err := c.it.Err(); err != nil {
		m.err = fmt.Errorf("read %s: %w", dfs.Join(m.rolls.dir, c.file.Roll), table.Corrupt(err))
	}
	return m.err != nil
}

// A cursor is a position in one roll.
type cursor struct {
	file  *manifest.File
	sure  bool // its users certainly have the rows that it names
	held  *opened
	it    *roll.Iterator
	kinds []int // the schema's kind of each behaviour ID of the roll
	same  bool  // kinds is 0, 1, 2, …
}

// unknown is the kind of a behaviour that is not in the schema.
const unknown = -1

func (c *cursor) open(ctx context.Context, s *Rolls, q *Query) error {
	o, err := s.hold(ctx, c.file.Roll)
	if err != nil {
		return err
	}
	if err := Check(q.Layout, c.file, o.roll); err != nil {
		return errors.Join(fmt.Errorf("open %s: %w", dfs.Join(s.dir, c.file.Roll), err), s.release(o))
	}
	c.held, c.it, c.same = o, o.roll.Iterator(), true
	for i, id := range o.roll.Meta().IDs {
		k, ok := q.Schema.KindByID(id)
		if !ok {
			k = unknown // it comes with a load that is under way
		}
		c.kinds = append(c.kinds, k)
		c.same = c.same && k == i
	}
	return nil
}

func (c *cursor) key() []byte { return c.it.Entry().User }

// within returns the kinds of the current user on the days of span, and an estimate of the
// number of records: a roll has that number only for all days of the user together. It appends
// the kinds of each of these days to days.
func (c *cursor) within(span behaviour.Span, days *[]activity.Set) (did activity.Set, records int64) {
	e := c.it.Entry()
	var in, all int64 // rows
	for i, d := range e.Days {
		kinds := e.Kinds(i)
		n := int64(kinds.Len())
		all += n
		if !span.Has(d.Date) {
			continue
		}
		in += n
		set := c.set(kinds)
		did = did.Or(set)
		*days = append(*days, set)
	}
	if in == all {
		return did, e.Records
	}
	return did, (e.Records*in + all - 1) / all
}

// set converts a roll's kinds to the kinds of the schema.
func (c *cursor) set(kinds activity.Set) (set activity.Set) {
	if c.same {
		return kinds
	}
	for i := range kinds.Kinds() {
		if k := c.kinds[i]; k != unknown {
			set.Add(k)
		}
	}
	return set
}

// places is a heap of rolls. The roll with the smallest key is on top.
type places []*cursor

func (p places) Len() int           { return len(p) }
func (p places) Less(i, j int) bool { return bytes.Compare(p[i].key(), p[j].key()) < 0 }
func (p places) Swap(i, j int)      { p[i], p[j] = p[j], p[i] }
func (p *places) Push(x any)        { *p = append(*p, x.(*cursor)) }
func (p *places) Pop() any {
	last := len(*p) - 1
	x := (*p)[last]
	*p = (*p)[:last]
	return x
}
