package extract

import (
	"context"
	"slices"

	"usertrail/internal/fetch"
	"usertrail/internal/pipe"
	"usertrail/internal/progress"
	"usertrail/internal/trail"
)

// counts say what became of users.
type counts struct {
	Found  int64   `json:"found"`           // users with any of the asked behaviours
	Active int64   `json:"active"`          // those of them who are active
	Steps  []int64 `json:"steps,omitempty"` // users who reached each step of the sequence
	Read   read    `json:"read"`            // of those who are active
}

// add adds o to c.
func (c *counts) add(o *counts) {
	c.Found += o.Found
	c.Active += o.Active
	c.Read.add(&o.Read)
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
	last   []byte // key of its last user
	counts counts // of all users that were read, up to that one
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

// A knife cuts the stream of trails into parts. A part ends with the user with
// whom it reaches PartEvents, so parts depend on nothing but the trails.
type knife struct {
	ctx      context.Context
	q        *question
	jobs     chan<- *part
	number   int
	part     *part
	counts   counts // of all users that were read
	progress *progress.Progress
}

// take cuts one lot's trails into users.
func (k *knife) take(s *sifted) error {
	defer s.trails.Release()
	for i := range s.users {
		u := &s.users[i]
		k.counts.count(u)
		if u.to == u.from {
			continue
		}
		if err := k.add(slice{s.trails, u.from, u.to, u.steps}); err != nil {
			return err
		}
	}
	k.q.size.add(len(s.users), s.events)
	k.progress.Add(int64(s.events))
	return nil
}

func (k *knife) add(s slice) error {
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
	if p.events < PartEvents {
		return nil
	}
	return k.end()
}

func (k *knife) end() error {
	p := k.part
	k.part = nil
	p.counts = k.counts
	p.counts.Steps = slices.Clone(k.counts.Steps)
	p.last = append(p.last, p.users[len(p.users)-1].key()...)
	return pipe.Send(k.ctx, k.jobs, p)
}

// finish ends the last part. An answer without a user is one part without rows,
// so that whoever reads it finds the columns.
func (k *knife) finish() error {
	if k.part == nil && k.number == 0 {
		return pipe.Send(k.ctx, k.jobs, &part{})
	}
	if k.part == nil {
		return nil
	}
	return k.end()
}
