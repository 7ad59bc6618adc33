package convert

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/cespare/xxhash/v2"

	"usertrail/internal/behaviour"
	"usertrail/internal/format/layout"
	"usertrail/internal/format/manifest"
	"usertrail/internal/format/roll"
	"usertrail/internal/split"
	"usertrail/internal/table"
)

// sampled limits how many keys the split points are chosen from. A table with many regions has
// a thousand keys for each region.
const sampled = 1 << 17

// choosePoints chooses the new table's split points, unless they are chosen. It reads every user from the rolls. A user who
// does not fit the new layout is found before a file is written.
func (r *run) choosePoints(ctx context.Context) error {
	if r.points != nil {
		return nil
	}
	zone, err := time.LoadLocation(r.m.Schema.Zone)
	if err != nil {
		return fmt.Errorf("%w: zone of the table: %w", ErrRequest, err)
	}
	regions := cmp.Or(r.cfg.Regions, len(r.m.Splits)+1)
	s := &survey{run: r, zone: zone, limit: math.MaxUint64}
	if regions > 1 && r.new.Traits().Splits == nil {
		s.weights = map[string]int64{}
	}
	var size int64
	for i := range r.m.Files {
		size += r.m.Files[i].Records
	}
	r.progress.Step("looking at the users of", "records", size)
	for i := range r.m.Files {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := s.file(ctx, &r.m.Files[i]); err != nil {
			return err
		}
		r.progress.Add(r.m.Files[i].Records)
	}
	points := s.points(regions)
	r.points = &points
	return nil
}

// points returns the points that split the users into n regions. It empties the sample, so that the keys
// are not in memory twice.
func (s *survey) points(n int) split.Points {
	if splits := s.new.Traits().Splits; splits != nil {
		return splits(n)
	}
	samples := make([]split.Sample, 0, len(s.weights))
	for key, weight := range s.weights {
		samples = append(samples, split.Sample{Key: []byte(key), Weight: weight})
		delete(s.weights, key)
	}
	s.weights = nil
	return split.Balanced(samples, n)
}

// A survey reads the users of all files. It keeps a sample if there are many: the keys whose
// hash is not above a limit. The sample does not depend on the order of the files.
type survey struct {
	*run
	zone      *time.Location
	limit     uint64
	weights   map[string]int64 // number of records by new key; nil if the points need no sample
	user, key []byte
	values    [][]byte // as many nulls as any behaviour has fields
}

// file reads the users of one file.
func (s *survey) file(ctx context.Context, f *manifest.File) (err error) {
	in, err := s.from.Staged(ctx, f.Roll)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	r, err := roll.Open(in, in.Size())
	if err != nil {
		return fmt.Errorf("open %s: %w", f.Roll, table.Corrupt(err))
	}
	it := r.Iterator()
	for it.Next() {
		switch err := s.take(it.Entry(), r.Meta().IDs); {
		case errors.Is(err, ErrRequest):
			return err // it names the user
		case err != nil:
			return fmt.Errorf("%s: %w", f.Roll, err)
		}
	}
	if err := it.Err(); err != nil {
		return fmt.Errorf("read %s: %w", f.Roll, table.Corrupt(err))
	}
	return nil
}

// take adds a user. A record at noon of the user's first day in the file represents the user.
func (s *survey) take(e *roll.Entry, ids []uint16) (err error) {
	if s.user, err = s.old.AppendUser(s.user[:0], e.User); err != nil {
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	if len(e.Days) == 0 {
		return nil
	}
	first := e.Days[0]
	kind, ok := s.m.Schema.KindByID(ids[e.Kinds(0).Least()])
	if !ok {
		return fmt.Errorf("%w: the schema has not all of its behaviours", ErrDamaged)
	}
	rec := behaviour.Record{User: s.user, Kind: kind, Date: first.Date, Time: first.Date.Start(s.zone).Add(12 * time.Hour).UnixMicro()}
	rec.Values = s.nulls(len(s.m.Schema.Kinds[kind].Fields))
	if err := s.fits(&rec); err != nil {
		return err
	}
	s.key = layout.AppendSplitKey(s.key[:0], s.new, s.m.Schema, &rec)
	s.weigh(e.Records)
	return nil
}

func (s *survey) nulls(n int) [][]byte {
	for len(s.values) < n {
		s.values = append(s.values, nil)
	}
	return s.values[:n]
}

// weigh adds the current key to the sample, if its hash is within the limit.
func (s *survey) weigh(records int64) {
	if s.weights == nil || xxhash.Sum64(s.key) > s.limit {
		return
	}
	s.weights[string(s.key)] += records
	for len(s.weights) > sampled {
		s.limit /= 2
		for key := range s.weights {
			if xxhash.Sum64String(key) > s.limit {
				delete(s.weights, key)
			}
		}
	}
}

// fits returns an error if the new layout cannot hold a record.
func (r *run) fits(rec *behaviour.Record) error {
	if err := r.new.Fits(r.m.Schema, rec); err != nil {
		unfit := (*layout.UserError)(nil)
		if errors.As(err, &unfit) {
			err = unfit.WithoutJob()
		}
		return fmt.Errorf("%w: a %s of user %q: %w", ErrRequest, r.m.Schema.Kinds[rec.Kind].Name, rec.User, err)
	}
	return nil
}
