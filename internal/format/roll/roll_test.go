package roll

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"sort"
	"strings"
	"testing"

	"usertrail/internal/activity"
	"usertrail/internal/behaviour"
	"usertrail/internal/test/testkit"
)

var day = behaviour.DateOf(2014, 9, 1)

// people makes n entries in order, with the given numbers of kinds and days. The users have
// all lengths. Many share long prefixes, and some are prefixes of others.
func people(rnd *rand.Rand, n, kinds, days int) []Entry {
	users := map[string]bool{}
	for range n {
		users[person(rnd, n)] = true
	}
	var out []Entry
	for user := range users {
		e := Entry{User: []byte(user), Records: 1 + rnd.Int64N(1<<rnd.IntN(40))}
		for d := range days {
			if len(e.Days) > 0 && rnd.IntN(3) > 0 {
				continue
			}
			one, other := rnd.IntN(kinds), rnd.IntN(kinds)
			e.on(day+behaviour.Date(d), kinds, activity.Of(one, other))
		}
		e.Records = max(e.Records, 64*int64(len(e.Days)))
		out = append(out, e)
	}
	slices.SortFunc(out, func(a, b Entry) int { return bytes.Compare(a.User, b.User) })
	return out
}

// on adds a day to e, in a file of some number of behaviours.
func (e *Entry) on(date behaviour.Date, of int, kinds activity.Set) {
	e.Days = append(e.Days, Day{Date: date, word: kinds.Word()})
	if of > mostInWord {
		e.Days[len(e.Days)-1].word = 0
		e.sets = append(e.sets, kinds)
	}
}

func person(rnd *rand.Rand, n int) string {
	switch rnd.IntN(5) {
	case 0:
		return strings.Repeat("ab", rnd.IntN(200)) + "a"
	case 1:
		return strings.Repeat("\xff", 1+rnd.IntN(9))
	case 2:
		return string(rune('a' + rnd.IntN(26)))
	default:
		return fmt.Sprintf("%07d,", rnd.IntN(10*n))
	}
}

func ids(n int) []uint16 {
	out := make([]uint16, n)
	for i := range out {
		out[i] = uint16(3*i + 1)
	}
	return out
}

// write makes a roll of entries.
func write(t testing.TB, entries []Entry, kinds, days int) ([]byte, Meta) {
	t.Helper()
	var b bytes.Buffer
	w := NewWriter(&b, ids(kinds), behaviour.Span{From: day, To: day + behaviour.Date(days-1)})
	for i := range entries {
		if err := addEntry(w, &entries[i]); err != nil {
			t.Fatal(err)
		}
	}
	meta, err := w.Close()
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes(), meta
}

// addEntry adds e as a load does: one behaviour after the other.
func addEntry(w *Writer, e *Entry) error {
	left := e.Records
	for i, d := range e.Days {
		for kind := range e.Kinds(i).Kinds() {
			if err := w.Add(e.User, d.Date, kind, 1); err != nil {
				return err
			}
			left--
		}
	}
	if left == 0 {
		return nil
	}
	last := len(e.Days) - 1
	return w.Add(e.User, e.Days[last].Date, e.Kinds(last).Least(), left)
}

func open(t testing.TB, b []byte) *Reader {
	t.Helper()
	r, err := Open(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// readAll returns copies of all entries.
func readAll(r *Reader) ([]Entry, error) {
	var out []Entry
	it := r.Iterator()
	for it.Next() {
		e := *it.Entry()
		e.User, e.Days, e.sets = bytes.Clone(e.User), slices.Clone(e.Days), slices.Clone(e.sets)
		out = append(out, e)
	}
	return out, it.Err()
}

func TestWhatIsWrittenIsRead(t *testing.T) {
	for seed := range uint64(25) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		kinds, days := 1+rnd.IntN([]int{64, 1024}[seed%2]), 1+rnd.IntN(12)*rnd.IntN(2)
		want := people(rnd, rnd.IntN(4000), kinds, days)
		b, wrote := write(t, want, kinds, days)
		r := open(t, b)
		if got := r.Meta(); !reflect.DeepEqual(got, wrote) {
			t.Fatalf("seed %d: read %+v, wrote %+v", seed, got, wrote)
		}
		got, err := readAll(r)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		checkEntries(t, got, want)
		checkMeta(t, wrote, want, len(b))
		if again, _ := write(t, want, kinds, days); !bytes.Equal(again, b) {
			t.Errorf("seed %d: written again, other bytes", seed)
		}
	}
}

func checkEntries(t *testing.T, got, want []Entry) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d users, want %d", len(got), len(want))
	}
	for i := range want {
		if !reflect.DeepEqual(got[i], want[i]) {
			t.Fatalf("user %d is %.200q, want %.200q", i, fmt.Sprint(got[i]), fmt.Sprint(want[i]))
		}
	}
}

func checkMeta(t *testing.T, m Meta, want []Entry, size int) {
	t.Helper()
	var userDays, records int64
	for _, e := range want {
		userDays += int64(len(e.Days))
		records += e.Records
	}
	if m.Users != int64(len(want)) || m.UserDays != userDays || m.Records != records || m.Size != int64(size) {
		t.Errorf("meta %+v, want %d users, %d days, %d records, %d bytes", m, len(want), userDays, records, size)
	}
	if len(want) > 0 && (!bytes.Equal(m.First, want[0].User) || !bytes.Equal(m.Last, want[len(want)-1].User)) {
		t.Errorf("users %.40q to %.40q, want %.40q to %.40q", m.First, m.Last, want[0].User, want[len(want)-1].User)
	}
}

// TestDatesOfOneUserComeInAnyOrder adds the newest day first, as a layout with inverted time
// does, and also adds days in random order.
func TestDatesOfOneUserComeInAnyOrder(t *testing.T) {
	want := people(rand.New(rand.NewPCG(2, 2)), 500, 5, 9)
	b, _ := write(t, want, 5, 9)
	for _, order := range []func(d []Day){
		slices.Reverse[[]Day],
		func(d []Day) { rand.New(rand.NewPCG(3, 3)).Shuffle(len(d), func(i, j int) { d[i], d[j] = d[j], d[i] }) },
	} {
		turned := make([]Entry, len(want))
		for i, e := range want {
			turned[i] = Entry{User: e.User, Days: slices.Clone(e.Days), Records: e.Records}
			order(turned[i].Days)
		}
		if again, _ := write(t, turned, 5, 9); !bytes.Equal(again, b) {
			t.Error("the order of the dates changes the file")
		}
	}
}

// TestSeekFindsWhatASearchFinds compares with a binary search in the slice. It seeks forward
// and at random, with calls of Next in between.
func TestSeekFindsWhatASearchFinds(t *testing.T) {
	for seed := range uint64(12) {
		rnd := rand.New(rand.NewPCG(seed, 4))
		days := 1 + rnd.IntN(3)*rnd.IntN(2)
		entries := people(rnd, 1+rnd.IntN(6000), 4, days)
		b, _ := write(t, entries, 4, days)
		it := open(t, b).Iterator()
		targets := make([]string, 300)
		for i := range targets {
			targets[i] = person(rnd, len(entries))
			if rnd.IntN(3) == 0 {
				targets[i] = string(entries[rnd.IntN(len(entries))].User)
			}
		}
		if seed%2 == 0 {
			slices.Sort(targets)
		}
		for _, target := range append(targets, "", "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", "") {
			i := sort.Search(len(entries), func(i int) bool { return string(entries[i].User) >= target })
			checkAt(t, it, it.SeekGE([]byte(target)), entries[i:], fmt.Sprintf("seed %d: seek %.40q", seed, target))
			for ; i < len(entries) && rnd.IntN(3) == 0; i++ {
				checkAt(t, it, it.Next(), entries[i+1:], fmt.Sprintf("seed %d: next after %.40q", seed, target))
			}
		}
	}
}

// checkAt checks that an iterator is at the first of entries, or at the end if entries is
// empty.
func checkAt(t *testing.T, it *Iterator, found bool, entries []Entry, what string) {
	t.Helper()
	if it.Err() != nil {
		t.Fatalf("%s: %v", what, it.Err())
	}
	if found != (len(entries) > 0) {
		t.Fatalf("%s: found is %v, %d users are left", what, found, len(entries))
	}
	if found && !reflect.DeepEqual(*it.Entry(), entries[0]) {
		t.Fatalf("%s: at %v, want %v", what, *it.Entry(), entries[0])
	}
}

// TestSeekReadsOnlyTheBlocksItNeeds counts reads.
func TestSeekReadsOnlyTheBlocksItNeeds(t *testing.T) {
	entries := people(rand.New(rand.NewPCG(5, 5)), 60_000, 4, 1)
	b, meta := write(t, entries, 4, 1)
	if meta.Blocks < 10 {
		t.Fatalf("only %d blocks", meta.Blocks)
	}
	at := &countingReader{Reader: bytes.NewReader(b)}
	r, err := Open(at, int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	if at.reads != 1 {
		t.Errorf("opening made %d reads, want 1", at.reads)
	}
	at.reads = 0
	it := r.Iterator()
	for i := 0; i < len(entries); i += 7 {
		if !it.SeekGE(entries[i].User) {
			t.Fatal(it.Err())
		}
	}
	if most := int(meta.Size)/readAhead + 3; at.reads > most {
		t.Errorf("seeking forward through %d blocks made %d reads, want no more than %d", meta.Blocks, at.reads, most)
	}
	at.reads = 0
	r.Iterator().SeekGE(entries[len(entries)/2].User)
	if at.reads != 1 {
		t.Errorf("one seek made %d reads", at.reads)
	}
}

type countingReader struct {
	*bytes.Reader
	reads int
}

func (r *countingReader) ReadAt(b []byte, off int64) (int, error) {
	r.reads++
	return r.Reader.ReadAt(b, off)
}

// TestAnyChangedByteIsFound changes each byte of a roll, one after the other, and truncates the roll at
// each byte.
func TestAnyChangedByteIsFound(t *testing.T) {
	entries := people(rand.New(rand.NewPCG(6, 6)), 4000, 4, 2)
	b, meta := write(t, entries, 4, 2)
	if meta.Blocks < 2 {
		t.Fatalf("%d blocks", meta.Blocks)
	}
	tail := int(open(t, b).blocks[meta.Blocks-1].end())
	step := max(1, len(b)/300)
	for i := 0; i < len(b); i++ {
		if i < tail && i%step != 0 {
			continue // inside a block, which one checksum covers
		}
		b[i] ^= 0x10
		if err := readThrough(b); !errors.Is(err, ErrCorrupt) {
			t.Errorf("byte %d of %d changed: got %v, want ErrCorrupt", i, len(b), err)
		}
		b[i] ^= 0x10
		if err := readThrough(b[:i]); !errors.Is(err, ErrCorrupt) {
			t.Errorf("cut at %d of %d: got %v, want ErrCorrupt", i, len(b), err)
		}
	}
}

func readThrough(b []byte) error {
	r, err := Open(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		return err
	}
	it := r.Iterator()
	for it.Next() {
	}
	return it.Err()
}

// TestReadErrorsAreKept fails the first read, then the second, and so on. A read error must
// not be reported as a corrupt roll.
func TestReadErrorsAreKept(t *testing.T) {
	b, _ := write(t, people(rand.New(rand.NewPCG(8, 8)), 9000, 4, 1), 4, 1)
	broken := errors.New("disk broken")
	for n := 0; ; n++ {
		left := n
		at := readerFunc(func(p []byte, off int64) (int, error) {
			if left == 0 {
				return 0, broken
			}
			left--
			return bytes.NewReader(b).ReadAt(p, off)
		})
		r, err := Open(at, int64(len(b)))
		if err == nil {
			it := r.Iterator()
			for it.Next() {
			}
			err = it.Err()
			if it.Next() || it.SeekGE(nil) {
				t.Fatalf("read %d: an iterator goes on after %v", n, err)
			}
		}
		if err == nil {
			t.Logf("a roll is %d reads", n)
			return
		}
		if !errors.Is(err, broken) || errors.Is(err, ErrCorrupt) {
			t.Fatalf("read %d: got %v, want %v", n, err, broken)
		}
	}
}

type readerFunc func(b []byte, off int64) (int, error)

func (f readerFunc) ReadAt(b []byte, off int64) (int, error) { return f(b, off) }

// TestLongUsers has an index that is larger than the first read.
func TestLongUsers(t *testing.T) {
	var want []Entry
	for i := range 20 {
		user := bytes.Repeat([]byte{byte(i)}, MaxUser)
		want = append(want, Entry{User: user, Days: []Day{{day, 1}}, Records: 1})
	}
	b, meta := write(t, want, 1, 1)
	if meta.Blocks < 5 {
		t.Errorf("%d blocks", meta.Blocks)
	}
	got, err := readAll(open(t, b))
	if err != nil {
		t.Fatal(err)
	}
	checkEntries(t, got, want)
}

func TestKindIsTheBitOfAnID(t *testing.T) {
	b, _ := write(t, nil, 5, 1)
	r := open(t, b)
	for i, id := range ids(5) {
		if kind, ok := r.Kind(id); !ok || kind != i {
			t.Errorf("ID %d is kind %d, %v, want %d", id, kind, ok, i)
		}
	}
	if _, ok := r.Kind(999); ok {
		t.Error("there is a kind of ID 999")
	}
}

func TestWriterRefusesWhatCannotBe(t *testing.T) {
	span := behaviour.Span{From: day, To: day + 1}
	u := func(s string) []byte { return []byte(s) }
	for what, add := range map[string]func(w *Writer) error{
		"a date before the span": func(w *Writer) error { return w.Add(u("a"), day-1, 0, 1) },
		"a date after the span":  func(w *Writer) error { return w.Add(u("a"), day+2, 0, 1) },
		"a kind of no ID":        func(w *Writer) error { return w.Add(u("a"), day, 2, 1) },
		"a negative kind":        func(w *Writer) error { return w.Add(u("a"), day, -1, 1) },
		"no records":             func(w *Writer) error { return w.Add(u("a"), day, 0, 0) },
		"no user":                func(w *Writer) error { return w.Add(nil, day, 0, 1) },
		"a long user":            func(w *Writer) error { return w.Add(make([]byte, MaxUser+1), day, 0, 1) },
		"users out of order": func(w *Writer) error {
			return errors.Join(w.Add(u("b"), day, 0, 1), w.Add(u("a"), day, 0, 1))
		},
		"a user again": func(w *Writer) error {
			return errors.Join(w.Add(u("a"), day, 0, 1), w.Add(u("b"), day, 0, 1), w.Add(u("a"), day, 0, 1))
		},
	} {
		var b bytes.Buffer
		w := NewWriter(&b, ids(2), span)
		if err := add(w); err == nil {
			t.Errorf("%s: no error", what)
		}
		if _, err := w.Close(); err == nil {
			t.Errorf("%s: closed without an error", what)
		}
	}
	for _, w := range []*Writer{
		NewWriter(&bytes.Buffer{}, []uint16{2, 1}, span),
		NewWriter(&bytes.Buffer{}, ids(behaviour.MaxKinds+1), span),
		NewWriter(&bytes.Buffer{}, ids(2), behaviour.Span{From: day, To: day - 1}),
	} {
		if err := w.Add(u("a"), day, 0, 1); err == nil {
			t.Errorf("a writer for %+v takes records", w.meta)
		}
	}
}

// TestWriteErrorsAreKept fails the first write, then the second, and so on.
func TestWriteErrorsAreKept(t *testing.T) {
	entries := people(rand.New(rand.NewPCG(7, 7)), 9000, 4, 1)
	full := errors.New("disk full")
	for n := 0; ; n++ {
		left := n
		w := NewWriter(writerFunc(func(b []byte) (int, error) {
			if left == 0 {
				return 0, full
			}
			left--
			return len(b), nil
		}), ids(4), behaviour.Span{From: day, To: day})
		var err error
		for i := range entries {
			if err = addEntry(w, &entries[i]); err != nil {
				break
			}
		}
		_, closed := w.Close()
		if err == nil && closed == nil {
			t.Logf("a roll is %d writes", n)
			return
		}
		if !errors.Is(closed, full) {
			t.Fatalf("write %d: got %v, then %v", n, err, closed)
		}
	}
}

type writerFunc func(b []byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }

// A heapWriter counts bytes. If measure is set, it measures the heap at each write.
type heapWriter struct {
	n       int64
	measure bool
	most    uint64
}

func (w *heapWriter) Write(b []byte) (int, error) {
	w.n += int64(len(b))
	if w.measure {
		w.most = max(w.most, testkit.Heap())
	}
	return len(b), nil
}

// TestAnIndexIsInMemoryOnce writes a roll of many users with long keys. While it is closed, the heap may hold
// the index once, and the buffers of the writer.
func TestAnIndexIsInMemoryOnce(t *testing.T) {
	const users, buffers = 100_000, 256 << 10
	dice := rand.New(rand.NewPCG(1, 2))
	enc, err := encoder()
	if err != nil {
		t.Fatal(err)
	}
	for range encoders {
		enc.EncodeAll(make([]byte, blockSize), nil) // makes tables
	}
	var to heapWriter
	before := testkit.Heap()
	w := NewWriter(&to, ids(1), behaviour.Span{From: day, To: day})
	for i := range users {
		if err := w.Add(fmt.Appendf(nil, "%08d%0192x", i, dice.Uint64()), day, 0, 1); err != nil {
			t.Fatal(err)
		}
	}
	blocks := to.n
	to.measure = true
	meta, err := w.Close()
	if err != nil {
		t.Fatal(err)
	}
	index := meta.Size - blocks
	if grown := int64(to.most) - int64(before); index < 500_000 || grown > index+index/4+buffers {
		t.Errorf("the heap has %d KiB more than before, and the index has %d KiB", grown>>10, index>>10)
	}
}
