package shuffle

import (
	"errors"
	"io"
	"math"
)

// A cursor points to a record of one sorted source: a part of a shard, or a
// segment of a run.
type cursor struct {
	key uint64 // prefix of the record's row
	rec record

	entries []entry // still to come, sorted by key
	scratch []entry // as many
	ordered int     // of entries, how many are sorted by record too
	near    int     // of entries, how many records have been looked at ahead
	touched byte    // keeps lookAhead from being left out
	arena   *arena
	seg     *segment // instead of entries

	done bool // nothing is left; key is the largest there is
}

// next moves the cursor to the next record.
func (c *cursor) next() error {
	if c.seg != nil {
		return c.nextOfRun()
	}
	if len(c.entries) == 0 {
		c.end()
		return nil
	}
	e := c.nextEntry()
	c.key = e.key
	c.rec.parse(c.arena.at(e.ref))
	return nil
}

// nextEntry returns the next entry of a shard. The shard must have one.
func (c *cursor) nextEntry() entry {
	if c.ordered == 0 {
		c.ordered = ties(c.entries)
		c.lookAhead()
		if n := c.ordered; n > 1 {
			sortTies(c.entries[:n], c.scratch[:n], c.arena)
		}
	}
	e := c.entries[0]
	c.entries, c.scratch = c.entries[1:], c.scratch[1:]
	c.ordered--
	c.near--
	return e
}

// ahead is the number of records whose memory is read before they are needed.
const ahead = 64

// lookAhead reads one byte in the cache line of each of the next records. Sorted entries point all
// over the arena, so each record costs a cache miss. lookAhead makes the processor wait for many
// misses at once instead of one after the other.
func (c *cursor) lookAhead() {
	if c.near > c.ordered {
		return
	}
	n := min(len(c.entries), max(c.ordered, c.near)+ahead)
	var sum byte
	for _, e := range c.entries[c.near:n] {
		b := c.arena.at(e.ref)
		b = b[:min(len(b), 3*cacheLine)]
		sum += b[0] + b[len(b)/2] + b[len(b)-1]
	}
	c.near, c.touched = n, sum
}

const cacheLine = 64

func (c *cursor) nextOfRun() error {
	err := c.seg.next(&c.rec)
	if errors.Is(err, io.EOF) {
		c.end()
		return nil
	}
	c.key = prefix(c.rec.row)
	return err
}

func (c *cursor) end() {
	c.done, c.key = true, math.MaxUint64
}

// before reports whether the record of c sorts before the record of o.
func (c *cursor) before(o *cursor) bool {
	if c.key != o.key {
		return c.key < o.key
	}
	if c.done || o.done {
		return !c.done
	}
	return c.rec.compare(&o.rec) < 0
}

// A tree merges cursors. It is a tournament tree: every inner node stores the loser of its
// comparison, so a record costs one comparison for each level. Node i has the
// children 2i and 2i+1; leaf k+i is cursor i of k.
type tree struct {
	cursors []cursor
	losers  []int
	winner  int
}

// start moves every cursor to its first record and plays all games.
func (t *tree) start() error {
	for i := range t.cursors {
		if err := t.cursors[i].next(); err != nil {
			return err
		}
	}
	t.losers = make([]int, len(t.cursors))
	if len(t.cursors) > 0 {
		t.winner = t.play(1)
	}
	return nil
}

// play plays the games below node and returns the winner.
func (t *tree) play(node int) int {
	k := len(t.cursors)
	if node >= k {
		return node - k
	}
	won, lost := t.play(2*node), t.play(2*node+1)
	if t.cursors[lost].before(&t.cursors[won]) {
		won, lost = lost, won
	}
	t.losers[node] = lost
	return won
}

// next moves the winner to its next record and plays its games again.
func (t *tree) next() error {
	won := t.winner
	if err := t.cursors[won].next(); err != nil {
		return err
	}
	for node := (won + len(t.cursors)) / 2; node > 0; node /= 2 {
		if t.cursors[t.losers[node]].before(&t.cursors[won]) {
			won, t.losers[node] = t.losers[node], won
		}
	}
	t.winner = won
	return nil
}
