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

// A skipper evaluates Format.Skip for the records of a file.
type skipper struct {
	evaluator *rule.Evaluator
	sources   []source // of the rule's columns
}

// skipper returns what evaluates the format's condition, nil if it has none.
func (m *planner) skipper() (*skipper, error) {
	r := m.format.Skip
	if r == nil {
		return nil, nil
	}
	s := &skipper{evaluator: r.Evaluator()}
	for _, name := range r.Columns() {
		from, err := m.source(Column{Name: name})
		if err != nil {
			return nil, fmt.Errorf("skip: %w", err)
		}
		s.sources = append(s.sources, from)
	}
	return s, nil
}

// unwanted reports whether the format's condition, which it has, holds for p's record.
func (p *Parser) unwanted() (bool, error) {
	return p.skip.evaluator.Holds(func(i int) string { return string(p.take(&p.skip.sources[i])) })
}
