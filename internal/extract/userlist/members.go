package userlist

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/dustin/go-humanize"

	"usertrail/internal/split"
	"usertrail/internal/store/dfs"
)

// Members is a part of a list in the file that Write makes. The file has the key of each user
// after its length as a varint.
type Members struct {
	From  int64  `json:"from"` // offset in bytes
	Bytes int64  `json:"bytes"`
	Count int    `json:"count"` // number of users
	Sum   string `json:"sha256"`
}

// Cut returns the place of the users of each range in the file. For a List of all users, each
// Members is nil.
func Cut(u *List, ranges []split.Region) []*Members {
	out := make([]*Members, len(ranges))
	if u.all {
		return out
	}
	at := int64(0)
	for i, r := range ranges {
		some := u.Of(r)
		size := int64(0)
		for j := range some.Len() {
			key := some.Key(j)
			size += int64(len(binary.AppendUvarint(nil, uint64(len(key)))) + len(key))
		}
		out[i] = &Members{From: at, Bytes: size, Count: some.Len(), Sum: some.Digest()}
		at += size
	}
	return out
}

// Of returns the part of the list that is in a region. It shares u's memory.
func (u *List) Of(r split.Region) *List {
	from, to := u.Within(r)
	off := uint32(0)
	if from > 0 {
		off = u.ends[from-1]
	}
	some := &List{data: u.data[off:], ends: make([]uint32, 0, to-from)}
	for _, end := range u.ends[from:to] {
		some.ends = append(some.ends, end-off)
	}
	return some
}

// Write writes the list.
func (u *List) Write(out io.Writer) error {
	w := bufio.NewWriterSize(out, 1<<18)
	var length []byte
	for i := range u.Len() {
		key := u.Key(i)
		length = binary.AppendUvarint(length[:0], uint64(len(key)))
		w.Write(length)
		w.Write(key) // Flush returns the error of Write
	}
	return w.Flush()
}

// ErrOther is wrapped if a file is not the file that Write made.
var ErrOther = errors.New("is not the list of this plan")

// Read reads the members from f, the file that Write made, which is called name. They may
// take limit bytes of memory.
func (s *Members) Read(f dfs.File, name string, limit int64) (*List, error) {
	damaged := func(form string, args ...any) error {
		return fmt.Errorf("%s %w: %s; plan again", name, ErrOther, fmt.Sprintf(form, args...))
	}
	if s.From < 0 || s.Bytes < 0 || s.Count < 0 || int64(s.Count) > s.Bytes {
		return nil, damaged("%d users in %d bytes from %d", s.Count, s.Bytes, s.From)
	}
	if s.Bytes+4*int64(s.Count) > limit {
		return nil, fmt.Errorf("%w: %d users take %s and do not fit in memory next to their trails: the list may use %s: raise --memory",
			ErrList, s.Count, humanize.IBytes(uint64(s.Bytes)+4*uint64(s.Count)), humanize.IBytes(uint64(limit)))
	}
	if s.From+s.Bytes > f.Size() {
		return nil, damaged("it has %d bytes, want %d", f.Size(), s.From+s.Bytes)
	}
	b := make([]byte, s.Bytes)
	if _, err := io.ReadFull(io.NewSectionReader(f, s.From, s.Bytes), b); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	u := &List{data: b[:0], ends: make([]uint32, 0, s.Count)} // keys are moved towards the beginning of b
	for range s.Count {
		n, size := binary.Uvarint(b)
		if size <= 0 || n > uint64(len(b)-size) {
			return nil, damaged("it is no list from byte %d on", s.From+s.Bytes-int64(len(b)))
		}
		end := size + int(n)
		u.data = append(u.data, b[size:end]...)
		u.ends = append(u.ends, uint32(len(u.data)))
		b = b[end:]
	}
	if sum := u.Digest(); sum != s.Sum {
		return nil, damaged("the digest of its users from byte %d on is %s, not %s", s.From, sum, s.Sum)
	}
	return u, nil
}
