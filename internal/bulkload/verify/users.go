package verify

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"

	"usertrail/internal/format/manifest"
	"usertrail/internal/format/roll"
)

// users are those that a roll names, held against the rows of its HFile in the
// order of both.
type users struct {
	src  *source
	r    *roll.Reader
	it   *roll.Iterator
	bits []uint64 // by kind of the table; 0 for those that the roll does not have
	err  error    // why the roll does not fit

	key     []byte // of the user whose rows come
	days    []roll.Day
	apart   map[string][]roll.Day // of all users, where a user's rows lie apart
	records int64
	ended   bool // all rows have come, of an HFile that is as it was written
}

// users opens the roll. It returns nil where that cannot be: it is a finding then.
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
	u := &users{src: src, r: r, it: r.Iterator(), bits: make([]uint64, len(k.schema.Kinds))}
	if !k.layout.Traits().Together {
		u.apart = map[string][]roll.Day{}
	}
	for i, kind := range k.schema.Kinds {
		if bit, ok := r.Kind(kind.ID); ok {
			u.bits[i] = 1 << bit
		}
	}
	return u, nil
}

// stretch takes the stretch at which a count is.
func (u *users) stretch(c *count) {
	if !c.known {
		return
	}
	if key := c.layout.UserKey(c.row); !bytes.Equal(key, u.key) {
		u.endRows()
		u.key = append(u.key[:0], key...)
	}
	u.days = did(u.days, roll.Day{Date: c.day.date, Kinds: u.bits[c.day.kind]})
}

// did adds a day to some in order of date. Most often it is the last, or comes after it.
func did(days []roll.Day, d roll.Day) []roll.Day {
	n := len(days)
	switch {
	case n == 0 || days[n-1].Date < d.Date:
		return append(days, d)
	case days[n-1].Date == d.Date:
		days[n-1].Kinds |= d.Kinds
		return days
	}
	at, ok := slices.BinarySearchFunc(days, d, func(a, b roll.Day) int { return cmp.Compare(a.Date, b.Date) })
	if !ok {
		return slices.Insert(days, at, d)
	}
	days[at].Kinds |= d.Kinds
	return days
}

// endRows ends the rows of a user that lie together. Where there may be others they are
// kept until all rows of the file have come.
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

// endUser compares a user's rows, which have all come, with the roll's next entry.
func (u *users) endUser() {
	if u.err != nil || len(u.days) == 0 {
		return
	}
	if u.it.Next() {
		e := u.it.Entry()
		if !bytes.Equal(e.User, u.key) || !slices.Equal(e.Days, u.days) {
			u.err = fmt.Errorf("it has the user %q with %v where the HFile has %q with %v", e.User, e.Days, u.key, u.days)
		}
		u.records += e.Records
	} else if u.err = u.it.Err(); u.err == nil {
		u.err = fmt.Errorf("it does not have the user %q", u.key)
	}
	u.days = u.days[:0]
}

// end says that all rows have come.
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

// finish says what is wrong with the roll. That it does not fit an HFile which is
// wrong itself is not.
func (u *users) finish(sum string) error {
	if u.ended && u.err != nil {
		return u.err
	}
	return u.src.finish(sum)
}
