package shuffle

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
)

// A sample is a record as a test knows it.
type sample struct {
	part    int
	row     string
	seq     uint64
	payload string
}

// compareSamples compares samples in the order that the package comment promises.
func compareSamples(a, b sample) int {
	return cmp.Or(
		cmp.Compare(a.part, b.part),
		strings.Compare(a.row, b.row),
		cmp.Compare(a.seq, b.seq),
		strings.Compare(a.payload, b.payload),
	)
}

// samples makes n records for parts: rows of all lengths, many equal, many that
// begin alike or begin each other, some with zeros at the end.
func samples(rnd *rand.Rand, n, parts int) []sample {
	out := make([]sample, n)
	for i := range out {
		out[i] = sample{
			part:    min(rnd.IntN(parts), rnd.IntN(parts)), // the first are heavier
			row:     sampleRow(rnd, n),
			seq:     uint64(rnd.IntN(n)),
			payload: strings.Repeat("p", rnd.IntN(4)*rnd.IntN(60)),
		}
	}
	return out
}

func sampleRow(rnd *rand.Rand, n int) string {
	switch rnd.IntN(8) {
	case 0:
		return ""
	case 1:
		return strings.Repeat("\x00", rnd.IntN(12))
	case 2:
		return "a-heavy-user,20140901,00003"
	case 3:
		return "a-heavy-" + strings.Repeat("\x00", rnd.IntN(3))
	case 4:
		return strings.Repeat("long", rnd.IntN(500)) + fmt.Sprint(rnd.IntN(3))
	default:
		return fmt.Sprintf("%06d,201409%02d,00003", rnd.IntN(n/4+1), rnd.IntN(30))
	}
}

// sortAll adds records to the shards in turn, with one goroutine for each shard. It returns the
// content of all parts, which the readers read at the same time.
func sortAll(ctx context.Context, s *Sorter, records []sample) ([]sample, error) {
	err := inParallel(len(s.shards), func(i int) error {
		for j := i; j < len(records); j += len(s.shards) {
			r := records[j]
			if err := s.Shard(i).Add(ctx, r.part, []byte(r.row), r.seq, []byte(r.payload)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if err := s.Finish(ctx); err != nil {
		return nil, err
	}
	parts := make([][]sample, s.cfg.Parts)
	err = inParallel(s.cfg.Readers, func(i int) error {
		for p := i; p < s.cfg.Parts; p += s.cfg.Readers {
			var err error
			if parts[p], err = readPart(ctx, s, p); err != nil {
				return err
			}
		}
		return nil
	})
	return slices.Concat(parts...), err
}

func readPart(ctx context.Context, s *Sorter, part int) ([]sample, error) {
	it, err := s.Part(ctx, part)
	if err != nil {
		return nil, err
	}
	var out []sample
	for it.Next() {
		out = append(out, sample{part, string(it.Row()), it.Seq(), string(it.Payload())})
	}
	return out, errors.Join(it.Err(), it.Close())
}

// inParallel calls do with 0 to n-1, each in a goroutine.
func inParallel(n int, do func(i int) error) error {
	errs := make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { errs[i] = do(i) })
	}
	wg.Wait()
	return errors.Join(errs...)
}

// checkOrder wants got to be records in order.
func checkOrder(t *testing.T, got, records []sample) {
	t.Helper()
	want := slices.SortedFunc(slices.Values(records), compareSamples)
	if len(got) != len(want) {
		t.Fatalf("%d records came out, %d went in", len(got), len(want))
	}
	for i := range want {
		if got[i] != want[i] {
			t.Fatalf("record %d is %.80q, want %.80q", i, fmt.Sprint(got[i]), fmt.Sprint(want[i]))
		}
	}
}

// TestSameRecordsWhateverTheMemory sorts the same records with memory for all of
// them down to memory for next to none, with one shard and many.
func TestSameRecordsWhateverTheMemory(t *testing.T) {
	const parts = 7
	records := samples(rand.New(rand.NewPCG(1, 2)), 8000, parts)
	for _, memory := range []int64{16 << 10, 64 << 10, 300_000, 1 << 20, 64 << 20} {
		for _, shards := range []int{1, 2, 5} {
			if memory < MinMemory*int64(shards) {
				continue
			}
			t.Run(fmt.Sprintf("memory=%d/shards=%d", memory, shards), func(t *testing.T) {
				d := newDisk(0)
				s, err := New(Config{FS: d, Dir: "spill", Memory: memory, Parts: parts, Shards: shards})
				if err != nil {
					t.Fatal(err)
				}
				got, err := sortAll(t.Context(), s, records)
				if err != nil {
					t.Fatal(err)
				}
				checkOrder(t, got, records)
				if spilled := d.count("") > 0; spilled != (memory < 2<<20) {
					t.Errorf("spilled is %v with %d bytes of memory", spilled, memory)
				}
				if err := s.Close(t.Context()); err != nil {
					t.Fatal(err)
				}
				d.checkClean(t)
			})
		}
	}
}

// TestRandomWorlds turns everything at once.
func TestRandomWorlds(t *testing.T) {
	for seed := range uint64(30) {
		rnd := rand.New(rand.NewPCG(seed, 3))
		cfg := Config{
			FS: newDisk(0), Dir: "spill",
			Parts: 1 + rnd.IntN(40), Shards: 1 + rnd.IntN(4), Readers: 1 + rnd.IntN(4),
			Memory: 64<<10 + rnd.Int64N(1<<20),
		}
		records := samples(rnd, 1+rnd.IntN(3000), cfg.Parts)
		s, err := New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		for range 3 { // a batch in the memory of the one before, and of other parts
			if err := s.SetParts(cfg.Parts); err != nil {
				t.Fatal(err)
			}
			got, err := sortAll(t.Context(), s, records)
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			checkOrder(t, got, records)
			if err := s.Reset(t.Context()); err != nil {
				t.Fatal(err)
			}
			cfg.Parts = 1 + rnd.IntN(40)
			records = samples(rnd, 1+rnd.IntN(1500), cfg.Parts)
		}
		cfg.FS.(*disk).checkClean(t)
	}
}

// TestManyRunsAreMergedInPasses spills more than a thousand runs and wants no more files
// open than one iterator can read.
func TestManyRunsAreMergedInPasses(t *testing.T) {
	d := newDisk(0)
	s, err := New(Config{FS: d, Dir: "spill", Memory: 16 << 10, Parts: 3})
	if err != nil {
		t.Fatal(err)
	}
	var records []sample
	rnd := rand.New(rand.NewPCG(4, 4))
	for i := range 15_000 {
		records = append(records, sample{rnd.IntN(3), fmt.Sprint(rnd.IntN(5000)), uint64(i), strings.Repeat("x", 900)})
	}
	got, err := sortAll(t.Context(), s, records)
	if err != nil {
		t.Fatal(err)
	}
	checkOrder(t, got, records)
	if n := s.shards[0].begun; n < 1000 {
		t.Errorf("only %d runs were spilled: the test wants thousands", n)
	}
	if d.mostOpen > s.fanIn()+1 || len(s.runs) != s.fanIn() || d.count("") != len(s.runs) {
		t.Errorf("%d files were open at once, %d runs are left, the directory has %d; at most %d can be merged", d.mostOpen, len(s.runs), d.count(""), s.fanIn())
	}
	if err := s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	d.checkClean(t)
}

// TestLargeRecordsAreMergedFewAtOnce spills runs of records that are larger than the buffer
// of a run: their buffers together stay within the memory.
func TestLargeRecordsAreMergedFewAtOnce(t *testing.T) {
	const size = 100 << 10
	d := newDisk(0)
	s, err := New(Config{FS: d, Dir: "tmp", Memory: 4 << 20}) // of which a reader has 512 KiB
	if err != nil {
		t.Fatal(err)
	}
	var all []sample
	for i := range 400 {
		all = append(all, sample{0, fmt.Sprintf("%06d", i*7919%1000), uint64(i), strings.Repeat(fmt.Sprint(i%10), size)})
	}
	got, err := sortAll(t.Context(), s, all)
	if err != nil {
		t.Fatal(err)
	}
	checkOrder(t, got, all)
	if most := 512<<10/size + 1; d.mostOpen > most {
		t.Errorf("%d files of records of %d bytes were open at once, want at most %d", d.mostOpen, size, most)
	}
	if err := s.Close(t.Context()); err != nil {
		t.Error(err)
	}
	d.checkClean(t)
}

func TestRecordLargerThanTheMemoryPasses(t *testing.T) {
	d := newDisk(0)
	s, err := New(Config{FS: d, Dir: "spill", Memory: 64 << 10, Parts: 2})
	if err != nil {
		t.Fatal(err)
	}
	large := strings.Repeat("large", 100_000)
	records := []sample{
		{1, "b", 1, large}, {1, "b", 2, large}, {0, strings.Repeat("r", MaxRow), 1, ""},
		{1, "a", 1, "small"}, {1, "c", 1, large}, {0, "z", 3, "small"},
	}
	for range 3 {
		got, err := sortAll(t.Context(), s, records)
		if err != nil {
			t.Fatal(err)
		}
		checkOrder(t, got, records)
		if err := s.Reset(t.Context()); err != nil {
			t.Fatal(err)
		}
		if held := s.shards[0].held(); held > s.shards[0].share {
			t.Errorf("%d bytes are held after a reset, of a share of %d", held, s.shards[0].share)
		}
	}
	d.checkClean(t)
}

// TestShareIsKept watches a shard through records that change their size.
func TestShareIsKept(t *testing.T) {
	for _, memory := range []int64{16 << 10, 100 << 10, 3 << 20} {
		s, err := New(Config{FS: newDisk(0), Memory: memory, Parts: 3})
		if err != nil {
			t.Fatal(err)
		}
		sh := s.Shard(0)
		rnd := rand.New(rand.NewPCG(5, uint64(memory)))
		var added, most int64
		for i := range uint64(25_000) {
			size := []int{0, 100, 700}[i/5000%3]
			added += int64(size + headerLen + 8)
			payload := make([]byte, rnd.IntN(size+1))
			if err := sh.Add(t.Context(), int(i%3), fmt.Appendf(nil, "%08d", rnd.IntN(1e8)), i, payload); err != nil {
				t.Fatal(err)
			}
			most = max(most, sh.held())
			counted := sh.arena.held + entryBytes*int64(cap(sh.entries)+cap(sh.scratch))
			if counted > sh.share || sh.held() > sh.share {
				t.Fatalf("memory %d, record %d: %d bytes held, %d with scratch to come, of a share of %d", memory, i, counted, sh.held(), sh.share)
			}
		}
		if most < sh.share*3/4 {
			t.Errorf("memory %d: never more than %d of a share of %d was used", memory, most, sh.share)
		}
		if fair := int(4 * added / sh.share); sh.begun > fair+4 {
			t.Errorf("memory %d: %d runs for %d bytes and a share of %d", memory, sh.begun, added, sh.share)
		}
		if err := s.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// TestAnyFaultIsReported fails the first file operation, then the second, and so
// on until a sort gets through. Each failure keeps its cause and leaves nothing
// behind once the disk works again.
func TestAnyFaultIsReported(t *testing.T) {
	records := samples(rand.New(rand.NewPCG(6, 6)), 600, 2)
	for n := 1; ; n++ {
		d := newDisk(n)
		s, err := New(Config{FS: d, Dir: "spill", Memory: 32 << 10, Parts: 2, Shards: 2, Readers: 1})
		if err != nil {
			t.Fatal(err)
		}
		_, err = sortAll(t.Context(), s, records)
		closed := s.Close(t.Context())
		if d.ops < n {
			t.Logf("a sort makes %d file operations", d.ops)
			break
		}
		if err := errors.Join(err, closed); !errors.Is(err, errInjected) {
			t.Fatalf("fault at %d: lost the cause: %v", n, err)
		}
		if err := s.Close(t.Context()); err != nil {
			t.Fatalf("fault at %d: close again: %v", n, err)
		}
		d.checkClean(t)
	}
}

// TestDamagedRunIsFound changes every third byte of a run, one at a time. This damages each part
// of a record.
func TestDamagedRunIsFound(t *testing.T) {
	d := newDisk(0)
	s, err := New(Config{FS: d, Dir: "spill", Memory: 16 << 10, Parts: 2})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 150 {
		payload := bytes.Repeat([]byte{'p'}, i)
		if err := s.Shard(0).Add(t.Context(), i%2, fmt.Appendf(nil, "row%d", i), 1, payload); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Finish(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(s.runs) == 0 {
		t.Fatal("nothing was spilled")
	}
	name := s.runs[0].name
	for i := 0; i < len(d.files[name]); i += 3 {
		d.files[name][i] ^= 0x40
		_, err0 := readPart(t.Context(), s, 0)
		_, err1 := readPart(t.Context(), s, 1)
		if err := errors.Join(err0, err1); !errors.Is(err, ErrCorrupt) {
			t.Errorf("byte %d changed: got %v, want ErrCorrupt", i, err)
		}
		d.files[name][i] ^= 0x40
	}
	if err := s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func TestCancelledSorterStopsAndCleansUp(t *testing.T) {
	gone := errors.New("gone")
	ctx, cancel := context.WithCancelCause(t.Context())
	d := newDisk(0)
	s, err := New(Config{FS: d, Dir: "spill", Memory: 16 << 10})
	if err != nil {
		t.Fatal(err)
	}
	row := bytes.Repeat([]byte("row"), 100)
	for s.Shard(0).begun < 20 {
		if err := s.Shard(0).Add(ctx, 0, row, 1, nil); err != nil {
			t.Fatal(err)
		}
	}
	cancel(gone)
	if err := s.Finish(ctx); !errors.Is(err, gone) {
		t.Errorf("merging runs: got %v, want %v", err, gone)
	}
	for n := 0; err == nil; n++ {
		if err = s.Shard(0).Add(ctx, 0, row, 1, nil); n > 1000 {
			t.Fatal("a shard goes on without end after its context is done")
		}
	}
	if !errors.Is(err, gone) {
		t.Errorf("adding: got %v, want %v", err, gone)
	}
	if err := s.Close(ctx); err != nil {
		t.Fatal(err)
	}
	d.checkClean(t)
}

func TestMisuseIsRefused(t *testing.T) {
	ctx := t.Context()
	for _, cfg := range []Config{
		{},
		{FS: newDisk(0), Memory: 1000},
		{FS: newDisk(0), Memory: 64 << 10, Readers: 5},
		{FS: newDisk(0), Parts: -1},
		{FS: newDisk(0), Parts: MaxParts + 1},
		{FS: newDisk(0), Shards: -1},
	} {
		if _, err := New(cfg); err == nil {
			t.Errorf("New(%+v) is no error", cfg)
		}
	}
	s, err := New(Config{FS: newDisk(0), Memory: 64 << 10, Parts: 2})
	if err != nil {
		t.Fatal(err)
	}
	wrong := func(what string, err error) {
		t.Helper()
		if err == nil {
			t.Errorf("%s: no error", what)
		}
	}
	wrong("part -1", s.Shard(0).Add(ctx, -1, nil, 0, nil))
	wrong("part 2 of 2", s.Shard(0).Add(ctx, 2, nil, 0, nil))
	wrong("long row", s.Shard(0).Add(ctx, 0, make([]byte, MaxRow+1), 0, nil))
	_, err = s.Part(ctx, 0)
	wrong("part before finish", err)
	if err := s.Finish(ctx); err != nil {
		t.Fatal(err)
	}
	wrong("finish twice", s.Finish(ctx))
	_, err = s.Part(ctx, 2)
	wrong("iterate part 2 of 2", err)
	it, err := s.Part(ctx, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.Part(ctx, 1)
	wrong("a second iterator for one reader", err)
	wrong("reset under an iterator", s.Reset(ctx))
	for range 2 {
		if err := it.Close(); err != nil || it.Next() {
			t.Errorf("closed iterator: %v, or goes on", err)
		}
	}
	wrong("other parts before reset", s.SetParts(3))
	if err := s.Reset(ctx); err != nil {
		t.Error(err)
	}
	wrong("no parts", s.SetParts(0))
	if err := s.Shard(0).Add(ctx, 1, nil, 0, nil); err != nil {
		t.Error(err)
	}
	wrong("other parts after a record", s.SetParts(3))
}

// TestPartCanBeReadAgain closes an iterator early and starts again.
func TestPartCanBeReadAgain(t *testing.T) {
	d := newDisk(0)
	s, err := New(Config{FS: d, Dir: "spill", Memory: 32 << 10, Shards: 2, Readers: 1})
	if err != nil {
		t.Fatal(err)
	}
	records := samples(rand.New(rand.NewPCG(7, 7)), 1000, 1)
	if _, err := sortAll(t.Context(), s, records); err != nil {
		t.Fatal(err)
	}
	it, err := s.Part(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	it.Next()
	it.Close()
	got, err := readPart(t.Context(), s, 0)
	if err != nil {
		t.Fatal(err)
	}
	checkOrder(t, got, records)
	if err := s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	d.checkClean(t)
}
