// Package sample chooses users of a table at random. The same seed chooses the same users of the same
// records, whatever the layout, the regions or the place of the table are.
package sample

import (
	"bytes"
	"cmp"
	"container/heap"
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/cespare/xxhash/v2"

	"usertrail/internal/activity"
	"usertrail/internal/extract"
	"usertrail/internal/extract/place"
	"usertrail/internal/extract/query"
	"usertrail/internal/extract/userlist"
	"usertrail/internal/format/manifest"
	"usertrail/internal/split"
	"usertrail/internal/table"
)

// Prefix is the beginning of a sample on a command line.
const Prefix = "sample:"

// MaxUsers is the largest number of users of a sample. They take 30 MiB if their IDs are as long as IDs may be.
const MaxUsers = 100_000

// A Sample is a number of users, and the seed that chooses them.
type Sample struct {
	Users int
	Seed  uint64
}

// Parse reads sample:N or sample:N:SEED. The seed is 0 by default. ok is false if text does not begin
// with Prefix.
func Parse(text string) (s Sample, ok bool, err error) {
	text, ok = strings.CutPrefix(text, Prefix)
	if !ok {
		return s, false, nil
	}
	users, seed, seeded := strings.Cut(text, ":")
	if s.Users, err = strconv.Atoi(users); err != nil || s.Users < 1 || s.Users > MaxUsers {
		return s, true, fmt.Errorf("%w: --users %s%s: %q is not a number of users from 1 to %d: write sample:20, or sample:20:7 for the seed 7", query.ErrWrong, Prefix, text, users, MaxUsers)
	}
	if !seeded {
		return s, true, nil
	}
	if s.Seed, err = strconv.ParseUint(seed, 10, 64); err != nil {
		return s, true, fmt.Errorf("%w: --users %s%s: the seed %q is not a whole number: write sample:%d:7", query.ErrWrong, Prefix, text, seed, s.Users)
	}
	return s, true, nil
}

// Choose sets the users of c. If c appends to a result of the same sample, they are the users of the result: they are
// chosen by the dates of its first extract, as far as the table still has their records.
func (s Sample) Choose(ctx context.Context, c *extract.Config) error {
	chosen := manifest.Sample{Users: s.Users, Seed: s.Seed, Span: c.Span}
	if c.Append {
		was, err := place.At(c.FS, c.Out).Result(ctx)
		if err != nil {
			return err
		}
		if was != nil && was.Sample != nil && was.Sample.Users == s.Users && was.Sample.Seed == s.Seed {
			chosen.Span = was.Sample.Span
		}
	}
	by := *c
	by.Users, by.Span = userlist.All(), chosen.Span
	q, err := by.NewQuery()
	if err != nil {
		return err
	}
	c.Sample = &chosen
	c.Users, err = s.Of(ctx, q, c.Table)
	return err
}

// Of chooses users of t who may be active and meet --without, as far as the rolls of t show. If there
// are fewer users than s has, Of returns all of them. It reads no row, if t has rolls.
func (s Sample) Of(ctx context.Context, q *query.Query, t table.Table) (_ *userlist.List, err error) {
	users, err := t.Users(ctx, split.Region{}, q.Span)
	if err != nil {
		return nil, fmt.Errorf("look for users: %w", err)
	}
	defer users.Close()
	c := chosen{most: s.Users}
	var id []byte
	for users.Next() {
		u := users.User()
		if !mayBeActive(q, u) {
			continue
		}
		if id, err = q.Info.Layout.AppendUser(id[:0], u.Key); err != nil {
			return nil, err
		}
		c.add(s.hash(id), id)
	}
	if err := users.Err(); err != nil {
		return nil, fmt.Errorf("look for users: %w", err)
	}
	return userlist.Of(c.ids(), q.Info.Layout), nil
}

// mayBeActive reports whether u may be active by --active and --without. No other condition matters.
func mayBeActive(q *query.Query, u table.User) bool {
	return q.Rule.Judge(u.Did) == activity.Active && !(u.Sure && u.Did.Meets(q.Without))
}

// hash returns the place of a user in the order from which the first users are chosen.
func (s Sample) hash(id []byte) uint64 {
	d := xxhash.NewWithSeed(s.Seed)
	d.Write(id) // it returns no error
	return d.Sum64()
}

// chosen holds the users with the smallest hashes, the largest of them first, as a heap.
type chosen struct {
	most int
	list []user
}

type user struct {
	hash uint64
	id   []byte
}

func (a *user) compare(b *user) int {
	return cmp.Or(cmp.Compare(a.hash, b.hash), bytes.Compare(a.id, b.id))
}

// add adds a user, and removes the user with the largest hash if there are too many. It keeps no
// reference to id.
func (c *chosen) add(hash uint64, id []byte) {
	u := user{hash, id}
	if len(c.list) == c.most {
		if u.compare(&c.list[0]) >= 0 {
			return
		}
		heap.Pop(c)
	}
	u.id = bytes.Clone(id)
	heap.Push(c, u)
}

func (c *chosen) ids() [][]byte {
	out := make([][]byte, len(c.list))
	for i := range c.list {
		out[i] = c.list[i].id
	}
	return out
}

// Len implements heap.Interface.
func (c *chosen) Len() int { return len(c.list) }

// Less implements heap.Interface.
func (c *chosen) Less(i, j int) bool { return c.list[i].compare(&c.list[j]) > 0 }

// Swap implements heap.Interface.
func (c *chosen) Swap(i, j int) { c.list[i], c.list[j] = c.list[j], c.list[i] }

// Push implements heap.Interface.
func (c *chosen) Push(u any) { c.list = append(c.list, u.(user)) }

// Pop implements heap.Interface.
func (c *chosen) Pop() any {
	last := c.list[len(c.list)-1]
	c.list = c.list[:len(c.list)-1]
	return last
}
