package extract

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"usertrail/internal/activity"
	"usertrail/internal/behaviour"
	"usertrail/internal/format/layout"
	"usertrail/internal/table"
	"usertrail/internal/table/fetch"
)

// existence asks which rows users have, without reading the cells' values. It asks first for
// the behaviour that fewest users did. It asks for the next behaviour only of users who can
// still be active.
type existence struct {
	pass pass
	// By kind: of how many users it was asked, and how many had done it.
	asked, had [behaviour.MaxKinds]atomic.Int64
}

// newExistence returns q's existence pass: nil where every user who did anything is
// active, so that nobody can be ruled out, and where rows alone do not tell who did what.
func newExistence(q *question) *existence {
	if q.rule.Least < 2 || q.asked.WhereFirst || !q.info.Layout.Traits().Told {
		return nil
	}
	return new(existence)
}

// rarest returns kinds sorted by the share of users who did them, smallest first. Kinds that
// existence has asked of no user have share 0, and keep their order.
func (e *existence) rarest(kinds []int) []int {
	share := func(k int) float64 { return float64(e.had[k].Load()) / float64(max(e.asked[k].Load(), 1)) }
	out, shares := slices.Clone(kinds), map[int]float64{}
	for _, k := range kinds {
		shares[k] = share(k)
	}
	slices.SortStableFunc(out, func(a, b int) int {
		switch {
		case shares[a] < shares[b]:
			return -1
		case shares[a] > shares[b]:
			return 1
		}
		return 0
	})
	return out
}

// A candidate is a user whose behaviours only the rows tell.
type candidate struct {
	key   int // index among the batch's keys
	asked activity.Set
	did   activity.Set
	open  bool // may be active yet
}

// exist returns the keys of those who are or may be active, and the others. A user
// who is sure to have rows was judged before.
func (r *reader) exist(ctx context.Context, keys *fetch.Keys) (*fetch.Keys, []judged, error) {
	e := r.q.existence
	if e == nil || !e.pass.worth(&r.q.whole) {
		return keys, nil, nil
	}
	var all []*candidate
	for i := range keys.Len() {
		if !keys.Sure(i) {
			all = append(all, &candidate{key: i, open: true})
		}
	}
	if len(all) == 0 {
		return keys, nil, nil
	}
	began := time.Now()
	kinds := e.rarest(r.q.kinds)
	next := 1 // how many kinds to ask for at once
	if !r.q.bounds.Kinds && !r.q.bounds.Listed {
		next = len(kinds) // the rows of one lie among those of all
	}
	for left := kinds; len(left) > 0; left = left[next:] {
		open := slices.DeleteFunc(slices.Clone(all), func(c *candidate) bool { return !c.open })
		if err := r.ask(ctx, keys, open, left[:next]...); err != nil {
			return nil, nil, err
		}
		for _, c := range open {
			c.open = c.did.Len()+len(left)-next >= r.q.rule.Least
		}
	}
	if err := r.find(ctx, keys, all, kinds); err != nil {
		return nil, nil, err
	}
	stay, left := rule(keys, all)
	e.pass.stayed.Add(int64(len(all) - len(left)))
	e.pass.add(len(all), began)
	return stay, left, nil
}

// find finds out of those who cannot be active whether they did anything: by the
// behaviour that most users did first.
func (r *reader) find(ctx context.Context, keys *fetch.Keys, all []*candidate, kinds []int) error {
	for _, k := range slices.Backward(kinds) {
		lost := slices.DeleteFunc(slices.Clone(all), func(c *candidate) bool { return c.open || c.did != 0 || c.asked.Has(k) })
		if err := r.ask(ctx, keys, lost, k); err != nil {
			return err
		}
	}
	return nil
}

// rule parts a batch's users: those who are or may be active, and the candidates who
// cannot be, whose place is told by how many who stay come before them.
func rule(keys *fetch.Keys, all []*candidate) (stay *fetch.Keys, left []judged) {
	stay = new(fetch.Keys)
	for i := range keys.Len() {
		if len(all) > 0 && all[0].key == i {
			c := all[0]
			all = all[1:]
			if !c.open {
				if c.did != 0 {
					left = append(left, judged{user: stay.Len(), found: true, key: keys.At(i)})
				}
				continue
			}
		}
		stay.Add(keys.At(i), keys.Sure(i))
	}
	return stay, left
}

// ask finds out which candidates did some kinds.
func (r *reader) ask(ctx context.Context, keys *fetch.Keys, some []*candidate, kinds ...int) error {
	if len(some) == 0 {
		return nil
	}
	info := r.q.info
	asked := activity.Of(kinds...)
	where, err := fetch.NewRows(info.Layout, info.Schema, layout.Want{Kinds: slices.Sorted(slices.Values(kinds)), Span: r.q.span})
	if err != nil {
		return err
	}
	q := where.Query(func(yield func([]byte) bool) {
		for _, c := range some {
			if !yield(keys.At(c.key)) {
				return
			}
		}
	})
	had := map[string]*candidate{}
	for _, c := range some {
		had[string(keys.At(c.key))] = c
	}
	err = table.Existing(ctx, r.q.table, q, func(key []byte, _ behaviour.Date, kind int) error {
		if c := had[string(key)]; c != nil {
			c.did |= activity.Of(kind) & asked
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("ask who did %s: %w", strings.Join(r.q.namesOf(kinds), ", "), err)
	}
	for _, k := range kinds {
		r.q.existence.asked[k].Add(int64(len(some)))
	}
	for _, c := range some {
		c.asked |= asked
		for _, k := range kinds {
			if c.did.Has(k) {
				r.q.existence.had[k].Add(1)
			}
		}
	}
	return nil
}
