package extract

import (
	"context"

	"usertrail/internal/activity"
	"usertrail/internal/fetch"
	"usertrail/internal/pipe"
	"usertrail/internal/progress"
	"usertrail/internal/trail"
)

// A part is the trails of some users, in order of their keys, on its way to
// become a file.
type part struct {
	number int
	trails []*fetch.Trails // held until the part is written
	users  []slice
	events int64
	last   []byte // key of its last user
	found  int64  // users found by their rows, up to that one
}

// A slice is one user's trail: events From to To, not included, of a batch.
type slice struct {
	trails   *fetch.Trails
	from, to int
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
	found    int64 // users whom only their rows could tell to be there
	progress *progress.Progress
}

// take cuts one piece's trails into users, and judges each by what was read: a
// roll may name a behaviour too many, and of some users nothing was known before.
func (k *knife) take(t *fetch.Trails) error {
	defer t.Release()
	events := t.Batch.Events
	for from := 0; from < len(events); {
		to, did := from, activity.Set(0)
		for ; to < len(events) && events[to].User == events[from].User; to++ {
			did |= activity.Of(int(events[to].Kind))
		}
		if !t.Keys.Sure(int(events[from].User)) {
			k.found++
		}
		if k.q.rule.Judge(did) == activity.Active {
			if err := k.add(slice{t, from, to}); err != nil {
				return err
			}
		}
		from = to
	}
	k.q.size.add(t.Keys.Len(), len(events))
	k.progress.Add(int64(len(events)))
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
	p.found = k.found
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
