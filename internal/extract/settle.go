package extract

import (
	"bytes"
	"cmp"
	"context"
	"iter"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"usertrail/internal/activity"
	"usertrail/internal/extract/userlist"
	"usertrail/internal/run/pipe"
	"usertrail/internal/split"
	"usertrail/internal/table"
	"usertrail/internal/table/fetch"
)

// A batch is large enough that its users' blocks are read in one pass, and small
// enough that even a short list keeps all workers busy.
const (
	userBatchRecords = 16 << 10
	userBatchUsers   = 4 << 10
)

// userBatchBytes is the largest size of the trails of a batch in bytes. One user may have more. Tests set a
// smaller value.
var userBatchBytes = 8 << 20

// A stretch is a region, or the part of a region that belongs to a piece.
type stretch struct {
	split.Region
	piece int
}

// stretches returns the intersections of the pieces with the regions, in order.
func stretches(pieces, regions []split.Region) []stretch {
	var out []stretch
	for i, p := range pieces {
		for _, r := range regions {
			if both, ok := intersect(p, r); ok {
				out = append(out, stretch{both, i})
			}
		}
	}
	return out
}

// intersect returns the intersection of two ranges. It returns false if the intersection is empty.
func intersect(a, b split.Region) (split.Region, bool) {
	if bytes.Compare(b.Start, a.Start) > 0 {
		a.Start = b.Start
	}
	if len(a.End) == 0 || len(b.End) > 0 && bytes.Compare(b.End, a.End) < 0 {
		a.End = b.End
	}
	return a, len(a.End) == 0 || bytes.Compare(a.Start, a.End) < 0
}

// settled has the batches of a stretch, and the counts of its users as far as they are known before any row
// is read. counts and err are valid when batches is closed.
type settled struct {
	batches chan *fetch.Batch
	counts  counts
	err     error
}

// settle decides who is active before any row is read, as far as the table knows it. It divides the users
// who are or may be active into batches, in order of their keys. It settles several regions ahead, Workers of
// them at the same time. When all batches are taken, total has the counts that are known without reading
// rows.
func settle(ctx context.Context, q *question, regions []stretch, total *counts) iter.Seq2[*fetch.Batch, error] {
	return func(yield func(*fetch.Batch, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		g, ctx := errgroup.WithContext(ctx)
		defer g.Wait()
		defer cancel()
		all := make([]settled, len(regions))
		for i := range all {
			all[i].batches = make(chan *fetch.Batch, 4)
		}
		ahead := make(chan struct{}, q.workers+1)
		g.Go(func() error {
			w, ctx := errgroup.WithContext(ctx)
			for i := range regions {
				if err := pipe.Send(ctx, ahead, struct{}{}); err != nil {
					return cmp.Or(w.Wait(), err)
				}
				w.Go(func() error {
					defer close(all[i].batches)
					all[i].err = settleRegion(ctx, q, regions[i], &all[i])
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
			total.add(&all[i].counts)
			<-ahead
		}
	}
}

// settleRegion iterates over the users of a stretch, together with the list of users.
func settleRegion(ctx context.Context, q *question, s stretch, out *settled) error {
	r := s.Region
	from, to := q.users.Within(r)
	if !q.users.IsAll() && from == to {
		return nil
	}
	users, err := q.table.Users(table.WithWalkMemory(ctx, q.walkBytes), r, q.span)
	if err != nil {
		return err
	}
	defer users.Close()
	c := batcher{ctx: ctx, out: out.batches, piece: s.piece, size: &q.size, userBatchBytes: q.userBatchBytes}
	stay, search := q.census.region(users), q.search.region(r)
	take := func(u table.User) error {
		if u.Sure && q.rule.Judge(u.Did) != activity.Absent {
			search.mark(u.Key)
		}
		if !q.mayStay(u, &out.counts) {
			return nil
		}
		stay.count(&u)
		if bytes.Compare(u.Key, q.after) <= 0 {
			return nil // in a part that an earlier run finished
		}
		return c.add(u)
	}
	if err := q.eachUser(users, from, to, take); err != nil {
		return err
	}
	stay.end()
	return c.flush()
}

// eachUser calls take for the requested users of a region: all, or the users of the list from from to to.
func (q *question) eachUser(users table.Users, from, to int, take func(table.User) error) error {
	if q.users.IsAll() {
		for users.Next() {
			if err := take(users.User()); err != nil {
				return err
			}
		}
	} else if err := walk(users, q.users, from, to, take); err != nil {
		return err
	}
	return users.Err()
}

// mayStay reports whether u may stay, by the facts that are known before its rows are read. It counts
// facts that are certain.
func (q *question) mayStay(u table.User, c *counts) bool {
	standing := q.rule.Judge(u.Did)
	if standing == activity.Absent {
		return false
	}
	if !u.Sure {
		return true // the rows alone tell whether the user is found
	}
	c.Found++
	if standing == activity.TooFew || u.Did&q.without != 0 {
		return false
	}
	if u.Did&activity.Of(q.want.Kinds...) != 0 && (q.where == nil || u.Did&q.where.Kinds() != 0) {
		return true
	}
	if !q.asked.WhereFirst {
		c.Active++
	}
	return false
}

// walk calls take for the users of a part of the list that the table knows.
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

// A batcher divides the active users of a region into batches.
type batcher struct {
	ctx     context.Context
	out     chan<- *fetch.Batch
	piece   int
	size    *sizes
	keys    *fetch.Keys
	records int64
	guessed bool // some of records

	userBatchBytes int // that a batch's trails may have
}

func (c *batcher) add(u table.User) error {
	if c.keys == nil {
		c.keys = new(fetch.Keys)
	}
	c.keys.Add(u.Key, u.Sure)
	c.records += cmp.Or(u.Records, c.size.user())
	c.guessed = c.guessed || u.Records == 0
	if c.records >= min(userBatchRecords, c.size.within(c.userBatchBytes)) || c.keys.Len() >= userBatchUsers {
		return c.flush()
	}
	return nil
}

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

// sizes learns how many records a user has, if the table does not know, and how large their values are.
type sizes struct {
	users, records, bytes atomic.Int64
}

// firstGuess is the assumed number of a user's records before any are read.
const firstGuess = 32

func (s *sizes) add(l *filtered) {
	s.bytes.Add(int64(l.bytes))
	s.records.Add(int64(l.events))
	s.users.Add(int64(len(l.users)))
}

// within returns the number of records in three quarters of so many bytes, at least 1. If batches differ, few
// of them are then too large.
func (s *sizes) within(bytes int) int64 {
	records, had := s.records.Load(), s.bytes.Load()
	if records == 0 || had == 0 {
		return userBatchRecords
	}
	return max(1, int64(float64(bytes)*3/4*float64(records)/float64(had)))
}

// user returns an estimate of the number of records of a user, at least 1.
func (s *sizes) user() int64 {
	users := s.users.Load()
	if users == 0 {
		return firstGuess
	}
	return s.records.Load()/users + 1
}
