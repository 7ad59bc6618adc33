package condition_test

import (
	"errors"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"usertrail/internal/extract/condition"
)

// seeds adds the inputs of a golden file.
func seeds(f *testing.F, path string) {
	golden, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	for _, part := range strings.Split(string(golden), "\n\n") {
		if _, rest, ok := strings.Cut(part, "\n"); ok {
			text, _, _ := strings.Cut(rest, "\n----")
			f.Add(text)
		}
	}
}

// refused checks the error of a text.
func refused(t *testing.T, text string, err error) {
	if !errors.Is(err, condition.ErrCondition) || !strings.HasSuffix(err.Error(), "^") {
		t.Fatalf("%q: %v", text, err)
	}
}

// FuzzParseWhere checks that a text returns an explained error, or is evaluated without any
// error except an arithmetic one.
func FuzzParseWhere(f *testing.F) {
	seeds(f, "testdata/where")
	s := schema()
	zone := location(f, s)
	events := batch(s, zone, life(rand.New(rand.NewPCG(1, 1)), s, zone, 60))
	f.Fuzz(func(t *testing.T, text string) {
		w, err := condition.ParseWhere(text, s)
		if err != nil {
			refused(t, text, err)
			return
		}
		e := w.Evaluator()
		for i := range events.Events {
			ev := &events.Events[i]
			kept, err := e.Keeps(events, ev)
			if err != nil && !overflown(err) {
				t.Fatalf("%q: %v", text, err)
			}
			if kept && !w.Kinds().Has(int(ev.Kind)) {
				t.Fatalf("%q keeps a %s, which is not among its kinds", text, s.Kinds[ev.Kind].Name)
			}
		}
	})
}

func FuzzParseHaving(f *testing.F) {
	seeds(f, "testdata/having")
	s := schema()
	zone := location(f, s)
	events := batch(s, zone, life(rand.New(rand.NewPCG(1, 1)), s, zone, 60))
	f.Fuzz(func(t *testing.T, text string) {
		h, err := condition.ParseHaving(text, s)
		if err != nil {
			refused(t, text, err)
			return
		}
		e := h.Evaluator()
		for _, n := range []int{0, 1, len(events.Events)} {
			e.Begin()
			for i := range n {
				e.Add(events, &events.Events[i])
			}
			if _, err := e.Keeps(); err != nil && !overflown(err) {
				t.Fatalf("%q: %v", text, err)
			}
		}
	})
}

func FuzzParseSequence(f *testing.F) {
	seeds(f, "testdata/sequence")
	s := schema()
	zone := location(f, s)
	events := batch(s, zone, life(rand.New(rand.NewPCG(1, 1)), s, zone, 60))
	f.Fuzz(func(t *testing.T, text string) {
		q, err := condition.ParseSequence(text, s)
		if err != nil {
			refused(t, text, err)
			return
		}
		if n := len(q.Steps()); n < condition.MinSteps || n > condition.MaxSteps {
			t.Fatalf("%q has %d steps", text, n)
		}
		m := q.Matcher()
		m.Begin()
		for i := range events.Events {
			m.Add(&events.Events[i])
		}
		if (m.Times() != nil) != (m.Reached() == len(q.Steps())) {
			t.Fatalf("%q reached %d steps, at %v", text, m.Reached(), m.Times())
		}
	})
}
