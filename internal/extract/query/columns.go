package query

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"usertrail/internal/activity"
	"usertrail/internal/behaviour"
	"usertrail/internal/extract/condition"
	"usertrail/internal/format/layout"
	"usertrail/internal/format/trailfile"
)

// Judges returns the columns that are needed to judge users. They are the behaviours of Active, if it is
// not settled before, and the behaviours of Having and Sequence, with the fields that conditions name.
// Other behaviours that Where keeps are not needed.
func (q *Query) Judges() layout.Want {
	s := q.Info.Schema
	var kinds activity.Set
	switch {
	case !q.Info.Sealed:
		kinds = q.Rule.Asked.Or(q.Without)
	case q.Conditions.WhereFirst:
		kinds = q.Rule.Asked
	}
	var refs []condition.Refs
	if q.Having != nil {
		refs = append(refs, q.Having.Refs())
	}
	if q.Sequence != nil {
		refs = append(refs, q.Sequence.Refs())
	}
	for _, r := range refs {
		kinds = kinds.Or(r.Kinds)
	}
	if q.Where != nil {
		refs = append(refs, q.Where.Refs())
	}
	w := layout.Want{Span: q.Span, Fields: make([][]bool, len(s.Kinds))}
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
func (q *Query) reads() layout.Want {
	w := q.Judges()
	out := q.Rule.Asked
	if q.Where != nil && q.Conditions.Context == 0 {
		out = out.And(q.Where.Kinds())
	}
	for k := range q.Info.Schema.Kinds {
		if out.Has(k) && !slices.Contains(w.Kinds, k) {
			w.Kinds = append(w.Kinds, k)
		}
	}
	slices.Sort(w.Kinds)
	for k := range w.Fields {
		for i := range w.Fields[k] {
			w.Fields[k][i] = w.Fields[k][i] || q.Fields[k][i]
		}
	}
	return w
}

// MostFields returns the largest number of fields of the result that a behaviour has.
func (q *Query) MostFields() (most int) {
	for _, k := range q.Kinds {
		n := 0
		for _, out := range q.Fields[k] {
			if out {
				n++
			}
		}
		most = max(most, n)
	}
	return most
}

// Columns returns the fields of the result, each name once.
func (q *Query) Columns() []behaviour.Field {
	s := q.Info.Schema
	var out []behaviour.Field
	for _, f := range s.Columns(q.Kinds) {
		if slices.ContainsFunc(q.Kinds, func(k int) bool {
			i := slices.Index(s.Kinds[k].Fields, f)
			return i >= 0 && q.Fields[k][i]
		}) {
			out = append(out, f)
		}
	}
	return out
}

// shape sets the columns of the result.
func (q *Query) shape(o Output) (err error) {
	if q.Output, err = o.check(); err != nil {
		return err
	}
	local := q.Output.Times == Local
	if local {
		if q.Zone, err = time.LoadLocation(q.Info.Schema.Zone); err != nil {
			return fmt.Errorf("--times local: the table's zone: %w", err)
		}
	}
	if q.Output.Shape == trailfile.LongShape {
		q.Schema = trailfile.Long(q.Names(), q.StepCount(), q.Columns())
		if local {
			q.Schema = q.Schema.WithLocal()
		}
		return cmp.Or(q.checkFolders(), q.checkSteps(), q.checkLocal())
	}
	if q.Wide, err = wideColumns(q.Conditions.Fields); err != nil {
		return err
	}
	if local {
		q.Wide = trailfile.WithLocalWide(q.Wide)
	}
	for _, k := range q.Kinds {
		clear(q.Fields[k]) // only the fields of conditions are read
	}
	q.Schema = trailfile.Wide(q.Names(), q.Wide, q.StepCount())
	return q.checkCase()
}

// checkCase reports behaviours whose columns differ only in case. DuckDB and Spark would mix them up.
func (q *Query) checkCase() error {
	seen := map[string]string{}
	for _, name := range q.Names() {
		fold := behaviour.Fold(name)
		if other, ok := seen[fold]; ok {
			return fmt.Errorf("%w: --shape wide: the columns of %s and %s differ only in case, and DuckDB and Spark ignore case: leave one of them out of --types", ErrWrong, other, name)
		}
		seen[fold] = name
	}
	return nil
}

// wideColumns returns the columns of wide rows that --fields names, in their order: all, if it names none.
func wideColumns(names []string) ([]string, error) {
	if len(names) == 0 {
		return trailfile.WideColumns, nil
	}
	var out []string
	for _, c := range trailfile.WideColumns {
		if slices.Contains(names, c) {
			out = append(out, c)
		}
	}
	for _, name := range names {
		if !slices.Contains(out, name) {
			return nil, fmt.Errorf("%w: --fields %s: with --shape wide there are only %s of each of --types", ErrWrong, name, strings.Join(trailfile.WideColumns, ", "))
		}
	}
	return out, nil
}

// checkSteps reports a field with the name of a step's column.
func (q *Query) checkSteps() error {
	for i := range q.StepCount() {
		name := trailfile.StepColumn(i)
		if slices.ContainsFunc(q.Columns(), func(f behaviour.Field) bool { return f.Name == name }) {
			return fmt.Errorf("%w: --sequence: the field %s is called as the column of step %d; leave it out with --fields", ErrWrong, name, i+1)
		}
	}
	return nil
}

// checkLocal reports a field with the name of a column of local times.
func (q *Query) checkLocal() error {
	if q.Zone == nil {
		return nil
	}
	for _, f := range q.Columns() {
		fold := behaviour.Fold(f.Name)
		if fold == trailfile.LocalColumn || fold == trailfile.OffsetColumn {
			return fmt.Errorf("%w: --times local: the field %s has the name of a column of local times: leave it out with --fields, or leave --times out", ErrWrong, f.Name)
		}
	}
	return nil
}

// StepCount returns the number of steps of the sequence, 0 without a sequence.
func (q *Query) StepCount() int {
	if q.Sequence == nil {
		return 0
	}
	return len(q.Sequence.Steps())
}
