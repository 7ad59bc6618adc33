// Package notfound records which users of a list an extract finds. It counts the other users,
// and names them in a file of the result.
package notfound

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"sync/atomic"

	"usertrail/internal/extract/userlist"
	"usertrail/internal/format/layout"
	"usertrail/internal/split"
)

// A Search records which users of a list were found. Many goroutines may use it at once. If
// the list is all users, it records nothing.
type Search struct {
	users *userlist.List
	found []uint32 // a bit for each user
}

// NewSearch returns a Search for the users of u. No user is found yet.
func NewSearch(u *userlist.List) *Search {
	return &Search{users: u, found: make([]uint32, (u.Len()+31)/32)}
}

// mark records that the user with an index was found.
func (s *Search) mark(i int) { atomic.OrUint32(&s.found[i/32], 1<<(i%32)) }

func (s *Search) has(i int) bool { return s.found[i/32]&(1<<(i%32)) != 0 }

// A Cursor marks users of a region, in the order of their keys.
type Cursor struct {
	search *Search
	at, to int
}

// Region returns a Cursor for the users of a region.
func (s *Search) Region(r split.Region) *Cursor {
	c := &Cursor{search: s}
	c.at, c.to = s.users.Within(r)
	return c
}

// Mark records that the user with a key was found. It returns the index of the user on the
// list, or -1 if the list does not have the user.
func (c *Cursor) Mark(key []byte) int {
	for c.at < c.to && bytes.Compare(c.search.users.Key(c.at), key) < 0 {
		c.at++
	}
	if c.at == c.to || !bytes.Equal(c.search.users.Key(c.at), key) {
		return -1
	}
	c.search.mark(c.at)
	return c.at
}

// Finds packs the users that were found by their rows, for the record of a part: the distance
// of each user from the user before it on the list.
type Finds struct {
	packed []byte
	next   int // the smallest index of the next user
}

// Add adds the user with an index. Indexes grow.
func (f *Finds) Add(i int) {
	f.packed = binary.AppendUvarint(f.packed, uint64(i-f.next))
	f.next = i + 1
}

// Take returns the users that were added after the last call of Take.
func (f *Finds) Take() []byte {
	out := bytes.Clone(f.packed)
	f.packed = f.packed[:0]
	return out
}

// Restore marks the users in packed, which Take returned. The caller restores one part after
// the other. Later calls of Add continue after them.
func (f *Finds) Restore(s *Search, packed []byte) error {
	for b := packed; len(b) > 0; {
		n, size := binary.Uvarint(b)
		if size <= 0 || n >= uint64(s.users.Len()-f.next) {
			return fmt.Errorf("%x is of another list of users", packed)
		}
		b = b[size:]
		s.mark(f.next + int(n))
		f.next += int(n) + 1
	}
	return nil
}

// each calls yield with the ID of each user of the list that was not found.
func (s *Search) each(l layout.Layout, yield func(id []byte) error) error {
	var id []byte
	for i := range s.users.Len() {
		if s.has(i) {
			continue
		}
		var err error
		if id, err = l.AppendUser(id[:0], s.users.Key(i)); err != nil {
			return err
		}
		if err := yield(id); err != nil {
			return err
		}
	}
	return nil
}
