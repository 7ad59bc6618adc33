package extract

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"usertrail/internal/activity"
	"usertrail/internal/behaviour"
	"usertrail/internal/extract/condition"
	"usertrail/internal/extract/footprint"
	"usertrail/internal/extract/userlist"
	"usertrail/internal/format/layout"
	"usertrail/internal/format/manifest"
	"usertrail/internal/format/trailfile"
	"usertrail/internal/run/exit"
	"usertrail/internal/table"
	"usertrail/internal/table/fetch"
)

// ErrQuestion is wrapped if another try of the same command cannot succeed: an unknown behaviour, a wrong
// rule, a condition that does not parse.
var ErrQuestion = exit.New(exit.Usage, "wrong question")

// EveryType, as Config.Types, means all behaviours of a table.
const EveryType = "all"

// Conditions decide which active users stay, and which events of their trails are in the result. The
// zero value keeps everything. The conditions apply to a user in this order:
//
//	Active, Without     judge the user by all events in the span; with WhereFirst
//	                    Active judges the events that Where and Hours keep
//	Where, Hours        keep events
//	Having, Sequence    keep the user, by the events that were kept
//	Types               removes events that were kept only for Having and Sequence
//	Context             adds so many events before and after each remaining event
//	At                  keeps, for each type, the last event at or before that time
//	Latest              keeps the last so many events
//
// A user without remaining events is not in the result.
type Conditions struct {
	Where      string // of package condition
	WhereFirst bool
	Having     string
	Sequence   string
	Without    []string // behaviours
	Fields     []string // BEHAVIOUR.FIELD or FIELD; all
	Hours      string   // FROM-TO, of the local day
	Context    int
	At         *int64 // microseconds since 1970-01-01 UTC
	Latest     int
}

// question is a Config that was checked against its table.
type question struct {
	table          table.Table
	info           table.Info
	users          *userlist.List
	span           behaviour.Span
	kinds          []int // of the result, in order of behaviour ID
	rule           activity.Rule
	active         string
	asked          Conditions
	where          *condition.Where
	having         *condition.Having
	steps          *condition.Sequence
	without        activity.Set
	hours          hours
	fields         [][]bool // by kind: which fields are in the result
	output         Output
	schema         trailfile.Schema // of the result
	want           layout.Want
	window         window
	footprint      footprint.Footprint
	bounds         footprint.Bounds
	workers        int
	userBatchBytes int    // the largest trails of a batch
	userBytes      int    // the largest trail of one user
	walkBytes      int64  // memory for users whose rows are not adjacent
	sortBytes      int64  // memory for sorting the files of directories
	strict         bool   // foreign cells end the extract
	after          []byte // key of the last user that an earlier run finished

	existence *existence // nil if it excludes no user
	screen    *screen    // nil if no user is screened
	whole     cost       // of users whose rows were read completely
	size      sizes
	fat       chan struct{} // holds one while a trail larger than userBatchBytes is held
	census    census        // of the users who may stay
	search    *search
}

func newQuestion(c *Config) (*question, error) {
	workers, err := c.workers()
	if err != nil {
		return nil, err
	}
	q := &question{
		table: c.Table, info: c.Table.Info(), users: c.Users, span: c.Span, active: c.Active, asked: c.Conditions, workers: workers,
		userBatchBytes: c.userBatchBytes(workers), userBytes: c.userBytes(), walkBytes: c.walkBytes(workers), sortBytes: c.sortMemory(),
		fat: make(chan struct{}, 1), strict: c.Strict,
	}
	if q.active == "" {
		q.active = "all"
	}
	if c.Span.From > c.Span.To {
		return nil, fmt.Errorf("%w: --from %s comes after --to %s", ErrQuestion, c.Span.From, c.Span.To)
	}
	if len(c.Types) == 0 {
		return nil, fmt.Errorf("%w: --types names no behaviour; the table has %s; all is every one of them", ErrQuestion, strings.Join(q.info.Schema.Names(), ", "))
	}
	if _, named := q.info.Schema.Kind(EveryType); !named && len(c.Types) > 1 && slices.Contains(c.Types, EveryType) {
		return nil, fmt.Errorf("%w: --types: all is every behaviour of the table and stands alone: write --types all, or leave all out", ErrQuestion)
	}
	if q.kinds, err = q.info.Schema.Select(q.types(c.Types)); err != nil {
		return nil, fmt.Errorf("%w: --types: the table has %w", ErrQuestion, err)
	}
	if q.rule, err = activity.Parse(q.active, activity.Of(q.kinds...)); err != nil {
		return nil, fmt.Errorf("%w: --active %w", ErrQuestion, err)
	}
	if err := q.parse(&c.Conditions); err != nil {
		return nil, err
	}
	if err := q.shape(c.Output); err != nil {
		return nil, err
	}
	q.want = q.reads()
	if _, err := fetch.NewWhere(q.info.Layout, q.info.Schema, q.want, c.Plan); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrQuestion, err)
	}
	if q.window, err = q.windowOf(); err != nil {
		return nil, err
	}
	q.footprint = footprint.Of(q.info.Layout, q.info.Schema)
	if q.bounds, err = footprint.BoundsOf(q.info.Layout, q.info.Schema, q.window.of(q.want)); err != nil {
		return nil, err
	}
	q.existence, q.screen, q.search = newExistence(q), newScreen(q), newSearch(q.users)
	q.census.read = activity.Of(q.want.Kinds...)
	return q, nil
}

// types returns the behaviours of --types. "all" means every behaviour, unless one has that name.
func (q *question) types(names []string) []string {
	if _, ok := q.info.Schema.Kind(EveryType); len(names) != 1 || names[0] != EveryType || ok {
		return names
	}
	return q.info.Schema.Names()
}

// parse checks the conditions against the table's schema.
func (q *question) parse(c *Conditions) (err error) {
	s := q.info.Schema
	flag := func(name string) {
		if err != nil {
			err = fmt.Errorf("%w: --%s: %w", ErrQuestion, name, err)
		}
	}
	if c.Where != "" {
		if q.where, err = condition.ParseWhere(c.Where, s); err != nil {
			flag("where")
			return err
		}
		if q.where.Kinds() == 0 {
			return fmt.Errorf("%w: --where %s can keep nothing: it is false of every behaviour; a behaviour has the fields of its own kind alone, so write || between those of two", ErrQuestion, c.Where)
		}
	}
	if c.Having != "" {
		if q.having, err = condition.ParseHaving(c.Having, s); err != nil {
			flag("having")
			return err
		}
	}
	if c.Sequence != "" {
		if q.steps, err = condition.ParseSequence(c.Sequence, s); err != nil {
			flag("sequence")
			return err
		}
	}
	if q.hours, err = parseHours(c.Hours, s.Zone); err != nil {
		flag("hours")
		return err
	}
	if len(c.Without) > 0 {
		without, err := s.Select(c.Without)
		if err != nil {
			return fmt.Errorf("%w: --without: the table has %w", ErrQuestion, err)
		}
		q.without = activity.Of(without...)
	}
	if c.WhereFirst && q.where == nil && !q.hours.some {
		return fmt.Errorf("%w: --where-first: there is neither --where nor --hours", ErrQuestion)
	}
	if c.Context > 0 && q.where == nil && !q.hours.some {
		return fmt.Errorf("%w: --context: there is neither --where nor --hours, so nothing is left out", ErrQuestion)
	}
	if c.Context < 0 || c.Latest < 0 {
		return fmt.Errorf("%w: --context and --latest are numbers of behaviours, at least 0", ErrQuestion)
	}
	q.fields, err = fieldsOf(s, q.kinds, c.Fields)
	return err
}

// fieldsOf returns the fields of some kinds that --fields names: all, if it names none.
func fieldsOf(s *behaviour.Schema, kinds []int, names []string) ([][]bool, error) {
	chosen, unknown, ok := s.Choose(kinds, names)
	if !ok {
		have := cmp.Or(strings.Join(s.FieldNames(kinds), ", "), "none at all")
		return nil, fmt.Errorf("%w: --fields: none of --types has the field %q; they have %s", ErrQuestion, unknown, have)
	}
	return chosen, nil
}

// conditional reports whether there are conditions besides Active.
func (q *question) conditional() bool {
	return q.where != nil || q.having != nil || q.steps != nil || q.without != 0 || q.hours.some || q.asked.At != nil || q.asked.Latest > 0
}

// judges returns the columns that are needed to judge users. They are the behaviours of Active, if it is
// not settled before, and the behaviours of Having and Sequence, with the fields that conditions name.
// Other behaviours that Where keeps are not needed.
func (q *question) judges() layout.Want {
	s := q.info.Schema
	var kinds activity.Set
	switch {
	case !q.info.Sealed:
		kinds = q.rule.Asked | q.without
	case q.asked.WhereFirst:
		kinds = q.rule.Asked
	}
	var refs []condition.Refs
	if q.having != nil {
		refs = append(refs, q.having.Refs())
	}
	if q.steps != nil {
		refs = append(refs, q.steps.Refs())
	}
	for _, r := range refs {
		kinds |= r.Kinds
	}
	if q.where != nil {
		refs = append(refs, q.where.Refs())
	}
	w := layout.Want{Span: q.span, Fields: make([][]bool, len(s.Kinds))}
	for k := range s.Kinds {
		if kinds.Has(k) {
			w.Kinds = append(w.Kinds, k)
		}
		w.Fields[k] = make([]bool, len(s.Kinds[k].Fields))
		for _, r := range refs {
			for i, read := range r.Fields[k] {
				w.Fields[k][i] = w.Fields[k][i] || read
			}
		}
	}
	return w
}

// reads returns all columns to read: the columns that judge users and the columns of the result.
func (q *question) reads() layout.Want {
	w := q.judges()
	out := q.rule.Asked
	if q.where != nil && q.asked.Context == 0 {
		out &= q.where.Kinds()
	}
	for k := range q.info.Schema.Kinds {
		if out.Has(k) && !slices.Contains(w.Kinds, k) {
			w.Kinds = append(w.Kinds, k)
		}
	}
	slices.Sort(w.Kinds)
	for k := range w.Fields {
		for i := range w.Fields[k] {
			w.Fields[k][i] = w.Fields[k][i] || q.fields[k][i]
		}
	}
	return w
}

// columns returns the fields of the result, each name once.
func (q *question) columns() []behaviour.Field {
	s := q.info.Schema
	var out []behaviour.Field
	for _, f := range s.Columns(q.kinds) {
		if slices.ContainsFunc(q.kinds, func(k int) bool {
			i := slices.Index(s.Kinds[k].Fields, f)
			return i >= 0 && q.fields[k][i]
		}) {
			out = append(out, f)
		}
	}
	return out
}

// funnel returns the steps of the sequence.
func (q *question) funnel() []manifest.Step {
	if q.steps == nil {
		return nil
	}
	var out []manifest.Step
	for _, s := range q.steps.Steps() {
		step := manifest.Step{Behaviour: q.info.Schema.Kinds[s.Kind].Name}
		if s.Within > 0 {
			step.Within = s.Within.String()
		}
		out = append(out, step)
	}
	return out
}

// names returns the requested behaviours, in order of behaviour ID.
func (q *question) names() []string { return q.namesOf(q.kinds) }

func (q *question) namesOf(kinds []int) []string {
	var names []string
	for _, k := range kinds {
		names = append(names, q.info.Schema.Kinds[k].Name)
	}
	return names
}

// manifest returns the query for the manifest of the result.
func (q *question) manifest() manifest.Question {
	c := q.asked
	m := manifest.Question{
		Span: q.span, Types: q.names(), Active: q.active, Users: q.users.Digest(), Format: string(q.output.Format), PartitionBy: q.output.Partition,
		Where: c.Where, WhereFirst: c.WhereFirst, Having: c.Having, Sequence: c.Sequence, Without: c.Without,
		Fields: c.Fields, Hours: c.Hours, Context: c.Context, At: c.At, Latest: c.Latest,
	}
	if q.output.Shape != trailfile.LongShape {
		m.Shape = string(q.output.Shape)
	}
	return m
}
