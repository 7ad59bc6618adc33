package judge

import (
	"bytes"
	"cmp"
	"context"
	"iter"

	"golang.org/x/sync/errgroup"

	"usertrail/internal/activity"
	"usertrail/internal/extract/memory"
	"usertrail/internal/extract/notfound"
	"usertrail/internal/extract/query"
	"usertrail/internal/extract/userlist"
	"usertrail/internal/run/pipe"
	"usertrail/internal/split"
	"usertrail/internal/table"
	"usertrail/internal/table/fetch"
)

// Candidates finds the users who are or may be active, before any row is read.
type Candidates struct {
	Query  *query.Query
	Table  table.Table
	Memory memory.Shares
	Found  *notfound.Search // collects the users who are certainly found
	Census *Census
	Sizes  *Sizes
}

// Batches divides the candidates of some pieces into batches, in order of their keys. It skips the
// users up to the key after. It reads the rolls of Memory.Workers regions ahead, at the same time. When
// the caller has received all batches, total has the counts that are known without reading rows.
func (c *Candidates) Batches(ctx context.Context, pieces, regions []split.Region, after []byte, total *Counts) iter.Seq2[*fetch.Batch, error] {
	parts := stretches(pieces, regions)
	return func(yield func(*fetch.Batch, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		g, ctx := errgroup.WithContext(ctx)
		defer g.Wait()
		defer cancel()
		all := make([]settled, len(parts))
		for i := range all {
			all[i].batches = make(chan *fetch.Batch, 4)
		}
		ahead := make(chan struct{}, c.Memory.Workers+1)
		g.Go(func() error {
			w, ctx := errgroup.WithContext(ctx)
			for i := range parts {
				if err := pipe.Send(ctx, ahead, struct{}{}); err != nil {
					return cmp.Or(w.Wait(), err)
				}
				w.Go(func() error {
					defer close(all[i].batches)
					all[i].err = c.settle(ctx, parts[i], after, &all[i])
					return all[i].err
				})
			}
			return w.Wait()
		})
		for i := range all {
			for {
				p, ok := pipe.Receive(ctx, all[i].batches)
				if !ok {
					break
				}
				if !yield(p, nil) {
					return
				}
			}
			if ctx.Err() != nil {
				yield(nil, cmp.Or(g.Wait(), context.Cause(ctx)))
				return
			}
			if all[i].err != nil {
				yield(nil, all[i].err)
				return
			}
			total.Add(&all[i].counts)
			<-ahead
		}
	}
}

// settled has the batches of a stretch, and the counts of its users that are known before any row
// is read. counts and err are valid when batches is closed.
type settled struct {
	batches chan *fetch.Batch
	counts  Counts
	err     error
}

// settle iterates over the users of a stretch, together with the list of users.
func (c *Candidates) settle(ctx context.Context, s stretch, after []byte, out *settled) error {
	q, r := c.Query, s.Region
	from, to := q.Users.Within(r)
	if !q.Users.IsAll() && from == to {
		return nil
	}
	users, err := c.Table.Users(table.WithWalkMemory(ctx, c.Memory.Walk), r, q.Span)
	if err != nil {
		return err
	}
	defer users.Close()
	b := batcher{ctx: ctx, out: out.batches, piece: s.piece, size: c.Sizes, most: c.Memory.Batch}
	census, found := c.Census.Region(users), c.Found.Region(r)
	take := func(u table.User) error {
		if u.Sure && q.Rule.Judge(u.Did) != activity.Absent {
			found.Mark(u.Key)
		}
		if !MayStay(q, u, &out.counts) {
			return nil
		}
		census.Count(&u)
		if bytes.Compare(u.Key, after) <= 0 {
			return nil // in a part that an earlier run finished
		}
		return b.add(u)
	}
	if err := EachUser(q.Users, users, from, to, take); err != nil {
		return err
	}
	census.End()
	return b.flush()
}

// EachUser calls take for each requested user of a region. These are all users, or the users of the list
// whose indexes are from, included, to to, not included.
func EachUser(list *userlist.List, users table.Users, from, to int, take func(table.User) error) error {
	if list.IsAll() {
		for users.Next() {
			if err := take(users.User()); err != nil {
				return err
			}
		}
	} else if err := walk(users, list, from, to, take); err != nil {
		return err
	}
	return users.Err()
}

// MayStay reports whether u may stay, by the facts that are known before its rows are read. It counts
// in c the facts that are certain.
func MayStay(q *query.Query, u table.User, c *Counts) bool {
	standing := q.Rule.Judge(u.Did)
	if standing == activity.Absent {
		return false
	}
	if !u.Sure {
		return true // only the rows show whether the user is found
	}
	c.Found++
	if standing == activity.TooFew || u.Did.Meets(q.Without) {
		return false
	}
	if u.Did.Meets(activity.Of(q.Want.Kinds...)) && (q.Where == nil || u.Did.Meets(q.Where.Kinds())) {
		return true
	}
	if !q.Conditions.WhereFirst {
		c.Active++
	}
	return false
}

// walk calls take for each user of a part of the list that the table knows.
func walk(users table.Users, u *userlist.List, from, to int, take func(table.User) error) error {
	for i := from; i < to; {
		if !users.SeekGE(u.Key(i)) {
			return nil
		}
		at := users.User()
		// Skip the keys before the user that the table has next.
		for i < to && bytes.Compare(u.Key(i), at.Key) < 0 {
			i++
		}
		if i < to && bytes.Equal(u.Key(i), at.Key) {
			if err := take(at); err != nil {
				return err
			}
			i++
		}
	}
	return nil
}
