package query

import (
	"cmp"
	"fmt"
	"strings"

	"usertrail/internal/activity"
	"usertrail/internal/behaviour"
	"usertrail/internal/extract/condition"
	"usertrail/internal/format/trailfile"
)

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
	Hours      string   // FROM-TO of the local day, or BEHAVIOUR:FROM-TO; a list with commas
	Context    int
	At         *int64 // microseconds since 1970-01-01 UTC
	Latest     int
}

// parse checks the conditions against the table's schema. The fields of a wide result are no fields of
// the schema: shape checks them.
func (q *Query) parse(shape trailfile.Shape) (err error) {
	c, s := &q.Conditions, q.Info.Schema
	flag := func(name string) error { return fmt.Errorf("%w: --%s: %w", ErrWrong, name, err) }
	if c.Where != "" {
		if q.Where, err = condition.ParseWhere(c.Where, s); err != nil {
			return flag("where")
		}
		if q.Where.Kinds().Empty() {
			return fmt.Errorf("%w: --where %s can keep nothing: it is false of every behaviour; an event has only the fields of its own behaviour, so write || between conditions on two behaviours", ErrWrong, c.Where)
		}
	}
	if c.Having != "" {
		if q.Having, err = condition.ParseHaving(c.Having, s); err != nil {
			return flag("having")
		}
	}
	if c.Sequence != "" {
		if q.Sequence, err = condition.ParseSequence(c.Sequence, s); err != nil {
			return flag("sequence")
		}
	}
	if q.Hours, err = parseHours(c.Hours, s); err != nil {
		return flag("hours")
	}
	if len(c.Without) > 0 {
		without, err := s.Select(c.Without)
		if err != nil {
			return fmt.Errorf("%w: --without: the table has %w%s", ErrWrong, err, notNames(c.Without, s))
		}
		q.Without = activity.Of(without...)
	}
	if err := q.checkNumbers(); err != nil {
		return err
	}
	fields := c.Fields
	if shape == trailfile.WideShape {
		fields = nil
	}
	q.Fields, err = fieldsOf(s, q.Kinds, fields)
	return err
}

// checkNumbers checks the conditions that need others, or are numbers.
func (q *Query) checkNumbers() error {
	c := &q.Conditions
	switch removes := q.Where != nil || q.Hours.some; {
	case c.WhereFirst && !removes:
		return fmt.Errorf("%w: --where-first: there is neither --where nor --hours", ErrWrong)
	case c.Context > 0 && !removes:
		return fmt.Errorf("%w: --context: there is neither --where nor --hours, so no event is left out: add one of them, or remove --context", ErrWrong)
	case c.Context < 0 || c.Latest < 0:
		return fmt.Errorf("%w: --context and --latest are numbers of events, at least 0", ErrWrong)
	}
	return nil
}

// fieldsOf returns the fields of some kinds that --fields names: all, if it names none.
func fieldsOf(s *behaviour.Schema, kinds []int, names []string) ([][]bool, error) {
	chosen, unknown, ok := s.Choose(kinds, names)
	if !ok {
		have := cmp.Or(strings.Join(s.FieldNames(kinds), ", "), "none at all")
		return nil, fmt.Errorf("%w: --fields: none of --types has the field %q%s; they have %s", ErrWrong, unknown, nearField(s, kinds, unknown), have)
	}
	return chosen, nil
}

// nearField returns the field of some kinds that name may be a misspelling of, as a hint in brackets, or "".
func nearField(s *behaviour.Schema, kinds []int, name string) string {
	words := s.FieldNames(kinds)
	for _, k := range kinds {
		for _, f := range s.Kinds[k].Fields {
			words = append(words, f.Name)
		}
	}
	return behaviour.Aside(name, words)
}

// notNames returns the next step if one of names is a condition and no behaviour, or "".
func notNames(names []string, s *behaviour.Schema) string {
	for _, name := range names {
		if _, ok := s.Find(name); !ok && behaviour.IsCondition(name) {
			return "; names of behaviours are expected, not conditions: " + behaviour.ForConditions
		}
	}
	return ""
}
