// Package cut divides a query into pieces: ranges of user keys that cover every key once. The
// ends of pieces depend on the regions of the table.
package cut

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"golang.org/x/sync/errgroup"

	"usertrail/internal/extract/facts"
	"usertrail/internal/extract/judge"
	"usertrail/internal/extract/query"
	"usertrail/internal/format/manifest"
	"usertrail/internal/split"
	"usertrail/internal/table"
)

// mostPieces is the largest number of pieces. Each is a line, a directory, and a task of the scheduler.
const mostPieces = 99_999

// Pieces are the pieces of an extract.
type Pieces struct {
	Ranges []split.Region // of user keys: each begins where the range before ends; the first and the last are open
	Plan   string         // identifies the query and its pieces; empty without pieces
}

// A Config describes a query that is cut into pieces.
type Config struct {
	Query   *query.Query
	Table   table.Table
	Known   *manifest.Table // of the table, or nil
	Workers int             // regions that are cut at once
	Size    int64           // behaviours in a piece, about
}

// Pieces cuts the query. It reads the rolls.
func (c *Config) Pieces(ctx context.Context) (Pieces, error) {
	regions, err := table.UserRegions(ctx, c.Table)
	if err != nil {
		return Pieces{}, err
	}
	shares, err := c.shares(ctx, regions)
	if err != nil {
		return Pieces{}, err
	}
	ranges := join(shares, c.Size)
	if len(ranges) > mostPieces {
		enough := c.Size
		for len(join(shares, enough)) > mostPieces/2 { // its own shares may be more
			enough *= 2
		}
		return Pieces{}, fmt.Errorf("%w: --piece-size %d makes %d pieces, more than %d: --piece-size %d is enough", query.ErrWrong, c.Size, len(ranges), mostPieces, enough)
	}
	name, err := nameOf(c.Query, ranges)
	return Pieces{ranges, name}, err
}

// A share is a range of user keys, with an estimate of its behaviours.
type share struct {
	split.Region
	behaviours int64
}

// shares cuts each region into shares of Size behaviours, or one user more.
func (c *Config) shares(ctx context.Context, regions []split.Region) ([]share, error) {
	guess, err := facts.Before(c.Query, c.Workers, c.Known)
	if err != nil {
		return nil, err
	}
	guess.Guess(guess.Most)
	each := max(1, guess.Stay.Records/max(1, guess.Stay.Users))
	all := make([][]share, len(regions))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(c.Workers)
	for i, r := range regions {
		g.Go(func() (err error) {
			all[i], err = c.region(ctx, r, each)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	var out []share
	for _, s := range all {
		out = append(out, s...)
	}
	return out, nil
}

// region cuts one region. If the table does not know the number of a user's events, region assumes
// each. If only a read of all rows would show which users exist, the region is one share.
func (c *Config) region(ctx context.Context, r split.Region, each int64) ([]share, error) {
	q := c.Query
	out := []share{{Region: r}}
	from, to := q.Users.Within(r)
	if !q.Users.IsAll() && from == to {
		return out, nil
	}
	users, err := c.Table.Users(ctx, r, q.Span)
	if err != nil {
		return nil, err
	}
	defer users.Close()
	if _, known := users.(table.Daily); !known && q.Users.IsAll() {
		out[0].behaviours = c.Size
		return out, nil
	}
	var counted judge.Counts
	err = judge.EachUser(q.Users, users, from, to, func(u table.User) error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if !judge.MayStay(q, u, &counted) {
			return nil
		}
		last := &out[len(out)-1]
		if last.behaviours >= c.Size {
			key := bytes.Clone(u.Key)
			last.End = key
			out = append(out, share{Region: split.Region{Start: key, End: r.End}})
			last = &out[len(out)-1]
		}
		last.behaviours += cmp.Or(u.Records, each)
		return nil
	})
	return out, err
}

// join makes pieces of shares. Neighbours that are small together become one piece, because the start of a
// task on a cluster takes seconds.
func join(shares []share, size int64) []split.Region {
	out := []split.Region{{}}
	var have int64
	for i, s := range shares {
		if i > 0 && have > 0 && s.behaviours > 0 && have+s.behaviours > size {
			out[len(out)-1].End = s.Start
			out = append(out, split.Region{Start: s.Start})
			have = 0
		}
		have += s.behaviours
	}
	return out
}

// nameOf returns the name of a plan. It is a digest of everything that decides the reads and the files of
// a piece.
func nameOf(q *query.Query, ranges []split.Region) (string, error) {
	var all struct {
		Query    query.Identity `json:"question"`
		Unrolled bool           `json:"unrolled"`
		From     []manifest.Key `json:"from"`
	}
	all.Query, all.Unrolled = q.Identity(), q.Unrolled
	all.Query.Version = q.Version()
	for _, r := range ranges {
		all.From = append(all.From, r.Start)
	}
	b, err := json.Marshal(all)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:10]), nil
}
