package extract

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync/atomic"

	"github.com/cespare/xxhash/v2"
	"github.com/dustin/go-humanize"

	"usertrail/internal/extract/userlist"
	"usertrail/internal/format/layout"
	"usertrail/internal/format/manifest"
	"usertrail/internal/split"
	"usertrail/internal/store/dfs"
	"usertrail/internal/table/shuffle"
)

// NotFoundName is the file of a result that names the users of the list who were not
// found, one ID a line, in the order of the IDs' bytes. A result without such users has none.
// Spark, Hive and pyarrow skip it in a directory that they read, as it begins with an
// underscore.
const NotFoundName = "_not-found.txt"

// A search notes which users of a list were found. It may be used by many goroutines at
// once. Of all users nothing is noted.
type search struct {
	users *userlist.List
	found []uint32 // a bit for each user
}

func newSearch(u *userlist.List) *search {
	return &search{users: u, found: make([]uint32, (u.Len()+31)/32)}
}

func (s *search) mark(i int) { atomic.OrUint32(&s.found[i/32], 1<<(i%32)) }

func (s *search) has(i int) bool { return s.found[i/32]&(1<<(i%32)) != 0 }

// A cursor marks users of a region, which come in the order of their keys.
type cursor struct {
	*search
	at, to int
}

func (s *search) region(r split.Region) *cursor {
	c := &cursor{search: s}
	c.at, c.to = s.users.Within(r)
	return c
}

// mark marks the user with a key, and returns its place on the list; negative if it has
// none.
func (c *cursor) mark(key []byte) int {
	for c.at < c.to && bytes.Compare(c.users.Key(c.at), key) < 0 {
		c.at++
	}
	if c.at == c.to || !bytes.Equal(c.users.Key(c.at), key) {
		return -1
	}
	c.search.mark(c.at)
	return c.at
}

// A finds is the users whom rows showed to be there, as a record of a part holds them:
// how far each lies behind the one before on the list.
type finds struct {
	packed []byte
	next   int // the least that the next can be
}

func (f *finds) add(i int) {
	f.packed = binary.AppendUvarint(f.packed, uint64(i-f.next))
	f.next = i + 1
}

// take returns the users that were added after the last call of take.
func (f *finds) take() []byte {
	out := bytes.Clone(f.packed)
	f.packed = f.packed[:0]
	return out
}

// restore marks the users in packed, which take returned, for the record of one part after
// the other. Later calls of add continue after them.
func (f *finds) restore(s *search, packed []byte) error {
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

// missed counts users of a list who were not found.
type missed struct {
	Users  int64 `json:"users"`
	Blank  int64 `json:"blank,omitempty"`  // whose ID begins or ends with a blank
	Quoted int64 `json:"quoted,omitempty"` // whose ID begins or ends with a quote
	Point  int64 `json:"point,omitempty"`  // whose ID is a number that ends in .0

	file *manifest.NamesFile // that names them; nil of none
}

func (m *missed) add(o *missed) {
	m.Users += o.Users
	m.Blank += o.Blank
	m.Quoted += o.Quoted
	m.Point += o.Point
}

// count counts a user.
func (m *missed) count(id []byte) {
	m.Users++
	switch number, point := bytes.CutSuffix(id, []byte(".0")); {
	case len(bytes.TrimSpace(id)) < len(id):
		m.Blank++
	case bytes.ContainsAny(id[:1], `"'`) || bytes.ContainsAny(id[len(id)-1:], `"'`):
		m.Quoted++
	case point && len(number) > 0 && len(bytes.Trim(number, "0123456789")) == 0:
		m.Point++
	}
}

// each calls yield with the ID of each user of the list who was not found.
func (s *search) each(l layout.Layout, yield func(id []byte) error) error {
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

// write counts those who were not found, and writes them into NotFoundName in dir, if there
// are any.
func (s *search) write(ctx context.Context, fs dfs.FS, dir string, l layout.Layout) (m missed, err error) {
	m.file, err = writeIDs(ctx, fs, dir, func(yield func(id []byte) error) error {
		return s.each(l, func(id []byte) error {
			m.count(id)
			return yield(id)
		})
	})
	return m, err
}

// writeIDs writes the user IDs that each gives into NotFoundName in dir, one a line and in
// the order of their bytes. There is no file of none.
func writeIDs(ctx context.Context, fs dfs.FS, dir string, each func(yield func(id []byte) error) error) (file *manifest.NamesFile, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("write %s: %w", dfs.Join(dir, NotFoundName), err)
		}
	}()
	spill := dfs.Join(dir, sortName)
	var sorter *shuffle.Sorter
	defer func() {
		if sorter != nil {
			err = errors.Join(err, sorter.Close(ctx), fs.Remove(context.WithoutCancel(ctx), spill))
		}
	}()
	n := uint64(0)
	err = each(func(id []byte) (err error) {
		if sorter == nil {
			if sorter, err = newIDSorter(ctx, fs, spill); err != nil {
				return err
			}
		}
		n++
		return sorter.Shard(0).Add(ctx, 0, id, n, nil)
	})
	if err != nil || sorter == nil {
		return nil, err
	}
	if err := sorter.Finish(ctx); err != nil {
		return nil, err
	}
	it, err := sorter.Part(ctx, 0)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, it.Close()) }()
	return writeLines(ctx, fs, dir, it)
}

// newIDSorter returns what sorts IDs and spills into dir.
func newIDSorter(ctx context.Context, fs dfs.FS, dir string) (*shuffle.Sorter, error) {
	if err := fs.Remove(ctx, dir); err != nil { // of a run that was killed
		return nil, err
	}
	return shuffle.New(shuffle.Config{FS: fs, Dir: dir, Memory: sortMemory})
}

// writeLines writes the rows of it, one a line.
func writeLines(ctx context.Context, fs dfs.FS, dir string, it *shuffle.Iterator) (*manifest.NamesFile, error) {
	f, err := fs.Create(ctx, dfs.Join(dir, NotFoundName))
	if err != nil {
		return nil, err
	}
	defer f.Abort()
	h := xxhash.New()
	out := bufio.NewWriter(io.MultiWriter(f, h))
	file := &manifest.NamesFile{Name: NotFoundName}
	for it.Next() {
		file.Size += int64(len(it.Row())) + 1
		out.Write(it.Row()) // an error is Flush's, too
		out.WriteByte('\n')
	}
	if err := errors.Join(it.Err(), out.Flush()); err != nil {
		return nil, err
	}
	file.Sum = fmt.Sprintf("%016x", h.Sum64())
	return file, f.Commit()
}

// notes say in words how many users were not found, where they are named, and what their
// IDs may have gone through. out is empty where nothing names them.
func (m *missed) notes(users int64, out string) []string {
	if m.Users == 0 {
		return nil
	}
	were := "were"
	if m.Users == 1 {
		were = "was"
	}
	note := fmt.Sprintf("%s of the %s users asked for %s not found", humanize.Comma(m.Users), humanize.Comma(users), were)
	if out != "" {
		note += "; " + dfs.Join(out, NotFoundName) + " names them"
	}
	notes := []string{note}
	for _, odd := range []struct {
		users int64
		what  string
	}{
		{m.Blank, "have a blank before or behind the ID"}, {m.Quoted, "have quotes around the ID"},
		{m.Point, "have an ID that ends in .0, as programs write numbers: make the IDs texts before they are written"},
	} {
		if odd.users > 0 {
			notes = append(notes, fmt.Sprintf("%s of those who were not found %s", humanize.Comma(odd.users), odd.what))
		}
	}
	return notes
}
