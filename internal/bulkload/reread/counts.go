package reread

import (
	"sync"

	"usertrail/internal/bulkload"
	"usertrail/internal/format/manifest"
)

// counts counts the records of an input. Many goroutines may use it.
type counts struct {
	mu    sync.Mutex
	read  manifest.Counts
	again bulkload.Reread
	// values counts the records with a value of one of the fields. They are in the table, or not.
	values int64
}

// add adds the counts of a chunk or of a part.
func (c *counts) add(read *manifest.Counts, again *bulkload.Reread, values int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.read.Add(*read)
	c.again.Add(*again)
	c.values += values
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
