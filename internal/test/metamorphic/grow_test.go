package metamorphic_test

import (
	"encoding/json"
	"errors"
	"fmt"
	iofs "io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"usertrail/internal/run/breakpoint"
)

// A growing is a result to which extracts were appended.
type growing struct {
	step    Step       // of the first extract
	query   string     // of step, see table.query
	asked   string     // the users of step, see table.askedFor
	columns string     // of the table at the last extract
	parts   []appended // in order of their dates
	killed  *appended  // of a killed extract; the next one finishes it if it was decided
	decided *result    // of the killed extract, if it was decided and not the first
}

// An appended is one extract of a growing result.
type appended struct {
	from, until string
	events      []event
}

// span returns the dates of p.
func (p *appended) span() string { return p.from + ".." + p.until }

// query returns what must be the same in each extract of a growing result, apart from the users. The order of types
// makes no difference.
func (t *table) query(s *Step) string {
	return fmt.Sprint(s.Table, slices.Sorted(slices.Values(s.Types)), s.Active, s.Format, s.Conditions.flags())
}

// askedFor returns the users of a query, in order. A sample is the list of the users that it chooses, by the dates of the
// first extract.
func (t *table) askedFor(s *Step) string {
	asked, listed := t.asked(s)
	if !listed {
		return "all"
	}
	return fmt.Sprintf("%q", slices.Sorted(slices.Values(asked)))
}

// columnsOf returns a text that changes if the columns of a result change. It may change although they
// do not.
func (t *table) columnsOf() string { return fmt.Sprint(t.kinds, t.zone) }

// mayMiss reports whether t may lack a day of the step's dates.
func (t *table) mayMiss(s *Step) bool {
	return slices.ContainsFunc(days, func(day string) bool {
		return s.From <= day && day <= s.Until && (day < t.dropped || !slices.ContainsFunc(t.entries, func(e entry) bool {
			return dateOf(e.path) == day && e.lines == nil && e.covers(&part{from: day, until: day, kinds: s.Types})
		}))
	})
}

// covers reports whether a load of the file shows that the table has one of the behaviours of p. A load without a
// part reads the whole file, which has one behaviour.
func (e *entry) covers(p *part) bool {
	if e.part == nil {
		return slices.Contains(p.kinds, kindOf(e.path))
	}
	return e.part.covers(p)
}

// expected returns the statuses with which an append may end.
func (g *growing) expected(s *Step, t *table) []int {
	out := []int{0}
	if g != nil {
		all := g.parts
		if g.killed != nil {
			all = append(slices.Clone(all), *g.killed)
		}
		switch others := g.asked != t.askedFor(s); {
		case g.query != t.query(s), others && s.sampledBy == nil:
			out = []int{73}
		case g.finishes(s):
			out = []int{0, 99} // a plan finishes it, too
		case slices.ContainsFunc(g.parts, func(p appended) bool { return p.from == s.From && p.until == s.Until }):
			out = []int{99}
		case slices.ContainsFunc(g.parts, func(p appended) bool { return p.from <= s.Until && s.From <= p.until }):
			out = []int{73}
		case slices.ContainsFunc(all, func(p appended) bool { return p.from <= s.Until && s.From <= p.until }):
			out = []int{0, 73, 99}
		case others: // the records by which the sample was chosen have changed
			out = []int{73}
		}
		if g.columns != t.columnsOf() {
			out = append(out, 73)
		}
		if len(g.parts) == 0 { // the killed extract was the first
			out = []int{0, 73, 99}
		}
	}
	if t.mayMiss(s) {
		out = append(out, 66)
	}
	return out
}

// finishes reports whether an append of a step's dates was killed when it was decided.
func (g *growing) finishes(s *Step) bool {
	return g != nil && g.decided != nil && g.killed != nil && g.killed.from == s.From && g.killed.until == s.Until
}

// grow appends the days of a step to a result, by one process or, with --piece-size, by pieces.
func (x *run) grow(s *Step) error {
	t := x.table(s.Table)
	if t == nil || x.inHBase(s.Table) || s.Conditions.wrong(t) || slices.ContainsFunc(s.Types, func(k string) bool { return !slices.Contains(t.names(), k) }) {
		return nil
	}
	args, err := x.query(s)
	if err != nil {
		return err
	}
	have, err := x.spansIn(s.Out)
	if err != nil {
		return err
	}
	if g := x.grown[s.Out]; g != nil && len(have) > 0 && s.Sample != nil && g.step.Sample != nil && *g.step.Sample == *s.Sample {
		by := *s
		by.sampledBy = &g.step
		s = &by
	}
	want, g := t.extract(s), x.grown[s.Out]
	statuses := g.expected(s, t)
	if g.finishes(s) && g.query == t.query(s) {
		want = *g.decided
	}
	run := x.growAtOnce
	if slices.Contains(s.Flags, "--piece-size") {
		run = x.growByPieces
	}
	status, err := run(s, append(args, "--append"), statuses, want)
	if err != nil {
		return fmt.Errorf("extract --append --out %s: %w", s.Out, err)
	}
	return x.compareGrown(s, status, want)
}

// growAtOnce appends by one process, and returns its status.
func (x *run) growAtOnce(s *Step, args []string, statuses []int, want result) (int, error) {
	got, err := x.command(s, "extract", "", args...)
	if err != nil || got.Status == killed {
		return got.Status, err
	}
	if err := got.want(statuses); err != nil || got.Status != 0 {
		return got.Status, err
	}
	return 0, x.compareResult(s, got, want)
}

// growByPieces appends by pieces, and returns the status of the last command. A killed piece runs again,
// and a killed commit does not.
func (x *run) growByPieces(s *Step, args []string, statuses []int, want result) (int, error) {
	stop, inCommit := *s, *s
	for _, step := range []string{breakpoint.Publish, breakpoint.Moved} { // Publish begins Published, too
		if strings.HasPrefix(s.Stop, step) {
			stop.Stop = ""
		}
	}
	if stop.Stop != "" {
		inCommit.Stop = ""
	}
	planned := *s
	planned.Stop = ""
	x.shown = words("extract", slices.Concat([]string{"plan"}, args)) + " > pieces"
	plan, err := x.command(&planned, "extract", "", slices.Concat([]string{"plan"}, args)...)
	if err == nil {
		err = plan.want(statuses)
	}
	if err != nil || plan.Status != 0 {
		return plan.Status, err
	}
	lines := slices.Collect(strings.Lines(plan.Stdout))
	if err := x.runPieces(&stop, lines, append(slices.Clone(s.Order), upTo(len(lines))...), []int{0}); err != nil {
		return 0, err
	}
	x.shown = words("extract", []string{"commit", "--quiet", "--pieces", "pieces"})
	got, err := x.command(&inCommit, "extract", plan.Stdout, "commit", "--quiet")
	if err != nil || got.Status == killed {
		return got.Status, err
	}
	if err := got.want([]int{0}); err != nil {
		return 0, err
	}
	return 0, x.compareResult(s, got, want)
}

// compareGrown compares a growing result after a command with the appended extracts. want is the
// extract of the command.
func (x *run) compareGrown(s *Step, status int, want result) error {
	g := x.grown[s.Out]
	have, err := x.spansIn(s.Out)
	if err != nil {
		return err
	}
	if g == nil && (status == 0 || status == killed) {
		g = &growing{step: *s, query: x.table(s.Table).query(s), asked: x.table(s.Table).askedFor(s)}
		x.grown[s.Out] = g
	}
	if g == nil {
		return nil
	}
	added, had := appended{s.From, s.Until, want.events}, len(g.parts)
	if g.adopt(added, have, status) && len(g.parts) == 1 {
		g.step, g.query, g.asked = *s, x.table(s.Table).query(s), x.table(s.Table).askedFor(s)
	}
	var spans []string
	for _, p := range g.parts {
		spans = append(spans, p.span())
	}
	if !slices.Equal(have, spans) {
		return fmt.Errorf("%s has the extracts %q, want %q", s.Out, have, spans)
	}
	x.outs[s.Out] = len(have) > 0
	if status == killed {
		g.kill(s, added, had > 0, want)
		return nil
	}
	x.grownEnded(g, s, status)
	if g.killed != nil || len(have) == 0 {
		return nil
	}
	rows, err := rowsByDate(x.path(s.Out), g.step.Format)
	if err == nil {
		err = sameEvents(rows, g.events())
	}
	return wrapped("the grown result "+s.Out, err)
}

// adopt adds to g the extracts that a command has added: its own, and a killed one that it finished. have are the dates of the
// extracts of the result. It reports whether the command's own extract is in g.
func (g *growing) adopt(added appended, have []string, status int) bool {
	missing := func(p *appended) bool {
		return !slices.ContainsFunc(g.parts, func(o appended) bool { return o.span() == p.span() })
	}
	g.parts = slices.Clone(g.parts)
	if k := g.killed; k != nil && !(status == 0 && k.span() == added.span()) && slices.Contains(have, k.span()) && missing(k) {
		g.parts = append(g.parts, *k)
	}
	adds := status == 0 || status == killed && slices.Contains(have, added.span()) && missing(&added)
	if adds && missing(&added) {
		g.parts = append(g.parts, added)
	}
	slices.SortFunc(g.parts, func(a, b appended) int { return strings.Compare(a.from, b.from) })
	return adds
}

// kill records that the append of a step was killed. grew is set if the result existed before.
func (g *growing) kill(s *Step, added appended, grew bool, want result) {
	g.killed, g.decided = &added, nil
	if step, _, _ := strings.Cut(s.Stop, ":"); grew && slices.Contains([]string{breakpoint.Publish, breakpoint.Moved, breakpoint.Published}, step) {
		g.decided = &want
	}
}

// grownEnded records that an append ended with a status.
func (x *run) grownEnded(g *growing, s *Step, status int) {
	if status == 0 && !g.finishes(s) {
		g.columns = x.table(s.Table).columnsOf()
	}
	if slices.Contains([]int{0, 73, 99}, status) {
		g.killed, g.decided = nil, nil
	}
	if len(g.parts) == 0 {
		delete(x.grown, s.Out)
	}
}

// events returns the events of all extracts of g.
func (g *growing) events() (all []event) {
	for _, p := range g.parts {
		all = append(all, p.events...)
	}
	return all
}

// spansIn returns the dates of each extract of the result in a directory, none if there is no result.
func (x *run) spansIn(out string) (all []string, err error) {
	b, err := os.ReadFile(filepath.Join(x.path(out), "_manifest.json"))
	if errors.Is(err, iofs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	type span struct{ From, To string }
	var m struct {
		Query    struct{ Span span } `json:"question"`
		Appended []struct{ Span span }
	}
	if err := json.Unmarshal(b, &m); err != nil {
		return nil, err
	}
	for _, a := range m.Appended {
		all = append(all, a.Span.From+".."+a.Span.To)
	}
	if len(all) == 0 {
		all = []string{m.Query.Span.From + ".." + m.Query.Span.To}
	}
	return all, nil
}

// rowsByDate reads the parts of a result in directories of dates.
func rowsByDate(dir, format string) ([]row, error) {
	names, err := filepath.Glob(filepath.Join(dir, "date=*"))
	if err != nil {
		return nil, err
	}
	var out []row
	for _, name := range names {
		rows, err := rowsIn(name, format)
		if err != nil {
			return nil, err
		}
		for i := range rows {
			rows[i].date = strings.TrimPrefix(filepath.Base(name), "date=")
		}
		out = append(out, rows...)
	}
	return out, nil
}

// growResult generates an append to a result, mostly with the query of the result.
func (d *drawer) growResult() Step {
	s := Step{
		Do: "grow", Table: d.table(), Types: some(d.r, allKinds, 1+d.r.IntN(2)), Active: one(d.r, "any", "any", "all"),
		Format: one(d.r, "parquet", "csv", "jsonl"), Out: one(d.r, "grown0", "grown1"),
	}
	if t := d.m.table(s.Table); t != nil {
		s.Types = some(d.r, t.names(), 1+d.r.IntN(2))
	}
	if g := d.m.grown[s.Out]; g != nil && d.r.IntN(8) > 0 {
		was := g.step
		s.Table, s.Types, s.Active, s.Format, s.Users, s.Sample = was.Table, was.Types, was.Active, was.Format, was.Users, was.Sample
	} else if d.r.IntN(2) == 0 {
		s.Users = some(d.r, d.users, 1+d.r.IntN(4))
		d.sample(&s)
	}
	n := d.r.IntN(len(days))
	s.From, s.Until = days[n], days[min(n+d.r.IntN(2), len(days)-1)]
	s.Flags = []string{"--partition-by", "date"}
	if d.r.IntN(2) == 0 {
		s.Flags = append(s.Flags, "--piece-size", one(d.r, "1", "2", "1000"))
		for range d.r.IntN(4) {
			s.Order = append(s.Order, d.r.IntN(8))
		}
	}
	if d.r.IntN(4) == 0 {
		s.Stop = one(d.r, append(slices.Clone(extractSteps), breakpoint.Moved)...) + ":1"
	}
	return s
}
