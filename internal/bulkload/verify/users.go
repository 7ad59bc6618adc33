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

// users compares the users of a roll with the rows of its HFile, in the order of both.
type users struct {
	src  *source
	r    *roll.Reader
	it   *roll.Iterator
	bits []uint64 // by kind of the table; 0 for kinds that the roll does not have
	err  error    // why the roll does not fit

	key     []byte // of the user of the current rows
	days    []roll.Day
	apart   map[string][]roll.Day // the days of all users, if the rows of a user are not adjacent
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

// stretch adds the current stretch of a count.
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

// did adds a day to days in order of date. Most often it is the last day or a later one.
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
		if !bytes.Equal(e.User, u.key) || !slices.Equal(e.Days, u.days) {
			u.err = fmt.Errorf("it has the user %q with %v where the HFile has %q with %v", e.User, e.Days, u.key, u.days)
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
