package explain

import (
	"context"

	"golang.org/x/sync/errgroup"

	"usertrail/internal/behaviour"
	"usertrail/internal/extract/judge"
	"usertrail/internal/extract/userlist"
	"usertrail/internal/format/manifest"
	"usertrail/internal/split"
	"usertrail/internal/table"
)

// mostRolled is the largest number of users of rolls that are read, added up over the rolls. If the
// rolls of a query for all users have more, the survey reads only some regions.
const mostRolled = 8 << 20

// count counts the users of the table, or of a sample of its regions. Without rolls it counts no
// user.
func (s *survey) count(ctx context.Context) error {
	regions, err := table.UserRegions(ctx, s.Table)
	if err != nil {
		return err
	}
	some := sample(table.Known(s.Table), s.Query.Users, s.Query.Span, regions)
	s.regions, s.sampled = len(regions), len(some)
	s.there.Read, s.found.Read = s.Census.Read, s.Census.Read
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(s.Shares.Workers)
	for _, r := range some {
		g.Go(func() error { return s.region(ctx, r) })
	}
	return g.Wait()
}

// times returns the factor from the counts of the sample to the counts of the table.
func (s *survey) times() float64 { return float64(s.regions) / float64(max(s.sampled, 1)) }

// sample returns the regions that are read: all, unless a query for all users would read more than
// mostRolled users. known is the manifest of the table, or nil.
func sample(known *manifest.Table, list *userlist.List, span behaviour.Span, regions []split.Region) []split.Region {
	if !list.IsAll() || known == nil {
		return regions
	}
	var users int64
	for i := range known.Files {
		if known.Files[i].Span.Overlaps(span) {
			users += known.Files[i].Users
		}
	}
	step := min(int(users/mostRolled)+1, len(regions))
	var some []split.Region
	for i := step / 2; i < len(regions); i += max(step, 1) {
		some = append(some, regions[i])
	}
	return some
}

// region counts the users of one region: all users, the users who did any of the behaviours
// that make a user active, and the users who may stay. If the list of users is empty, region
// only finds out whether there are rolls.
func (s *survey) region(ctx context.Context, r split.Region) error {
	q := s.Query
	from, to := q.Users.Within(r)
	if !q.Users.IsAll() && from == to && q.Users.Len() > 0 {
		return nil
	}
	users, err := s.Table.Users(ctx, r, q.Span)
	if err != nil {
		return err
	}
	defer users.Close()
	if _, ok := users.(table.Daily); !ok {
		return nil // only the rows show which users exist
	}
	all, found, stay := s.there.Region(users), s.found.Region(users), s.Census.Region(users)
	var c judge.Counts
	err = judge.EachUser(q.Users, users, from, to, func(u table.User) error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		all.Count(&u)
		if u.Did.Meets(q.Rule.Asked) {
			found.Count(&u)
		}
		if judge.MayStay(q, u, &c) {
			stay.Count(&u)
		}
		return nil
	})
	all.End()
	found.End()
	stay.End()
	return err
}
