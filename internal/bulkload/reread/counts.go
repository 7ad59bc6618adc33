package reread

import (
	"sync"

	"usertrail/internal/behaviour"
	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/quarantine"
	"usertrail/internal/format/manifest"
	"usertrail/internal/format/record"
)

// counts counts the records of an input. Many goroutines may use it.
type counts struct {
	mu sync.Mutex
	parsed
	again bulkload.Reread
	met   int64 // records that the file and the table have
}

// parsed has the counts of records that were parsed.
type parsed struct {
	read manifest.Counts
	// values counts the records with a value of one of the fields. They are in the table, or not.
	values  int64
	days    []daySet           // by kind of the table: the days of the records that lack a field
	valued  [][]daySet         // by kind and field: the days on which a record has a value
	reasons quarantine.Reasons // of the bad records
	others  manifest.Unmapped  // texts that name no behaviour of the job
}

// skip counts a record that is skipped by the job.
func (p *parsed) skip(s *record.Skipped) {
	if s.Why == record.UnknownKind {
		p.others.Add(s.Kind, 1)
	}
}

// add adds the counts of a chunk.
func (c *counts) add(p *parsed, again *bulkload.Reread) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.read.Add(p.read)
	c.values += p.values
	c.reasons.Merge(&p.reasons)
	c.others.Merge(&p.others)
	for kind, days := range p.days {
		c.day(kind).addAll(days)
	}
	for kind, fields := range p.valued {
		for i, days := range fields {
			c.value(kind, i, len(fields)).addAll(days)
		}
	}
	c.again.Add(*again)
}

// day returns the days of a kind.
func (p *parsed) day(kind int) *daySet {
	for len(p.days) <= kind {
		p.days = append(p.days, nil)
	}
	return &p.days[kind]
}

// value returns the days with a value of field i of n of a kind.
func (p *parsed) value(kind, i, n int) *daySet {
	for len(p.valued) <= kind {
		p.valued = append(p.valued, nil)
	}
	if p.valued[kind] == nil {
		p.valued[kind] = make([]daySet, n)
	}
	return &p.valued[kind][i]
}

// of returns the days of the records that lack a field of a kind, and the days on which one of them has a value. lacks are the days on
// which the file lacks the field.
func (p *parsed) of(kind, i int, lacks []behaviour.Span) (days, valued daySet) {
	if kind < len(p.days) {
		days = p.days[kind].and(lacks)
	}
	if kind < len(p.valued) && p.valued[kind] != nil {
		valued = p.valued[kind][i]
	}
	return days, valued
}

// join adds the counts of a part of the table.
func (c *counts) join(j *joined) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.again.Add(j.again)
	c.met += j.met
}

// ofFile returns the counts for the ledger.
func (c *counts) ofFile() manifest.Counts {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.read
}

// outcome returns what became of the records.
func (c *counts) outcome() bulkload.Reread {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := c.again
	out.NotThere += c.values - out.Records - out.HadValues
	return out
}
