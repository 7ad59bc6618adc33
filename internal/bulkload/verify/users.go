package verify

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"

	"usertrail/internal/activity"
	"usertrail/internal/behaviour"
	"usertrail/internal/format/manifest"
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
	apart   map[string][]userDay // the days of all users, if the rows of a user are not adjacent
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
	u := &users{src: src, r: r, it: r.Iterator(), sets: make([]activity.Set, len(k.schema.Kinds))}
	if !k.layout.Traits().Together {
		u.apart = map[string][]userDay{}
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
	u.days = did(u.days, userDay{c.day.date, u.sets[c.day.kind]})
}

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

// endRows ends a run of adjacent rows of a user. If the user may have other rows, their days
// are kept until all rows of the file have been read.
func (u *users) endRows() {
	if u.apart == nil || len(u.days) == 0 {
		u.endUser()
		return
	}
	all := u.apart[string(u.key)]
	for _, d := range u.days {
		all = did(all, d)
	}
	u.apart[string(u.key)], u.days = all, u.days[:0]
}

// endUser compares the complete rows of a user with the roll's next entry.
func (u *users) endUser() {
	if u.err != nil || len(u.days) == 0 {
		return
	}
	if u.it.Next() {
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

// end is called after all rows have been read.
func (u *users) end(f *manifest.File) {
	u.endRows()
	for _, key := range slices.Sorted(maps.Keys(u.apart)) {
		u.key, u.days = []byte(key), u.apart[key]
		u.endUser()
	}
	u.ended = true
	switch {
	case u.err != nil:
	case u.it.Next():
		u.err = fmt.Errorf("it has the user %q, who is not in the HFile", u.it.Entry().User)
	case u.it.Err() != nil:
		u.err = u.it.Err()
	case u.records != f.Records:
		u.err = fmt.Errorf("it has %d records; written were %d", u.records, f.Records)
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
