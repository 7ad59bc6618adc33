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
	joined
}

// parsed has the counts of records that were parsed.
type parsed struct {
	read manifest.Counts
	// values counts the records with a value of one of the fields. They are in the table, or not.
	values  int64
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
	c.again.Add(*again)
}

// joined counts the records that a file and the table have.
type joined struct {
	again  bulkload.Reread
	met    int64      // records
	days   []daySet   // by kind of the table: their days
	valued [][]daySet // by kind and field: the days on which one of them has a value in the file
}

// day returns the days of a kind.
func (j *joined) day(kind int) *daySet {
	for len(j.days) <= kind {
		j.days = append(j.days, nil)
	}
	return &j.days[kind]
}

// value returns the days with a value of field i of n of a kind.
func (j *joined) value(kind, i, n int) *daySet {
	for len(j.valued) <= kind {
		j.valued = append(j.valued, nil)
	}
	if j.valued[kind] == nil {
		j.valued[kind] = make([]daySet, n)
	}
	return &j.valued[kind][i]
}

// of returns the days of the records, among those on which the file lacks a field of a kind, and the days on which one of them has a value.
func (j *joined) of(kind, i int, lacks []behaviour.Span) (days, valued daySet) {
	if kind < len(j.days) {
		days = j.days[kind].and(lacks)
	}
	if kind < len(j.valued) && j.valued[kind] != nil {
		valued = j.valued[kind][i]
	}
	return days, valued
}

// hasValue reports whether a record has a value of field i of a kind.
func (j *joined) hasValue(kind, i int) bool {
	_, valued := j.of(kind, i, nil)
	return len(valued) > 0
}

// join adds the counts of a part of the table.
func (c *counts) join(j *joined) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.again.Add(j.again)
	c.met += j.met
	for kind, days := range j.days {
		c.day(kind).addAll(days)
	}
	for kind, fields := range j.valued {
		for i, days := range fields {
			c.value(kind, i, len(fields)).addAll(days)
		}
	}
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
