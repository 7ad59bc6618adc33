package snapshot

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	iofs "io/fs"
	"math"
	"slices"
	"sync"
	"time"

	"usertrail/internal/behaviour"
	"usertrail/internal/format/hfile"
	"usertrail/internal/format/layout"
	"usertrail/internal/run/pipe"
	"usertrail/internal/store/dfs"
	"usertrail/internal/store/hbase/wire"
)

// Entries of file info that show when a file was written.
const (
	infoSeq      = "MAX_SEQ_ID_KEY"
	infoBulkTime = "BULKLOAD_TIMESTAMP"
	infoKeepSeq  = "SKIP_RESET_SEQ_ID"
)

// A file is a store file that is open.
type file struct {
	name     string // its path when it was opened
	h        *hfile.Reader
	bytes    *bytesAt
	from, to []byte // rows of its half of the file; empty is open
	age
	rank int // among its region's files, the later written the higher
}

// An age is the time at which a file was written, as HBase orders a store's files.
type age struct {
	seq      int64
	bulk     bool  // its cells have no number of their own
	size     int64 // the larger of two is the older
	bulkTime int64 // ms
	name     string
}

func (a age) compare(b age) int {
	return cmp.Or(cmp.Compare(a.seq, b.seq), cmp.Compare(b.size, a.size), cmp.Compare(a.bulkTime, b.bulkTime), cmp.Compare(a.name, b.name))
}

// openFile opens a store file of a region.
func openFile(ctx context.Context, fs dfs.FS, root string, p place, f wire.SnapshotFile) (*file, error) {
	b, err := openBytes(ctx, fs, p.paths(root))
	if err != nil {
		return nil, err
	}
	out := &file{name: b.name, bytes: b}
	if err := out.read(f); err != nil {
		return nil, errors.Join(fmt.Errorf("open %s: %w", b.name, err), b.close())
	}
	return out, nil
}

// read opens the HFile and compares it with its entry in the snapshot.
func (f *file) read(s wire.SnapshotFile) error {
	size := f.bytes.size
	if s.Size > 0 && s.Size != size {
		return fmt.Errorf("it has %d bytes, the snapshot says %d", size, s.Size)
	}
	var err error
	if f.h, err = hfile.Open(f.bytes, size); err != nil {
		return err
	}
	top := false
	if s.Half != nil {
		if err := f.halve(s.Half); err != nil {
			return err
		}
		top = s.Half.Top
	}
	f.age, err = ageOf(s.Name, size, f.h.Info(), top)
	return err
}

// halve limits f to one half of the file. The halves meet before a row.
func (f *file) halve(r *wire.Reference) error {
	if len(r.Key) < 2 || int(binary.BigEndian.Uint16(r.Key)) > len(r.Key)-2 {
		return fmt.Errorf("the file is split at %.64q, which is not a key", r.Key)
	}
	row := r.Key[2 : 2+int(binary.BigEndian.Uint16(r.Key))]
	if r.Top {
		f.from = row
	} else {
		f.to = row
	}
	return nil
}

// ageOf reads the age of a file from its name and file info. If a file was cut in two,
// the upper half counts as the later one.
func ageOf(name string, size int64, info map[string][]byte, top bool) (age, error) {
	a := age{seq: -1, size: size, bulkTime: math.MaxInt64, name: name}
	for key, to := range map[string]*int64{infoSeq: &a.seq, infoBulkTime: &a.bulkTime} {
		if v, ok := info[key]; ok {
			if len(v) != 8 {
				return a, fmt.Errorf("file info: %s has %d bytes", key, len(v))
			}
			*to = int64(binary.BigEndian.Uint64(v))
		}
	}
	seq, named, err := bulkNumber(name)
	if err != nil {
		return a, err
	}
	if named {
		a.seq = seq
	}
	if top && (named || info[infoSeq] != nil) {
		a.seq++
	}
	_, timed := info[infoBulkTime]
	a.bulk = named || timed
	if v := info[infoKeepSeq]; a.bulk && len(v) > 0 && v[0] != 0 {
		a.seq++
		a.bulk = false
	}
	return a, nil
}

// rank numbers files by their age.
func rank(files []*file) {
	slices.SortFunc(files, func(a, b *file) int { return a.age.compare(b.age) })
	for i, f := range files {
		f.rank = i
	}
}

// meets reports whether the file can have rows in [start, end).
func (f *file) meets(start, end []byte) bool {
	first, last := f.h.FirstRow(), f.h.LastRow()
	return f.h.Cells() > 0 && (len(end) == 0 || bytes.Compare(first, end) < 0) && bytes.Compare(last, start) >= 0
}

// hasTimes reports whether the file can decide about cells of times; nil is all times. A
// deletion applies back to time 0 at least, and may apply to earlier times.
func (f *file) hasTimes(times *layout.Times) bool {
	if times == nil {
		return true
	}
	from, to := f.h.TimeRange()
	last := behaviour.Millis(times.Last)
	return to >= behaviour.Millis(times.First) && (from <= last || last < 0)
}

const (
	// looks is how often find looks for a file at all its possible places. A file moves
	// in one direction, so one round finds it unless it moves back.
	looks    = 4
	lookWait = 100 * time.Millisecond
)

// bytesAt reads the bytes of a store file at any of its places. A compaction may move
// the file at any time. The bytes stay the same. Many goroutines may read it.
type bytesAt struct {
	ctx   context.Context // for opening it again
	fs    dfs.FS
	paths []string
	size  int64

	mu   sync.Mutex
	name string
	open []dfs.File // the last is the one to read
}

// openBytes opens the first of paths that exists. The file stays open for later
// readers, so ctx ends only the opening.
func openBytes(ctx context.Context, fs dfs.FS, paths []string) (*bytesAt, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	b := &bytesAt{ctx: context.WithoutCancel(ctx), fs: fs, paths: paths}
	f, err := b.find()
	if err != nil {
		return nil, err
	}
	b.open, b.size = []dfs.File{f}, f.Size()
	return b, nil
}

// find opens the file in its current place.
func (b *bytesAt) find() (dfs.File, error) {
	for n := range looks {
		if err := pipe.Sleep(b.ctx, time.Duration(n)*lookWait); err != nil {
			return nil, err
		}
		for _, name := range b.paths {
			f, err := b.fs.Open(b.ctx, name)
			if err == nil {
				b.name = name
				return f, nil
			}
			if !errors.Is(err, iofs.ErrNotExist) {
				return nil, err
			}
		}
	}
	return nil, fmt.Errorf("a store file of the snapshot is neither at %s nor at %s: %w", b.paths[0], b.paths[1], ErrGone)
}

// ReadAt implements io.ReaderAt.
func (b *bytesAt) ReadAt(p []byte, off int64) (int, error) {
	f := b.current()
	for range looks {
		n, err := f.ReadAt(p, off)
		if !errors.Is(err, iofs.ErrNotExist) {
			return n, err
		}
		if f, err = b.again(f); err != nil {
			return 0, err
		}
	}
	return f.ReadAt(p, off)
}

func (b *bytesAt) current() dfs.File {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.open[len(b.open)-1]
}

// again opens the file after it was moved, unless another goroutine has opened it. Readers of the
// old file keep it.
func (b *bytesAt) again(old dfs.File) (dfs.File, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if last := b.open[len(b.open)-1]; last != old {
		return last, nil
	}
	f, err := b.find()
	if err != nil {
		return nil, err
	}
	if f.Size() != b.size {
		return nil, errors.Join(fmt.Errorf("%s has %d bytes, and had %d", b.name, f.Size(), b.size), f.Close())
	}
	b.open = append(b.open, f)
	return f, nil
}

func (b *bytesAt) close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	var errs []error
	for _, f := range b.open {
		errs = append(errs, f.Close())
	}
	b.open = nil
	return errors.Join(errs...)
}
