package condition_test

import (
	"strconv"
	"strings"
	"testing"

	"usertrail/internal/behaviour"
	"usertrail/internal/extract/condition"
	"usertrail/internal/trail"
)

// named returns a schema whose behaviours have names that are no words. All have the field n.
func named() *behaviour.Schema {
	s := &behaviour.Schema{Zone: "UTC"}
	for i, name := range []string{
		"Course viewed", "cowrie.login.failed", "0", "a,b", `say "hi"`, "a/b", "..", "k=v", "播放 视频", `\`, "in", "x.n", "x", "$env", strings.Repeat("y", 255),
	} {
		s.Kinds = append(s.Kinds, behaviour.Kind{ID: uint16(i + 1), Name: name, Fields: []behaviour.Field{{Name: "n", Type: behaviour.Int64}}})
	}
	return s
}

// TestConditionsNameEveryBehaviour keeps the events of one behaviour after the other, with its name in each notation.
func TestConditionsNameEveryBehaviour(t *testing.T) {
	s := named()
	for kind := range s.Kinds {
		k := &s.Kinds[kind]
		quoted := strconv.Quote(k.Name)
		for _, text := range []string{"[" + quoted + "].n == 7", "$env[" + quoted + "].n == 7", "[" + quoted + "].n in [7, 8]", "behaviour == " + quoted, "behaviour in [" + quoted + "]"} {
			w, err := condition.ParseWhere(text, s)
			if err != nil {
				t.Fatal(err)
			}
			e := w.Evaluator()
			for other := range s.Kinds {
				b := &trail.Batch{}
				ref, err := b.Put(behaviour.AppendInt64(nil, 7))
				if err != nil {
					t.Fatal(err)
				}
				b.Refs = append(b.Refs, ref)
				got, err := e.Keeps(b, &trail.Event{Kind: uint16(other)})
				if want := other == kind; err != nil || got != want {
					t.Errorf("%s keeps %q: %v, %v; want %v", text, s.Kinds[other].Name, got, err, want)
				}
			}
		}
		for _, text := range []string{"count([" + quoted + "]) > 1", "sum([" + quoted + "].n) > 1", "days($env[" + quoted + "]) > 1", "count(distinct [" + quoted + "].n) > 1", "sum([" + quoted + "].n * 2) > 1"} {
			h, err := condition.ParseHaving(text, s)
			if err != nil {
				t.Fatal(err)
			}
			if got := h.Refs().Kinds; !got.Has(kind) || got.Len() != 1 {
				t.Errorf("%s reads %v, want only %q", text, got, k.Name)
			}
		}
		q, err := condition.ParseSequence(quoted+" -> "+quoted+" within 1h", s)
		if err != nil {
			t.Fatal(err)
		}
		if steps := q.Steps(); steps[0].Kind != kind || steps[1].Kind != kind || steps[1].Within == 0 {
			t.Errorf("the steps of %q are %v", k.Name, steps)
		}
	}
}

// TestTermsOfEqualSpellingDiffer has a behaviour x.n next to the field n of the behaviour x.
func TestTermsOfEqualSpellingDiffer(t *testing.T) {
	s := named()
	h, err := condition.ParseHaving(`count(["x.n"]) == 1 && count(x.n) == 2`, s)
	if err != nil {
		t.Fatal(err)
	}
	var kinds []string
	for i := range s.Kinds {
		if h.Refs().Kinds.Has(i) {
			kinds = append(kinds, s.Kinds[i].Name)
		}
	}
	if got := strings.Join(kinds, " "); got != "x.n x" {
		t.Errorf("the condition reads %s, want x.n and x", got)
	}
	e, n := h.Evaluator(), 0
	e.Begin()
	for i, k := range s.Kinds {
		for ; k.Name == "x.n" && n < 1 || k.Name == "x" && n < 3; n++ {
			b := &trail.Batch{}
			ref, err := b.Put(behaviour.AppendInt64(nil, 1))
			if err != nil {
				t.Fatal(err)
			}
			b.Refs = append(b.Refs, ref)
			e.Add(b, &trail.Event{Kind: uint16(i)})
		}
	}
	if got, err := e.Keeps(); !got || err != nil {
		t.Errorf("one event of x.n and two of x: %v, %v", got, err)
	}
}

func TestConditionsTakeShortNames(t *testing.T) {
	s := named()
	s.Kinds[0].As = "viewed"
	for _, text := range []string{"viewed.n > 1", `["viewed"].n > 1`} {
		w, err := condition.ParseWhere(text, s)
		if err != nil {
			t.Fatal(err)
		}
		if kinds := w.Kinds(); !kinds.Has(0) || kinds.Len() != 1 {
			t.Errorf("%s keeps %v, want Course viewed", text, kinds)
		}
	}
	if h, err := condition.ParseHaving("count(viewed) > 1 && sum(viewed.n) > 2", s); err != nil || !h.Refs().Kinds.Has(0) {
		t.Errorf("a condition on users: %v", err)
	}
	if q, err := condition.ParseSequence("viewed -> x", s); err != nil || q.Steps()[0].Kind != 0 {
		t.Errorf("a sequence: %v", err)
	}
	if _, err := condition.ParseWhere("n > 1", s); err == nil || !strings.Contains(err.Error(), "write viewed.n or") {
		t.Errorf("a field alone: %v, want viewed.n", err)
	}
}

func TestMistakesNameBehavioursAsTheyAreWritten(t *testing.T) {
	s := named()
	for text, want := range map[string]string{
		"n > 1":                    `["Course viewed"].n`,
		`["Course seen"].n > 1`:    "did you mean Course viewed?",
		`["Course viewed"].m == 1`: "Course viewed has no field m",
	} {
		if _, err := condition.ParseWhere(text, s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	for text, want := range map[string]string{
		`"Course viewed -> x`: `a quote ends with ", and \" in it is a quote, and \\ a backslash`,
		`Course viewed -> x`:  "no behaviour is called Course",
		`"0`:                  `a quote ends with "`,
	} {
		if _, err := condition.ParseSequence(text, s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

// TestWhereTakesShortNamesAsTexts compares the behaviour of events with names and short names.
func TestWhereTakesShortNamesAsTexts(t *testing.T) {
	s := &behaviour.Schema{Zone: "UTC", Kinds: []behaviour.Kind{{ID: 1, Name: "Course viewed", As: "viewed"}, {ID: 2, Name: "quiz"}, {ID: 3, Name: "login"}}}
	for text, want := range map[string]string{
		`behaviour == "viewed"`:                        "Course viewed",
		`"viewed" == behaviour`:                        "Course viewed",
		`behaviour == "Course viewed"`:                 "Course viewed",
		`behaviour != "viewed"`:                        "quiz login",
		`behaviour in ["viewed", "quiz"]`:              "Course viewed quiz",
		`behaviour not in ["viewed", "quiz"]`:          "login",
		`!(behaviour == "viewed") && hour >= 0`:        "quiz login",
		`behaviour == "viewed" || behaviour == "quiz"`: "Course viewed quiz",
	} {
		w, err := condition.ParseWhere(text, s)
		if err != nil {
			t.Fatal(err)
		}
		var kept []string
		e := w.Evaluator()
		for i, k := range s.Kinds {
			if keeps, err := e.Keeps(&trail.Batch{}, &trail.Event{Kind: uint16(i)}); err != nil {
				t.Fatal(err)
			} else if keeps {
				kept = append(kept, k.Name)
			}
		}
		if got := strings.Join(kept, " "); got != want {
			t.Errorf("%s keeps %s, want %s", text, got, want)
		}
	}
	for _, text := range []string{`behaviour == "quizz"`, `behaviour in ["viewed", "quizz"]`, `"quizz" != behaviour && hour > 3`} {
		if _, err := condition.ParseWhere(text, s); err == nil || !strings.Contains(err.Error(), `no behaviour is called "quizz"; did you mean quiz?`) {
			t.Errorf("%s: %v, want the nearest name", text, err)
		}
	}
}
