package extract

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"io"

	"usertrail/internal/split"
)

// Members are a piece's users of the list, in the file that a plan leaves: the key of
// one user after the other, each after its length as a varint.
type Members struct {
	From  int64  `json:"from"` // byte
	Bytes int64  `json:"bytes"`
	Count int    `json:"count"` // of users
	Sum   string `json:"sha256"`
}

// cutUsers says where the users of each range will lie; nil, each, of all users.
func cutUsers(u *Users, ranges []split.Region) []*Members {
	out := make([]*Members, len(ranges))
	if u.all {
		return out
	}
	at := int64(0)
	for i, r := range ranges {
		some := u.of(r)
		size := int64(0)
		for j := range some.len() {
			key := some.key(j)
			size += int64(len(binary.AppendUvarint(nil, uint64(len(key)))) + len(key))
		}
		out[i] = &Members{From: at, Bytes: size, Count: some.len(), Sum: some.digest()}
		at += size
	}
	return out
}

// of are those of the list that lie in a range. They share u's memory.
func (u *Users) of(r split.Region) *Users {
	from, to := u.within(r)
	off := uint32(0)
	if from > 0 {
		off = u.ends[from-1]
	}
	some := &Users{data: u.data[off:], ends: make([]uint32, 0, to-from)}
	for _, end := range u.ends[from:to] {
		some.ends = append(some.ends, end-off)
	}
	return some
}

// writeUsers writes the list.
func (p *place) writeUsers(ctx context.Context, u *Users) error {
	f, err := p.fs.Create(ctx, p.name(usersName))
	if err != nil {
		return err
	}
	defer f.Abort()
	w := bufio.NewWriterSize(f, 1<<18)
	var length []byte
	for i := range u.len() {
		key := u.key(i)
		length = binary.AppendUvarint(length[:0], uint64(len(key)))
		w.Write(length)
		w.Write(key) // an error is Flush's, too
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return f.Commit()
}

// readUsers reads a piece's users, or all, which may take limit bytes of memory.
func (p *place) readUsers(ctx context.Context, s *Members, limit int64) (*Users, error) {
	if s == nil {
		return AllUsers(), nil
	}
	name := p.name(usersName)
	damaged := func(form string, args ...any) error {
		return fmt.Errorf("%s is not the list of this plan: %s; plan again", name, fmt.Sprintf(form, args...))
	}
	if s.From < 0 || s.Bytes < 0 || s.Count < 0 || int64(s.Count) > s.Bytes {
		return nil, damaged("%d users in %d bytes from %d", s.Count, s.Bytes, s.From)
	}
	if s.Bytes+4*int64(s.Count) > limit {
		return nil, fmt.Errorf("%w: %d users do not fit in memory beside their trails: raise --memory", ErrUsers, s.Count)
	}
	f, err := p.fs.Open(ctx, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if s.From+s.Bytes > f.Size() {
		return nil, damaged("it has %d bytes, want %d", f.Size(), s.From+s.Bytes)
	}
	b := make([]byte, s.Bytes)
	if _, err := io.ReadFull(io.NewSectionReader(f, s.From, s.Bytes), b); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	u := &Users{data: b[:0], ends: make([]uint32, 0, s.Count)} // keys move to the left in b
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
	if sum := u.digest(); sum != s.Sum {
		return nil, damaged("the digest of its users from byte %d on is %s, not %s", s.From, sum, s.Sum)
	}
	return u, nil
}
