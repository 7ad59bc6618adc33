package judge

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"usertrail/internal/activity"
	"usertrail/internal/behaviour"
	"usertrail/internal/extract/query"
	"usertrail/internal/format/layout"
	"usertrail/internal/table"
	"usertrail/internal/table/fetch"
)

// existence finds out which rows users have, without reading the cells' values. It looks first
// for rows of the behaviour that the fewest users did. It looks for the next behaviour only
// among users who can still be active.
type existence struct {
	pass pass
	// By kind: the number of users whose rows were looked for, and how many of them did it.
	asked, had [behaviour.MaxKinds]atomic.Int64
}

// AsksExistence reports whether users are excluded by the rows that they have, before their rows are
// read. It is false in three cases: one behaviour is enough to make a user active, the conditions on
// events come before the rule, or the keys of rows do not have the behaviour.
func AsksExistence(q *query.Query) bool {
	return q.Rule.Least >= 2 && !q.Conditions.WhereFirst && q.Info.Layout.Traits().DayRows
}

// rarest returns kinds sorted by the share of users who did them, smallest first. Kinds that
// existence has not looked for yet have share 0, and keep their order.
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

// A candidate is a user whose behaviours only the rows show.
type candidate struct {
	key   int // index among the batch's keys
	asked activity.Set
	did   activity.Set
	open  bool // may still be active
}

// exist returns the keys of the users who are or may be active, and the other users who were found. It
// looks only for users of whom the rolls are not sure.
func (r *reader) exist(ctx context.Context, keys *fetch.Keys) (*fetch.Keys, []User, error) {
	e := r.existence
	if e == nil || !e.pass.worth(&r.full) {
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
	kinds := e.rarest(r.query.Kinds)
	next := 1 // how many kinds to look for at once
	if !r.bounds.Kinds && !r.bounds.Listed {
		next = len(kinds) // the rows of one behaviour are among the rows of all
	}
	for left := kinds; len(left) > 0; left = left[next:] {
		open := slices.DeleteFunc(slices.Clone(all), func(c *candidate) bool { return !c.open })
		if err := r.ask(ctx, keys, open, left[:next]...); err != nil {
			return nil, nil, err
		}
		for _, c := range open {
			c.open = c.did.Len()+len(left)-next >= r.query.Rule.Least
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

// find finds out which candidates who cannot be active did any behaviour. It looks first for
// the behaviour that most users did.
func (r *reader) find(ctx context.Context, keys *fetch.Keys, all []*candidate, kinds []int) error {
	for _, k := range slices.Backward(kinds) {
		lost := slices.DeleteFunc(slices.Clone(all), func(c *candidate) bool { return c.open || !c.did.Empty() || c.asked.Has(k) })
		if err := r.ask(ctx, keys, lost, k); err != nil {
			return err
		}
	}
	return nil
}

// rule divides the users of a batch. stay has the users who are or may be active. left has the
// candidates who cannot be active but did a behaviour. The field user of each of them is the
// number of users of stay that come before it.
func rule(keys *fetch.Keys, all []*candidate) (stay *fetch.Keys, left []User) {
	stay = new(fetch.Keys)
	for i := range keys.Len() {
		if len(all) > 0 && all[0].key == i {
			c := all[0]
			all = all[1:]
			if !c.open {
				if !c.did.Empty() {
					left = append(left, User{user: stay.Len(), Found: true, Key: keys.At(i)})
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
	info := r.query.Info
	asked := activity.Of(kinds...)
	where, err := fetch.NewRows(info.Layout, info.Schema, layout.Want{Kinds: slices.Sorted(slices.Values(kinds)), Span: r.query.Span})
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
	err = table.Existing(ctx, r.table, q, func(key []byte, _ behaviour.Date, kind int) error {
		if c := had[string(key)]; c != nil {
			c.did = c.did.Or(activity.Of(kind).And(asked))
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("ask who did %s: %w", strings.Join(r.query.NamesOf(kinds), ", "), err)
	}
	for _, k := range kinds {
		r.existence.asked[k].Add(int64(len(some)))
	}
	for _, c := range some {
		c.asked = c.asked.Or(asked)
		for _, k := range kinds {
			if c.did.Has(k) {
				r.existence.had[k].Add(1)
			}
		}
	}
	return nil
}
