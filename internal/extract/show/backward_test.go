package show_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"usertrail/internal/behaviour"
	"usertrail/internal/extract/show"
	"usertrail/internal/format/layout"
	"usertrail/internal/split"
	"usertrail/internal/table"
)

// sortedJob has three behaviours, with times in microseconds, in one layout.
const sortedJob = `
logs: {path: "logs/{date}/{behaviour}.csv", zone: %s}
layout: %s
table: trails
time: {column: time, format: epoch_us}
behaviours:
  play:
    id: 1
    fields: {programme: string, seconds: int64}
  order:
    id: 2
    fields: {product: string}
  login:
    id: 300
`

// deliverRandom writes the events of a few users. Many events share an instant, and most of
// them are in a part of the day.
func (h *fixture) deliverRandom(t *testing.T, seed uint64, span behaviour.Span, zone *time.Location) {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 7))
	for d := span.From; d <= span.To; d++ {
		from, to := d.Start(zone).UnixMicro(), (d + 1).Start(zone).UnixMicro()
		for kind, head := range map[string]string{"play": "programme,seconds", "order": "product", "login": ""} {
			text := strings.TrimSuffix("user_id,time,"+head, ",") + "\n"
			for user := range 4 {
				often := r.IntN(9)
				if kind == "order" && user > 0 || r.IntN(3) == 0 {
					often = 0
				}
				for range often {
					at := from + r.Int64N(to-from)
					if r.IntN(2) == 0 {
						at = from + at/1e6%5*1e6 // only a few different instants
					}
					text += strings.TrimSuffix(fmt.Sprintf("%d,%d,%s", user, at, map[string]string{
						"play": fmt.Sprintf("p%d,%d", r.IntN(9), r.IntN(99)), "order": "", "login": "",
					}[kind]), ",")
					if kind == "order" {
						text += ","
					}
					text += "\n"
				}
			}
			h.deliver(t, fmt.Sprintf("%s/%s.csv", d, kind), []byte(text))
		}
	}
}

// TestTheEndOfATrail requests the last events in every layout, and compares them with the end
// of the whole trail.
func TestTheEndOfATrail(t *testing.T) {
	const days = 12
	for i, name := range layout.Names() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			zoneName, first := "Europe/Berlin", behaviour.DateOf(2014, 10, 20)
			if i%2 == 1 {
				zoneName, first = "America/St_Johns", behaviour.DateOf(2006, 10, 22)
			}
			zone, err := time.LoadLocation(zoneName)
			if err != nil {
				t.Fatal(err)
			}
			h := newFixture(t, fmt.Sprintf(sortedJob, zoneName, name))
			span := behaviour.Span{From: first, To: first + days - 1}
			h.deliverRandom(t, 1, span, zone)
			h.load(t, behaviour.Span{From: first, To: first + 4})
			opened := h.load(t, behaviour.Span{From: first + 5, To: span.To})
			r := rand.New(rand.NewPCG(uint64(i), 11))
			for range 60 {
				c := randomConfig(r, opened, span)
				all := pages(t, c)
				if r.IntN(5) == 0 {
					checkPaged(t, c, all)
				}
				end := c
				if len(all) > 0 && r.IntN(3) == 0 {
					i := r.IntN(len(all))
					if r.IntN(3) == 0 {
						i = len(all) - 1
					}
					at := micros(t, all[i]) + int64(r.IntN(3)) - 1
					if at >= span.From.Start(zone).UnixMicro() && (c.From == nil || at >= c.From.Start(zone).UnixMicro()) {
						checkAround(t, c, all, at, 1+r.IntN(30))
					}
					continue
				}
				if r.IntN(2) == 0 {
					end.Latest = []int{1, 2, 10, 40, 1000}[r.IntN(5)]
					checkEnd(t, end, all[max(0, len(all)-end.Latest):])
					continue
				}
				at := span.From.Start(zone).UnixMicro() + r.Int64N(days*day)
				if len(all) > 0 && r.IntN(2) == 0 {
					at = micros(t, all[r.IntN(len(all))]) - int64(r.IntN(2))
				}
				if end.At = &at; end.From != nil && at < end.From.Start(zone).UnixMicro() {
					continue
				}
				checkEnd(t, end, lastOfEach(t, all, at))
			}
		})
	}
}

// randomConfig returns a query for one of five users, often with limits.
func randomConfig(r *rand.Rand, opened table.Loader, span behaviour.Span) show.Config {
	c := show.Config{Table: opened, User: fmt.Sprint(r.IntN(5))}
	if r.IntN(2) == 0 {
		c.Table = bare{opened}
	}
	c.Types = [][]string{nil, {"play"}, {"order"}, {"login", "order"}}[r.IntN(4)]
	if r.IntN(3) == 0 {
		from, to := span.From+behaviour.Date(r.IntN(int(span.To-span.From)+1)), span.To
		to -= behaviour.Date(r.IntN(int(to-from) + 1))
		c.From, c.To = &from, &to
	}
	if r.IntN(3) == 0 {
		c.Fields = []string{"seconds"}
		if c.Types != nil && c.Types[0] != "play" {
			c.Fields = nil
		}
	}
	return c
}

// checkPaged reads a trail in small pages, without counts.
func checkPaged(t *testing.T, c show.Config, want []shown) {
	t.Helper()
	c.Page, c.Uncounted = 3, true
	got := pages(t, c)
	same := func(a, b shown) bool { return a.row.String() == b.row.String() && a.nth == 0 && a.ofDay == 0 }
	if !slices.EqualFunc(got, want, same) {
		t.Errorf("user %s, types %q: pages of %d give %d events, not the %d of the trail", c.User, c.Types, c.Page, len(got), len(want))
	}
}

func micros(t *testing.T, s shown) int64 {
	t.Helper()
	at, err := time.Parse("2006-01-02T15:04:05.999999Z", s.row.Time)
	if err != nil {
		t.Fatal(err)
	}
	return at.UnixMicro()
}

// lastOfEach returns the last event of each behaviour at or before a time.
func lastOfEach(t *testing.T, all []shown, at int64) []shown {
	var out []shown
	had := map[string]bool{}
	for _, s := range slices.Backward(all) {
		if micros(t, s) <= at && !had[s.row.Behaviour] {
			had[s.row.Behaviour] = true
			out = append(out, s)
		}
	}
	slices.Reverse(out)
	return out
}

// checkEnd requests the end of a trail and compares it. The number of events of a day must be
// right or unknown. Only the first two days may be unknown.
func checkEnd(t *testing.T, c show.Config, want []shown) {
	t.Helper()
	var g gatherer
	_, r, err := show.Page(t.Context(), c, &g)
	what := fmt.Sprintf("user %s, types %q, latest %d", c.User, c.Types, c.Latest)
	if c.At != nil {
		what += ", at " + time.UnixMicro(*c.At).UTC().String()
	}
	if err != nil || r.Next != "" || !g.ended || len(g.rows) != len(want) || r.Events != int64(len(want)) {
		t.Errorf("%s: %d events, next %q, %v; want %d", what, len(g.rows), r.Next, err, len(want))
		return
	}
	untold := map[string]bool{}
	for i, s := range g.rows {
		if s.row.String() != want[i].row.String() {
			t.Errorf("%s: behaviour %d is\n%s, want\n%s", what, i, s.row, want[i].row)
		}
		if s.ofDay == 0 && s.nth == 0 {
			untold[s.row.Date] = true
		} else if s.ofDay != want[i].ofDay || s.nth != want[i].nth {
			t.Errorf("%s: behaviour %d is the %dth of %d, want the %dth of %d", what, i, s.nth, s.ofDay, want[i].nth, want[i].ofDay)
		}
	}
	if c.Latest > 0 && len(untold) > 2 {
		t.Errorf("%s: of %d days it is not told how much they have", what, len(untold))
	}
}

// checkAround requests a page of events around a time, and continues after it to the end of the
// trail.
func checkAround(t *testing.T, c show.Config, all []shown, at int64, page int) {
	t.Helper()
	n := 0
	for n < len(all) && micros(t, all[n]) < at {
		n++
	}
	want := all[max(0, n-max(page/2, page-(len(all)-n))):]
	c.Around, c.Page = &at, page
	var g gatherer
	_, r, err := show.Page(t.Context(), c, &g)
	what := fmt.Sprintf("user %s, types %q, %d around %s", c.User, c.Types, page, time.UnixMicro(at).UTC())
	if shows := min(page, len(want)); err != nil || r.Events != int64(shows) || (r.Next != "") != (len(want) > page) {
		t.Errorf("%s: %d events, next %q, %v; want %d of %d", what, r.Events, r.Next, err, shows, len(want))
		return
	}
	rows := g.rows
	if r.Next != "" {
		c.Around, c.After, c.Page = nil, r.Next, 0
		var rest gatherer
		if _, _, err := show.Page(t.Context(), c, &rest); err != nil {
			t.Errorf("%s: the next page: %v", what, err)
		}
		rows = append(rows, rest.rows...)
	}
	if !slices.EqualFunc(rows, want, func(a, b shown) bool { return a.row.String() == b.row.String() }) {
		t.Errorf("%s: with the next page %d events, not the %d of the trail", what, len(rows), len(want))
	}
	for _, s := range g.rows {
		if s.nth != 0 || s.ofDay != 0 {
			t.Errorf("%s: the events of a day are counted", what)
		}
	}
}

// A bare table has no rolls and does not report that it consists of files, so all of it is
// read at once.
type bare struct{ table.Loader }

func (b bare) Users(ctx context.Context, r split.Region, span behaviour.Span) (table.Users, error) {
	return table.RowUsers(ctx, b.Loader, r, span), nil
}

// TestManyOfOneInstant requests events before an instant that has more events than one read may
// hold.
func TestManyOfOneInstant(t *testing.T) {
	const many = 40_000
	first := behaviour.DateOf(2014, 1, 1)
	at := int64(first)*day + hour
	for _, name := range []string{"tall", "wide", "reversed"} {
		h := newFixture(t, fmt.Sprintf(sortedJob, "UTC", name))
		h.deliver(t, first.String()+"/play.csv", []byte("user_id,time,programme,seconds\n"+strings.Repeat(fmt.Sprintf("u,%d,,\n", at), many)))
		h.deliver(t, first.String()+"/order.csv", []byte(fmt.Sprintf("user_id,time,product\nu,%d,a\n", at-1)))
		c := show.Config{Table: bare{h.load(t, behaviour.Span{From: first, To: first})}, User: "u", At: &at}
		var g gatherer
		if _, _, err := show.Page(t.Context(), c, &g); err != nil || len(g.rows) != 2 || g.rows[0].row.Behaviour != "order" || g.rows[1].row.ID == 0 {
			t.Errorf("%s: %v, %v; want the order and the last play", name, g.rows, err)
		}
	}
}

// TestTheNewestOfTwoFiles requests an order that is older than more plays of its night than the
// first read returns. An older night has an order too.
func TestTheNewestOfTwoFiles(t *testing.T) {
	first := behaviour.DateOf(2014, 1, 1)
	start := int64(first) * day
	for _, name := range []string{"tall", "wide"} {
		h := newFixture(t, fmt.Sprintf(sortedJob, "UTC", name))
		var opened table.Loader
		for i := range int64(2) {
			d := first + behaviour.Date(i)
			plays := strings.Repeat(fmt.Sprintf("u,%d,,\n", start+i*day+hour), 200)
			h.deliver(t, d.String()+"/play.csv", []byte("user_id,time,programme,seconds\n"+plays))
			h.deliver(t, d.String()+"/order.csv", []byte(fmt.Sprintf("user_id,time,product\nu,%d,%d\n", start+i*day, i)))
			opened = h.load(t, behaviour.Span{From: d, To: d})
		}
		var g gatherer
		_, _, err := show.Page(t.Context(), show.Config{Table: bare{opened}, User: "u", Types: []string{"order"}, Latest: 1}, &g)
		if err != nil || len(g.rows) != 1 || g.rows[0].row.Values["product"] != "1" {
			t.Errorf("%s: %v, %v; want the order of the second night", name, g.rows, err)
		}
	}
}

// TestEndsOfDaysThatComeAgain requests the ends of trails in nights in which a clock is put
// back past midnight.
func TestEndsOfDaysThatComeAgain(t *testing.T) {
	for zone, night := range map[string]behaviour.Date{
		"America/St_Johns":  behaviour.DateOf(2006, 10, 29), // 00:01 becomes 23:01 of the day before
		"America/Sao_Paulo": behaviour.DateOf(2014, 2, 16),  // midnight becomes 23:00 of the day before
	} {
		for _, name := range []string{"reversed", "tall"} {
			h := newFixture(t, "layout: "+name+"\n"+fmt.Sprintf(longJob, zone))
			start := (int64(night) - 1) * day
			h.deliver(t, "play.csv", []byte("user_id,time,seconds\n"+steady("u", start+12, start+2*day, hour/120)))
			opened := h.load(t, behaviour.Span{From: night - 2, To: night + 2})
			for from := night - 1; from <= night+1; from++ {
				for to := from; to <= night+1; to++ {
					c := show.Config{Table: opened, User: "u", From: &from, To: &to}
					all := pages(t, c)
					for _, n := range []int{1, 150, 1 << 20} {
						c.Latest = n
						checkEnd(t, c, all[max(0, len(all)-n):])
					}
					c.Latest, c.Page, c.Uncounted = 0, 97, true
					if got := pages(t, c); len(got) != len(all) {
						t.Errorf("%s, %s: %d events of %s..%s in pages, want %d", zone, name, len(got), from, to, len(all))
					}
				}
			}
		}
	}
}

// TestTheEndOfABusyTrail requests the last events of a user who was busy long before the last
// day, in a table without rolls. No read may hold many more events than needed.
func TestTheEndOfABusyTrail(t *testing.T) {
	const busy, perDay, idle, latest = 60, 1440, 300, 3000
	first := behaviour.DateOf(2014, 1, 1)
	start := int64(first) * day
	h := newFixture(t, fmt.Sprintf(longJob, "UTC"))
	h.deliver(t, "play.csv", []byte("user_id,time,seconds\n"+steady("u", start, start+busy*day, day/perDay)))
	s := &spy{Loader: h.load(t, behaviour.Span{From: first, To: first + busy})}
	to := first + busy + idle
	for what, at := range map[string]table.Loader{"rolls": s, "rows": bare{s}} {
		s.cells, s.spans = 0, nil
		var g gatherer
		_, _, err := show.Page(t.Context(), show.Config{Table: at, User: "u", To: &to, Latest: latest}, &g)
		if err != nil || len(g.rows) != latest || micros(t, g.rows[0]) != start+busy*day-latest*day/perDay {
			t.Fatalf("by %s: %d events, %v; want the last %d", what, len(g.rows), err, latest)
		}
		t.Logf("by %s: %d cells by %d reads", what, s.cells, len(s.spans))
		if s.cells > 15*latest {
			t.Errorf("by %s: %d cells were read for %d events of one cell", what, s.cells, latest)
		}
		if what == "rolls" && (s.cells > 4*latest || len(s.spans) > 5) {
			t.Errorf("by %s: %d cells were read by %d reads, though they tell on which day to begin", what, s.cells, len(s.spans))
		}
	}
}

// TestAPageAmidADayCostsItsPage continues within a day of very many events, without counts.
// No page may cost more than a few other pages.
func TestAPageAmidADayCostsItsPage(t *testing.T) {
	const many, page = 20_000, 50
	first := behaviour.DateOf(2014, 1, 1)
	start := int64(first) * day
	for _, name := range []string{"tall", "wide"} {
		h := newFixture(t, fmt.Sprintf(sortedJob, "UTC", name))
		text := "user_id,time,programme,seconds\n"
		for i := range int64(many) {
			text += fmt.Sprintf("u,%d,p,%d\n", start+i*(day/many), i)
		}
		h.deliver(t, first.String()+"/play.csv", []byte(text))
		s := &spy{Loader: h.load(t, behaviour.Span{From: first, To: first})}
		c := show.Config{Table: s, User: "u", Page: page, Uncounted: true}
		for n := range 30 {
			s.cells = 0
			var g gatherer
			_, r, err := show.Page(t.Context(), c, &g)
			if err != nil || len(g.rows) != page || g.rows[0].row.Values["seconds"] != fmt.Sprint(n*page) {
				t.Fatalf("%s: page %d: %d events, %v", name, n, len(g.rows), err)
			}
			if s.cells > 100*page {
				t.Errorf("%s: page %d: %d cells were read for %d events of one cell", name, n, s.cells, page)
			}
			c.After = r.Next
		}
		c.Page, c.After = 0, ""
		if got := pages(t, c); len(got) != many {
			t.Errorf("%s: %d events, want %d", name, len(got), many)
		}
	}
}

// TestEndsAreChecked combines options that cannot be combined.
func TestEndsAreChecked(t *testing.T) {
	first := behaviour.DateOf(2014, 1, 1)
	at := int64(first) * day
	h := newFixture(t, fmt.Sprintf(longJob, "UTC"))
	h.deliver(t, "play.csv", []byte("user_id,time,seconds\n"+steady("u", at, at+day, hour)))
	opened := h.load(t, behaviour.Span{From: first, To: first})
	later := first + 1
	for flag, c := range map[string]show.Config{
		"--latest -1":           {Latest: -1},
		"--latest and --at":     {Latest: 1, At: &at},
		"--page goes":           {Latest: 1, Page: 2},
		"--after goes":          {At: &at, After: "x"},
		"--at 2014-01-01 00:00": {At: &at, From: &later},
		"--around goes":         {Around: &at, Latest: 1, Page: 2},
		"--around with --page":  {Around: &at},
		"--around 2014-01-01":   {Around: &at, From: &later, Page: 2},
	} {
		c.Table, c.User = opened, "u"
		if _, _, err := show.Page(t.Context(), c, new(gatherer)); !errors.Is(err, show.ErrQuery) || !strings.Contains(err.Error(), flag) {
			t.Errorf("%v, want ErrQuery that says %s", err, flag)
		}
	}
	before := at - 1
	asked, r, err := show.Page(t.Context(), show.Config{Table: opened, User: "u", At: &before}, new(gatherer))
	if err != nil || r.Events != 0 {
		t.Fatalf("%+v, %v", r, err)
	}
	want := `the table has no play of user "u" on 2014-01-01 up to 2013-12-31 23:59:59.999999; there is play on 2014-01-01`
	if got, err := show.Instead(t.Context(), opened, asked); err != nil || got != want {
		t.Errorf("%q, %v; want %q", got, err, want)
	}
}

// Manifest returns the table's manifest.
func (s *spy) Unwrap() table.Table { return s.Loader }

// TestTheLatestCostTheSame requests the last events of a short trail and of a long one, in
// tables of one night and of many, for all behaviours and for a rare one.
func TestTheLatestCostTheSame(t *testing.T) {
	const latest, nights = 10, 20
	first := behaviour.DateOf(2014, 1, 1)
	start := int64(first) * day
	for _, name := range []string{"tall", "wide"} {
		t.Run(name, func(t *testing.T) {
			h := newFixture(t, fmt.Sprintf(sortedJob, "UTC", name))
			for i := range int64(nights) {
				text := "user_id,time,programme,seconds\n"
				for user, n := range map[string]int64{"short": 100 / nights, "long": 10_000 / nights} {
					from := start + i*day
					for k := range n {
						text += fmt.Sprintf("%s,%d,p,%d\n", user, from+k*(day/n), k)
					}
				}
				h.deliver(t, fmt.Sprintf("%s/play.csv", first+behaviour.Date(i)), []byte(text))
			}
			h.deliver(t, first.String()+"/order.csv", []byte(fmt.Sprintf("user_id,time,product\nshort,%d,a\nlong,%d,a\n", start, start+1)))
			for i := range nights {
				h.load(t, behaviour.Span{From: first + behaviour.Date(i), To: first + behaviour.Date(i)})
			}
			at := start + nights*day
			for what, c := range map[string]struct {
				show.Config
				events, most int
			}{
				"latest":           {show.Config{Latest: latest}, latest, 4 * latest},
				"latest of a type": {show.Config{Latest: latest, Types: []string{"play"}}, latest, 10 * latest},
				"a rare type":      {show.Config{Latest: latest, Types: []string{"order"}}, 1, 4000},
				"no such type":     {show.Config{Latest: latest, Types: []string{"login"}}, 0, 10 * latest},
				"at":               {show.Config{At: &at, Types: []string{"play"}}, 1, 4 * latest},
				"at the end":       {show.Config{At: &at, Types: []string{"play", "order", "login"}}, 2, 4000},
			} {
				for _, user := range []string{"short", "long"} {
					s := &spy{Loader: h.open(t)}
					c.Table, c.User = s, user
					var g gatherer
					if _, _, err := show.Page(t.Context(), c.Config, &g); err != nil || len(g.rows) != c.events {
						t.Fatalf("%s, %s: %d events, %v; want %d", what, user, len(g.rows), err, c.events)
					}
					t.Logf("%s, %s: %d cells by %d reads", what, user, s.cells, len(s.spans))
					if s.cells > c.most {
						t.Errorf("%s, %s: %d cells were read, want at most %d", what, user, s.cells, c.most)
					}
				}
			}
		})
	}
}
