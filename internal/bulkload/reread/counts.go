package reread

import (
	"sync"

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
	fields  [][]bool           // of the table, by kind: those of which a record has a value; nil if there are none
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
	for kind, fields := range p.fields {
		for i, some := range fields {
			if some {
				c.mark(kind, i, len(fields))
			}
		}
	}
	c.again.Add(*again)
}

// mark records that a record has a value of field i of n of a kind.
func (p *parsed) mark(kind, i, n int) {
	for len(p.fields) <= kind {
		p.fields = append(p.fields, nil)
	}
	mark(p.fields, kind, i, n)
}

// has reports whether a record has a value of field i of a kind.
func (p *parsed) has(kind, i int) bool {
	return kind < len(p.fields) && p.fields[kind] != nil && p.fields[kind][i]
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
