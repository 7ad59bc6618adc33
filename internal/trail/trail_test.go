package trail_test

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"usertrail/internal/trail"
)

// draw generates events whose times, kinds, IDs and users are often equal.
func draw(r *rand.Rand, n, users int) *trail.Batch {
	b := new(trail.Batch)
	b.Reset()
	for range n {
		e := trail.Event{
			Time: r.Int64N(5) - 2, Kind: uint16(r.IntN(3)), ID: r.Int64N(4), User: uint32(r.IntN(users)),
			Refs: uint32(len(b.Refs)), Date: int32(r.IntN(3)),
		}
		ref, err := b.Put(fmt.Append(nil, len(b.Events)))
		if err != nil {
			panic(err)
		}
		b.Refs = append(b.Refs, ref)
		b.Events = append(b.Events, e)
	}
	return b
}

// TestSortIsAStableSortOfUsersAndTrails compares with the standard library's sort.
func TestSortIsAStableSortOfUsersAndTrails(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 500 {
		users := 1 + r.IntN(6)
		b := draw(r, r.IntN(60), users)
		if i%3 == 0 { // in order of user, as one pass over a table returns them
			slices.SortStableFunc(b.Events, func(a, b trail.Event) int { return cmp.Compare(a.User, b.User) })
		}
		want := slices.Clone(b.Events)
		slices.SortStableFunc(want, func(a, b trail.Event) int {
			return cmp.Or(cmp.Compare(a.User, b.User), cmp.Compare(a.Time, b.Time), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.ID, b.ID))
		})
		b.Sort(users)
		for j := range want {
			// Events with equal user, time, kind and ID are one event of a table.
			g, w := &b.Events[j], &want[j]
			if g.User != w.User || trail.Compare(g, w) != 0 {
				t.Fatalf("draw %d: event %d is %+v, want %+v", i, j, *g, *w)
			}
		}
		checkSame(t, b.Events, want)
	}
}

// checkSame checks that no event was lost or duplicated.
func checkSame(t *testing.T, got, want []trail.Event) {
	t.Helper()
	byRefs := func(a, b trail.Event) int { return cmp.Compare(a.Refs, b.Refs) }
	g, w := slices.Clone(got), slices.Clone(want)
	slices.SortFunc(g, byRefs)
	slices.SortFunc(w, byRefs)
	if !slices.Equal(g, w) {
		t.Fatal("sorting lost or changed an event")
	}
}

func TestSortDoesNotDependOnTheOrderOfArrival(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	a := draw(r, 200, 5)
	for i := range a.Events {
		a.Events[i].ID = int64(i) // so that all are different
	}
	b := &trail.Batch{Events: slices.Clone(a.Events)}
	r.Shuffle(len(b.Events), func(i, j int) { b.Events[i], b.Events[j] = b.Events[j], b.Events[i] })
	a.Sort(5)
	b.Sort(5)
	if !slices.Equal(a.Events, b.Events) {
		t.Error("two orders of arrival give two trails")
	}
}

func TestCompareLooksAtTimeThenKindThenID(t *testing.T) {
	ascending := []trail.Event{
		{Time: -1, Kind: 9, ID: 9}, {Time: 0, Kind: 0, ID: 5}, {Time: 0, Kind: 0, ID: 6, User: 1}, {Time: 0, Kind: 1, ID: 0}, {Time: 1, Date: -3},
	}
	for i := range ascending {
		for j := range ascending {
			if got, want := trail.Compare(&ascending[i], &ascending[j]), cmp.Compare(i, j); got != want {
				t.Errorf("%+v against %+v: %d, want %d", ascending[i], ascending[j], got, want)
			}
		}
	}
}

func TestValuesComeBack(t *testing.T) {
	var b trail.Batch // not Reset: the zero Batch may be used
	values := [][]byte{[]byte("one"), {}, []byte("three"), bytes.Repeat([]byte("x"), 1000)}
	var refs []trail.Ref
	for _, v := range values {
		ref, err := b.Put(v)
		if err != nil {
			t.Fatal(err)
		}
		refs = append(refs, ref)
	}
	for i, v := range values {
		got := b.Value(refs[i])
		if got == nil || !bytes.Equal(got, v) {
			t.Errorf("value %d is %q, want %q", i, got, v)
		}
		_ = append(got, "more"...) // must not overwrite the value after it
	}
	if got := b.Value(refs[2]); string(got) != "three" {
		t.Errorf("a value was written over: %q", got)
	}
	if got := b.Value(trail.Ref{}); got != nil {
		t.Errorf("null is %q, want nil", got)
	}
	if b.Size() < 1000 {
		t.Errorf("it says it holds %d bytes", b.Size())
	}
	b.Reset()
	if ref, err := b.Put(nil); err != nil || ref.End == 0 || b.Value(ref) == nil {
		t.Error("an empty value after Reset is null")
	}
}

// TestAFullBatchSaysSo puts values into a batch of a few bytes. The accepted values must not
// change, and a value that does not fit must be an error.
func TestAFullBatchSaysSo(t *testing.T) {
	b := trail.Batch{Most: 10}
	first, err := b.Put([]byte("first"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Put([]byte("third")); !errors.Is(err, trail.ErrFull) {
		t.Errorf("five bytes after five, of ten with one of its own: %v, want ErrFull", err)
	}
	last, err := b.Put([]byte("last"))
	if err != nil {
		t.Errorf("four bytes after five: %v", err)
	}
	if got := string(b.Value(first)) + string(b.Value(last)); got != "firstlast" {
		t.Errorf("the values are %q", got)
	}
	b.Reset()
	if _, err := b.Put([]byte("as before")); err != nil {
		t.Errorf("after Reset: %v", err)
	}
}

func BenchmarkSort(b *testing.B) {
	for _, order := range []string{"as one pass reads them", "any"} {
		b.Run("events=65536/users=1024/"+order, func(b *testing.B) {
			from := draw(rand.New(rand.NewPCG(5, 6)), 1<<16, 1024)
			for i := range from.Events {
				from.Events[i].Time = rand.Int64()
			}
			if order != "any" {
				slices.SortStableFunc(from.Events, func(a, b trail.Event) int { return cmp.Compare(a.User, b.User) })
			}
			var batch trail.Batch
			b.SetBytes(int64(len(from.Events)) * 32)
			b.ReportAllocs()
			for b.Loop() {
				batch.Events = append(batch.Events[:0], from.Events...)
				batch.Sort(1024)
			}
		})
	}
}

// TestABatchHoldsWhatARefReaches adds a value that would end past the bytes that the 32 bits of a Ref reach. The
// Batch must refuse it. The bytes before are never written, so that they need no memory.
func TestABatchHoldsWhatARefReaches(t *testing.T) {
	b := trail.Batch{Data: make([]byte, trail.MaxData-2)}
	if _, err := b.Put([]byte("abc")); !errors.Is(err, trail.ErrFull) {
		t.Errorf("three bytes after %d: %v, want ErrFull", len(b.Data), err)
	}
}
