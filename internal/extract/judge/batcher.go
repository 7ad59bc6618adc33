package judge

import (
	"cmp"
	"context"

	"usertrail/internal/run/pipe"
	"usertrail/internal/table"
	"usertrail/internal/table/fetch"
)

// A batch is large enough that its users' blocks are read in one pass, and small
// enough that a short list keeps all workers busy.
const (
	userBatchRecords = 16 << 10
	userBatchUsers   = 4 << 10
	userBatchKeys    = 256 << 10 // bytes
)

// A batcher divides the active users of a region into batches.
type batcher struct {
	ctx     context.Context
	out     chan<- *fetch.Batch
	piece   int
	size    *Sizes
	most    int // bytes of the trails of a batch
	keys    *fetch.Keys
	records int64
	guessed bool // some of records
}

// add adds u to the current batch, and sends a batch that is full.
func (c *batcher) add(u table.User) error {
	if c.keys == nil {
		c.keys = new(fetch.Keys)
	}
	c.keys.Add(u.Key, u.Sure)
	c.records += cmp.Or(u.Records, c.size.user())
	c.guessed = c.guessed || u.Records == 0
	if c.records >= min(userBatchRecords, c.size.within(c.most)) || c.keys.Len() >= userBatchUsers || c.keys.Bytes() >= userBatchKeys {
		return c.flush()
	}
	return nil
}

// flush sends the current batch, if it has users.
func (c *batcher) flush() error {
	if c.keys == nil {
		return nil
	}
	p := &fetch.Batch{Keys: c.keys, Piece: c.piece}
	if !c.guessed {
		p.Records = c.records
	}
	c.keys, c.records, c.guessed = nil, 0, false
	return pipe.Send(c.ctx, c.out, p)
}
