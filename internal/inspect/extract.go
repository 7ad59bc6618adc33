package inspect

import (
	"fmt"
	"strings"
	"time"

	"usertrail/internal/behaviour"
	"usertrail/internal/format/manifest"
	"usertrail/internal/format/trailfile"
	"usertrail/internal/store/dfs"
	"usertrail/internal/table"
)

// An Extract is one result: its query and its content.
type Extract struct {
	Table    string            `json:"table"`
	Query    manifest.Query    `json:"question"`
	Sample   *manifest.Sample  `json:"sample,omitempty"` // that chose the users
	Fields   []behaviour.Field `json:"fields"`
	Users    int64             `json:"users"` // number of requested users
	Found    int64             `json:"found"`
	NotFound int64             `json:"not_found,omitempty"` // users of a list that were not found
	Names    *NamesFile        `json:"not_found_file,omitempty"`
	Active   int64             `json:"active"`
	Kept     int64             `json:"kept"`
	Sequence []manifest.Step   `json:"sequence,omitempty"`
	Columns  []behaviour.Field `json:"columns,omitempty"`
	Events   int64             `json:"events"`
	Cost     *manifest.Cost    `json:"cost,omitempty"`
	Parts    []Part            `json:"parts"`
	First    *FirstTrail       `json:"first_trail,omitempty"` // of the first part
	// Appended are the extracts of a result that extract --append made. Their files of users that were not
	// found are in AppendedNames.
	Appended      []manifest.Appended `json:"appended,omitempty"`
	AppendedNames []NamesFile         `json:"appended_not_found_files,omitempty"`
	Foreign       []string            `json:"foreign,omitempty"` // files and directories that are not of the result
}

// A NamesFile is the file of users that were not found, and its current state.
type NamesFile struct {
	manifest.NamesFile
	State manifest.FileState `json:"state"`
}

// A Part is a trail file of a result, and its current state.
type Part struct {
	manifest.TrailPart
	State manifest.FileState `json:"state"`
}

// extract reports the result in dir. Its manifest is called name.
func (l *look) extract(r *Report, dir, name string) error {
	m := new(manifest.Extract)
	if err := manifest.Read(l.ctx, l.fs, name, m); err != nil {
		return manifest.AdviseExtract(err)
	}
	complete, err := manifest.IsComplete(l.ctx, l.fs, dir)
	if err != nil {
		return err
	}
	if !complete {
		r.incomplete = fmt.Errorf("%s: %w: it is gone: the extract is not finished, or was copied only in part", manifest.SuccessName, dfs.ErrDamaged)
	}
	e := &Extract{
		Table: m.Table, Query: m.Query, Sample: m.Sample, Fields: m.Fields, Columns: m.Columns,
		Users: m.Users, Found: m.Found, NotFound: m.NotFound, Active: m.Active, Kept: m.Kept, Sequence: m.Sequence, Events: m.Events, Cost: m.Cost, Parts: []Part{},
		Appended: m.Appended,
	}
	r.Kind, r.Extract, r.Size = KindExtract, e, 0
	for _, part := range m.Parts {
		state, err := manifest.BytesOf(l.ctx, l.fs, dfs.Join(dir, part.Name), part.Size, part.Sum)
		if err != nil {
			return err
		}
		e.Parts = append(e.Parts, Part{part, state})
		r.Size += part.Size
	}
	for _, names := range m.NamesFiles() {
		state, err := manifest.BytesOf(l.ctx, l.fs, dfs.Join(dir, names.Name), names.Size, names.Sum)
		if err != nil {
			return err
		}
		r.Size += names.Size
		if names == m.NotFoundFile {
			e.Names = &NamesFile{*names, state}
		} else {
			e.AppendedNames = append(e.AppendedNames, NamesFile{*names, state})
		}
	}
	list, err := l.fs.List(l.ctx, dir)
	if err != nil {
		return err
	}
	if e.Foreign, err = m.Foreign(l.ctx, l.fs, list); err != nil {
		return err
	}
	if len(e.Parts) == 0 || e.Parts[0].State != manifest.Whole || e.Parts[0].Size == 0 {
		return nil
	}
	if e.First, err = l.firstTrail(dfs.Join(dir, e.Parts[0].Name)); err == nil && e.First != nil {
		e.First.below(dfs.Dir(e.Parts[0].Name))
	}
	return err
}

// firstTrail reads the beginning of a part.
func (l *look) firstTrail(name string) (*FirstTrail, error) {
	f, err := dfs.OpenRegular(l.ctx, l.fs, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	t, format, err := openTrails(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	p, err := newTrailPart(t, format, l.rows)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return p.First, nil
}

// below adds to each event the value in the directory of its file, such as date=2014-09-01.
func (t *FirstTrail) below(dir string) {
	column, value, _ := trailfile.CutFolder(dir)
	for i := range t.Behaviours {
		switch column {
		case trailfile.DateColumn:
			t.Behaviours[i].Date = value
		case trailfile.BehaviourColumn:
			t.Behaviours[i].Behaviour = value
		}
	}
}

func (e *Extract) text(p *page) {
	facts := []fact{
		{"table", e.Table},
		{"dates", e.dates()},
		{"types", behaviour.List(e.Query.Types)},
		{"active", e.Query.Active},
	}
	for _, c := range e.Query.Conditions(time.UTC) {
		facts = append(facts, fact{c.Flag, c.Text})
	}
	p.facts(append(facts,
		fact{"list", e.Query.Users},
		fact{"sample", e.sample()},
		fact{"users", e.users()},
		fact{"found", e.summed(e.Found)},
		fact{"not found", e.notFound()},
		fact{"active users", e.summed(e.Active)},
		fact{"kept users", e.summed(e.Kept)},
		fact{"steps", e.steps()},
		fact{"events", count(e.Events)},
		fact{"fields", fieldList(e.Fields)},
		fact{"format", e.format()},
		fact{"foreign", e.foreign()},
	)...)
	e.cost(p)
	e.appended(p)
	g := newGrid("name", ">users", ">events", ">size", "state", "xxh64")
	for _, part := range e.Parts {
		g.add(part.Name, count(part.Users), count(part.Events), size(part.Size), string(part.State), part.Sum)
	}
	p.list("parts", g, len(e.Parts))
	p.trail(e.First)
}

// sample returns how the users were chosen, or "".
func (e *Extract) sample() string {
	if e.Sample == nil {
		return ""
	}
	return fmt.Sprintf("%s of %s", e.Sample, e.Sample.Span)
}

// dates returns the dates of the result, and the days between them that it does not have.
func (e *Extract) dates() string {
	out := e.Query.Span.String()
	if missing := manifest.MissingDays(&e.Query, e.Appended); len(missing) > 0 {
		out += ", without " + table.Spans(missing)
	}
	return out
}

// users returns the number of requested users. A list has the same number in each extract.
func (e *Extract) users() string {
	if e.Query.Users == manifest.Everyone {
		return e.summed(e.Users)
	}
	return count(e.Users)
}

// summed returns a number of users. If several extracts made the result, a user counts once for each.
func (e *Extract) summed(n int64) string {
	if len(e.Appended) == 0 {
		return count(n)
	}
	return fmt.Sprintf("%s, the sum of %d extracts", count(n), len(e.Appended))
}

// steps returns the steps of the sequence, each with the number of users that reached it.
func (e *Extract) steps() string {
	var out []string
	for _, s := range e.Sequence {
		out = append(out, s.Behaviour+" "+count(s.Users))
	}
	return strings.Join(out, " → ")
}

// mostForeign is the number of foreign files that the text names. The JSON has all of them.
const mostForeign = 10

// foreign returns the files and directories that are not of the result, and the next step. It returns "" if there are none.
func (e *Extract) foreign() string {
	if len(e.Foreign) == 0 {
		return ""
	}
	names, more := e.Foreign, ""
	if n := len(names) - mostForeign; n > 0 {
		names, more = names[:mostForeign], fmt.Sprintf(" and %s more", count(int64(n)))
	}
	return behaviour.List(names) + more + ": not of the result: " + manifest.ForeignStep
}

// notFound returns the number of users of the list that were not found, and the name of the
// file that lists them.
func (e *Extract) notFound() string {
	switch {
	case e.NotFound == 0:
		return ""
	case e.Names == nil:
		return e.summed(e.NotFound)
	}
	return fmt.Sprintf("%s, in %s, %s, %s, xxh64 %s", e.summed(e.NotFound), e.Names.Name, size(e.Names.Size), e.Names.State, e.Names.Sum)
}

// format returns the format of the parts.
func (e *Extract) format() string {
	q := &e.Query
	out := q.Format
	if q.Shape != "" {
		out += ", " + q.Shape
	}
	if q.PartitionBy != "" {
		out += ", by " + q.PartitionBy
	}
	if q.Times != "" {
		out += ", " + q.Times + " times"
	}
	if q.Excel {
		out += ", for Excel"
	}
	return out
}

// appended prints the extracts that made the result, if there are several.
func (e *Extract) appended(p *page) {
	if len(e.Appended) == 0 {
		return
	}
	g := newGrid("dates", ">active", ">kept", ">events")
	for _, a := range e.Appended {
		g.add(a.Span.String(), count(a.Active), count(a.Kept), count(a.Events))
	}
	p.list("extracts that were appended", g, len(e.Appended))
}

// cost prints the actual cost of the result next to the estimate.
func (e *Extract) cost(p *page) {
	if e.Cost == nil {
		return
	}
	g := newGrid("", ">estimate", ">outcome")
	a, b := &e.Cost.Estimate, &e.Cost.Outcome
	g.add("users", count(a.Users), count(b.Users))
	g.add("rows", count(a.Rows), count(b.Rows))
	g.add("events", count(a.Behaviours), count(b.Behaviours))
	g.add("cells", count(a.Cells), count(b.Cells))
	p.grid("what it was made from", g)
}
