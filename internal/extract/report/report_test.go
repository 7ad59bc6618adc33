package report_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"usertrail/internal/behaviour"
	"usertrail/internal/extract/report"
	"usertrail/internal/format/manifest"
	"usertrail/internal/store/dfs"
	"usertrail/internal/store/dfs/local"
)

// family is an extract that can be counted by hand.
func family() *made {
	m := &made{parts: [][]person{
		{{user: "ann", events: []event{{0, at(0, 8*hour)}, {1, at(0, 9*hour)}, {1, at(1, 9*hour)}, {0, at(2, 23*hour)}}, steps: []int64{at(0, 8*hour), at(0, 9*hour)}}},
		{
			{user: "bob", events: []event{{1, at(0, 0)}}, steps: []int64{at(0, 0), at(0, 0) + 1}},
			{user: "eve", events: []event{{0, at(2, 12*hour)}, {1, at(2, 13*hour)}}, steps: []int64{at(2, 10*hour), at(2, 13*hour)}},
		},
	}}
	m.Table, m.Users, m.Found, m.Active = "trails", 9, 5, 4
	m.Query = manifest.Query{
		Span: behaviour.Span{From: firstDay, To: firstDay + 2}, Types: []string{"play", "order", "visit"}, Active: "any", Users: "0123",
		Sequence: "play -> order within 3h", Without: []string{"login"}, Latest: 1000,
	}
	m.Sequence = []manifest.Step{{Behaviour: "play", Users: 4}, {Behaviour: "order", Within: "3h0m0s", Users: 3}}
	return m
}

func TestFamilyIsCountedRight(t *testing.T) {
	m := family()
	r := makeReport(t, m.write(t), 1)
	if want := (report.Counts{Users: 9, Found: 5, Active: 4, Kept: 3, Events: 7, Files: 2, Bytes: m.Parts[0].Size + m.Parts[1].Size}); r.Counts != want {
		t.Errorf("counts are %+v, want %+v", r.Counts, want)
	}
	day := func(i int, events ...int64) report.Period {
		d := firstDay + behaviour.Date(i)
		return report.Period{Span: behaviour.Span{From: d, To: d}, Events: events, Total: events[0] + events[1] + events[2]}
	}
	mark := func(kind, day int, clock int64) report.Mark {
		return report.Mark{Kind: kind, Position: int((int64(day)*24*hour + clock) * report.Positions / (3 * 24 * hour)), Events: 1}
	}
	for _, c := range []struct {
		what      string
		got, want any
	}{
		{"question", r.Asked, report.Asked{
			Table: "trails", Zone: sampleZone, Span: m.Query.Span, Types: m.Query.Types, Active: "any",
			Conditions: []manifest.Condition{{Flag: "--sequence", Text: "play -> order within 3h"}, {Flag: "--without", Text: "login"}, {Flag: "--latest", Text: "1,000"}},
		}},
		{"kinds", r.Kinds, []report.Kind{{Name: "play", Events: 3, Users: 2}, {Name: "order", Events: 4, Users: 3}, {Name: "visit"}}},
		{"days", r.Days, report.Days{Unit: report.Day, Periods: []report.Period{day(0, 1, 2, 0), day(1, 0, 1, 0), day(2, 2, 1, 0)}}},
		{"lengths", r.Lengths, report.Lengths{Median: 2, P90: 4, Longest: 4, Bins: []report.Bin{{From: 1, To: 1, Users: 1}, {From: 2, To: 4, Users: 2}}}},
		{"follows", r.Follows, report.Follows{Pairs: 4, Counts: [][]int64{{0, 2, 0}, {1, 1, 0}, {0, 0, 0}}, Totals: []int64{2, 2, 0}}},
		{"sequence", r.Sequence, &report.Sequence{
			Text:  "play -> order within 3h",
			Steps: []report.Step{{Behaviour: "play", Users: 4}, {Behaviour: "order", Within: "3 hours", Users: 3}},
			Gaps: []report.Gap{{From: 1, To: 2, Users: 3, Median: 3600, P90: 10800, Bins: []report.TimeBin{
				{From: 0, To: 1, Users: 1}, {From: 1, To: 10}, {From: 10, To: 60}, {From: 60, To: 600}, {From: 600, To: 3600}, {From: 3600, To: 21600, Users: 2},
			}}},
		}},
		{"samples", r.Samples, report.Samples{Span: m.Query.Span, Positions: report.Positions, Trails: []report.Trail{
			{User: "ann", Events: 4, Marks: []report.Mark{mark(0, 0, 8*hour), mark(0, 2, 23*hour), mark(1, 0, 9*hour), mark(1, 1, 9*hour)}},
			{User: "bob", Events: 1, Marks: []report.Mark{mark(1, 0, 0)}},
			{User: "eve", Events: 2, Marks: []report.Mark{mark(0, 2, 12*hour), mark(1, 2, 13*hour)}},
		}}},
	} {
		if !reflect.DeepEqual(c.got, c.want) {
			t.Errorf("%s: got %+v, want %+v", c.what, c.got, c.want)
		}
	}
}

func page(t *testing.T, r *report.Report) string {
	t.Helper()
	var b bytes.Buffer
	if err := r.HTML(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestSameExtractSameBytes makes a report by one worker and by many, and of the same
// trails in other parts.
func TestSameExtractSameBytes(t *testing.T) {
	dir := evenings().write(t)
	want := makeReport(t, dir, 1)
	for _, workers := range []int{1, 2, 7} {
		got := makeReport(t, dir, workers)
		if !reflect.DeepEqual(got, want) || page(t, got) != page(t, want) {
			t.Errorf("%d workers make another report", workers)
		}
	}
	m := evenings()
	m.parts = [][]person{m.parts[2], m.parts[0], m.parts[1]}
	got := makeReport(t, m.write(t), 3)
	if got.Bytes = want.Bytes; !reflect.DeepEqual(got, want) {
		t.Errorf("the order of parts makes another report")
	}
}

// TestPageLoadsNothing looks for all that a browser would fetch, and that the policy
// allows for the page's own style and nothing else.
func TestPageLoadsNothing(t *testing.T) {
	for _, m := range []*made{evenings(), busyYear(), nothing()} {
		text := page(t, makeReport(t, m.write(t), 1))
		if found := regexp.MustCompile(`(?i)(https?:|//[a-z]|url\(|@import|\ssrc=|<script|<link|<img|<iframe|javascript:)`).FindString(strings.ReplaceAll(text, m.Table, "")); found != "" {
			t.Errorf("the page of %s holds %q", m.Table, found)
		}
		style := regexp.MustCompile(`(?s)<style>(.*)</style>`).FindStringSubmatch(text)
		policy := regexp.MustCompile(`http-equiv="Content-Security-Policy" content="([^"]*)"`).FindStringSubmatch(text)
		if style == nil || policy == nil {
			t.Fatal("the page has no style or no policy")
		}
		sum := sha256.Sum256([]byte(style[1]))
		want := fmt.Sprintf("default-src 'none'; style-src 'sha256-%s'; base-uri 'none'; form-action 'none'", base64.StdEncoding.EncodeToString(sum[:]))
		if got := strings.NewReplacer("&#39;", "'", "&#43;", "+").Replace(policy[1]); got != want {
			t.Errorf("the policy is %s, want %s", got, want)
		}
	}
}

// TestPageEscapes lets everything that comes from outside look like HTML.
func TestPageEscapes(t *testing.T) {
	const evil = `</style></title><script>alert(1)</script><b onclick="x">'&`
	m := family()
	m.Table, m.Query.Where, m.Query.Sequence = evil+"table", evil+"where", evil+"sequence"
	m.Query.Types[0], m.Sequence[0].Behaviour, m.Sequence[1].Within = evil+"kind", evil+"step", evil+"within"
	m.parts[0][0].user = evil + "user"
	text := page(t, makeReport(t, m.write(t), 1))
	for _, bad := range []string{"<script", "<b onclick", evil} {
		if strings.Contains(text, bad) {
			t.Errorf("the page holds %q", bad)
		}
	}
	for _, what := range []string{"table", "where", "sequence", "kind", "step", "within", "user"} {
		if !strings.Contains(text, "&lt;/script&gt;&lt;b onclick=&#34;x&#34;&gt;&#39;&amp;"+what) {
			t.Errorf("the page does not show the %s", what)
		}
	}
}

// TestPageShowsControls lets everything that comes from outside turn the direction of
// writing, and move the cursor.
func TestPageShowsControls(t *testing.T) {
	const evil = "\u202e\u2066\u200f\x1b[2J"
	m := family()
	m.Table, m.Query.Where, m.Query.Sequence, m.Query.Active = evil+"table", evil+"where", evil+"sequence", evil+"active"
	m.Query.Types[0], m.Sequence[0].Behaviour, m.Sequence[1].Within = evil+"kind", evil+"step", evil+"within"
	m.parts[0][0].user = evil + "user"
	text := page(t, makeReport(t, m.write(t), 1))
	if strings.ContainsAny(text, evil[:len(evil)-3]) {
		t.Error("the page holds controls")
	}
	for _, what := range []string{"table", "where", "sequence", "active", "kind", "step", "within", "user"} {
		if !strings.Contains(text, `\u202e\u2066\u200f\x1b[2J`+what) {
			t.Errorf("the page does not show the %s", what)
		}
	}
}

// TestPageSaysTheNumbers compares tables of the page with the report, number by number.
func TestPageSaysTheNumbers(t *testing.T) {
	r := makeReport(t, evenings().write(t), 1)
	text := page(t, r)
	numbers := func(section string) string {
		at := strings.Index(text, `<section id="`+section+`"`)
		s := text[at : at+strings.Index(text[at:], "</section>")]
		return strings.Join(regexp.MustCompile(`>([0-9,]+)<`).FindAllString(s, -1), "")
	}
	comma := func(n int64) string {
		return ">" + regexp.MustCompile(`\B(\d{3})$`).ReplaceAllString(fmt.Sprint(n), ",$1") + "<"
	}
	var days, follows string
	for _, p := range r.Days.Periods {
		for _, n := range append(p.Events, p.Total) {
			days += comma(n)
		}
	}
	for i, line := range r.Follows.Counts {
		for _, n := range append(line, r.Follows.Totals[i]) {
			follows += comma(n)
		}
	}
	if !strings.HasPrefix(numbers("days"), days) {
		t.Errorf("the days are %s, want %s", numbers("days"), days)
	}
	if numbers("follows") != follows {
		t.Errorf("what follows is %s, want %s", numbers("follows"), follows)
	}
}

// TestLongSpansAreSummedUp requests more and more days and counts the lines of the table.
func TestLongSpansAreSummedUp(t *testing.T) {
	for _, c := range []struct {
		days  int
		unit  report.Unit
		lines int
	}{
		{1, report.Day, 1}, {31, report.Day, 31}, {32, report.Week, 5}, {217, report.Week, 31}, {218, report.Month, 8}, {366, report.Month, 13},
	} {
		m := family()
		m.Query.Span.To = m.Query.Span.From + behaviour.Date(c.days-1)
		if c.days == 1 {
			m.parts = [][]person{{m.parts[1][0]}}
		}
		r := makeReport(t, m.write(t), 1)
		if r.Days.Unit != c.unit || len(r.Days.Periods) != c.lines {
			t.Errorf("%d days: %d lines by %s, want %d by %s", c.days, len(r.Days.Periods), r.Days.Unit, c.lines, c.unit)
		}
		next, total := m.Query.Span.From, int64(0)
		for _, p := range r.Days.Periods {
			if p.From != next {
				t.Errorf("%d days: a line begins on %s, want %s", c.days, p.From, next)
			}
			next = p.To + 1
			total += p.Total
		}
		if next != m.Query.Span.To+1 || total != m.Events {
			t.Errorf("%d days: lines end before %s and hold %d events, want %s and %d", c.days, next, total, m.Query.Span.To+1, m.Events)
		}
		page(t, r)
	}
}

// TestAllOfTimeIsNarrowed requests every possible day with --from and --to.
func TestAllOfTimeIsNarrowed(t *testing.T) {
	m := family()
	m.Query.Span = behaviour.AllDays
	r := makeReport(t, m.write(t), 1)
	if want := (behaviour.Span{From: firstDay, To: firstDay + 2}); r.Samples.Span != want || len(r.Days.Periods) != 3 {
		t.Errorf("%s in %d lines is shown, want %s", r.Samples.Span, len(r.Days.Periods), want)
	}
	if text := page(t, r); !strings.Contains(text, "Only 2014-09-01 to 2014-09-03 are shown") {
		t.Errorf("the page does not say which days it shows")
	}
	m = nothing()
	m.Query.Span = behaviour.AllDays
	page(t, makeReport(t, m.write(t), 1))
}

// TestNoUserReachesAStep requests a sequence that no user has.
func TestNoUserReachesAStep(t *testing.T) {
	m := nothing()
	m.Query.Sequence = "play -> order -> visit"
	for i, name := range []string{"play", "order", "visit"} {
		m.Sequence = append(m.Sequence, manifest.Step{Behaviour: name, Users: int64(1 - i/2)})
	}
	r := makeReport(t, m.write(t), 1)
	want := []report.Gap{{From: 1, To: 2, Bins: []report.TimeBin{}}, {From: 2, To: 3, Bins: []report.TimeBin{}}, {From: 1, To: 3, Bins: []report.TimeBin{}}}
	if !reflect.DeepEqual(r.Sequence.Gaps, want) {
		t.Errorf("the gaps are %+v, want %+v", r.Sequence.Gaps, want)
	}
	if n := strings.Count(page(t, r), "No user reached this step."); n != len(want) {
		t.Errorf("the page says %d times that no user reached a step, want %d", n, len(want))
	}
}

// TestPageStaysSmall draws users with very many events of very many behaviours.
func TestPageStaysSmall(t *testing.T) {
	m := &made{parts: [][]person{nil}}
	m.Query = manifest.Query{Span: behaviour.Span{From: firstDay, To: firstDay}, Active: "any", Users: "all"}
	for k := range behaviour.MaxKinds {
		m.Query.Types = append(m.Query.Types, fmt.Sprintf("behaviour_%02d", k))
	}
	for u := range 20 {
		p := person{user: fmt.Sprintf("user%02d", u)}
		for i := range 8000 {
			p.events = append(p.events, event{i % behaviour.MaxKinds, at(0, int64(i)*10e6)})
		}
		m.parts[0] = append(m.parts[0], p)
	}
	r := makeReport(t, m.write(t), 1)
	if n := len(page(t, r)); n > 1<<20 {
		t.Errorf("a page of %d bytes", n)
	}
	if n := len(r.Kinds); n != report.MostKinds+1 || r.Kinds[n-1].Rest != behaviour.MaxKinds-report.MostKinds {
		t.Errorf("%d kinds are shown, the last one is %+v", n, r.Kinds[n-1])
	}
	text, err := json.Marshal(r.Kinds[report.MostKinds])
	if want := `{"name":"the rest","events":158080,"rest":1012}`; err != nil || string(text) != want {
		t.Errorf("the last kind is %s, %v, want %s", text, err, want)
	}
	if n := len(r.Samples.Trails); n != report.SampleTrails {
		t.Errorf("%d trails are shown", n)
	}
}

// TestJSONIsWhole reads a report's JSON back.
func TestJSONIsWhole(t *testing.T) {
	want := makeReport(t, evenings().write(t), 1)
	text, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	got := new(report.Report)
	if err := json.Unmarshal(text, got); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("read back it is %+v, want %+v", got, want)
	}
}

// TestOtherDirectoriesAreRefused makes reports of directories that are not results.
func TestOtherDirectoriesAreRefused(t *testing.T) {
	for _, c := range []struct {
		name   string
		is     error
		says   string
		damage func(dir string) error
	}{
		{"not there", manifest.ErrNoDirectory, "no such directory", func(dir string) error { return os.RemoveAll(dir) }},
		{"half replaced", manifest.ErrNoDirectory, ".old: if no extract runs, type the killed command again", func(dir string) error { return os.Rename(dir, manifest.Aside(dir)) }},
		{"a file", manifest.ErrNoResult, "no _manifest.json", func(dir string) error { return errors.Join(os.RemoveAll(dir), os.WriteFile(dir, nil, 0o666)) }},
		{"no manifest", manifest.ErrNoResult, "no _manifest.json", func(dir string) error { return os.Remove(filepath.Join(dir, "_manifest.json")) }},
		{"unfinished", manifest.ErrNoResult, "not finished", func(dir string) error { return os.Remove(filepath.Join(dir, "_SUCCESS")) }},
		{"_SUCCESS is a directory", manifest.ErrNoResult, "not finished", func(dir string) error {
			name := filepath.Join(dir, "_SUCCESS")
			return errors.Join(os.Remove(name), os.Mkdir(name, 0o777))
		}},
		{"a part gone", dfs.ErrDamaged, "part-00001.parquet: damaged file: it is gone: extract the result again", func(dir string) error { return os.Remove(filepath.Join(dir, "part-00001.parquet")) }},
		{"a part cut off", dfs.ErrDamaged, "part-00001.parquet: damaged file: its size is not the size in _manifest.json", func(dir string) error { return os.Truncate(filepath.Join(dir, "part-00001.parquet"), 5) }},
		{"a damaged manifest", manifest.ErrDamaged, "_manifest.json", func(dir string) error { return os.Truncate(filepath.Join(dir, "_manifest.json"), 100) }},
	} {
		dir := family().write(t)
		if err := c.damage(dir); err != nil {
			t.Fatal(err)
		}
		_, err := report.Make(t.Context(), report.Config{FS: local.New(), Dir: dir})
		if err == nil || c.is != nil && !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: got %v, want %v that says %q", c.name, err, c.is, c.says)
		}
	}
}

// TestOtherFormsAreRefused makes extracts in other forms than a report reads, and
// wants to be told what to do.
func TestOtherFormsAreRefused(t *testing.T) {
	for says, change := range map[string]func(*manifest.Query){
		"written as csv":      func(q *manifest.Query) { q.Format = "csv" },
		"is wide":             func(q *manifest.Query) { q.Shape = "wide" },
		"partitioned by date": func(q *manifest.Query) { q.PartitionBy = "date" },
	} {
		m := family()
		change(&m.Query)
		_, err := report.Make(t.Context(), report.Config{FS: local.New(), Dir: m.write(t)})
		if !errors.Is(err, report.ErrUnfit) || !strings.Contains(err.Error(), says) || !strings.Contains(err.Error(), "extract it again as Parquet") {
			t.Errorf("got %v, want ErrUnfit that says %q and what to do", err, says)
		}
	}
}

// TestPartsAreAsTheManifestSays changes manifests so that they differ from their parts.
func TestPartsAreAsTheManifestSays(t *testing.T) {
	for name, change := range map[string]func(m *manifest.Extract){
		"more events": func(m *manifest.Extract) { m.Parts[0].Events++ },
		"fewer users": func(m *manifest.Extract) { m.Parts[1].Users-- },
		"other types": func(m *manifest.Extract) { m.Query.Types = []string{"play", "visit"} },
		"more steps":  func(m *manifest.Extract) { m.Sequence = append(m.Sequence, manifest.Step{Behaviour: "visit"}) },
		"no zone":     func(m *manifest.Extract) { m.Zone = "Middle/Earth" },
	} {
		m := family()
		dir := m.write(t)
		change(&m.Extract)
		if err := manifest.Write(t.Context(), local.New(), filepath.Join(dir, "_manifest.json"), &m.Extract); err != nil {
			t.Fatal(err)
		}
		if r, err := report.Make(t.Context(), report.Config{FS: local.New(), Dir: dir}); err == nil {
			t.Errorf("%s: got a report of %d events, want an error", name, r.Events)
		}
	}
}
