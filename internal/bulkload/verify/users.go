package verify

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"

	"github.com/cespare/xxhash/v2"

	"usertrail/internal/activity"
	"usertrail/internal/behaviour"
	"usertrail/internal/format/hfile"
	"usertrail/internal/format/roll"
)

// users compares the users of a roll with the rows of its HFile, in the order of both.
type users struct {
	src  *source
	r    *roll.Reader
	it   *roll.Iterator
	sets []activity.Set // by kind of the table, its set in the roll; empty for kinds that the roll does not have
	err  error          // why the roll does not fit

	key     []byte // of the user of the current rows
	days    []userDay
	apart   *apart // nil if the rows of a user are adjacent
	share   int    // of the users of the roll that are compared; every is all
	records int64
	ended   bool // all rows were read, and the HFile is as it was written
}

// users opens the roll. It returns nil if it cannot; the reason is then a finding.
func (k *check) users() (*users, error) {
	src, err := k.open(k.file.Roll, nil)
	if err != nil {
		return nil, k.note(k.file.Roll, err)
	}
	r, err := roll.Open(src, src.Size())
	if err != nil {
		err = k.note(k.file.Roll, err)
		src.Close()
		return nil, err
	}
	u := &users{src: src, r: r, it: r.Iterator(), share: every, sets: make([]activity.Set, len(k.schema.Kinds))}
	if !k.layout.Traits().Together {
		u.apart = new(apart)
	}
	for i, kind := range k.schema.Kinds {
		if n, ok := r.Kind(kind.ID); ok {
			u.sets[i] = activity.Of(n)
		}
	}
	return u, nil
}

// stretch adds the current stretch of a count.
func (u *users) stretch(c *count) {
	if !c.known {
		return
	}
	if key := c.layout.UserKey(c.row); !bytes.Equal(key, u.key) {
		u.endRows()
		u.key = append(u.key[:0], key...)
	}
	u.days = did(u.days, u.dayOf(c))
}

// dayOf returns the day of the current stretch of a count.
func (u *users) dayOf(c *count) userDay { return userDay{c.day.date, u.sets[c.day.kind]} }

// A userDay is a date on which a user has rows, with the user's kinds as indexes of the roll.
type userDay struct {
	date  behaviour.Date
	kinds activity.Set
}

// daysOf returns the days of an entry.
func daysOf(e *roll.Entry) []userDay {
	out := make([]userDay, len(e.Days))
	for i, d := range e.Days {
		out[i] = userDay{d.Date, e.Kinds(i)}
	}
	return out
}

// did adds a day to days in order of date. Most often it is the last day or a later one.
func did(days []userDay, d userDay) []userDay {
	n := len(days)
	switch {
	case n == 0 || days[n-1].date < d.date:
		return append(days, d)
	case days[n-1].date == d.date:
		days[n-1].kinds = days[n-1].kinds.Or(d.kinds)
		return days
	}
	at, ok := slices.BinarySearchFunc(days, d, func(a, b userDay) int { return cmp.Compare(a.date, b.date) })
	if !ok {
		return slices.Insert(days, at, d)
	}
	days[at].kinds = days[at].kinds.Or(d.kinds)
	return days
}

// endRows ends a run of adjacent rows of a user.
func (u *users) endRows() {
	if u.apart == nil {
		u.endUser()
		return
	}
	u.apart.rows(u.key, u.days)
	u.days = u.days[:0]
}

// next moves to the next user of the roll that is compared.
func (u *users) next() bool {
	for u.it.Next() {
		if u.share == every || shareOf(xxhash.Sum64(u.it.Entry().User)) == u.share {
			return true
		}
	}
	return false
}

// endUser compares the complete rows of a user with the roll's next entry.
func (u *users) endUser() {
	if u.err != nil || len(u.days) == 0 {
		return
	}
	if u.next() {
		e := u.it.Entry()
		if days := daysOf(e); !bytes.Equal(e.User, u.key) || !slices.Equal(days, u.days) {
			u.err = fmt.Errorf("it has the user %q with %v where the HFile has %q with %v", e.User, days, u.key, u.days)
		}
		u.records += e.Records
	} else if u.err = u.it.Err(); u.err == nil {
		u.err = fmt.Errorf("it does not have the user %q", u.key)
	}
	u.days = u.days[:0]
}

// endRoll is called after all users of the rows have been compared.
func (u *users) endRoll() {
	switch {
	case u.err != nil:
	case u.next():
		u.err = fmt.Errorf("it has the user %q, who is not in the HFile", u.it.Entry().User)
	default:
		u.err = u.it.Err()
	}
}

// end is called after all rows of h have been read.
func (u *users) end(k *check, h *hfile.Reader) {
	u.endRows()
	u.ended = true
	if u.apart == nil {
		u.endRoll()
	} else if u.records, u.err = u.apart.roll(u.it); u.err == nil {
		if share, ok := u.apart.differing(); ok {
			u.err = k.explain(h, u, share)
		}
	}
	if u.err == nil && u.records != k.file.Records {
		u.err = fmt.Errorf("it has %d records; written were %d", u.records, k.file.Records)
	}
}

// finish returns the problem with the roll. If the HFile itself is wrong, a difference
// between them is not reported.
func (u *users) finish(sum string) error {
	if u.ended && u.err != nil {
		return u.err
	}
	return u.src.finish(sum)
}
