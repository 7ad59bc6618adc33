// Package explain estimates the cost of an extract before it reads a row, and reports which plan
// it uses and why.
package explain

import (
	"cmp"
	"context"
	"fmt"

	"github.com/dustin/go-humanize"
	"github.com/dustin/go-humanize/english"

	"usertrail/internal/extract"
	"usertrail/internal/extract/estimate"
	"usertrail/internal/extract/facts"
	"usertrail/internal/extract/judge"
	"usertrail/internal/extract/notes"
	"usertrail/internal/extract/output"
	"usertrail/internal/run/outcome"
	"usertrail/internal/run/quantity"
	"usertrail/internal/table"
	"usertrail/internal/table/fetch"
)

// An Explanation estimates the cost of a query.
type Explanation struct {
	Users   int64          `json:"users"` // on the list; for all users, the same as Found
	Found   int64          `json:"found"` // with a row of any requested behaviour, as far as the rolls show it
	May     int64          `json:"may"`   // who may be active
	Exact   bool           `json:"exact"` // the counts are exact, by the rolls; otherwise they are guesses, or too large
	Rolls   estimate.Rolls `json:"rolls"`
	Regions int            `json:"regions"`           // of the table
	Sampled int            `json:"sampled,omitempty"` // regions that were read, if not all of them

	Layout string          `json:"layout"`
	Pushed []string        `json:"pushed"` // what the servers leave out
	Plans  []estimate.Plan `json:"plans"`
	Chosen int             `json:"chosen"` // index in Plans
	Files  int64           `json:"files"`  // of the result, about
	Why    []string        `json:"why"`
	Logs   estimate.Logs   `json:"logs"`
	Notes  []string        `json:"notes,omitempty"`
}

// Counted implements outcome.Result.
func (x Explanation) Counted() outcome.Counts {
	return outcome.Counts{outcome.Users: float64(x.Users), outcome.Found: float64(x.Found), outcome.Files: float64(x.Files)}
}

// None returns an Explanation with empty lists.
func None() Explanation {
	return Explanation{Pushed: []string{}, Plans: []estimate.Plan{}, Why: []string{}}
}

// A survey counts users by the rolls.
type survey struct {
	*extract.Extract
	regions int // of the table
	sampled int // regions that were read
	there   judge.Census
	found   judge.Census // who did any behaviour that makes a user active; those who may stay are in Extract.Census
}

// Estimate estimates the cost of the query of c to the table t, which was opened for loading. It reads the rolls, the ledgers and the places of regions, and no row. It uses the
// fields of c that decide the result and how the extract is done. It ignores c.Known, and uses
// c.Table only to learn whether the extract uses the rolls.
func Estimate(ctx context.Context, c extract.Config, t table.Loader) (Explanation, error) {
	unrolled := table.IsUnrolled(c.Table)
	c.Table, c.Known = t, nil
	e := None()
	x, err := extract.Prepare(ctx, &c)
	if err != nil {
		return e, err
	}
	s := &survey{Extract: x}
	if err := s.count(ctx); err != nil {
		return e, err
	}
	r, err := record(ctx, t, s.Query)
	if err != nil {
		return e, fmt.Errorf("read the days of the table: %w", err)
	}
	f, err := s.facts(unrolled, r)
	if err != nil {
		return e, err
	}
	e.fill(s, f, r)
	e.Notes, err = s.remarks(ctx, t, &e)
	return e, err
}

// facts returns the facts of the query with the counts of the survey.
func (s *survey) facts(unrolled bool, r *recorded) (*facts.Facts, error) {
	q := s.Query
	f, err := s.Facts()
	if err != nil {
		return nil, err
	}
	times := s.times()
	people, daily := s.Census.Counted()
	f.Settle(people.Times(times), daily)
	if f.Rolls == estimate.Known {
		there, _ := s.there.Counted()
		found, _ := s.found.Counted()
		f.There, f.Found = there.Times(times), found.Times(times)
		if unrolled {
			f.Rolls = estimate.Off
		}
	}
	where, err := fetch.NewWhere(q.Info.Layout, q.Info.Schema, q.Want, s.Plan)
	if err != nil {
		return nil, err
	}
	auto := fetch.Scan
	if where.Gets() {
		auto = fetch.Get
	}
	f.Detail(r.sums)
	f.Whole = (f.Rolls != estimate.Known || s.Census.Unsure()) && !q.Users.IsAll()
	f.Regions, f.Asked, f.Auto = int64(s.regions), string(cmp.Or(s.Plan, fetch.Auto)), string(auto)
	return f, nil
}

// fill sets all fields of e except its notes.
func (e *Explanation) fill(s *survey, f *facts.Facts, r *recorded) {
	q := s.Query
	e.Regions = s.regions
	if s.sampled < s.regions {
		e.Sampled = s.sampled
	}
	e.Rolls, e.Found, e.May, e.Users = f.Rolls, f.Found.Users, f.Stay.Users, f.Listed
	if q.Users.IsAll() {
		e.Users = e.Found
	}
	_, daily := s.Census.Counted()
	e.Exact = daily && !s.Census.Unsure() && e.Sampled == 0
	e.Plans = f.Plans()
	e.Chosen, e.Why = f.Choose(e.Plans)
	e.Layout, e.Pushed = f.Name, f.Pushed(&e.Plans[e.Chosen])
	e.Logs = r.logs
	if reason := e.Logs.Compare(&e.Plans[e.Chosen]); reason != "" {
		e.Why = append(e.Why, reason)
	}
	if q.Output.Partition == "" {
		e.Files = output.Files(e.Plans[e.Chosen].Behaviours, 0, s.Sizes)
		return
	}
	values := r.partitions()
	e.Files = output.Files(e.Plans[e.Chosen].Behaviours, values, s.Sizes)
	e.Why = append(e.Why, fmt.Sprintf("--partition-by %s writes the result to about %s in %s.",
		q.Output.Partition, quantity.Of(e.Files, "file"), quantity.Of(values, "directory")))
}

// remarks returns notes about the estimate, and about a query that no user matches.
func (s *survey) remarks(ctx context.Context, t table.Loader, x *Explanation) ([]string, error) {
	known := table.Known(t)
	var out []string
	if x.Sampled > 0 {
		out = append(out, fmt.Sprintf("of %d regions only %d %s sampled: the numbers of users are multiplied by %.3g", x.Regions, x.Sampled, english.PluralWord(x.Sampled, "was", "were"), float64(x.Regions)/float64(x.Sampled)))
	}
	switch {
	case known == nil || len(known.Files) == 0:
		out = append(out, "the content of the table is not known, because its catalog lists no files: all figures except the calls are guesses")
	case x.Rolls == estimate.Unknown:
		out = append(out, "only the rows show which users exist: the estimate assumes that they are like the users of the largest load of these days")
	case !x.Exact && x.Sampled == 0:
		out = append(out, "some rows may have expired, or belong to a load that has not ended: there may be fewer users")
	}
	if x.Rolls == estimate.Unknown || x.May > 0 {
		return out, nil
	}
	// No user is in the result, for certain.
	more, err := notes.For(ctx, t, *s.Config, extract.Result{Users: x.Users, Found: x.Found})
	if err != nil {
		return nil, err
	}
	return append(out, more...), nil
}

// String describes in words how many users would be read.
func (x *Explanation) String() string {
	about := ""
	if !x.Exact {
		about = "about "
	}
	return fmt.Sprintf("asked %s: %s%s did any of --types, and %s%s may be active", quantity.Of(x.Users, "user"), about,
		humanize.Comma(x.Found), about, humanize.Comma(x.May))
}
