package condition_test

import (
	"fmt"
	"testing"

	"usertrail/internal/behaviour"
	"usertrail/internal/extract/condition"
	"usertrail/internal/trail"
)

// passes reports whether an event passes the tests of its kind.
func passes(tests [][]behaviour.Test, b *trail.Batch, ev *trail.Event) bool {
	for _, t := range tests[ev.Kind] {
		if !t.Passes(b.Value(b.Refs[int(ev.Refs)+t.Field])) {
			return false
		}
	}
	return true
}

func testsOf(w *condition.Where, s *behaviour.Schema) (out [][]behaviour.Test) {
	for k := range s.Kinds {
		out = append(out, w.Tests(k))
	}
	return out
}

// TestTestsPassAllThatIsKept generates conditions and trails. An event that cannot be
// evaluated must pass too, so that it is always an error.
func TestTestsPassAllThatIsKept(t *testing.T) {
	s := schema()
	zone := location(t, s)
	m := single(12, s, zone)
	tested, failed, overflows := 0, 0, 0
	for range 1500 {
		c := m.condition()
		trl := life(m.rng, s, zone, 30)
		b := batch(s, zone, trl)
		w, err := condition.ParseWhere(c.text, s)
		if err != nil {
			if overflown(err) || strange(err) || m.refused {
				continue
			}
			t.Fatalf("%s\n%v", c.text, err)
		}
		e, tests := w.Evaluator(), testsOf(w, s)
		for i := range trl {
			passed := passes(tests, b, &b.Events[i])
			kept, err := e.Keeps(b, &b.Events[i])
			if !passed && (kept || err != nil) {
				t.Fatalf("%s\nof %s %v: kept %t, %v, and does not pass %v", c.text, s.Kinds[trl[i].kind].Name, trl[i], kept, err, tests[trl[i].kind])
			}
			tested++
			if err != nil {
				overflows++
			}
			if !passed {
				failed++
			}
		}
	}
	t.Logf("%d of %d do not pass, %d overflows", failed, tested, overflows)
	if failed < tested/50 || overflows == 0 {
		t.Errorf("%d of %d do not pass, %d overflows: these conditions tell little", failed, tested, overflows)
	}
}

// TestTestsTellComparisonsExactly compares a field of every type with a literal. An event
// must pass exactly if it is kept.
func TestTestsTellComparisonsExactly(t *testing.T) {
	s := schema()
	zone := location(t, s)
	var texts []string
	compared := func(field string, literals ...string) {
		for _, operator := range []string{"==", "!=", "<", "<=", ">", ">="} {
			for _, with := range literals {
				texts = append(texts, fmt.Sprintf("%s %s %s", field, operator, with), fmt.Sprintf("%s %s %s", with, operator, field))
			}
		}
	}
	compared("play.programme", `""`, `"Drama 7"`, `"a"`, `"节目"`)
	compared("play.seconds", "0", "1", "-1", "600", "-7", "9223372036854775806", "-9223372036854775807")
	compared("order.price", "0", "0.0", "-2.5", "9.99", "600", "1e300", "-1e300", "-0.0")
	compared("order.placed", `date("2014-02-16T01:30:00Z")`, `date("1969-12-31T00:00:00Z")`, `date("1970-01-01T00:00:00Z")`)
	compared("order.due", `date("2014-10-18")`, `date("2014-10-19")`, `date("1969-12-31")`)
	texts = append(texts, `order.due < date("2014-10-19 12:00")`, `order.due >= date("2014-10-18T23:59:59.999999-03:00")`, `order.due != date("2014-10-19 12:00")`,
		`play.programme startsWith "Dr"`, `play.programme startsWith ""`, `play.programme not startsWith "a"`, `"节" <= play.programme`,
		`play.programme in ["a", "", "play"]`, `play.programme not in ["a", "drama"]`, `play.seconds in [0, -1, 600]`, `play.seconds not in [7, 1]`,
		"play.seconds in -1..600", "play.seconds not in -1..600", "order.price in -2.5..9.99", "order.price not in 0..600", `order.due not in date("2014-10-18")..date("2014-10-19")`, "play.live", "order.paid", "play.programme != nil", "play.live && play.seconds > 1 && play.seconds < 700",
		"play.seconds > 5 || order.price < 3", `play.programme == "a" || play.programme > "n" || play.programme == ""`, `behaviour == "play" && play.seconds > 5`)
	m := single(13, s, zone)
	for _, text := range texts {
		w, err := condition.ParseWhere(text, s)
		if err != nil {
			t.Fatal(err)
		}
		trl := life(m.rng, s, zone, 200)
		b := batch(s, zone, trl)
		e, tests := w.Evaluator(), testsOf(w, s)
		for i := range trl {
			if !w.Kinds().Has(trl[i].kind) {
				continue
			}
			kept, err := e.Keeps(b, &b.Events[i])
			if passed := passes(tests, b, &b.Events[i]); err != nil || passed != kept {
				t.Errorf("%s\nof %s %v: kept %t, %v; passes %t of %v", text, s.Kinds[trl[i].kind].Name, trl[i], kept, err, passed, tests[trl[i].kind])
				break
			}
		}
	}
}

// TestWhatBytesDoNotTellDemandsAValue checks that the test accepts every value except null.
func TestWhatBytesDoNotTellDemandsAValue(t *testing.T) {
	s := schema()
	for _, c := range []struct {
		text, kind string
		want       string
	}{
		{`play.programme contains "a"`, "play", "[{0 [{[] []}]}]"},
		{`play.seconds * 2 > 7`, "play", "[{1 [{[] []}]}]"},
		{`play.seconds > 1.5`, "play", "[{1 [{[] []}]}]"},
		{`play.seconds * 2 > 7 && play.live`, "play", "[{1 [{[] []}]}]"},
		{`play.programme != nil && hour > 3`, "play", "[{0 [{[] []}]}]"},
		{`play.programme == nil`, "play", "[]"},
		{`play.programme == nil || play.programme == "a"`, "play", "[]"},
		{`!(play.programme == "a")`, "play", "[]"},
		{`play.programme == "a" || play.live`, "play", "[]"},
		{`play.live || order.paid`, "login", "[]"},
		{`play.seconds in [] || order.due == date("2014-10-19 12:00")`, "order", "[{3 [{[] []}]}]"},
		{`behaviour == "play"`, "play", "[]"},
		{`hour >= 18`, "play", "[]"},
	} {
		w, err := condition.ParseWhere(c.text, s)
		if err != nil {
			t.Fatal(err)
		}
		k, _ := s.Kind(c.kind)
		if got := fmt.Sprint(w.Tests(k)); got != c.want {
			t.Errorf("%s demands %s of a %s, want %s", c.text, got, c.kind, c.want)
		}
	}
}
