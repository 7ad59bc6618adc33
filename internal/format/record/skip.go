package record

import (
	"fmt"
	"slices"

	"usertrail/internal/format/rule"
)

// A Skipped is a record that is not wanted. It is not bad.
type Skipped struct {
	Why    SkipReason
	Line   int64  // the physical line that it begins in, from 1
	Offset int64  // of its first byte in the file's text
	Kind   []byte // the text that names no behaviour, if Why is UnknownKind; valid until Skip returns
	Raw    []byte // the record without its line end; valid until Skip returns
}

// A SkipReason is why a record is skipped.
type SkipReason string

// The reasons.
const (
	UnknownKind SkipReason = "unknown behaviour" // its text names no behaviour of the job
	WithoutUser SkipReason = "without user"      // it has no user, and the job skips such records
	ByRule      SkipReason = "skip condition"    // the job's condition Format.Skip holds
)

// A skipper evaluates a condition for the records of a file.
type skipper struct {
	evaluator *rule.Evaluator
	sources   []source // of the rule's columns
}

// skipper returns what evaluates a condition.
func (m *planner) skipper(r *rule.Rule) (*skipper, error) {
	s := &skipper{evaluator: r.Evaluator()}
	for _, name := range r.Columns() {
		from, err := m.source(Column{Name: name})
		if err != nil {
			return nil, err
		}
		s.sources = append(s.sources, from)
	}
	return s, nil
}

// skippers sets p's conditions.
func (m *planner) skippers(p *Parser) error {
	if r := m.format.Skip; r != nil {
		var err error
		if p.skip, err = m.skipper(r); err != nil {
			return fmt.Errorf("skip: %w", err)
		}
	}
	p.marks = make([]*skipper, len(m.format.Marks))
	for i, r := range m.format.Marks {
		if s, err := m.skipper(r); err == nil {
			p.marks[i] = s
		}
	}
	return nil
}

// SkipColumns shows which columns of Format.Skip the lines of JSON have that were read. A file with columns has them all.
type SkipColumns struct {
	Records int64  // for which the condition was evaluated
	had     []bool // by column of the condition
}

// Add adds the records that p has parsed since the last call.
func (c *SkipColumns) Add(p *Parser) {
	if p.skip == nil || p.tried == 0 {
		return
	}
	o := SkipColumns{p.tried, make([]bool, len(p.skip.sources))}
	for i, from := range p.skip.sources {
		o.had[i] = p.json == nil || from.column < 0 || p.json.had[from.column]
	}
	c.Merge(&o)
	p.tried = 0
}

// Merge adds the records of o.
func (c *SkipColumns) Merge(o *SkipColumns) {
	c.Records += o.Records
	if c.had == nil {
		c.had = slices.Clone(o.had)
		return
	}
	for i, had := range o.had {
		c.had[i] = c.had[i] || had
	}
}

// Absent returns the columns of r, which is Format.Skip, that no record has.
func (c *SkipColumns) Absent(r *rule.Rule) (out []string) {
	for i, had := range c.had {
		if !had {
			out = append(out, r.Columns()[i])
		}
	}
	return out
}

// holds reports whether a condition holds for p's record.
func (p *Parser) holds(s *skipper) (bool, error) {
	return s.evaluator.Holds(func(i int) string { return string(p.take(&s.sources[i])) })
}

// Marks returns which of Format.Marks hold for the record that Keep has: bit i for condition i. A condition
// does not hold if the file lacks one of its columns, or if it cannot be evaluated for the record.
func (p *Parser) Marks() (set uint64) {
	for i, s := range p.marks {
		if s == nil {
			continue
		}
		if is, err := p.holds(s); err == nil && is {
			set |= 1 << i
		}
	}
	return set
}
