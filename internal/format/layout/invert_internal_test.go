package layout

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"usertrail/internal/trail"
)

var moments = []int64{math.MinInt64, -62135596800_000_000, -1000, -1, 0, 1, 999, 1_409_529_600_000_000, 253402300799_999_999, math.MaxInt64}

func TestInvertedNameIsAsDrawn(t *testing.T) {
	for _, c := range []struct {
		micros int64
		id     uint16
		column int64
		want   string
	}{
		{0, 1, 0, "7fffffffffffffff fffe ffffffffffffffff"},
		{-1, 65535, math.MaxInt64, "8000000000000000 0000 8000000000000000"},
		{1_409_529_600_000_000, 7, 42, "7ffafe0a50e43fff fff8 ffffffffffffffd5"},
		{math.MaxInt64, 1, 0, "0000000000000000 fffe ffffffffffffffff"},
		{math.MinInt64, 1, 0, "ffffffffffffffff fffe ffffffffffffffff"},
	} {
		b := appendInverted(nil, c.micros, c.id, c.column)
		if got := fmt.Sprintf("%x %x %x", b[:8], b[8:10], b[10:]); got != c.want {
			t.Errorf("%d, %d, %d: %s, want %s", c.micros, c.id, c.column, got, c.want)
		}
	}
}

func TestInvertedNamesAreATrailBackwards(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 1))
	drawn := func() trail.Event {
		return trail.Event{
			Time: moments[r.IntN(len(moments))], Kind: uint16(r.IntN(3)),
			ID: []int64{0, 1, 255, 256, math.MaxInt64}[r.IntN(5)],
		}
	}
	name := func(e trail.Event) []byte {
		return appendInverted(nil, e.Time, []uint16{1, 256, 65535}[e.Kind], e.ID)
	}
	for range 10_000 {
		a, b := drawn(), drawn()
		if got, want := bytes.Compare(name(a), name(b)), trail.Compare(&b, &a); got != want {
			t.Fatalf("%x and %x, of %+v and %+v, compare %d, want %d", name(a), name(b), a, b, got, want)
		}
	}
}

func TestInvertedRangeHasTheNamesOfItsTimes(t *testing.T) {
	for i, first := range moments {
		for j, last := range moments {
			from, to := invertedRange(Times{first, last})
			if bytes.Compare(from, to) > 0 {
				t.Errorf("from %d to %d: the range %x to %x goes back", first, last, from, to)
			}
			for k, micros := range moments {
				for _, name := range [][]byte{appendInverted(nil, micros, 1, 0), appendInverted(nil, micros, 65535, math.MaxInt64)} {
					in := bytes.Compare(from, name) <= 0 && bytes.Compare(name, to) < 0
					if want := i <= k && k <= j; in != want {
						t.Errorf("from %d to %d: the name %x of %d is in it: %t, want %t", first, last, name, micros, in, want)
					}
				}
			}
		}
	}
}

// FuzzParseInverted checks that parseInverted accepts only what appendInverted writes.
func FuzzParseInverted(f *testing.F) {
	f.Add([]byte{})
	f.Add(make([]byte, invertedLen))
	f.Add(appendInverted(nil, 0, 0, 42))
	for _, micros := range moments {
		f.Add(appendInverted(nil, micros, 7, 42))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		micros, id, column, ok := parseInverted(b)
		if ok != (len(b) == invertedLen && bytes.Compare(b[8:], []byte{0xff, 0xff}) < 0 && b[10] >= 0x80) {
			t.Fatalf("%x is a name: %t", b, ok)
		}
		if again := appendInverted(nil, micros, id, column); ok && !bytes.Equal(again, b) {
			t.Errorf("%x is %d, %d, %d, which is %x", b, micros, id, column, again)
		}
	})
}
