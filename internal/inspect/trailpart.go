package inspect

import (
	bin "encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strings"

	"usertrail/internal/behaviour"
	"usertrail/internal/format/trailfile"
	"usertrail/internal/format/trailfile/arrowfile"
	"usertrail/internal/format/trailfile/textfile"
	"usertrail/internal/store/dfs"
)

// A TrailPart is a file of trails.
type TrailPart struct {
	Format string          `json:"format"`
	Shape  trailfile.Shape `json:"shape"`
	trailfile.Info
	Head  [][]string  `json:"head"`                  // the first rows as text, one string per column; a null is empty
	First *FirstTrail `json:"first_trail,omitempty"` // nil for a file without rows, and for a wide file
}

// A FirstTrail is the beginning of a part's first trail.
type FirstTrail struct {
	User       string `json:"user"`
	Behaviours []Done `json:"behaviours"`
	More       bool   `json:"more"` // it continues after the first rows
}

// Done is one event of a trail.
type Done struct {
	Date      string       `json:"date"`
	Time      string       `json:"time"` // UTC
	Behaviour string       `json:"behaviour"`
	ID        string       `json:"id"`
	Fields    []FieldValue `json:"fields"` // fields that are neither null nor an empty string
}

// A FieldValue is a field's name and its value as text.
type FieldValue struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// trailPart reports the file f.
func (l *look) trailPart(r *Report, f dfs.File) error {
	t, format, err := openTrails(f)
	if err != nil {
		return err
	}
	r.TrailPart, err = newTrailPart(t, format, l.rows)
	return err
}

// trails is an open file of trails in any format.
type trails interface {
	Info() (trailfile.Info, error)
	Head(n int) ([][]string, error)
}

// openTrails opens a file of trails, and returns its format.
func openTrails(f dfs.File) (t trails, format string, err error) {
	head, err := bytesAt(f, 0, 16)
	if err != nil {
		return nil, "", err
	}
	if strings.HasPrefix(string(head), arrowfile.Magic) {
		t, err = arrowfile.Open(f, f.Size())
		return t, "arrow", err
	}
	if text, ok := textFormat(head); ok {
		t, err = textfile.Open(f, f.Size(), text)
		return t, string(text), err
	}
	t, err = openParquet(f)
	return t, "parquet", err
}

// openParquet opens a Parquet file. It first compares the length of the footer with the file,
// because the library would allocate the length that the footer claims, up to 4 GiB.
func openParquet(f dfs.File) (*trailfile.File, error) {
	const around = 2*len(parquetMagic) + 4
	tail, err := bytesAt(f, max(f.Size()-8, 0), 8)
	if err != nil {
		return nil, err
	}
	if len(tail) < 8 || string(tail[4:]) != parquetMagic {
		return nil, fmt.Errorf("a Parquet file without its end: %d bytes", f.Size())
	}
	if n := int64(bin.LittleEndian.Uint32(tail)); n > f.Size()-int64(around) {
		return nil, fmt.Errorf("a Parquet footer of %d bytes in a file of %d", n, f.Size())
	}
	return trailfile.Open(f, f.Size())
}

func newTrailPart(t trails, format string, rows int) (*TrailPart, error) {
	info, err := t.Info()
	if err != nil {
		return nil, err
	}
	p := &TrailPart{Format: format, Info: info}
	if err := p.check(); err != nil {
		return nil, err
	}
	head, err := t.Head(rows + 1) // one more row shows whether the trail continues
	if err != nil {
		return nil, err
	}
	p.Head = append([][]string{}, head[:min(rows, len(head))]...)
	p.First = p.firstTrail()
	if p.First != nil && len(head) > rows {
		p.First.More = head[rows][0] == p.First.User
	}
	return p, nil
}

// check returns an error if the file does not hold trails.
func (p *TrailPart) check() error {
	names := make([]string, len(p.Columns))
	for i, c := range p.Columns {
		names[i] = c.Name
	}
	var ok bool
	if p.Shape, ok = trailfile.ShapeOf(names); ok {
		return nil
	}
	for i, name := range behaviour.Reserved {
		if i >= len(names) || names[i] != name {
			return fmt.Errorf("%w: a file of %s whose column %d is not %s", ErrUnknown, p.Format, i, name)
		}
	}
	return nil
}

// firstTrail returns the first user's rows among the first rows. A value that is not in the
// rows but in the file's path is empty.
func (p *TrailPart) firstTrail() *FirstTrail {
	if len(p.Head) == 0 || p.Shape != trailfile.LongShape {
		return nil
	}
	t := &FirstTrail{User: p.Head[0][0]}
	for _, row := range p.Head {
		if row[0] != t.User {
			break
		}
		t.Behaviours = append(t.Behaviours, p.done(row))
	}
	return t
}

// done returns a row as an event.
func (p *TrailPart) done(row []string) Done {
	d := Done{Fields: []FieldValue{}}
	for i, v := range row[1:] {
		switch name := p.Columns[1+i].Name; name {
		case trailfile.DateColumn:
			d.Date = v
		case trailfile.TimeColumn:
			d.Time = v
		case trailfile.BehaviourColumn:
			d.Behaviour = v
		case trailfile.IDColumn:
			d.ID = v
		default:
			if v != "" {
				d.Fields = append(d.Fields, FieldValue{name, v})
			}
		}
	}
	return d
}

func (p *TrailPart) text(out *page) {
	facts := []fact{{"format", p.Format}, {"rows", count(p.Rows)}}
	if p.Format != "parquet" {
		p.shortText(out, facts)
		return
	}
	facts = append(facts, fact{"row groups", count(len(p.Groups))}, fact{"written by", p.CreatedBy})
	for _, name := range slices.Sorted(maps.Keys(p.Metadata)) {
		facts = append(facts, fact{name, short(p.Metadata[name])})
	}
	out.facts(facts...)
	out.grid("columns", p.columnGrid())
	g := newGrid(">group", ">rows", ">size", "first user", "last user")
	for i, group := range p.Groups {
		g.add(count(i), count(group.Rows), size(group.Compressed), short(group.First), short(group.Last))
	}
	out.list("row groups", g, len(p.Groups))
	out.grid("first rows", p.headGrid())
	out.trail(p.First)
}

// shortText prints a file that has less metadata than Parquet.
func (p *TrailPart) shortText(out *page, facts []fact) {
	if len(p.Groups) > 0 {
		facts = append(facts, fact{"record batches", count(len(p.Groups))})
	}
	out.facts(facts...)
	if p.Columns[0].Type != "" {
		g := newGrid("name", "type", "null", ">nulls")
		for _, c := range p.Columns {
			g.add(c.Name, c.Type, nullText(c.Nullable), count(c.Nulls))
		}
		out.grid("columns", g)
	}
	out.grid("first rows", p.headGrid())
	out.trail(p.First)
}

func nullText(nullable bool) string {
	if nullable {
		return "may be"
	}
	return "never"
}

func (p *TrailPart) columnGrid() *grid {
	g := newGrid("name", "type", "null", ">nulls", "codec", "encodings", ">size", ">ratio")
	for _, c := range p.Columns {
		g.add(c.Name, c.Type, nullText(c.Nullable), count(c.Nulls), c.Codec, strings.Join(c.Encodings, ", "), size(c.Compressed), ratio(c.Raw, c.Compressed))
	}
	return g
}

// headGrid omits the columns that are null in all of the first rows.
func (p *TrailPart) headGrid() *grid {
	var heads []string
	var columns []int
	for i, c := range p.Columns {
		if slices.ContainsFunc(p.Head, func(row []string) bool { return row[i] != "" }) {
			heads = append(heads, alignment(c.Type)+c.Name)
			columns = append(columns, i)
		}
	}
	g := newGrid(heads...)
	for _, row := range p.Head {
		var cells []string
		for _, i := range columns {
			cells = append(cells, cut(row[i], maxNarrow))
		}
		g.add(cells...)
	}
	return g
}

// alignment returns the alignment of a type; numbers are aligned to the right.
func alignment(typ string) string {
	if strings.HasPrefix(typ, "INT") || slices.Contains([]string{"DOUBLE", "int64", "double", "float64"}, typ) {
		return ">"
	}
	return ""
}

// trail prints a trail for users: times, behaviours and their fields.
func (p *page) trail(t *FirstTrail) {
	if t == nil {
		return
	}
	g := newGrid("date", "time (UTC)", "behaviour", "fields")
	for _, d := range t.Behaviours {
		var fields []string
		for _, f := range d.Fields {
			fields = append(fields, f.Name+"="+short(f.Value))
		}
		g.add(d.Date, clock(d.Time), d.Behaviour, strings.Join(fields, "  "))
	}
	p.grid("the trail of "+short(t.User), g)
	if t.More {
		p.printf("  …\n")
	}
}

// clock returns a time of a trail in a form that is easy to read.
func clock(t string) string {
	return strings.TrimSuffix(strings.Replace(t, "T", " ", 1), "Z")
}
