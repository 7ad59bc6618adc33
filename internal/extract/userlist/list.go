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
	"math"
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
	all    bool
	keys   keys    // in the form of the layout
	places []place // of the keys, ascending and distinct
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
			return u.users.sorted(limit), nil
		}
	}
}

// Of returns the list of users with the given IDs.
func Of(ids [][]byte, l layout.Layout) *List {
	var u unsorted
	for _, id := range ids {
		u.add(id, l)
	}
	return u.sorted(math.MaxInt64)
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
	keys keys
	list []userRef
	next []byte // the key that is added
}

// A userRef is the place of a key, together with the key's first bytes. Sorting ten
// million of them hardly ever reads keys.
type userRef struct {
	word uint64
	place
}

func (u *unsorted) add(id []byte, l layout.Layout) {
	u.next = l.AppendUserKey(u.next[:0], id)
	if n := len(u.list); n > 0 && bytes.Equal(u.key(u.list[n-1]), u.next) {
		return // a column often repeats a user
	}
	var word [8]byte
	copy(word[:], u.next)
	u.list = append(u.list, userRef{binary.BigEndian.Uint64(word[:]), u.keys.add(u.next)})
}

// fits reports whether the users take no more than limit bytes.
func (u *unsorted) fits(limit int64) bool {
	return u.keys.held+16*int64(cap(u.list)) <= limit && !u.keys.full()
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

// compact releases the memory of duplicates. It copies the keys by place, and releases each block when its keys are copied.
func (u *unsorted) compact() {
	u.order()
	slices.SortFunc(u.list, func(a, b userRef) int { return cmp.Compare(a.at, b.at) })
	var out keys
	copied := 0
	for i, r := range u.list {
		for ; copied < r.block(); copied++ {
			u.keys.blocks[copied] = nil
		}
		u.list[i].place = out.add(u.key(r))
	}
	u.keys = out
	if cap(u.list) > 2*len(u.list) {
		u.list = slices.Clone(u.list)
	}
}

// size returns the number of bytes of the keys on the list.
func (u *unsorted) size() int64 {
	size := int64(0)
	for _, r := range u.list {
		size += int64(r.len)
	}
	return size
}

// sorted returns the users in order. The list is held while trails are read. If a second copy of the keys fits into limit, the
// keys are in order too, which is faster for many users.
func (u *unsorted) sorted(limit int64) *List {
	u.order()
	size := u.size()
	if u.keys.held > 2*size {
		u.compact()
		u.order()
	}
	out := &List{places: make([]place, len(u.list))}
	if u.keys.held+size+(16+placeBytes)*int64(len(u.list)) <= limit {
		for i, r := range u.list {
			out.places[i] = out.keys.add(u.key(r))
		}
		return out
	}
	out.keys = u.keys
	for i, r := range u.list {
		out.places[i] = r.place
	}
	return out
}

func (u *unsorted) key(r userRef) []byte { return u.keys.key(r.place) }

// IsAll reports whether u is every user.
func (u *List) IsAll() bool { return u.all }

// Len returns the number of users on the list; it is 0 for all users.
func (u *List) Len() int { return len(u.places) }

// Bytes returns the memory that the list takes.
func (u *List) Bytes() int64 { return u.keys.held + placeBytes*int64(len(u.places)) }

// Key returns the key of the i-th user. The caller must not change it.
func (u *List) Key(i int) []byte { return u.keys.key(u.places[i]) }

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
