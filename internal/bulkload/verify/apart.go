package verify

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/cespare/xxhash/v2"

	"usertrail/internal/cell"
	"usertrail/internal/format/hfile"
	"usertrail/internal/format/roll"
)

// shares is the number of shares of the users of a file.
const shares = 1 << 16

// every stands for the users of all shares.
const every = -1

// shareOf returns the share of a user. It is a part of the hash of the user's key.
func shareOf(hash uint64) int { return int(hash % shares) }

// An apart compares the users of a roll with the rows of its HFile, if the rows of a user are not
// adjacent. Its memory does not depend on the number of users: for each share it has the sum of the
// hashes of (user, date, kind) in the rows, less the sum of the same hashes in the roll. In such
// layouts the rows of one user and kind are adjacent, so that each hash occurs once.
type apart [shares]uint64

// rows adds the days of adjacent rows of a user.
func (a *apart) rows(key []byte, days []userDay) {
	h := xxhash.Sum64(key)
	a[shareOf(h)] += sumOf(h, days)
}

// roll subtracts the users of a roll. It returns the number of their records.
func (a *apart) roll(it *roll.Iterator) (records int64, err error) {
	var last []byte
	for it.Next() {
		e := it.Entry()
		if records > 0 && bytes.Compare(e.User, last) <= 0 {
			return 0, fmt.Errorf("it has the user %q after %q", e.User, last)
		}
		last = append(last[:0], e.User...)
		h := xxhash.Sum64(e.User)
		a[shareOf(h)] -= sumOf(h, daysOf(e))
		records += e.Records
	}
	return records, it.Err()
}

// sumOf returns the sum of the hashes of a user's days and kinds. user is the hash of the key.
func sumOf(user uint64, days []userDay) (sum uint64) {
	var b [16]byte
	binary.LittleEndian.PutUint64(b[:], user)
	for _, d := range days {
		binary.LittleEndian.PutUint32(b[8:], uint32(d.date))
		add := func(kind int) {
			binary.LittleEndian.PutUint32(b[12:], uint32(kind))
			sum += xxhash.Sum64(b[:])
		}
		if d.kinds.Empty() {
			add(every) // of a kind that the roll does not have
		}
		for kind := range d.kinds.Kinds() {
			add(kind)
		}
	}
	return sum
}

// differing returns the first share whose users differ, or false if there is none.
func (a *apart) differing() (share int, ok bool) {
	share = slices.IndexFunc(a[:], func(n uint64) bool { return n != 0 })
	return share, share >= 0
}

// explain returns the first difference between the users of the roll and the rows of the HFile, among
// the users of a share. It reads both again, and holds only these users.
func (k *check) explain(h *hfile.Reader, u *users, share int) error {
	c := k.newCount()
	c.cells = nil // they are counted already
	some := map[string][]userDay{}
	err := k.each(h, func(x *cell.Cell) {
		if !c.add(x) || !c.known {
			return
		}
		if key := c.layout.UserKey(c.row); shareOf(xxhash.Sum64(key)) == share {
			some[string(key)] = did(some[string(key)], u.dayOf(c))
		}
	})
	if err != nil {
		return err
	}
	of := &users{it: u.r.Iterator(), share: share}
	for _, key := range slices.Sorted(maps.Keys(some)) {
		of.key, of.days = []byte(key), some[key]
		of.endUser()
	}
	if of.endRoll(); of.err == nil {
		of.err = errors.New("its users are not the users of the HFile")
	}
	return of.err
}
