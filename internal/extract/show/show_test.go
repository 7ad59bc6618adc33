package show_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"usertrail/internal/behaviour"
	"usertrail/internal/extract/show"
	"usertrail/internal/format/layout"
	"usertrail/internal/table"
	"usertrail/internal/test/testworld"
)

// TestPagesAreTheOracles shows every user of some worlds, in pages of many sizes. Each world
// uses another layout. The users do not fit into the layout fixed.
func TestPagesAreTheOracles(t *testing.T) {
	names := slices.DeleteFunc(layout.Names(), func(name string) bool { return name == "fixed" })
	for i, name := range names {
		seed := uint64(1 + i)
		w := testworld.World(seed, 12)
		h := newFixture(t, "layout: "+name+"\n"+w.Job())
		h.deliverWorld(t, w.Files...)
		opened := h.load(t, w.Span)
		r := rand.New(rand.NewPCG(seed, 5))
		for _, user := range w.Users {
			q := testworld.Query{Users: []string{user}, Span: w.Span, Kinds: w.Names(), Active: "any"}
			c := show.Config{Table: opened, User: user, Page: []int{0, 1, 2, 3, 7}[r.IntN(5)]}
			if r.IntN(2) == 0 {
				q.Kinds = []string{q.Kinds[r.IntN(4)]}
				c.Types = q.Kinds
			}
			if r.IntN(2) == 0 {
				q.Span.From += behaviour.Date(r.IntN(2))
				c.From, c.To = &q.Span.From, &q.Span.To
			}
			checkRows(t, fmt.Sprintf("%s, world %d, %+v", name, seed, q), pages(t, c), w.Oracle(q).Rows)
		}
	}
}

// checkRows compares rows, and their numbers within the day.
func checkRows(t *testing.T, what string, got []shown, want []testworld.Row) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: %d events, want %d", what, len(got), len(want))
		return
	}
	days, nth := map[string]int{}, map[string]int{}
	for _, r := range want {
		days[r.Date]++
	}
	for i, r := range want {
		nth[r.Date]++
		if len(r.Values) == 0 {
			r.Values = map[string]string{}
		}
		if !reflect.DeepEqual(got[i].row, r) {
			t.Errorf("%s: behaviour %d is\n%s, want\n%s", what, i, got[i].row, r)
			return
		}
		if got[i].nth != nth[r.Date] || got[i].ofDay != days[r.Date] {
			t.Errorf("%s: behaviour %d is the %dth of %d of its day, want the %dth of %d", what, i, got[i].nth, got[i].ofDay, nth[r.Date], days[r.Date])
		}
	}
}

// longJob has one file per behaviour, with times in microseconds.
const longJob = `
logs: {path: "logs/{behaviour}.csv", zone: %s}
table: trails
time: {column: time, format: epoch_us}
behaviours:
  play:
    id: 1
    fields: {seconds: int64}
`

// steady returns the log of a user who plays once in every microseconds.
func steady(user string, from, to, every int64) string {
	var b strings.Builder
	for at := from; at < to; at += every {
		fmt.Fprintf(&b, "%s,%d,%d\n", user, at, at/every)
	}
	return b.String()
}

const (
	hour = int64(3600e6)
	day  = 24 * hour
)

// TestAPageCostsItsPage pages through years of a busy user, beginning in the middle.
func TestAPageCostsItsPage(t *testing.T) {
	const days, perDay, page = 800, 24, 50
	first := behaviour.DateOf(2014, 1, 1)
	start := int64(first) * day
	h := newFixture(t, fmt.Sprintf(longJob, "UTC"))
	h.deliver(t, "play.csv", []byte("user_id,time,seconds\n"+steady("busy", start, start+days*day, hour)+
		fmt.Sprintf("idle,%d,1\nidle,%d,2\n", start+hour, start+(days-1)*day)))
	s := &spy{Loader: h.load(t, behaviour.Span{From: first, To: first + days - 1})}

	c := show.Config{Table: s, User: "busy", Page: page}
	from := first + days/2
	c.From = &from
	for n := 0; n < 5; n++ {
		s.spans, s.cells = nil, 0
		var g gatherer
		_, r, err := show.Page(t.Context(), c, &g)
		if err != nil || len(g.rows) != page || r.Next == "" {
			t.Fatalf("page %d: %d events, next %q, %v", n, len(g.rows), r.Next, err)
		}
		began, err := behaviour.ParseDate(g.rows[0].row.Date)
		if err != nil {
			t.Fatal(err)
		}
		for _, span := range s.spans {
			if span.From < began-1 {
				t.Errorf("page %d begins on %s, but %s was read", n, began, span)
			}
		}
		if s.cells > 6*page {
			t.Errorf("page %d: %d cells were read for %d events of one cell", n, s.cells, page)
		}
		c.After = r.Next
	}

	// Days without events are skipped in large steps.
	s.spans = nil
	if got := pages(t, show.Config{Table: s, User: "idle", Page: page}); len(got) != 2 || len(s.spans) > 10 {
		t.Errorf("%d events by %d reads of %d days, want 2 by a few", len(got), len(s.spans), days)
	}
}

// TestAllOfALongTrailIsReadInParts shows the whole trail of a user who was idle for years and
// then busy. No read may hold much more than goal events.
func TestAllOfALongTrailIsReadInParts(t *testing.T) {
	const idle, busy, perDay = 700, 60, 1440
	first := behaviour.DateOf(2014, 1, 1)
	start := int64(first) * day
	h := newFixture(t, fmt.Sprintf(longJob, "UTC"))
	h.deliver(t, "play.csv", []byte(fmt.Sprintf("user_id,time,seconds\nu,%d,0\n", start)+steady("u", start+idle*day, start+(idle+busy)*day, day/perDay)))
	s := &spy{Loader: h.load(t, behaviour.Span{From: first, To: first + idle + busy})}
	got := pages(t, show.Config{Table: s, User: "u"})
	if len(got) != 1+busy*perDay {
		t.Errorf("%d events, want %d", len(got), 1+busy*perDay)
	}
	if s.cells > 3*len(got) {
		t.Errorf("%d cells were read for %d events of one cell", s.cells, len(got))
	}
	var b bytes.Buffer
	if _, _, err := show.Page(t.Context(), show.Config{Table: s, User: "u"}, show.NewScreen(&b, show.Look{Width: 40})); err != nil {
		t.Fatal(err)
	}
	for part, want := range map[string]int{"play": len(got), "Asia": 0, "UTC": 1, " events\n": busy, " 1 event\n": 1, "seconds\n": len(got)/1000 + 1} {
		if n := strings.Count(b.String(), part); n != want {
			t.Errorf("%q stands %d times on the screen, want %d", part, n, want)
		}
	}
}

// TestDaysThatComeAgain pages through nights in which a clock is put back past midnight, so
// that a day continues after the next one has begun.
func TestDaysThatComeAgain(t *testing.T) {
	for zone, night := range map[string]behaviour.Date{
		"America/St_Johns":  behaviour.DateOf(2006, 10, 29), // 00:01 becomes 23:01 of the day before
		"America/Sao_Paulo": behaviour.DateOf(2014, 2, 16),  // midnight becomes 23:00 of the day before
		"Pacific/Apia":      behaviour.DateOf(2011, 12, 30), // this day was skipped
		"Europe/Berlin":     behaviour.DateOf(2014, 10, 26),
	} {
		h := newFixture(t, fmt.Sprintf(longJob, zone))
		start := (int64(night)-2)*day + 123
		h.deliver(t, "play.csv", []byte("user_id,time,seconds\n"+steady("u", start, start+4*day, hour/4)))
		opened := h.load(t, behaviour.Span{From: night - 3, To: night + 4})
		want := pages(t, show.Config{Table: opened, User: "u"})
		for i, s := range want {
			if at := start + int64(i)*hour/4; s.row.Time != behaviour.Timestamp.Text(behaviour.AppendInt64(nil, at)) {
				t.Fatalf("%s: behaviour %d is at %s", zone, i, s.row.Time)
			}
		}
		if len(want) != 4*24*4 {
			t.Errorf("%s: %d events, want %d", zone, len(want), 4*24*4)
		}
		for _, page := range []int{1, 5, 97} {
			if got := pages(t, show.Config{Table: opened, User: "u", Page: page}); !reflect.DeepEqual(got, want) {
				t.Errorf("%s: pages of %d are not the whole", zone, page)
			}
		}
	}
}

// belated returns a world in which some files arrive late.
func belated() (*testworld.W, []testworld.File) {
	for seed := uint64(1); ; seed++ {
		w := testworld.World(seed, 12)
		var late []testworld.File
		for _, f := range w.Files {
			if f.Late && f.Records > f.Bad {
				late = append(late, f)
			}
		}
		if len(late) > 1 {
			return w, late
		}
	}
}

// TestTokensStayTrue reads a page, loads the late files, and continues. The following pages
// must have all events after the ones shown.
func TestTokensStayTrue(t *testing.T) {
	w, late := belated()
	h := newFixture(t, w.Job())
	for _, f := range w.Files {
		if !f.Late {
			h.deliverWorld(t, f)
		}
	}
	opened := h.load(t, w.Span)
	after := map[string]string{}
	shownLast := map[string]string{}
	for _, user := range w.Users {
		var g gatherer
		_, r, err := show.Page(t.Context(), show.Config{Table: opened, User: user, Page: 3}, &g)
		if err != nil {
			t.Fatal(err)
		}
		if r.Next != "" {
			after[user], shownLast[user] = r.Next, g.rows[2].row.String()
		}
	}
	h.deliverWorld(t, late...)
	opened = h.load(t, w.Span)
	if len(after) < 3 {
		t.Fatalf("%d users have a second page: the world is too small", len(after))
	}
	for user, token := range after {
		all := w.Oracle(testworld.Query{Users: []string{user}, Span: w.Span, Kinds: w.Names(), Active: "any"}).Rows
		for len(all) > 0 && all[0].String() != shownLast[user] {
			all = all[1:]
		}
		got := pages(t, show.Config{Table: opened, User: user, Page: 4, After: token})
		if len(got) != len(all)-1 {
			t.Errorf("user %q: %d events after the token, want %d", user, len(got), len(all)-1)
			continue
		}
		for i, s := range got {
			if s.row.String() != all[i+1].String() {
				t.Errorf("user %q: behaviour %d is %s, want %s", user, i, s.row, all[i+1])
			}
		}
	}
}

func TestTokensAreChecked(t *testing.T) {
	first := behaviour.DateOf(2014, 1, 1)
	h := newFixture(t, fmt.Sprintf(longJob, "UTC"))
	h.deliver(t, "play.csv", []byte("user_id,time,seconds\n"+steady("u", int64(first)*day, int64(first)*day+day, hour)))
	c := show.Config{Table: h.load(t, behaviour.Span{From: first, To: first}), User: "u", Page: 2}
	_, r, err := show.Page(t.Context(), c, new(gatherer))
	if err != nil || r.Next == "" || len(r.Next) > 40 {
		t.Fatalf("token %q, %v; want a short one", r.Next, err)
	}
	for name, spoil := range map[string]func(*show.Config){
		"another user":     func(c *show.Config) { c.User = "v" },
		"another first":    func(c *show.Config) { c.From = &first },
		"another last":     func(c *show.Config) { c.To = &first },
		"other behaviours": func(c *show.Config) { c.Types = []string{"play"} },
		"cut":              func(c *show.Config) { c.After = c.After[:len(c.After)-1] },
		"longer":           func(c *show.Config) { c.After += "A" },
		"another time":     func(c *show.Config) { c.After = c.After[:5] + flip(c.After[5:6]) + c.After[6:] },
		"another digest":   func(c *show.Config) { c.After = c.After[:28] + flip(c.After[28:29]) + c.After[29:] },
		"words":            func(c *show.Config) { c.After = "the next page, please" },
	} {
		q := c
		q.After = r.Next
		spoil(&q)
		if _, _, err := show.Page(t.Context(), q, new(gatherer)); !errors.Is(err, show.ErrQuery) || !strings.Contains(err.Error(), "--after") {
			t.Errorf("%s: %v, want ErrQuery that names --after", name, err)
		}
	}
	q := c
	q.After, q.Page, q.Fields = r.Next, 5, []string{"seconds"}
	var g gatherer
	if _, _, err := show.Page(t.Context(), q, &g); err != nil || len(g.rows) != 5 || g.rows[0].nth != 3 {
		t.Errorf("a page of another size and other fields continues with %+v, %v", g.rows, err)
	}
}

func flip(s string) string {
	if s == "A" {
		return "B"
	}
	return "A"
}

// TestWhoIsNotThereIsSaid checks the text for an empty page.
func TestWhoIsNotThereIsSaid(t *testing.T) {
	first := behaviour.DateOf(2014, 1, 1)
	h := newFixture(t, fmt.Sprintf(longJob, "UTC"))
	h.deliver(t, "play.csv", []byte("user_id,time,seconds\n"+steady("u", int64(first)*day, int64(first+5)*day, hour)))
	opened := h.load(t, behaviour.Span{From: first, To: first + 9})
	later := first + 30
	for user, want := range map[string]string{
		"u":  `the table has no play of user "u" on 2014-01-31; there is play on 5 days in 2014-01-01..2014-01-05; days that are not loaded: 2014-01-31`,
		"v":  `the table has no event of user "v"; it has events of other users: play in 2014-01-01..2014-01-05`,
		" u": `the table has no event of user " u" (the ID begins or ends with a blank); it has events of other users: play in 2014-01-01..2014-01-05`,
	} {
		asked, r, err := show.Page(t.Context(), show.Config{Table: opened, User: user, From: &later}, new(gatherer))
		if err != nil || r.Events != 0 {
			t.Fatalf("user %s: %+v, %v", user, r, err)
		}
		if got, err := show.Instead(t.Context(), opened, asked); err != nil || got != want {
			t.Errorf("user %s: %q, %v; want %q", user, got, err, want)
		}
	}
}

// without is a table from which the days before a date were dropped.
type without struct {
	table.Loader
	before behaviour.Date
}

func (w without) Info() table.Info {
	info := w.Loader.Info()
	info.Dropped = &w.before
	return info
}

// TestDroppedDaysAreNamed requests a dropped day of a user with events on other days, and of
// another user.
func TestDroppedDaysAreNamed(t *testing.T) {
	first := behaviour.DateOf(2014, 1, 1)
	h := newFixture(t, fmt.Sprintf(longJob, "UTC"))
	h.deliver(t, "play.csv", []byte("user_id,time,seconds\n"+steady("u", int64(first+2)*day, int64(first+5)*day, hour)))
	opened := without{h.load(t, behaviour.Span{From: first, To: first + 9}), first + 2}
	for user, want := range map[string]string{
		"u": `the table has no play of user "u" on 2014-01-01; there is play on 3 days in 2014-01-03..2014-01-05; the days before 2014-01-03 were dropped from the table`,
		"v": `the table has no event of user "v"; the days before 2014-01-03 were dropped from the table; it has events of other users: play in 2014-01-03..2014-01-05`,
	} {
		asked, _, err := show.Page(t.Context(), show.Config{Table: opened, User: user, From: &first, To: &first}, new(gatherer))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := show.Instead(t.Context(), opened, asked); err != nil || !strings.HasPrefix(got, want) {
			t.Errorf("user %s: %q, %v; want %q", user, got, err, want)
		}
	}
}

// TestRowsThatLieApartAreNamed shows trails of a layout that stores a user's rows far apart.
// A scan from one row to the next would read everything between them.
func TestRowsThatLieApartAreNamed(t *testing.T) {
	first := behaviour.DateOf(2014, 1, 1)
	h := newFixture(t, fmt.Sprintf(sortedJob, "UTC", "hashed"))
	h.deliver(t, first.String()+"/play.csv", []byte(fmt.Sprintf("user_id,time,programme,seconds\nu,%d,p,1\n", int64(first)*day)))
	s := &spy{Loader: h.load(t, behaviour.Span{From: first, To: first})}
	for what, c := range map[string]show.Config{"all": {}, "latest": {Latest: 10}, "a type": {Types: []string{"play"}}} {
		c.Table, c.User = s, "u"
		var g gatherer
		if _, _, err := show.Page(t.Context(), c, &g); err != nil || len(g.rows) != 1 {
			t.Fatalf("%s: %d events, %v; want one", what, len(g.rows), err)
		}
		if s.ranges > 0 || len(s.spans) == 0 {
			t.Errorf("%s: %d of %d reads were by ranges", what, s.ranges, len(s.spans))
		}
	}
}
