package extract

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"golang.org/x/sync/errgroup"

	"usertrail/internal/format/manifest"
	"usertrail/internal/split"
	"usertrail/internal/table"
)

// mostPieces is the largest number of pieces. Each is a line, a directory, and a task of the scheduler.
const mostPieces = 99_999

// A cuts describes the pieces of an extract.
type cuts struct {
	ranges []split.Region // of user keys: each begins where the one before ends, the first and the last are open
	plan   string         // identifies the query and its pieces; empty without pieces
}

// pieces cuts an extract into pieces of Config.PieceSize.
func (q *question) pieces(ctx context.Context, c *Config) (cuts, error) {
	whole := cuts{ranges: []split.Region{{}}}
	switch {
	case c.PieceSize <= 0:
		return whole, nil
	case c.Stream != nil:
		return whole, fmt.Errorf("%w: --piece-size: standard output has no pieces; name a directory with --out", ErrQuestion)
	}
	regions, err := table.UserRegions(ctx, q.table)
	if err != nil {
		return whole, err
	}
	shares, err := q.shares(ctx, c, regions)
	if err != nil {
		return whole, err
	}
	ranges := join(shares, c.PieceSize)
	if len(ranges) > mostPieces {
		enough := c.PieceSize
		for len(join(shares, enough)) > mostPieces/2 { // its own shares may be more
			enough *= 2
		}
		return whole, fmt.Errorf("%w: --piece-size %d makes %d pieces, more than %d: --piece-size %d is enough", ErrQuestion, c.PieceSize, len(ranges), mostPieces, enough)
	}
	name, err := q.nameOf(c, ranges)
	return cuts{ranges, name}, err
}

// A share is a range of user keys, with an estimate of its behaviours.
type share struct {
	split.Region
	behaviours int64
}

// shares cuts each region into shares of Config.PieceSize behaviours, or one user more.
func (q *question) shares(ctx context.Context, c *Config, regions []split.Region) ([]share, error) {
	guess := q.before(c.known())
	guess.Guess(guess.Most)
	each := max(1, guess.Stay.Records/max(1, guess.Stay.Users))
	all := make([][]share, len(regions))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(q.workers)
	for i, r := range regions {
		g.Go(func() (err error) {
			all[i], err = q.cutRegion(ctx, r, c.PieceSize, each)
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

// cutRegion cuts one region. If the table does not know how many behaviours a user has, it assumes each. A
// region is one share if only a read of all rows would tell its users.
func (q *question) cutRegion(ctx context.Context, r split.Region, size, each int64) ([]share, error) {
	out := []share{{Region: r}}
	from, to := q.users.Within(r)
	if !q.users.IsAll() && from == to {
		return out, nil
	}
	users, err := q.table.Users(ctx, r, q.span)
	if err != nil {
		return nil, err
	}
	defer users.Close()
	if _, known := users.(table.Daily); !known && q.users.IsAll() {
		out[0].behaviours = size
		return out, nil
	}
	var counted counts
	err = q.eachUser(users, from, to, func(u table.User) error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if !q.mayStay(u, &counted) {
			return nil
		}
		last := &out[len(out)-1]
		if last.behaviours >= size {
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

// nameOf returns the name of a plan: a digest of everything that decides what each piece reads and writes.
func (q *question) nameOf(c *Config, ranges []split.Region) (string, error) {
	var all struct {
		Question asked          `json:"question"`
		Unrolled bool           `json:"unrolled"`
		From     []manifest.Key `json:"from"`
	}
	all.Question, all.Unrolled = q.asks(), table.IsUnrolled(c.Table)
	if !pinned(c) {
		all.Question.Version = ""
	}
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

// pinned reports whether the version shows that the table has changed. It is false for a table in HBase
// that only other programs loaded.
func pinned(c *Config) bool {
	known := c.known()
	return known == nil || len(known.Loads) > 0
}
