package shuffle

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"usertrail/internal/store/dfs"
)

// ErrCorrupt is wrapped by errors about a run that is not as it was written.
var ErrCorrupt = errors.New("corrupt run")

// A run is a file of sorted records: the records of part 0, then of part 1, and so
// on, in the format of an arena. It is not compressed, because compression would cost more
// than it saves. The ends of parts and their checksums are only in memory: a run cannot be
// used without its Sorter.
type run struct {
	name string
	ends []int64  // where each part ends
	sums []uint32 // CRC32C of each part
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Sizes of buffers. Larger buffers are not faster on a disk, and they push records out of the
// processor's cache. With buffers smaller than minReadBuffer, reads cost more than another merge.
const (
	maxWriteBuffer = 256 << 10
	maxReadBuffer  = 1 << 20
	minReadBuffer  = 64 << 10
)

// A runWriter writes a run, part by part.
type runWriter struct {
	run     *run
	f       dfs.Pending
	buf     []byte
	part    int    // where in buf the part begins
	sum     uint32 // checksum of the bytes of the part that were written from buf
	written int64
}

// createRun creates the file of a run. The writer uses buf, which is empty, as its buffer.
func createRun(ctx context.Context, fs dfs.FS, name string, parts int, buf []byte) (*runWriter, error) {
	f, err := fs.Scratch(ctx, name)
	if err != nil {
		return nil, err
	}
	r := &run{name: name, ends: make([]int64, 0, parts), sums: make([]uint32, 0, parts)}
	return &runWriter{run: r, f: f, buf: buf}, nil
}

// add adds a record of the current part.
func (w *runWriter) add(ctx context.Context, rec []byte) error {
	if len(w.buf)+len(rec) > cap(w.buf) {
		if err := w.flush(ctx); err != nil {
			return err
		}
		if len(rec) > cap(w.buf) {
			return w.write(rec, 0) // past the empty buffer
		}
	}
	w.buf = append(w.buf, rec...)
	return nil
}

// flush writes the bytes in the buffer.
func (w *runWriter) flush(ctx context.Context) error {
	if err := context.Cause(ctx); err != nil {
		return fmt.Errorf("%s: %w", w.run.name, err)
	}
	b, part := w.buf, w.part
	w.buf, w.part = w.buf[:0], 0
	return w.write(b, part)
}

// write writes b. From the byte part on, b belongs to the current part.
func (w *runWriter) write(b []byte, part int) error {
	w.sum = crc32.Update(w.sum, castagnoli, b[part:])
	n, err := w.f.Write(b)
	w.written += int64(n)
	if err != nil {
		return fmt.Errorf("%s: at %d: %w", w.run.name, w.written, err)
	}
	return nil
}

func (w *runWriter) endPart() {
	w.run.ends = append(w.run.ends, w.written+int64(len(w.buf)))
	w.run.sums = append(w.run.sums, crc32.Update(w.sum, castagnoli, w.buf[w.part:]))
	w.part, w.sum = len(w.buf), 0
}

func (w *runWriter) commit(ctx context.Context) (*run, error) {
	if err := w.flush(ctx); err != nil {
		return nil, err
	}
	if err := w.f.Commit(); err != nil {
		return nil, fmt.Errorf("%s: %w", w.run.name, err)
	}
	return w.run, nil
}

func (w *runWriter) abort() { w.f.Abort() }

// A segment reads one part's records of a run.
type segment struct {
	run    *run
	part   int
	file   dfs.File // while it is open
	off    int64    // offset in the file of the first byte that was not read yet
	end    int64    // offset of the end of the part
	buf    []byte   // bytes that were read
	lo, hi int      // the bytes of buf that were not returned yet
	n      int      // length of the last record
	sum    uint32   // checksum of the bytes read
}

// segmentsOf returns the segments of a part that are not empty.
func segmentsOf(runs []*run, part int) []*segment {
	var out []*segment
	for _, r := range runs {
		var start int64
		if part > 0 {
			start = r.ends[part-1]
		}
		if end := r.ends[part]; start < end {
			out = append(out, &segment{run: r, part: part, off: start, end: end})
		}
	}
	return out
}

// openAll opens the files of segments. If it fails, the caller closes the open files by
// closeAll.
func openAll(ctx context.Context, fs dfs.FS, segments []*segment) error {
	for _, s := range segments {
		f, err := fs.Open(ctx, s.run.name)
		if err != nil {
			return fmt.Errorf("shuffle: open run: %w", err)
		}
		s.file = f
	}
	return nil
}

// closeAll closes the files of segments.
func closeAll(segments []*segment) error {
	var errs []error
	for _, s := range segments {
		if s.file == nil {
			continue
		}
		if err := s.file.Close(); err != nil {
			errs = append(errs, fmt.Errorf("shuffle: close run: %w", err))
		}
		s.file = nil
	}
	return errors.Join(errs...)
}

// share divides buffer equally among the segments.
func share(buffer []byte, segments []*segment) {
	if len(segments) == 0 {
		return
	}
	n := len(buffer) / len(segments)
	for i, s := range segments {
		s.buf = buffer[i*n : (i+1)*n : (i+1)*n]
	}
}

// next sets rec to the next record, which is valid until the next call. After the last record it
// returns io.EOF.
func (s *segment) next(rec *record) error {
	if s.hi-s.lo < headerLen {
		if s.lo == s.hi && s.off == s.end {
			return s.finish()
		}
		if err := s.fill(headerLen); err != nil {
			return err
		}
	}
	n := recordLen(s.buf[s.lo:s.hi])
	if s.hi-s.lo < n {
		if err := s.fill(n); err != nil {
			return err
		}
	}
	rec.parse(s.buf[s.lo : s.lo+n])
	s.lo += n
	s.n = n
	return nil
}

// last returns the bytes in the run of the record that next returned last.
func (s *segment) last() []byte { return s.buf[s.lo-s.n : s.lo] }

// fill reads until the buffer has at least n bytes.
func (s *segment) fill(n int) error {
	have := s.hi - s.lo
	left := s.end - s.off
	if int64(n-have) > left {
		return s.corrupt("a record of %d bytes, %d are left", n, int64(have)+left)
	}
	to := s.buf
	if n > len(to) {
		to = make([]byte, n)
	}
	copy(to, s.buf[s.lo:s.hi])
	s.buf, s.lo, s.hi = to, 0, have
	more := to[have : have+int(min(int64(len(to)-have), left))]
	got, err := s.file.ReadAt(more, s.off)
	if got < len(more) {
		if err == nil || errors.Is(err, io.EOF) {
			return s.corrupt("ends after %d of %d bytes", s.off+int64(got), s.end)
		}
		return fmt.Errorf("shuffle: read %s at %d: %w", s.run.name, s.off, err)
	}
	s.sum = crc32.Update(s.sum, castagnoli, more)
	s.off += int64(got)
	s.hi += got
	return nil
}

// finish compares the checksum of the bytes read with the checksum of the bytes written.
func (s *segment) finish() error {
	if s.sum != s.run.sums[s.part] {
		return s.corrupt("checksum %08x, but %08x was written", s.sum, s.run.sums[s.part])
	}
	return io.EOF
}

func (s *segment) corrupt(format string, args ...any) error {
	return fmt.Errorf("shuffle: %w: %s, part %d, before %d: %s", ErrCorrupt, s.run.name, s.part, s.off, fmt.Sprintf(format, args...))
}
