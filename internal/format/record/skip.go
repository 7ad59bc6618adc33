package record

import (
	"fmt"

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
