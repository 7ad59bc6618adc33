// Package userlist holds the users of a query: all users, or a list of IDs, which may be a
// column of a file. The keys of a list are in the same order as the rows of a table.
package userlist

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"slices"
	"sort"
	"unicode/utf8"

	"github.com/dustin/go-humanize"

	"usertrail/internal/behaviour"
	"usertrail/internal/format/layout"
	"usertrail/internal/run/exit"
	"usertrail/internal/split"
)

// ErrList is wrapped by every error about a list of users.
var ErrList = exit.New(exit.Usage, "list of users")

// A List is the list of requested users, or all users. Many goroutines may use it at once.
type List struct {
	all  bool
	data []byte   // keys in the form of the layout, ascending and distinct
	ends []uint32 // the end of each key in data
}

// Everyone is the digest of all users.
const Everyone = "all"

// All returns the List of all users.
func All() *List { return &List{all: true} }

// byteOrderMark is the byte order mark of UTF-8.
const byteOrderMark = "\ufeff"

// Read reads one user ID per line. name is the file's name in errors. Blank lines and
// duplicates are allowed. While it is read, the list may take limit bytes of memory.
func Read(r io.Reader, name string, l layout.Layout, limit int64) (*List, error) {
	u := &reader{name: name, layout: l, limit: limit}
	in := bufio.NewReaderSize(r, 1<<20)
	for line := 1; ; line++ {
		b, err := in.ReadSlice('\n')
		if line == 1 {
			b = bytes.TrimPrefix(b, []byte(byteOrderMark))
		}
		if err != nil && err != io.EOF && err != bufio.ErrBufferFull {
			return nil, fmt.Errorf("%w %s: line %d: %w", ErrList, name, line, err)
		}
		if err := u.add(bytes.TrimRight(b, "\r\n"), func() string { return fmt.Sprintf("line %d", line) }); err != nil {
			return nil, err
		}
		if err == io.EOF {
			return u.users.sorted(), nil
		}
	}
}

// Of returns the list of users with the given IDs.
func Of(ids [][]byte, l layout.Layout) *List {
	var u unsorted
	for _, id := range ids {
		u.add(id, l)
	}
	return u.sorted()
}

// A reader collects users.
type reader struct {
	name   string // for errors
	layout layout.Layout
	limit  int64 // bytes of memory
	users  unsorted
}

// add adds a user, unless id is blank. where returns the place of the ID for errors.
func (u *reader) add(id []byte, where func() string) error {
	switch {
	case len(id) > behaviour.MaxUserLen:
		return fmt.Errorf("%w %s: %s is longer than %d bytes: write one user ID on each line", ErrList, u.name, where(), behaviour.MaxUserLen)
	case !utf8.Valid(id):
		return fmt.Errorf("%w %s: %s is not UTF-8", ErrList, u.name, where())
	case len(bytes.TrimSpace(id)) == 0:
		return nil
	}
	u.users.add(id, u.layout)
	if u.users.fits(u.limit) {
		return nil
	}
	if u.users.compact(); !u.users.fits(u.limit / 2) {
		return fmt.Errorf("%w %s: more than %d users do not fit in memory: the list may use %s: raise --memory", ErrList, u.name, len(u.users.list), humanize.IBytes(uint64(u.limit)))
	}
	return nil
}

// unsorted holds users in the order of their list.
type unsorted struct {
	data []byte
	list []userRef
}

// A userRef is the place of a key in data, together with the key's first bytes. Sorting ten
// million of them hardly ever reads data.
type userRef struct {
	word     uint64
	off, len uint32
}

func (u *unsorted) add(id []byte, l layout.Layout) {
	off := len(u.data)
	u.data = l.AppendUserKey(u.data, id)
	key := u.data[off:]
	if n := len(u.list); n > 0 && bytes.Equal(u.key(u.list[n-1]), key) {
		u.data = u.data[:off] // a column often repeats a user
		return
	}
	var word [8]byte
	copy(word[:], key)
	u.list = append(u.list, userRef{binary.BigEndian.Uint64(word[:]), uint32(off), uint32(len(key))})
}

// fits reports whether the users take no more than limit bytes.
func (u *unsorted) fits(limit int64) bool {
	return int64(cap(u.data))+16*int64(cap(u.list)) <= limit && len(u.data) <= 1<<32-1024
}

// order sorts the users and removes duplicates. It does not move their keys.
func (u *unsorted) order() {
	slices.SortFunc(u.list, func(a, b userRef) int {
		if c := cmp.Compare(a.word, b.word); c != 0 {
			return c
		}
		return bytes.Compare(u.key(a), u.key(b))
	})
	u.list = slices.CompactFunc(u.list, func(a, b userRef) bool { return bytes.Equal(u.key(a), u.key(b)) })
}

// compact releases the memory of duplicates.
func (u *unsorted) compact() {
	u.order()
	out := unsorted{data: make([]byte, 0, u.size()), list: make([]userRef, 0, len(u.list))}
	for _, r := range u.list {
		out.list = append(out.list, userRef{r.word, uint32(len(out.data)), r.len})
		out.data = append(out.data, u.key(r)...)
	}
	*u = out
}

// size returns the number of bytes of the keys on the list.
func (u *unsorted) size() int {
	size := 0
	for _, r := range u.list {
		size += int(r.len)
	}
	return size
}

// sorted returns the users in order, in half the memory. The list is held while trails are
// read.
func (u *unsorted) sorted() *List {
	u.order()
	out := &List{data: make([]byte, 0, u.size()), ends: make([]uint32, 0, len(u.list))}
	for _, r := range u.list {
		out.data = append(out.data, u.key(r)...)
		out.ends = append(out.ends, uint32(len(out.data)))
	}
	return out
}

func (u *unsorted) key(r userRef) []byte { return u.data[r.off : r.off+r.len] }

// IsAll reports whether u is every user.
func (u *List) IsAll() bool { return u.all }

// Len returns the number of users on the list; it is 0 for all users.
func (u *List) Len() int { return len(u.ends) }

// Bytes returns the memory that the list takes.
func (u *List) Bytes() int64 { return int64(cap(u.data)) + 4*int64(cap(u.ends)) }

// Key returns the key of the i-th user. The caller must not change it.
func (u *List) Key(i int) []byte {
	from := uint32(0)
	if i > 0 {
		from = u.ends[i-1]
	}
	return u.data[from:u.ends[i]:u.ends[i]]
}

// Within returns the users of the list in a region, as the indexes from from up to, but not
// including, to.
func (u *List) Within(r split.Region) (from, to int) {
	at := func(key []byte) int {
		return sort.Search(u.Len(), func(i int) bool { return bytes.Compare(u.Key(i), key) >= 0 })
	}
	from, to = 0, u.Len()
	if len(r.Start) > 0 {
		from = at(r.Start)
	}
	if len(r.End) > 0 {
		to = at(r.End)
	}
	return from, to
}

// Digest returns a digest of the set of users. It does not depend on the order of the list.
func (u *List) Digest() string {
	if u.all {
		return Everyone
	}
	h := sha256.New()
	for i := range u.Len() {
		h.Write(u.Key(i))
		h.Write([]byte{'\n'})
	}
	return hex.EncodeToString(h.Sum(nil))
}
