package extract

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"
	"golang.org/x/sync/errgroup"

	"usertrail/internal/behaviour"
	"usertrail/internal/extract/estimate"
	"usertrail/internal/format/manifest"
	"usertrail/internal/format/trailfile"
	"usertrail/internal/run/outcome"
	"usertrail/internal/split"
	"usertrail/internal/table"
	"usertrail/internal/table/fetch"
)

// mostRolled is how many users of rolls are walked over, all rolls counted by
// themselves, before a question for all users is settled in some of the regions only.
const mostRolled = 8 << 20

// An Explanation estimates the cost of a query.
type Explanation struct {
	Users   int64          `json:"users"` // asked; of all, those found
	Found   int64          `json:"found"` // with a row of any asked behaviour, as far as rolls tell
	May     int64          `json:"may"`   // who may be active
	Exact   bool           `json:"exact"` // the rolls know who is; else these are guesses, or too many
	Rolls   estimate.Rolls `json:"rolls"`
	Regions int            `json:"regions"`           // of the table
	Sampled int            `json:"sampled,omitempty"` // regions that were looked at, if not all of them

	Layout string          `json:"layout"`
	Pushed []string        `json:"pushed"` // what is left out where the table lies
	Plans  []estimate.Plan `json:"plans"`
	Chosen int             `json:"chosen"` // index in Plans
	Files  int64           `json:"files"`  // that the answer has, about
	Why    []string        `json:"why"`
	Logs   estimate.Logs   `json:"logs"`
	Notes  []string        `json:"notes,omitempty"`
}

// Counted implements outcome.Result.
func (x Explanation) Counted() outcome.Counts {
	return outcome.Counts{outcome.Users: float64(x.Users), outcome.Found: float64(x.Found), outcome.Files: float64(x.Files)}
}

// NoExplanation returns an Explanation with empty lists.
func NoExplanation() Explanation {
	return Explanation{Pushed: []string{}, Plans: []estimate.Plan{}, Why: []string{}}
}

// Explain estimates what it takes to answer the query of c about the table t, which was
// opened to load into. It reads the rolls, the ledgers and the places of regions, and no
// row. It uses the fields of c that decide the result and how the extract is done. It
// ignores c.Known, and uses c.Table only to learn whether the extract uses the rolls.
func Explain(ctx context.Context, c Config, t table.Loader) (Explanation, error) {
	unrolled := table.IsUnrolled(c.Table)
	c.Table = t
	x := NoExplanation()
	q, err := newQuestion(&c)
	if err != nil {
		return x, err
	}
	there, found, err := q.survey(ctx, &x)
	if err != nil {
		return x, err
	}
	known := table.Known(t)
	f := q.facts(known)
	if f.Rolls == estimate.Known {
		f.There, f.Found = there, found
		if unrolled {
			f.Rolls = estimate.Off
		}
	}
	where, err := fetch.NewWhere(q.info.Layout, q.info.Schema, q.want, c.Plan)
	if err != nil {
		return x, err
	}
	auto := fetch.Scan
	if where.Gets() {
		auto = fetch.Get
	}
	ledgers, err := t.Ledgers(ctx)
	if err != nil {
		return x, fmt.Errorf("look for what the table has: %w", err)
	}
	q.detail(&f.Facts, ledgers)
	f.Whole = (f.Rolls != estimate.Known || q.census.unsure) && !q.users.IsAll()
	f.Regions, f.Asked, f.Auto = int64(x.Regions), string(cmp.Or(c.Plan, fetch.Auto)), string(auto)
	x.Rolls, x.Found, x.May, x.Users = f.Rolls, f.Found.Users, f.Stay.Users, f.Listed
	if q.users.IsAll() {
		x.Users = x.Found
	}
	x.Exact = q.census.daily && !q.census.unsure && x.Sampled == 0
	x.Plans = f.Plans()
	x.Chosen, x.Why = f.Choose(x.Plans)
	x.Layout, x.Pushed = f.Name, f.Pushed(&x.Plans[x.Chosen])
	x.Logs = q.logs(ledgers)
	if said := x.Logs.Compare(&x.Plans[x.Chosen]); said != "" {
		x.Why = append(x.Why, said)
	}
	x.Files = q.filesOf(x.Plans[x.Chosen].Behaviours, ledgers)
	if q.output.Partition != "" {
		x.Why = append(x.Why, fmt.Sprintf("--partition-by %s lays the result into about %s files in %s directories.",
			q.output.Partition, humanize.Comma(x.Files), humanize.Comma(q.values(ledgers))))
	}
	x.Notes, err = q.remarks(ctx, &c, t, &x, known)
	return x, err
}

// survey settles who may be active, as an extract does, and counts these users. there counts
// all users of the table, and found counts the users that the extract finds. Without rolls
// survey counts no user.
func (q *question) survey(ctx context.Context, x *Explanation) (there, found estimate.People, err error) {
	regions, err := table.UserRegions(ctx, q.table)
	if err != nil {
		return there, found, err
	}
	x.Regions = len(regions)
	some := q.sample(regions)
	if len(some) < len(regions) {
		x.Sampled = len(some)
	}
	everybody, doers := census{read: q.census.read}, census{read: q.census.read}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(q.workers)
	for _, r := range some {
		g.Go(func() error { return q.surveyRegion(ctx, r, &everybody, &doers) })
	}
	if err := g.Wait(); err != nil {
		return there, found, err
	}
	times := float64(len(regions)) / float64(max(len(some), 1))
	q.census.people = q.census.people.Times(times)
	return everybody.people.Times(times), doers.people.Times(times), nil
}

// sample are the regions that are looked at: every so many, where a question for all
// users would walk over more than mostRolled.
func (q *question) sample(regions []split.Region) []split.Region {
	known := table.Known(q.table)
	if !q.users.IsAll() || known == nil {
		return regions
	}
	var users int64
	for i := range known.Files {
		if known.Files[i].Span.Overlaps(q.span) {
			users += known.Files[i].Users
		}
	}
	step := min(int(users/mostRolled)+1, len(regions))
	var some []split.Region
	for i := step / 2; i < len(regions); i += max(step, 1) {
		some = append(some, regions[i])
	}
	return some
}

// surveyRegion counts the users of one region: all users, those who did any of the
// behaviours that make a user active, and those who may stay. If the list of users is empty,
// it only finds out whether there are rolls.
func (q *question) surveyRegion(ctx context.Context, r split.Region, everybody, doers *census) error {
	from, to := q.users.Within(r)
	if !q.users.IsAll() && from == to && q.users.Len() > 0 {
		return nil
	}
	users, err := q.table.Users(ctx, r, q.span)
	if err != nil {
		return err
	}
	defer users.Close()
	if _, ok := users.(table.Daily); !ok {
		return nil // only the rows know
	}
	all, found, stay := everybody.region(users), doers.region(users), q.census.region(users)
	var c counts
	err = q.eachUser(users, from, to, func(u table.User) error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		all.count(&u)
		if u.Did&q.rule.Asked != 0 {
			found.count(&u)
		}
		if q.mayStay(u, &c) {
			stay.count(&u)
		}
		return nil
	})
	all.end()
	found.end()
	stay.end()
	return err
}

// filesOf estimates the number of files of a result with the given number of behaviours.
func (q *question) filesOf(behaviours int64, ledgers []*manifest.Load) int64 {
	if q.output.Partition == "" {
		return max(1, ceil(behaviours, int64(partEvents)))
	}
	values := q.values(ledgers)
	return values * ceil(behaviours, int64(partEvents)*max(1, min(values, mostTogether)))
}

func ceil(n, by int64) int64 { return (n + by - 1) / by }

// values is how many values the column has that partitions the answer: days and
// behaviours that loads brought, or all that are asked for where no ledger tells.
func (q *question) values(ledgers []*manifest.Load) int64 {
	byDate := q.output.Partition == trailfile.DateColumn
	have := map[int32]bool{}
	for _, l := range ledgers {
		for _, d := range l.Days {
			k, ok := q.info.Schema.Kind(d.Behaviour)
			switch {
			case !ok || d.Records == 0 || !slices.Contains(q.kinds, k) || !q.span.Has(d.Date):
			case byDate:
				have[int32(d.Date)] = true
			default:
				have[int32(k)] = true
			}
		}
	}
	switch {
	case len(ledgers) > 0:
		return int64(len(have))
	case byDate:
		return int64(q.span.Days())
	}
	return int64(len(q.kinds))
}

// compressed are the endings of delivered files that are.
var compressed = regexp.MustCompile(`\.(gz|zst|bz2)$`)

// pathDate finds dates in the paths of delivered files.
var pathDate = regexp.MustCompile(`(\d{4})[-_/]?(\d{2})[-_/]?(\d{2})`)

// logs returns the delivered files that may hold records of the query. It compares the date
// in a file's path with the span. If the path has no date, it uses the days of the file's load.
func (q *question) logs(ledgers []*manifest.Load) estimate.Logs {
	var logs estimate.Logs
	wanted := map[string]bool{}
	for _, k := range q.want.Kinds {
		wanted[q.info.Schema.Kinds[k].Name] = true
	}
	for _, l := range ledgers {
		some := false
		for _, d := range l.Days {
			some = some || wanted[d.Behaviour] && q.span.Has(d.Date)
		}
		for i := range l.Inputs {
			in := &l.Inputs[i]
			date, dated := dateOf(in.Path)
			switch {
			case in.SameAs != "" || in.Offsets != nil || in.Behaviour != "" && !wanted[in.Behaviour]:
			case dated && !q.span.Has(date) || !dated && !some:
			default:
				logs.Add(in.Size, compressed.MatchString(in.Path))
			}
		}
	}
	return logs
}

func dateOf(path string) (behaviour.Date, bool) {
	for _, m := range pathDate.FindAllStringSubmatch(path, -1) {
		if d, err := behaviour.ParseDate(strings.Join(m[1:], "-")); err == nil {
			return d, true
		}
	}
	return 0, false
}

// remarks returns notes about the estimate, and about a query that no user matches.
func (q *question) remarks(ctx context.Context, c *Config, t table.Loader, x *Explanation, known *manifest.Table) ([]string, error) {
	var notes []string
	if x.Sampled > 0 {
		notes = append(notes, fmt.Sprintf("only %d of the %d regions were looked at: users are those times %.3g", x.Sampled, x.Regions, float64(x.Regions)/float64(x.Sampled)))
	}
	switch {
	case known == nil || len(known.Files) == 0:
		notes = append(notes, "nothing is known of what the table holds: no load of it is told of, and all but the calls are guesses")
	case x.Rolls == estimate.Unknown:
		notes = append(notes, "who has rows only the rows tell: users are taken to be like those of the largest load of these days")
	case !x.Exact && x.Sampled == 0:
		notes = append(notes, "some rows may be gone by their age, or be of a load that has not ended: there may be fewer users")
	}
	if x.Rolls == estimate.Unknown || x.May > 0 {
		return notes, nil
	}
	// Nobody comes out, for certain; what there is instead Notes says.
	more, err := Notes(ctx, t, *c, Result{Users: x.Users, Found: x.Found})
	if err != nil {
		return nil, err
	}
	return append(notes, more...), nil
}

// String says in words who would be read.
func (x *Explanation) String() string {
	about := ""
	if !x.Exact {
		about = "about "
	}
	return fmt.Sprintf("asked %s users, of whom %s%s did any of --types and %s%s may be active", humanize.Comma(x.Users), about,
		humanize.Comma(x.Found), about, humanize.Comma(x.May))
}
