// Package userlist holds the users of a query: all users, or a list of IDs, which may be a
// column of a file. The keys of a list are in the same order as the rows of a table.
package userlist

import (
	"bufio"
	"bytes"
	"cmp"
	"container/heap"
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
	"usertrail/internal/format/record"
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

// zipMark begins a zip file.
const zipMark = "PK\x03\x04"

// Read reads one user ID per line. name is the file's name in errors. Blank lines and
// duplicates are allowed. While it is read, the list may take limit bytes of memory.
func Read(r io.Reader, name string, l layout.Layout, limit int64) (*List, error) {
	u := &reader{name: name, layout: l, limit: limit}
	in := bufio.NewReaderSize(r, 1<<20)
	if err := u.checkBegin(in); err != nil {
		return nil, err
	}
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

// checkBegin returns an error if in is a zip file, as workbooks are, if it begins with the byte order mark of UTF-16 or UTF-32, or if its
// lines end in carriage returns alone.
func (u *reader) checkBegin(in *bufio.Reader) error {
	if _, err := in.Peek(utf8.UTFMax); err != nil && err != io.EOF {
		return fmt.Errorf("%w %s: %w", ErrList, u.name, err)
	}
	begin, _ := in.Peek(in.Buffered()) // a terminal has one line
	if bytes.HasPrefix(begin, []byte(zipMark)) {
		return fmt.Errorf("%w %s: the list is a workbook or a zip file: save it as CSV UTF-8, and write --users FILE.csv:COLUMN", ErrList, u.name)
	}
	if name := record.WideMark(begin); name != "" {
		return fmt.Errorf("%w %s: the file begins with the byte order mark of %s: convert the list, for example by iconv -f %s -t utf-8", ErrList, u.name, name, name)
	}
	if record.ReturnsAlone(begin) {
		return fmt.Errorf(`%w %s: the lines end in carriage returns alone: convert the list, for example by tr '\r' '\n'`, ErrList, u.name)
	}
	return nil
}

// add adds a user, unless id is blank. where returns the place of the ID for errors.
func (u *reader) add(id []byte, where func() string) error {
	switch {
	case len(id) > behaviour.MaxUserLen:
		return fmt.Errorf("%w %s: %s is longer than %d bytes: write one user ID on each line", ErrList, u.name, where(), behaviour.MaxUserLen)
	case !utf8.Valid(id):
		return fmt.Errorf("%w %s: %s is not UTF-8: convert the list, for example by iconv -f windows-1252 -t utf-8", ErrList, u.name, where())
	case len(bytes.TrimSpace(id)) == 0:
		return nil
	}
	u.users.add(id, u.layout)
	if u.users.fits(u.limit) {
		return nil
	}
	if u.users.compact(); !u.users.fits(u.limit / 2) {
		return fmt.Errorf("%w %s: more than %d users do not fit in memory: the list may use %s: raise --memory", ErrList, u.name, u.users.n, humanize.IBytes(uint64(u.limit)))
	}
	return nil
}

// unsorted holds users in the order of their list. It holds them in runs, because a slice that grows is in memory twice.
type unsorted struct {
	keys keys
	runs [][]userRef
	n    int    // users in all runs
	next []byte // the key that is added
}

// A userRef is the place of a key, together with the key's first bytes. Sorting ten
// million of them hardly ever reads keys.
type userRef struct {
	word uint64
	place
}

const (
	refBytes = 16
	runUsers = 1 << 18 // users of a run
)

func (u *unsorted) add(id []byte, l layout.Layout) {
	u.next = l.AppendUserKey(u.next[:0], id)
	if last := len(u.runs) - 1; last >= 0 {
		if run := u.runs[last]; bytes.Equal(u.keys.key(run[len(run)-1].place), u.next) {
			return // a column often repeats a user
		}
	}
	u.addKey(u.next)
}

// addKey adds a key.
func (u *unsorted) addKey(key []byte) {
	var word [8]byte
	copy(word[:], key)
	last := len(u.runs) - 1
	if last < 0 || len(u.runs[last]) == runUsers {
		u.runs = append(u.runs, nil)
		last++
	}
	u.runs[last] = append(u.runs[last], userRef{binary.BigEndian.Uint64(word[:]), u.keys.add(key)})
	u.n++
}

// fits reports whether the users take no more than limit bytes, also when they are sorted.
func (u *unsorted) fits(limit int64) bool {
	return u.keys.held+(refBytes+placeBytes)*int64(u.n) <= limit && !u.keys.full()
}

// compare compares users by their keys.
func (u *unsorted) compare(a, b userRef) int {
	if c := cmp.Compare(a.word, b.word); c != 0 {
		return c
	}
	return bytes.Compare(u.keys.key(a.place), u.keys.key(b.place))
}

// merge returns the places of the distinct keys in order, and removes the runs. It sorts each run and merges them.
func (u *unsorted) merge() []place {
	out := make([]place, 0, u.n)
	h := &heads{runs: u.runs, less: func(a, b userRef) bool { return u.compare(a, b) < 0 }}
	for _, run := range u.runs {
		slices.SortFunc(run, u.compare)
	}
	heap.Init(h)
	for len(h.runs) > 0 {
		next := h.runs[0][0].place
		if len(out) == 0 || !bytes.Equal(u.keys.key(out[len(out)-1]), u.keys.key(next)) {
			out = append(out, next)
		}
		if h.runs[0] = h.runs[0][1:]; len(h.runs[0]) == 0 {
			heap.Pop(h)
		} else {
			heap.Fix(h, 0)
		}
	}
	u.runs, u.n = nil, 0
	return out
}

// compact releases the memory of duplicates. It copies the keys by place, and releases each block when its keys are copied.
func (u *unsorted) compact() {
	places := u.merge()
	slices.SortFunc(places, func(a, b place) int { return cmp.Compare(a.at, b.at) })
	out := unsorted{next: u.next}
	copied := 0
	for _, p := range places {
		for ; copied < p.block(); copied++ {
			u.keys.blocks[copied] = nil
		}
		out.addKey(u.keys.key(p))
	}
	*u = out
}

// sorted returns the users in order. The list is held while trails are read. If a second copy of the keys fits into limit, the
// keys are in order too, which is faster for many users.
func (u *unsorted) sorted(limit int64) *List {
	out := &List{places: u.merge()}
	size := int64(0)
	for _, p := range out.places {
		size += int64(p.len)
	}
	if u.keys.held+size+placeBytes*int64(len(out.places)) > limit {
		out.keys = u.keys
		return out
	}
	for i, p := range out.places {
		out.places[i] = out.keys.add(u.keys.key(p))
	}
	return out
}

// heads is a heap of sorted runs by their first users.
type heads struct {
	runs [][]userRef
	less func(a, b userRef) bool
}

func (h *heads) Len() int           { return len(h.runs) }
func (h *heads) Less(i, j int) bool { return h.less(h.runs[i][0], h.runs[j][0]) }
func (h *heads) Swap(i, j int)      { h.runs[i], h.runs[j] = h.runs[j], h.runs[i] }
func (h *heads) Push(run any)       { h.runs = append(h.runs, run.([]userRef)) }

func (h *heads) Pop() any {
	last := h.runs[len(h.runs)-1]
	h.runs = h.runs[:len(h.runs)-1]
	return last
}

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
