// Package query parses the query of an extract, and checks it against the schema of its table:
// users, days, behaviours, conditions, and the form of the result. A Query also has the columns and
// the part of a trail that must be read.
package query

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"usertrail/internal/activity"
	"usertrail/internal/behaviour"
	"usertrail/internal/extract/condition"
	"usertrail/internal/extract/userlist"
	"usertrail/internal/format/layout"
	"usertrail/internal/format/manifest"
	"usertrail/internal/format/trailfile"
	"usertrail/internal/run/exit"
	"usertrail/internal/table"
)

// ErrWrong is wrapped if another try of the same command cannot succeed: an unknown behaviour, a wrong
// rule, a condition that does not parse.
var ErrWrong = exit.New(exit.Usage, "wrong query")

// EveryType, as Spec.Types, means all behaviours of a table.
const EveryType = "all"

// A Spec is a query as the user wrote it. The comments give the defaults of zero fields.
type Spec struct {
	Users  *userlist.List
	Sample *manifest.Sample // that chose Users; nil if none did
	Span   behaviour.Span
	Types  []string
	Active string // all, any or min:N; all
	Conditions
	Output
}

// A Query is a Spec that was checked against its table.
type Query struct {
	Info     table.Info
	Unrolled bool // the table is read without its rolls
	Pinned   bool // the version shows whether the table has changed; false if only other programs loaded it
	Users    *userlist.List
	Sample   *manifest.Sample // see Spec
	Span     behaviour.Span
	Kinds    []int // of the result, in order of behaviour ID
	Rule     activity.Rule
	Active   string // the text of Rule

	Conditions Conditions // the text of the conditions below
	Where      *condition.Where
	Having     *condition.Having
	Sequence   *condition.Sequence
	Without    activity.Set
	Hours      Hours

	Output Output
	Zone   *time.Location   // of the table; nil without local times
	Fields [][]bool         // by kind: which fields are in the result
	Wide   []string         // columns for each behaviour of a wide result, of trailfile.WideColumns
	Schema trailfile.Schema // of the result, with the column that partitions it

	Want   layout.Want // columns that are read
	Window Window      // events that are needed, of each user
}

// New checks a query to the table t. known is the manifest of the table, or nil. The error wraps
// ErrWrong, unless the table has an unknown zone.
func New(t table.Table, known *manifest.Table, s *Spec) (*Query, error) {
	q := &Query{Info: t.Info(), Unrolled: table.IsUnrolled(t), Pinned: known == nil || len(known.Loads) > 0, Users: s.Users, Sample: s.Sample, Span: s.Span, Active: s.Active, Conditions: s.Conditions}
	if q.Active == "" {
		q.Active = "all"
	}
	if s.Span.From > s.Span.To {
		return nil, fmt.Errorf("%w: --from %s comes after --to %s", ErrWrong, s.Span.From, s.Span.To)
	}
	if err := q.choose(s.Types); err != nil {
		return nil, err
	}
	var err error
	if q.Rule, err = activity.Parse(q.Active, activity.Of(q.Kinds...)); err != nil {
		return nil, fmt.Errorf("%w: --active %w", ErrWrong, err)
	}
	if err := q.parse(s.Shape); err != nil {
		return nil, err
	}
	if err := q.shape(s.Output); err != nil {
		return nil, err
	}
	q.Want = q.reads()
	for _, k := range q.Hours.named {
		if !q.Rule.Asked.Has(k) && !slices.Contains(q.Want.Kinds, k) {
			return nil, fmt.Errorf("%w: --hours %s: the query does not read %s: add it to --types, or leave out its hours", ErrWrong, q.Conditions.Hours, q.Info.Schema.Kinds[k].Name)
		}
	}
	q.Window, err = q.window()
	return q, err
}

// choose sets the behaviours of the result.
func (q *Query) choose(types []string) (err error) {
	s := q.Info.Schema
	if len(types) == 0 {
		return fmt.Errorf("%w: --types is missing: write behaviours such as --types %s, or --types all; the table has %s", ErrWrong, s.Calls()[0], s.Listed())
	}
	if q.Kinds, err = KindsOf(s, types); err != nil {
		return fmt.Errorf("%w: %w%s", ErrWrong, err, notNames(types, s))
	}
	return nil
}

// KindsOf returns the behaviours of a table that --types names, in order of behaviour ID. EveryType alone and no type mean all behaviours.
func KindsOf(s *behaviour.Schema, types []string) ([]int, error) {
	_, named := s.Kind(EveryType)
	if named && len(types) == 1 && types[0] == EveryType && len(s.Kinds) > 1 {
		return nil, fmt.Errorf("--types all: the table has a behaviour called all, so all may be it or every behaviour: name the behaviours, or give that one a short name with as in the job; the table has %s", s.Listed())
	}
	if !named && slices.Contains(types, EveryType) {
		if len(types) > 1 {
			return nil, errors.New("--types: all is every behaviour of the table and is used alone: write --types all, or leave all out")
		}
		types = s.Names()
	}
	kinds, err := s.Select(types)
	if err != nil {
		return nil, fmt.Errorf("--types: the table has %w", err)
	}
	return kinds, nil
}

// Conditional reports whether there are other conditions than Active.
func (q *Query) Conditional() bool {
	return q.Where != nil || q.Having != nil || q.Sequence != nil || !q.Without.Empty() || q.Hours.some || q.Conditions.At != nil || q.Conditions.Latest > 0
}

// Names returns the behaviours of the result, in order of behaviour ID.
func (q *Query) Names() []string { return q.NamesOf(q.Kinds) }

// Named returns the behaviours that q reads or names.
func (q *Query) Named() activity.Set {
	return q.Rule.Asked.Or(q.Without).Or(activity.Of(q.Want.Kinds...))
}

// NamedAll returns the names of Named, in order of behaviour ID.
func (q *Query) NamedAll() []string { return q.NamesOf(slices.Collect(q.Named().Kinds())) }

// NamesOf returns the names of some kinds.
func (q *Query) NamesOf(kinds []int) []string {
	var names []string
	for _, k := range kinds {
		names = append(names, q.Info.Schema.Kinds[k].Name)
	}
	return names
}
