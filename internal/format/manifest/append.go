package manifest

import (
	"cmp"
	"fmt"
	iofs "io/fs"
	"reflect"
	"slices"
	"strings"

	"usertrail/internal/behaviour"
	"usertrail/internal/run/exit"
)

// ErrAppended is returned if a result already has the dates that should be appended.
var ErrAppended = exit.New(exit.Nothing, "the dates are appended already")

// An Appended is one extract of a result that several made.
type Appended struct {
	Span         behaviour.Span `json:"span"`
	TableVersion string         `json:"table_version,omitempty"`
	Plan         string         `json:"plan,omitempty"` // that cut the extract into pieces
	Found        int64          `json:"found"`
	NotFound     int64          `json:"not_found,omitempty"`
	NotFoundFile *NamesFile     `json:"not_found_file,omitempty"`
	Active       int64          `json:"active"`
	Kept         int64          `json:"kept"`
	Events       int64          `json:"events"`
}

// own returns the entry of e, a result of one extract.
func (e *Extract) own() Appended {
	return Appended{
		Span: e.Query.Span, TableVersion: e.TableVersion, Plan: e.Plan, Found: e.Found, NotFound: e.NotFound, NotFoundFile: e.NotFoundFile,
		Active: e.Active, Kept: e.Kept, Events: e.Events,
	}
}

// Extracts returns the extracts that made e.
func (e *Extract) Extracts() []Appended {
	if len(e.Appended) > 0 {
		return e.Appended
	}
	return []Appended{e.own()}
}

// MissingDays returns the days between the first and the last date of an appended result that no extract has,
// as spans in order.
func MissingDays(q *Query, appended []Appended) []behaviour.Span {
	if len(appended) == 0 {
		return nil
	}
	var spans []behaviour.Span
	for _, a := range appended {
		spans = append(spans, a.Span)
	}
	return q.Span.Gaps(spans)
}

// NamesFiles returns the files with the users that were not found.
func (e *Extract) NamesFiles() (all []*NamesFile) {
	if e.NotFoundFile != nil {
		all = append(all, e.NotFoundFile)
	}
	for _, a := range e.Appended {
		if a.NotFoundFile != nil {
			all = append(all, a.NotFoundFile)
		}
	}
	return all
}

// CheckAppend returns an error if the extract next cannot be appended to the result e. next has no
// counts and no parts. The error wraps ErrAppended if e has the dates of next, and fs.ErrExist if e is
// the result of another query or has some of the dates, or if the table has changed so that the same
// query has other columns or users.
func (e *Extract) CheckAppend(next *Extract) error {
	if what := e.differs(next); what != "" {
		return fmt.Errorf("%w, and --append adds to a result of the same query: %s: repeat the query, or name another directory", iofs.ErrExist, what)
	}
	span := next.Query.Span
	for _, a := range e.Extracts() {
		switch {
		case a.Span == span && a.TableVersion == next.TableVersion:
			return fmt.Errorf("%w: %s", ErrAppended, span)
		case a.Span == span:
			return fmt.Errorf("%w: %s: the table has changed since: the next append of other dates names the days that gained records", ErrAppended, span)
		case a.Span.Overlaps(span):
			return e.appendOthers(span)
		}
	}
	if what := e.drifted(next); what != "" {
		return fmt.Errorf("%w, and --append adds to a result of the same query: %s", iofs.ErrExist, what)
	}
	return nil
}

// appendOthers returns the error of an extract of a span of which the result has some dates.
func (e *Extract) appendOthers(span behaviour.Span) error {
	var had []behaviour.Span
	for _, a := range e.Extracts() {
		had = append(had, a.Span)
	}
	free := span.Gaps(had)
	step := "choose other dates"
	if len(free) > 0 {
		step = "append " + joined(free, " and then ") + " alone"
	}
	return fmt.Errorf("%w, and --append adds dates that it does not have: it has %s already: %s", iofs.ErrExist, joined(span.Gaps(free), ", "), step)
}

// rollsOf returns the value of --rolls.
func rollsOf(e *Extract) string {
	if e.Unrolled {
		return "off"
	}
	return "use"
}

func joined(spans []behaviour.Span, by string) string {
	words := make([]string, len(spans))
	for i, s := range spans {
		words[i] = s.String()
	}
	return strings.Join(words, by)
}

// differs returns how the query or the table of next differ from the query or the table of e, apart from
// the dates. It returns "" if they do not. Users of the same sample and columns of the same fields do not differ: see drifted.
func (e *Extract) differs(next *Extract) string {
	for _, f := range []struct{ name, was, is string }{
		{"--table", e.Table, next.Table},
		{"the zone of the table", e.Zone, next.Zone},
		{"--rolls", rollsOf(e), rollsOf(next)},
	} {
		if f.was != f.is {
			return fmt.Sprintf("%s is %s there, and %s here", f.name, f.was, f.is)
		}
	}
	same := []string{"span"}
	if e.sameSample(next) {
		same = append(same, "users")
	}
	if byName(e.Query.Fields) && byName(next.Query.Fields) && slices.Equal(e.Columns, next.Columns) {
		same = append(same, "fields")
	}
	what := e.Query.differs(&next.Query, same)
	if what == otherUsers && e.Sample != nil {
		what += fmt.Sprintf(": %s of %s", e.Sample, e.Sample.Span)
	}
	return what
}

// byName reports whether --fields has no names of behaviours, so that the columns show which fields it chooses.
func byName(fields []string) bool {
	return !slices.ContainsFunc(fields, func(f string) bool { return strings.ContainsAny(f, ".[") })
}

// sameSample reports whether a sample of the same number, seed and dates chose the users of both.
func (e *Extract) sameSample(next *Extract) bool {
	return e.Sample != nil && next.Sample != nil && *e.Sample == *next.Sample
}

// drifted returns how the columns or the users of next differ from the columns or the users of e because the table has changed, and
// the next step. It returns "" if they do not.
func (e *Extract) drifted(next *Extract) string {
	if e.Query.Users != next.Query.Users {
		return fmt.Sprintf("%s: the records of %s have changed, so that %s chooses other users now: extract into another directory", otherUsers, e.Sample.Span, e.Sample)
	}
	if slices.Equal(e.Columns, next.Columns) {
		return ""
	}
	step := "extract into another directory"
	if len(e.Columns) > 0 && len(e.Fields) > 0 {
		step = "choose the fields of the result with --fields " + names(e.Fields) + ", or " + step
	}
	return fmt.Sprintf("the columns are %s there, and %s here: %s", columns(e.Columns), columns(next.Columns), step)
}

// otherUsers is the difference of two queries for different users.
const otherUsers = "--users is another list there"

// Everyone is the value of Query.Users for all users.
const Everyone = "all"

// flagOf has the flags of the fields of a Query whose names differ from the flag.
var flagOf = map[string]string{"partition_by": "partition-by", "where_first": "where-first"}

// differs returns how o differs from q, or "". It does not compare the fields whose JSON names are in same.
func (q *Query) differs(o *Query, same []string) string {
	was, is := reflect.ValueOf(*q), reflect.ValueOf(*o)
	for i := range was.NumField() {
		name, _, _ := strings.Cut(was.Type().Field(i).Tag.Get("json"), ",")
		a, b := was.Field(i).Interface(), is.Field(i).Interface()
		if slices.Contains(same, name) || reflect.DeepEqual(a, b) {
			continue
		}
		if name == "users" && q.Users != o.Users {
			return otherUsers
		}
		return fmt.Sprintf("--%s is %s there, and %s here", cmp.Or(flagOf[name], name), inWords(was.Field(i)), inWords(is.Field(i)))
	}
	return ""
}

// inWords returns a value of a Query in words.
func inWords(v reflect.Value) string {
	if v.IsZero() {
		return "not given"
	}
	if v.Kind() == reflect.Slice {
		return strings.Join(v.Interface().([]string), ",")
	}
	return fmt.Sprint(reflect.Indirect(v))
}

// names returns the names of fields, as --fields has them.
func names(fields []behaviour.Field) string {
	var all []string
	for _, f := range fields {
		all = append(all, f.Name)
	}
	return strings.Join(all, ",")
}

func columns(all []behaviour.Field) string {
	if len(all) == 0 {
		return "not recorded"
	}
	var out []string
	for _, c := range all {
		out = append(out, c.Name+" "+string(c.Type))
	}
	return strings.Join(out, ", ")
}

// Append returns the manifest of the result e with the extract next added. Parts are in order of their
// names.
func (e *Extract) Append(next *Extract) *Extract {
	out, added := *e, next.own()
	out.Appended = append(slices.Clone(e.Extracts()), added)
	slices.SortFunc(out.Appended, func(a, b Appended) int { return cmp.Compare(a.Span.From, b.Span.From) })
	out.Query.Span = behaviour.Span{From: min(e.Query.Span.From, added.Span.From), To: max(e.Query.Span.To, added.Span.To)}
	out.TableVersion, out.Plan, out.NotFoundFile = next.TableVersion, "", nil
	out.Found, out.NotFound, out.Active, out.Kept, out.Events = 0, 0, 0, 0, 0
	for _, a := range out.Appended {
		out.Found, out.NotFound, out.Active = out.Found+a.Found, out.NotFound+a.NotFound, out.Active+a.Active
		out.Kept, out.Events = out.Kept+a.Kept, out.Events+a.Events
	}
	if e.Query.Users == Everyone {
		out.Users = out.Found
	}
	out.Sequence = slices.Clone(e.Sequence)
	for i := range out.Sequence {
		out.Sequence[i].Users += next.Sequence[i].Users
	}
	out.Cost = e.Cost.plus(next.Cost)
	out.Parts = append(slices.Clone(e.Parts), next.Parts...)
	slices.SortFunc(out.Parts, func(a, b TrailPart) int { return cmp.Compare(a.Name, b.Name) })
	return &out
}

// plus returns the sum of two costs. It is nil if one of them is unknown.
func (c *Cost) plus(o *Cost) *Cost {
	if c == nil || o == nil {
		return nil
	}
	return &Cost{Estimate: c.Estimate.plus(o.Estimate), Outcome: c.Outcome.plus(o.Outcome)}
}

func (a Amount) plus(o Amount) Amount {
	return Amount{Users: a.Users + o.Users, Rows: a.Rows + o.Rows, Behaviours: a.Behaviours + o.Behaviours, Cells: a.Cells + o.Cells}
}
