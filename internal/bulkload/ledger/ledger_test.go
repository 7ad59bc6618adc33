package ledger_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"usertrail/internal/behaviour"
	"usertrail/internal/bulkload/ledger"
	"usertrail/internal/column"
	"usertrail/internal/format/manifest"
)

func span(from, to behaviour.Date) *behaviour.Span { return &behaviour.Span{From: from, To: to} }

func part(from, to behaviour.Date, behaviours ...string) *manifest.Part {
	return &manifest.Part{Span: span(from, to), Behaviours: behaviours}
}

// indexOf returns the index of one load for each group of files.
func indexOf(loads ...[]manifest.Input) *ledger.Index {
	var all []*manifest.Load
	for n, inputs := range loads {
		all = append(all, &manifest.Load{Number: n + 1, Inputs: inputs})
	}
	return ledger.New(all, nil)
}

func TestFilesKeepTheirNumbers(t *testing.T) {
	fresh := func(path string) uint32 {
		n, err := ledger.New(nil, nil).Number(path)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	x := indexOf([]manifest.Input{{Path: "loaded", Number: fresh("new")}})
	x.AddBegun(&manifest.Input{Path: "begun", Number: fresh("new") + 1})
	x.Reserve([]*manifest.Plan{{Inputs: []manifest.PlannedFile{{Path: "planned", Number: fresh("new") + 2}, {Path: "too late", Number: fresh("new")}}}})
	for path, want := range map[string]uint32{"loaded": fresh("new"), "begun": fresh("new") + 1, "planned": fresh("new") + 2} {
		if got, err := x.Number(path); got != want || err != nil {
			t.Errorf("%s has number %d, want %d: %v", path, got, want, err)
		}
		if got := x.PathOf(want); got != path {
			t.Errorf("number %d belongs to %q, want %q", want, got, path)
		}
	}
	// The three numbers after its own are taken. A plan has no claim to a number that a load has.
	for range 2 {
		if got, err := x.Number("new"); got != (fresh("new")+3)%column.Numbers || err != nil {
			t.Errorf("a new file has number %d, want %d: %v", got, fresh("new")+3, err)
		}
		x.Add(&manifest.Input{Path: "new", Number: fresh("new") + 3})
	}
	if got, err := x.Number("too late"); got != fresh("too late") || err != nil {
		t.Errorf("the other planned file has number %d, want its own, %d: %v", got, fresh("too late"), err)
	}
}

func TestTheEntryOfAFileIsOneWithRecords(t *testing.T) {
	x := indexOf(
		[]manifest.Input{{Path: "a", SHA256: "empty"}},
		[]manifest.Input{{Path: "a", SHA256: "replayed", Offsets: []int64{7}, Counts: manifest.Counts{Read: 1}}},
		[]manifest.Input{{Path: "a", SHA256: "full", Counts: manifest.Counts{Read: 5}}, {Path: "b", SHA256: "none"}},
	)
	for path, want := range map[string]string{"a": "full", "b": "none"} {
		if got := x.File(path); got == nil || got.SHA256 != want {
			t.Errorf("the entry of %s is %+v, want %s", path, got, want)
		}
	}
	if got := x.File("c"); got != nil {
		t.Errorf("a file of no load has the entry %+v", got)
	}
	if a, b := x.Reached("a"), x.Reached("b"); a != 1 || b != 0 {
		t.Errorf("%d and %d loads read records, want 1 and 0", a, b)
	}
}

func TestCopiesTogetherHaveAFile(t *testing.T) {
	first := behaviour.Date(12)
	for name, c := range map[string]struct {
		own    ledger.Copy
		copies []ledger.Copy
		first  *behaviour.Date
		want   string
	}{
		"none":                          {own: ledger.Copy{Path: "x"}},
		"whole":                         {own: ledger.Copy{Path: "x"}, copies: []ledger.Copy{{Path: "a"}}, want: "a"},
		"of near dates":                 {own: ledger.Copy{Path: "x", Dates: span(10, 12)}, copies: []ledger.Copy{{Path: "a", Dates: span(11, 13)}}},
		"of near dates, some dropped":   {own: ledger.Copy{Path: "x", Dates: span(10, 12)}, copies: []ledger.Copy{{Path: "a", Dates: span(11, 13)}}, first: &first, want: "a"},
		"two parts":                     {own: ledger.Copy{Path: "x", Part: part(10, 20, "play")}, copies: []ledger.Copy{{Path: "a", Part: part(16, 30, "play")}, {Path: "b", Part: part(1, 15, "play", "order")}}, want: "a"},
		"two parts with a day between":  {own: ledger.Copy{Path: "x", Part: part(10, 20, "play")}, copies: []ledger.Copy{{Path: "a", Part: part(17, 30, "play")}, {Path: "b", Part: part(1, 15, "play", "order")}}},
		"a part of one behaviour":       {own: ledger.Copy{Path: "x", Part: part(10, 20, "play", "order")}, copies: []ledger.Copy{{Path: "a", Part: part(10, 20, "play")}}},
		"a whole file of the behaviour": {own: ledger.Copy{Path: "x", Part: part(10, 20, "play")}, copies: []ledger.Copy{{Path: "a"}}, want: "a"},
	} {
		if got := c.own.SameAs(c.copies, "play", c.first); got != c.want {
			t.Errorf("%s: %q has all of the file, want %q", name, got, c.want)
		}
	}
}

func TestCopiesAreOfOneContent(t *testing.T) {
	x := indexOf([]manifest.Input{
		{Path: "a", SHA256: "1", Behaviour: "play"}, {Path: "b", SHA256: "1", Behaviour: "play", SameAs: "a"}, {Path: "c", SHA256: "1", Behaviour: "order"},
		{Path: "d", SHA256: "1", Behaviour: "play", Offsets: []int64{}}, {Path: "e", SHA256: "1", Behaviour: "play", Part: part(10, 20, "play")},
	})
	holds := ledger.Content{SHA256: "1", Behaviour: "play"}
	paths := func(all []ledger.Copy) (out []string) {
		for _, c := range all {
			out = append(out, c.Path)
		}
		return out
	}
	if got := paths(x.Copies(holds)); !slices.Equal(got, []string{"a", "e"}) {
		t.Errorf("copies are %q, want a and e", got)
	}
	copies, sameAs := x.FindCopies(holds, ledger.Copy{Path: "a"}, manifest.Selection{}.Of(holds.Behaviour), nil)
	if got := paths(copies); !slices.Equal(got, []string{"e"}) || sameAs != "" {
		t.Errorf("the copies of a are %q, and %q has every record; want e, which has a part", got, sameAs)
	}
	if copies, sameAs = x.FindCopies(holds, ledger.Copy{Path: "new"}, manifest.Selection{}.Of(holds.Behaviour), nil); len(copies) != 2 || sameAs != "a" {
		t.Errorf("the copies of a new file are %q, and %q has all of it; want a and e, and a", paths(copies), sameAs)
	}
	other := ledger.Content{SHA256: "2", Behaviour: "play"}
	for _, want := range []string{"", "first"} {
		path := map[string]string{"": "first", "first": "second"}[want]
		if _, sameAs = x.FindCopies(other, ledger.Copy{Path: path}, manifest.Selection{}.Of(holds.Behaviour), nil); sameAs != want {
			t.Errorf("%q has all of %s, want %q", sameAs, path, want)
		}
	}
	if got := paths(x.Copies(other)); !slices.Equal(got, []string{"first"}) {
		t.Errorf("copies of the new content are %q, want the first alone", got)
	}
}

// TestDroppedDaysMakeNoOtherCopy compares a copy in a plan with the same copy after a drop, which
// has fewer days.
func TestDroppedDaysMakeNoOtherCopy(t *testing.T) {
	first := behaviour.Date(12)
	planned := ledger.Copy{Path: "a", Part: part(10, 20, "play")}
	now := []ledger.Copy{{Path: "b"}, {Path: "a", Part: part(12, 20, "play")}}
	if !planned.In(now, "play", &first) {
		t.Error("the copy is not found among those without the dropped days")
	}
	if planned.In(now, "play", nil) {
		t.Error("the copy is found, and no day was dropped")
	}
	if got := ledger.Undropped(nil, "play", &first); got.Span.From != first || got.Span.To != behaviour.MaxDate || !slices.Equal(got.Behaviours, []string{"play"}) {
		t.Errorf("a whole file without dropped days is %+v", got)
	}
}

func TestLoadsOfOneFileMayShareRecords(t *testing.T) {
	bad := func(at ...int64) manifest.Input {
		return manifest.Input{BadAt: manifest.OffsetsOf(at), Counts: manifest.Counts{Quarantined: int64(len(at))}}
	}
	whole, play, order := manifest.Input{}, manifest.Input{Part: part(1, 9, "play")}, manifest.Input{Part: part(1, 9, "order")}
	for _, c := range []struct {
		a, b manifest.Input
		want bool
	}{
		{whole, play, true},
		{play, order, false},
		{play, manifest.Input{Part: part(10, 11, "play")}, false},
		{whole, manifest.Input{SameAs: "x"}, false},
		{whole, manifest.Input{Offsets: []int64{1}}, true},
		{bad(1, 5), manifest.Input{Offsets: []int64{1}}, false},
		{bad(1, 5), manifest.Input{Offsets: []int64{1, 2}}, true},
		{manifest.Input{Offsets: []int64{2}}, bad(1, 5), true},
		{manifest.Input{Counts: manifest.Counts{Quarantined: 1}}, manifest.Input{Offsets: []int64{1}}, false},
		{manifest.Input{SameAs: "x"}, manifest.Input{Offsets: []int64{1}}, false},
		{manifest.Input{Offsets: []int64{1, 2}}, manifest.Input{Offsets: []int64{2}}, true},
	} {
		if got := ledger.Share(&c.a, &c.b); got != c.want {
			t.Errorf("%+v and %+v: %v, want %v", c.a, c.b, got, c.want)
		}
	}
	x := indexOf([]manifest.Input{{Path: "a", SHA256: "1", Part: part(1, 9, "play")}})
	for path, of := range map[string]manifest.Input{
		"a": {Path: "b", SHA256: "1", Part: part(9, 12, "play")},
		"":  {Path: "b", SHA256: "1", Part: part(10, 12, "play")},
	} {
		if got, ok := x.Overlapping(&of); got.Path != path || ok != (path != "") {
			t.Errorf("%+v overlaps %q, want %q", of, got.Path, path)
		}
	}
}

func TestAPlanEndsWhenItsFilesAreLoaded(t *testing.T) {
	plans := []*manifest.Plan{{ID: "p", Inputs: []manifest.PlannedFile{{Path: "a", Size: 5}, {Path: "b", Size: 5}}}, {ID: "q", Inputs: []manifest.PlannedFile{{Path: "c"}}}}
	x := indexOf([]manifest.Input{{Path: "a", Counts: manifest.Counts{Read: 1}}})
	x.Reserve(plans)
	if got := x.Ended(); len(got) != 0 {
		t.Errorf("plans %q ended, and b is not loaded", got)
	}
	x.Add(&manifest.Input{Path: "b", Size: 5, Counts: manifest.Counts{Read: 1, Skipped: 1, Skips: manifest.Skips{WithoutUser: 1}}})
	if got := x.Ended(); len(got) != 0 {
		t.Errorf("plans %q ended, and all records of b were skipped", got)
	}
	x.Add(&manifest.Input{Path: "b", Size: 5})
	if got := x.Ended(); !slices.Equal(got, []string{"p"}) {
		t.Errorf("plans %q ended when the files of p were loaded, want p", got)
	}
	committed := ledger.New([]*manifest.Load{{Number: 3, Plan: "p"}}, nil)
	committed.Reserve(plans)
	if got := committed.Ended(); committed.LoadOf("p") != 3 || committed.LoadOf("q") != 0 || !slices.Equal(got, []string{"p"}) {
		t.Errorf("plans p and q are loads %d and %d, and %q ended; want 3, 0 and p", committed.LoadOf("p"), committed.LoadOf("q"), got)
	}
	committed.Commit("q", 4)
	if got := committed.Ended(); committed.LoadOf("q") != 4 || !slices.Equal(got, []string{"p", "q"}) {
		t.Errorf("plan q is load %d, and %q ended; want 4, p and q", committed.LoadOf("q"), got)
	}
}

// TestIdentitiesAreShort compares identities of one file whose parts differ in their texts.
func TestIdentitiesAreShort(t *testing.T) {
	many := map[string]string{}
	for i := range 2000 {
		many[fmt.Sprintf("text-%05d", i)] = "play"
	}
	identity := func(texts map[string]string) string {
		return ledger.Identity(&manifest.Input{Path: "a.csv", Part: &manifest.Part{Behaviours: []string{"play"}, Texts: texts}})
	}
	seen := map[string]bool{}
	for _, texts := range []map[string]string{nil, {}, {"a": "play"}, {"a": "order"}, {"b": "play"}, {"a": "play", "b": "play"}, many} {
		id := identity(texts)
		if seen[id] {
			t.Errorf("a part with %d texts has the identity of another part: %s", len(texts), id)
		}
		if len(id) > 200 || id != identity(maps.Clone(texts)) {
			t.Errorf("the identity of a part with %d texts has %d bytes, or differs from the identity of its copy", len(texts), len(id))
		}
		seen[id] = true
	}
}
