package userlist

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/dustin/go-humanize"

	"usertrail/internal/behaviour"
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
	return &List{keys: u.keys, places: u.places[from:to]}
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
	if size := s.Bytes + placeBytes*int64(s.Count); size > limit {
		return nil, fmt.Errorf("%w: %d users take %s and do not fit in memory next to their trails: the list may use %s: raise --memory",
			ErrList, s.Count, humanize.IBytes(uint64(size)), humanize.IBytes(uint64(limit)))
	}
	if s.From+s.Bytes > f.Size() {
		return nil, damaged("it has %d bytes, want %d", f.Size(), s.From+s.Bytes)
	}
	part := io.NewSectionReader(f, s.From, s.Bytes)
	in := bufio.NewReaderSize(part, 1<<18)
	u := &List{places: make([]place, 0, s.Count)}
	var key [4 * behaviour.MaxUserLen]byte
	for i := range s.Count {
		head, err := in.Peek(binary.MaxVarintLen64)
		if err != nil && err != io.EOF {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		n, size := binary.Uvarint(head)
		if size <= 0 || n > uint64(len(key)) {
			return nil, damaged("user %d of %d has no key", i, s.Count)
		}
		_, _ = in.Discard(size) // Peek has read it
		_, err = io.ReadFull(in, key[:n])
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			return nil, damaged("it ends in user %d of %d", i, s.Count)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		u.places = append(u.places, u.keys.add(key[:n]))
	}
	if sum := u.Digest(); sum != s.Sum {
		return nil, damaged("the digest of its users from byte %d on is %s, not %s", s.From, sum, s.Sum)
	}
	return u, nil
}
