package show_test

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"usertrail/internal/behaviour"
	"usertrail/internal/extract/show"
)

// fatDay returns the log of a user with many large values in one day. together is the number
// of values that share an instant.
func fatDay(first behaviour.Date, values, together, size int) string {
	var b strings.Builder
	b.WriteString("user_id,time,programme,seconds\n")
	for k := range values {
		at := int64(first)*day + int64(k/together)*hour/20
		fmt.Fprintf(&b, "u,%d,%s,%d\n", at, strings.Repeat(fmt.Sprintf("%04d    ", k), size/8), k)
	}
	return b.String()
}

// held measures the memory while some of the events are written.
type held struct {
	gatherer
	seen int
	most uint64
}

func (h *held) Add(b *show.Behaviour) error {
	if h.seen++; h.seen%10 == 1 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		h.most = max(h.most, m.HeapAlloc)
	}
	v := *b
	v.Values = nil
	for _, x := range b.Values {
		v.Values = append(v.Values, x[:min(len(x), 8)])
	}
	return h.gatherer.Add(&v)
}

// TestADayLargerThanTheMemory shows a day that does not fit into memory, in parts. The events
// must be the same as with enough memory.
func TestADayLargerThanTheMemory(t *testing.T) {
	const values, size, memory = 120, 100 << 10, 8 << 20
	first := behaviour.DateOf(2014, 1, 2)
	span := behaviour.Span{From: first - 1, To: first + 1}
	at := first.Start(time.UTC).UnixMicro() + 2*hour
	for _, layout := range []string{"reversed", "tall", "wide", "hashed", "game-time"} {
		h := newFixture(t, fmt.Sprintf(sortedJob, "UTC", layout))
		h.deliver(t, first.String()+"/play.csv", []byte(fatDay(first, values, 3, size)))
		for _, other := range []behaviour.Date{first - 1, first + 1} {
			h.deliver(t, other.String()+"/play.csv", []byte(fatDay(other, 2, 1, 8)))
		}
		opened := h.load(t, span)
		for _, c := range []show.Config{{}, {Page: 25}, {Page: 25, Uncounted: true}, {Uncounted: true}, {Latest: 15}, {At: &at}, {Around: &at, Page: 15}} {
			c.Table, c.User = opened, "u"
			what := fmt.Sprintf("%s, page %d, uncounted %t, latest %d, at %t, around %t", layout, c.Page, c.Uncounted, c.Latest, c.At != nil, c.Around != nil)
			var want, got held
			_, w, err := show.Page(t.Context(), c, &want)
			if err != nil || len(want.rows) == 0 {
				t.Fatalf("%s: %d events, %v", what, len(want.rows), err)
			}
			for c.Memory = memory; ; {
				runtime.GC()
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				got.most = 0
				_, r, err := show.Page(t.Context(), c, &got)
				if err != nil {
					t.Fatalf("%s: %v", what, err)
				}
				if got.most > m.HeapAlloc+memory {
					t.Errorf("%s: %d bytes were held", what, got.most-m.HeapAlloc)
				}
				if c.After, c.Around = r.Next, nil; r.Next == w.Next {
					break
				}
			}
			if !slices.EqualFunc(got.rows, want.rows, func(a, b shown) bool { return fmt.Sprint(a) == fmt.Sprint(b) }) {
				t.Errorf("%s: %d events are not the %d that much memory shows", what, len(got.rows), len(want.rows))
			}
		}
	}
}

// TestWhatAPageCannotHold checks that events of one instant, the last events, and the events around a time are held
// together. If they do not fit, the error names the user and --memory.
func TestWhatAPageCannotHold(t *testing.T) {
	first := behaviour.DateOf(2014, 1, 2)
	h := newFixture(t, fmt.Sprintf(sortedJob, "UTC", "reversed"))
	h.deliver(t, first.String()+"/play.csv", []byte(fatDay(first, 60, 20, 100<<10)))
	opened := h.load(t, behaviour.Span{From: first, To: first})
	at := first.Start(time.UTC).UnixMicro() + hour/10
	for _, c := range []show.Config{{Page: 5}, {Latest: 50}, {Around: &at, Page: 50}} {
		c.Table, c.User, c.Memory = opened, "u", 4<<20
		_, _, err := show.Page(t.Context(), c, new(held))
		if !errors.Is(err, show.ErrQuery) || !strings.Contains(err.Error(), `user "u"`) || !strings.Contains(err.Error(), "--memory") {
			t.Errorf("latest %d, page %d: %v, want an error that names the user and --memory", c.Latest, c.Page, err)
		}
		c.Memory = 64 << 20
		if _, _, err := show.Page(t.Context(), c, new(held)); err != nil {
			t.Errorf("latest %d, page %d, with more memory: %v", c.Latest, c.Page, err)
		}
	}
}
