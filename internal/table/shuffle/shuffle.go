// Package shuffle sorts the records of each region in bounded memory. Callers add records in any
// order. Packages layout and split compute the row and the region of a record before; package hfile
// writes the sorted records of a region afterwards.
//
//	Add → Shard: arena + entries ──full──→ sorted run, one file, all parts in it
//	Part → merge of the records in the shards and of the part's piece of every run
//
// A record is a row, a number (seq) and a payload that shuffle does not interpret. The
// caller maps regions to parts: numbers from 0.
//
// # Order
//
// The records of a part are sorted by row, as bytes, ascending (a prefix before longer
// rows), then by seq ascending, then by payload. Records that are equal in all three have the
// same bytes. Therefore the bytes of the result do not depend on the memory, the number of
// shards and the order of Add. A radix sort orders the first eight bytes of the row. Records
// that are equal in these bytes are compared further just before they are returned or spilled.
//
// # Memory
//
// The shards have seven eighths of Config.Memory, in equal shares. The last eighth is for reading and
// writing runs. The share of a shard holds its slabs and its entries. An entry needs 32 bytes: 16 for
// the entry and 16 for sorting it. The iterators, of which Config.Readers are open at once, and their
// buffers stay within the eighth. If records are larger than the buffer of a run, fewer runs are read
// at once, but at least two. Only these need more memory:
//
//   - a record larger than a share, until it is spilled
//   - two records larger than the memory of a reader
//   - for each part, 12 bytes for each run and 16 bytes for each shard
//
// # Concurrency and ownership
//
// The package starts no goroutines. Only one goroutine at a time may use a Shard. Different goroutines
// may use different Shards at the same time. When all records are added, one goroutine calls Finish. Then up to Config.Readers goroutines may iterate different parts. Add copies its
// arguments. The slices that an Iterator returns are valid until its next Next or Close.
package shuffle

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"

	"usertrail/internal/store/dfs"
)

// Limits of a Sorter.
const (
	MaxParts  = 1 << (64 - posBits) // parts of one Sorter
	MaxRow    = math.MaxUint16      // bytes of a row
	MinMemory = 16 << 10            // bytes for each shard, or for each reader if there are more of them
)

// Config sets the resources of a Sorter. The zero value of a number means its default.
type Config struct {
	FS  dfs.FS
	Dir string // where runs spill: run-* and merge-*; no other Sorter may use it

	Memory  int64 // bytes; 256 MiB. See the package comment
	Parts   int   // 1
	Shards  int   // goroutines that add at once; 1
	Readers int   // iterators that are open at once; as many as Shards
}

// A Sorter sorts one batch of records after the other.
type Sorter struct {
	cfg    Config
	buffer int64 // bytes of all run buffers of an iterator
	shards []*Shard

	begun    int      // merges of runs
	merged   []string // names of the merged runs
	runs     []*run   // from Finish on: of all shards
	finished bool

	mu   sync.Mutex
	open int      // iterators
	idle [][]byte // buffers of closed iterators
}

// New returns a Sorter. It touches no file.
func New(cfg Config) (*Sorter, error) {
	cfg.setDefaults()
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	reserve := cfg.Memory / 8
	s := &Sorter{cfg: cfg, buffer: reserve / int64(cfg.Readers)}
	share := (cfg.Memory - reserve) / int64(cfg.Shards)
	out := int(min(maxWriteBuffer, reserve/int64(cfg.Shards)))
	for i := range cfg.Shards {
		s.shards = append(s.shards, newShard(cfg, i, share, out))
	}
	return s, nil
}

func (c *Config) setDefaults() {
	if c.Memory == 0 {
		c.Memory = 256 << 20
	}
	if c.Parts == 0 {
		c.Parts = 1
	}
	if c.Shards == 0 {
		c.Shards = 1
	}
	if c.Readers == 0 {
		c.Readers = c.Shards
	}
}

// validate reports everything that is wrong with c.
func (c *Config) validate() error {
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf("shuffle: "+format, args...)) }
	if c.FS == nil {
		bad("no file system to spill to")
	}
	if c.Parts < 0 || c.Parts > MaxParts {
		bad("%d parts: not in 1..%d", c.Parts, MaxParts)
	}
	if c.Shards < 0 || c.Readers < 0 {
		bad("%d shards, %d readers: less than none", c.Shards, c.Readers)
	} else if least := MinMemory * int64(max(c.Shards, c.Readers)); c.Memory < least {
		bad("%d bytes of memory: %d shards and %d readers need at least %d", c.Memory, c.Shards, c.Readers, least)
	}
	return errors.Join(errs...)
}

// SetParts sets the number of parts of the next records. Call it before the first Add, or
// between a Reset and the next Add.
func (s *Sorter) SetParts(n int) error {
	if n < 1 || n > MaxParts {
		return fmt.Errorf("shuffle: %d parts: not in 1..%d", n, MaxParts)
	}
	for _, sh := range s.shards {
		if s.finished || len(sh.entries)+len(sh.runs) > 0 {
			return errors.New("shuffle: SetParts after Add")
		}
	}
	s.cfg.Parts = n
	for _, sh := range s.shards {
		sh.parts = n
	}
	return nil
}

// Shard returns the shard with a number from 0 to Config.Shards-1.
func (s *Sorter) Shard(i int) *Shard { return s.shards[i] }

// Finish ends adding. It merges runs until so few are left that Config.Readers
// iterators can read all of them at once within the memory.
func (s *Sorter) Finish(ctx context.Context) error {
	if s.finished {
		return errors.New("shuffle: Finish after Finish")
	}
	for _, sh := range s.shards {
		if sh.err != nil {
			return sh.err
		}
		sh.group()
		s.runs = append(s.runs, sh.runs...)
		sh.runs = nil
	}
	if err := s.mergeRuns(ctx); err != nil {
		return err
	}
	s.finished = true
	return nil
}

// Part begins to iterate the records of a part. Different parts may be iterated
// at once, Config.Readers of them; one part by one Iterator at a time, but as
// often as one likes. It comes after Finish. Where the file system watches ctx,
// the Iterator's reads end with it.
func (s *Sorter) Part(ctx context.Context, part int) (*Iterator, error) {
	if part < 0 || part >= s.cfg.Parts {
		return nil, fmt.Errorf("shuffle: part %d is not in 0..%d", part, s.cfg.Parts-1)
	}
	if !s.finished {
		return nil, fmt.Errorf("shuffle: part %d asked for before Finish", part)
	}
	if err := context.Cause(ctx); err != nil {
		return nil, fmt.Errorf("shuffle: part %d: %w", part, err)
	}
	it := &Iterator{sorter: s, runs: segmentsOf(s.runs, part)}
	var err error
	if it.buffer, err = s.checkOut(it.runs); err != nil {
		return nil, fmt.Errorf("shuffle: part %d: %w", part, err)
	}
	if err := openAll(ctx, s.cfg.FS, it.runs); err != nil {
		return nil, errors.Join(err, it.Close())
	}
	for _, sh := range s.shards {
		if c := sh.cursor(part); len(c.entries) > 0 {
			it.tree.cursors = append(it.tree.cursors, c)
		}
	}
	share(it.buffer, it.runs)
	for _, seg := range it.runs {
		it.tree.cursors = append(it.tree.cursors, cursor{seg: seg})
	}
	return it, nil
}

// checkOut counts one more open iterator and returns memory for the segments that it will read.
func (s *Sorter) checkOut(segments []*segment) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open == s.cfg.Readers {
		return nil, fmt.Errorf("%d iterators are open, and no more were asked for", s.open)
	}
	s.open++
	if len(segments) == 0 {
		return nil, nil
	}
	if n := len(s.idle); n > 0 {
		b := s.idle[n-1]
		s.idle = s.idle[:n-1]
		return b, nil
	}
	return make([]byte, min(s.buffer, int64(len(s.runs))*maxReadBuffer)), nil
}

// checkIn releases a buffer that checkOut returned.
func (s *Sorter) checkIn(buffer []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open--
	if buffer != nil {
		s.idle = append(s.idle, buffer)
	}
}

// Reset forgets all records and removes the runs, so that the next batch can be
// added. The shards keep their memory. All iterators must be closed.
func (s *Sorter) Reset(ctx context.Context) error {
	s.mu.Lock()
	open := s.open
	s.mu.Unlock()
	if open > 0 {
		return fmt.Errorf("shuffle: reset while %d iterators are open", open)
	}
	err := s.removeRuns(ctx)
	for _, sh := range s.shards {
		sh.clear()
		sh.err, sh.largest = nil, 0
	}
	s.idle = nil // the next batch may have another number of runs
	s.finished = false
	return err
}

// Close removes the runs and releases the memory. It does so whatever failed
// before, and also when ctx is done. All iterators must be closed.
func (s *Sorter) Close(ctx context.Context) error {
	err := s.removeRuns(context.WithoutCancel(ctx))
	for _, sh := range s.shards {
		sh.drop()
	}
	s.idle = nil
	return err
}

// removeRuns removes every run that was begun. It remembers runs that it cannot remove, so
// that a later call tries again.
func (s *Sorter) removeRuns(ctx context.Context) error {
	var errs []error
	s.runs = nil
	s.merged = removeAll(ctx, s.cfg.FS, s.merged, &errs)
	for _, sh := range s.shards {
		sh.runs = nil
		sh.spilled = removeAll(ctx, s.cfg.FS, sh.spilled, &errs)
	}
	return errors.Join(errs...)
}

// removeAll removes the named files and returns those that are still there.
func removeAll(ctx context.Context, fs dfs.FS, names []string, errs *[]error) []string {
	var left []string
	for _, name := range names {
		if err := fs.Remove(ctx, name); err != nil {
			*errs = append(*errs, fmt.Errorf("shuffle: remove run: %w", err))
			left = append(left, name)
		}
	}
	return left
}
