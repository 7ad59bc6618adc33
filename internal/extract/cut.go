package extract

import (
	"context"
	"slices"

	"usertrail/internal/format/layout"
	"usertrail/internal/run/pipe"
	"usertrail/internal/run/progress"
	"usertrail/internal/table/fetch"
	"usertrail/internal/trail"
)

// counts say what became of users.
type counts struct {
	Found  int64   `json:"found"`           // users with any of the asked behaviours
	Active int64   `json:"active"`          // those of them who are active
	Steps  []int64 `json:"steps,omitempty"` // users who reached each step of the sequence
	Read   read    `json:"read"`            // of those who are active

	Foreign layout.Foreign `json:"foreign,omitzero"` // cells that were skipped
}

// add adds o to c.
func (c *counts) add(o *counts) {
	c.Found += o.Found
	c.Active += o.Active
	c.Read.add(&o.Read)
	c.Foreign.Add(o.Foreign)
	for i, n := range o.Steps {
		c.reach(i + 1)
		c.Steps[i] += n
	}
}

// reach makes c count as many steps.
func (c *counts) reach(steps int) {
	for len(c.Steps) < steps {
		c.Steps = append(c.Steps, 0)
	}
}

// count counts one user.
func (c *counts) count(u *judged) {
	if u.found {
		c.Found++
	}
	if u.active {
		c.Active++
		c.Read.add(&u.read)
	}
	c.reach(u.reached)
	for i := range u.reached {
		c.Steps[i]++
	}
}

// A part is the trails of some users, in order of their keys, on its way to
// become a file.
type part struct {
	number int
	trails []*fetch.Trails // held until the part is written
	users  []slice
	events int64
	bytes  int    // of their values
	last   []byte // key up to which users are in it, or were read and do not come out
	counts counts // of all users that were read, up to that one
	found  []byte // by their rows, since the part before, as finds packs them
	ends   bool   // its piece ends with it, or the answer
}

// A slice is one user's trail: events From to To, not included, of a batch.
type slice struct {
	trails   *fetch.Trails
	from, to int
	steps    []int64 // when each step of the sequence happened, µs
}

func (s slice) events() []trail.Event { return s.trails.Batch.Events[s.from:s.to] }

func (s slice) key() []byte {
	return s.trails.Keys.At(int(s.trails.Batch.Events[s.from].User))
}

// A partCutter cuts the stream of trails into parts. A part ends with the user with
// whom it reaches partEvents or partBytes, so parts depend on nothing but the trails.
//
// If the query is cut into pieces, a part also ends with its piece.
type partCutter struct {
	ctx      context.Context
	q        *question
	jobs     chan<- *part
	number   int
	part     *part
	piece    int    // of the batch that was taken last
	read     []byte // key of the last user of that batch
	counts   counts // of all users that were read
	search   *cursor
	finds    finds
	progress *progress.Progress
}

// take cuts one batch's trails into users.
func (k *partCutter) take(s *filtered) error {
	defer s.trails.Release()
	if s.piece != k.piece {
		if err := k.rest(); err != nil {
			return err
		}
		k.piece = s.piece
	}
	for i := range s.users {
		u := &s.users[i]
		k.counts.count(u)
		if u.found {
			if i := k.search.mark(u.key); i >= 0 {
				k.finds.add(i)
			}
		}
		if u.to == u.from {
			continue
		}
		if err := k.add(slice{s.trails, u.from, u.to, u.steps}, u.bytes); err != nil {
			return err
		}
	}
	if p := k.part; p != nil && len(p.trails) > 0 && p.trails[len(p.trails)-1] == s.trails {
		s.trails.Settle() // what a part holds that has not ended is bounded like the part
	}
	k.counts.Foreign.Add(s.foreign)
	if err := k.q.foreign(k.counts.Foreign); err != nil {
		return err
	}
	k.read = append(k.read[:0], s.last...)
	k.q.size.add(s)
	k.progress.Add(int64(s.events))
	return nil
}

func (k *partCutter) add(s slice, bytes int) error {
	if k.part == nil {
		k.part = &part{number: k.number}
		k.number++
	}
	p := k.part
	if n := len(p.trails); n == 0 || p.trails[n-1] != s.trails {
		s.trails.Hold()
		p.trails = append(p.trails, s.trails)
	}
	p.users = append(p.users, s)
	p.events += int64(s.to - s.from)
	p.bytes += bytes
	if p.events < int64(partEvents) && p.bytes < partBytes {
		return nil
	}
	return k.end(s.key(), false)
}

// end ends the part, and says whether its piece ends too. All users up to the one with
// the key through are counted, and none after it.
func (k *partCutter) end(through []byte, ends bool) error {
	p := k.part
	k.part = nil
	p.ends = ends
	p.counts = k.counts
	p.counts.Steps = slices.Clone(k.counts.Steps)
	p.last = append(p.last, through...)
	p.found = k.finds.take()
	return pipe.Send(k.ctx, k.jobs, p)
}

// rest ends the current part, if there is one. The part also counts what was read after it
// of users who do not come out. If the result is partitioned, rest sends a part even if there
// is no current part: it tells the partitioner that the piece has ended, because the
// partitioner may hold earlier parts.
func (k *partCutter) rest() error {
	if k.part == nil {
		if k.q.output.Partition == "" {
			return nil
		}
		k.part = &part{number: k.number}
	}
	return k.end(k.read, true)
}

// finish ends the last part. A whole result without a user is one part without rows, so
// that its reader finds the columns. A result in directories without a user has no part.
func (k *partCutter) finish(whole bool) error {
	if k.part == nil && k.number == 0 && whole && k.q.output.Partition == "" {
		return pipe.Send(k.ctx, k.jobs, &part{})
	}
	return k.rest()
}
