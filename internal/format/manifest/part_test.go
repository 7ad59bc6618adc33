package manifest_test

import (
	"testing"

	"usertrail/internal/behaviour"
	"usertrail/internal/format/manifest"
)

// texts is the value of a Part's Texts. Each text is followed by its behaviour.
func texts(pairs ...string) map[string]string {
	out := map[string]string{}
	for i := 0; i < len(pairs); i += 2 {
		out[pairs[i]] = pairs[i+1]
	}
	return out
}

func kinds(names ...string) []string { return names }

// TestAPartHasRecordsByTheirText compares the behaviour of a record for the job of a load with its
// behaviour for another job.
func TestAPartHasRecordsByTheirText(t *testing.T) {
	day := behaviour.DateOf(2014, 9, 1)
	mixed := &manifest.Part{Behaviours: kinds("play"), Texts: texts("start", "play", "buy", "order", "order", "order", "old", "play")}
	for _, c := range []struct {
		part       *manifest.Part
		kind, text string
		want       bool
	}{
		{nil, "play", "start", true},
		{&manifest.Part{Behaviours: kinds("play")}, "play", "never known", true},
		{&manifest.Part{Behaviours: kinds("play")}, "order", "play", false},
		{mixed, "play", "play", true}, {mixed, "play", "start", true}, {mixed, "play", "resume", false},
		{mixed, "order", "old", true}, // it was loaded as play
		{mixed, "play", "buy", false}, {mixed, "order", "order", false},
		{&manifest.Part{Behaviours: kinds("play"), Texts: texts("play", "order")}, "play", "play", false},
		{&manifest.Part{Behaviours: kinds("play"), Texts: texts(), Span: &behaviour.Span{From: day + 1, To: day + 2}}, "play", "play", false},
	} {
		if got := c.part.Has(day, c.kind, &c.text); got != c.want {
			t.Errorf("%+v has a record of %s by %q: %v, want %v", c.part, c.kind, c.text, got, c.want)
		}
	}
	if !mixed.Has(day, "play", nil) || mixed.Has(day, "order", nil) {
		t.Error("a record without a text does not belong to the behaviours of the part")
	}
}

// TestAPartCoversTexts compares the part of a load with the part that a later job requests.
func TestAPartCoversTexts(t *testing.T) {
	part := func(texts map[string]string, names ...string) *manifest.Part {
		return &manifest.Part{Behaviours: names, Texts: texts}
	}
	span := func(p *manifest.Part, from, to behaviour.Date) *manifest.Part {
		p.Span = &behaviour.Span{From: from, To: to}
		return p
	}
	for name, c := range map[string]struct {
		had, asked      *manifest.Part
		covers, extends bool
	}{
		"the same":                  {part(texts("start", "play"), "play"), part(texts("start", "play"), "play"), true, false},
		"a text more":               {part(texts(), "play"), part(texts("start", "play"), "play"), false, true},
		"a text less":               {part(texts("start", "play"), "play"), part(texts(), "play"), true, false},
		"a text of another":         {part(texts("start", "play"), "play", "order"), part(texts("start", "order"), "play", "order"), true, false},
		"a text of another, unread": {part(texts("start", "play"), "order"), part(texts("start", "order"), "order"), false, true},
		"a behaviour more":          {part(texts(), "play"), part(texts(), "play", "order"), false, false},
		"a behaviour without texts": {part(texts(), "play"), part(texts("order", "play"), "play", "order"), false, true},
		"an older ledger":           {part(nil, "play"), part(texts("start", "play"), "play"), true, false},
		"an older plan":             {part(texts(), "play"), part(nil, "play"), true, false},
		"other days":                {span(part(texts(), "play"), 1, 5), span(part(texts("start", "play"), "play"), 6, 9), false, false},
		"more days":                 {span(part(texts(), "play"), 1, 5), span(part(texts("start", "play"), "play"), 5, 9), false, true},
	} {
		if got := c.had.Covers(c.asked); got != c.covers {
			t.Errorf("%s: it covers: %v, want %v", name, got, c.covers)
		}
		if got := c.asked.Extends(c.had); got != c.extends {
			t.Errorf("%s: it extends: %v, want %v", name, got, c.extends)
		}
		if got := manifest.Covered([]*manifest.Part{c.had}, c.asked); c.covers && !got {
			t.Errorf("%s: the only part covers and does not", name)
		}
	}
	two := []*manifest.Part{span(part(texts(), "play"), 1, 9), span(part(texts("start", "play"), "play"), 4, 9)}
	for from, want := range map[behaviour.Date]bool{3: false, 4: true} {
		if got := manifest.Covered(two, span(part(texts("start", "play"), "play"), from, 9)); got != want {
			t.Errorf("from day %d on two parts cover: %v, want %v", from, got, want)
		}
	}
}

// TestAFileWithoutATextIsNotReadForIt compares lists of unmapped texts with a text more.
func TestAFileWithoutATextIsNotReadForIt(t *testing.T) {
	asked := &manifest.Part{Behaviours: kinds("play", "order"), Texts: texts("start", "play")}
	loaded := func(unknown int64, list ...manifest.TextCount) manifest.Input {
		return manifest.Input{
			Part: &manifest.Part{Behaviours: kinds("play", "order"), Texts: texts()}, Unmapped: list, TextsBy: "this way",
			Counts: manifest.Counts{Skipped: unknown, Skips: manifest.Skips{Unknown: unknown}},
		}
	}
	other, long := manifest.TextCount{Text: "seek", Records: 2}, manifest.TextCount{Text: "start", Records: 1}
	for name, c := range map[string]struct {
		in   manifest.Input
		by   string
		want bool
	}{
		"no unmapped record":     {loaded(0), "this way", true},
		"other texts":            {loaded(2, other), "this way", true},
		"the text":               {loaded(3, other, long), "this way", false},
		"a list that was cut":    {loaded(4, other), "this way", false},
		"another way of reading": {loaded(2, other), "that way", true}, // by behaviours and dates
	} {
		if got := c.in.HasAll(asked, manifest.Selection{TextsBy: c.by}); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
	more := &manifest.Part{Behaviours: kinds("play", "order", "seek"), Texts: texts()}
	if in := loaded(0); in.HasAll(more, manifest.Selection{TextsBy: "this way"}) {
		t.Error("a file is not read for a new behaviour")
	}
	part := loaded(0)
	part.Part = &manifest.Part{Behaviours: kinds("play"), Texts: texts("start", "order", "order", "order")}
	if part.HasAll(&manifest.Part{Behaviours: kinds("play"), Texts: texts("start", "play")}, manifest.Selection{TextsBy: "this way"}) {
		t.Error("a text of a behaviour that was not asked for is no text that the file does not have")
	}
}
