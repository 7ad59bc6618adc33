package shuffle

import (
	"context"
	"fmt"

	"usertrail/internal/store/dfs"
)

// A Shard holds the records that one goroutine adds. When its share of the memory is full, it sorts
// the records and spills them.
type Shard struct {
	fs    dfs.FS
	dir   string
	id    int
	parts int
	share int64 // bytes of slabs and entries together
	out   int   // bytes of the buffer through which a run is written

	arena   arena
	entries []entry
	scratch []entry // room to sort the entries; made when needed, released when they grow
	largest int     // record that was added, in bytes
	bounds  []int   // after group: part p is entries[bounds[p]:bounds[p+1]]

	runs    []*run
	begun   int      // runs
	spilled []string // names of the runs, until they are removed
	err     error    // of a spill; the shard cannot be used after it
}

func newShard(cfg Config, id int, share int64, out int) *Shard {
	return &Shard{
		fs: cfg.FS, dir: cfg.Dir, id: id, parts: cfg.Parts,
		share: share, out: out, arena: newArena(share),
	}
}

// Add copies a record of a part. It writes files only if the share of the shard is full. After an
// error of a file, every Add returns this error.
func (s *Shard) Add(ctx context.Context, part int, row []byte, seq uint64, payload []byte) error {
	if s.err != nil {
		return s.err
	}
	if err := s.check(part, row, payload); err != nil {
		return err
	}
	n := headerLen + len(row) + len(payload)
	s.largest = max(s.largest, n)
	b, pos, ok := s.room(n)
	if !ok {
		if s.err = s.spill(ctx); s.err != nil {
			return s.err
		}
		b, pos, _ = s.room(n) // an empty shard has room for anything
	}
	putRecord(b, row, seq, payload)
	s.entries = append(s.entries, entry{key: prefix(row), ref: uint64(part)<<posBits | pos})
	return nil
}

func (s *Shard) check(part int, row, payload []byte) error {
	if part < 0 || part >= s.parts {
		return fmt.Errorf("shuffle: row %.64q: part %d is not in 0..%d", row, part, s.parts-1)
	}
	if len(row) > MaxRow {
		return fmt.Errorf("shuffle: row %.64q…: %d bytes, more than %d", row, len(row), MaxRow)
	}
	if len(payload) > maxPayload {
		return fmt.Errorf("shuffle: row %.64q: a payload of %d bytes, more than %d", row, len(payload), maxPayload)
	}
	return nil
}

// room makes room for one more record of n bytes. It returns false if the shard must spill first.
func (s *Shard) room(n int) ([]byte, uint64, bool) {
	empty := len(s.entries) == 0
	if !empty && s.held() > s.share {
		return nil, 0, false // a record larger than the share is in
	}
	if len(s.entries) == cap(s.entries) && !s.growEntries() {
		return nil, 0, false
	}
	return s.arena.alloc(n, s.share-s.entryBytes(cap(s.entries)), empty)
}

// held returns the bytes that the shard uses of its share. Every entry counts with the
// memory that sorting it will need.
func (s *Shard) held() int64 { return s.arena.held + s.entryBytes(cap(s.entries)) }

func (s *Shard) entryBytes(n int) int64 { return 2 * entryBytes * int64(n) }

// growEntries makes room for more entries. It returns false if the share has no room for a sixteenth
// more. It makes no more entries than a share full of records of the average length needs, so that the
// other memory is for slabs.
func (s *Shard) growEntries() bool {
	n := cap(s.entries)
	want := int64(2 * n)
	if n == 0 {
		want = max(16, min(1024, s.share/8/(2*entryBytes)))
	} else {
		fit := float64(n) * float64(s.share) / float64(s.arena.live+s.entryBytes(n))
		want = min(want, int64(fit*17/16), (s.share-s.arena.live)/(2*entryBytes))
		if want <= int64(n+n/16) {
			return false
		}
	}
	s.scratch = nil
	s.arena.trim(s.share - s.entryBytes(int(want)))
	grown := make([]entry, n, want)
	copy(grown, s.entries)
	s.entries = grown
	return true
}

// group moves the entries of each part next to each other. They keep their order.
func (s *Shard) group() {
	s.makeScratch()
	s.bounds = append(s.bounds[:0], make([]int, s.parts+1)...)
	for _, e := range s.entries {
		s.bounds[e.ref>>posBits+1]++
	}
	for p := range s.parts {
		s.bounds[p+1] += s.bounds[p]
	}
	if s.parts == 1 {
		return
	}
	at := append([]int(nil), s.bounds...)
	to := s.scratch[:len(s.entries)]
	for _, e := range s.entries {
		p := e.ref >> posBits
		to[at[p]] = e
		at[p]++
	}
	s.entries, s.scratch = to, s.entries
}

// makeScratch makes the scratch as large as the entries.
func (s *Shard) makeScratch() {
	if cap(s.scratch) < cap(s.entries) {
		s.scratch = make([]entry, 0, cap(s.entries))
	}
	s.scratch = s.scratch[:cap(s.scratch)]
}

// cursor returns a cursor of the records of a part, after group. Different parts
// may be read at once.
func (s *Shard) cursor(part int) cursor {
	lo, hi := s.bounds[part], s.bounds[part+1]
	c := cursor{entries: s.entries[lo:hi], scratch: s.scratch[lo:hi], arena: &s.arena}
	sortByKey(c.entries, c.scratch)
	return c
}

// spill sorts the shard's records, writes them as one run and drops them.
func (s *Shard) spill(ctx context.Context) error {
	s.group()
	name := dfs.Join(s.dir, fmt.Sprintf("run-%03d-%05d", s.id, s.begun))
	s.begun++
	s.spilled = append(s.spilled, name)
	r, err := s.writeRun(ctx, name)
	if err != nil {
		return fmt.Errorf("shuffle: spill: %w", err)
	}
	s.runs = append(s.runs, r)
	s.clear()
	return nil
}

func (s *Shard) writeRun(ctx context.Context, name string) (*run, error) {
	w, err := createRun(ctx, s.fs, name, s.parts, make([]byte, 0, s.out))
	if err != nil {
		return nil, err
	}
	defer w.abort()
	for p := range s.parts {
		if err := s.writePart(ctx, w, p); err != nil {
			return nil, err
		}
		w.endPart()
	}
	return w.commit(ctx)
}

func (s *Shard) writePart(ctx context.Context, w *runWriter, part int) error {
	c := s.cursor(part)
	for len(c.entries) > 0 {
		b := s.arena.at(c.nextEntry().ref)
		if err := w.add(ctx, b[:recordLen(b)]); err != nil {
			return err
		}
	}
	return nil
}

// clear drops all records and keeps the memory. It releases the entries if less than half of them
// was used, because the records have become larger.
func (s *Shard) clear() {
	if 2*len(s.entries) < cap(s.entries) {
		s.entries, s.scratch = nil, nil
	}
	s.entries = s.entries[:0]
	s.arena.clear()
}

// drop releases the memory.
func (s *Shard) drop() {
	s.entries, s.scratch, s.bounds = nil, nil, nil
	s.arena = newArena(s.share)
}
