package convert

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"time"

	"github.com/cespare/xxhash/v2"

	"usertrail/internal/behaviour"
	"usertrail/internal/format/layout"
	"usertrail/internal/format/manifest"
	"usertrail/internal/format/roll"
	"usertrail/internal/split"
	"usertrail/internal/store/dfs"
	"usertrail/internal/table"
	"usertrail/internal/table/shuffle"
)

// sampled limits how many keys the split points are chosen from. A table with many regions has
// a thousand keys for each region.
const sampled = 1 << 17

// A survey reads the users of all files. It keeps a sample if there are many: the keys whose
// hash is not above a limit. The sample does not depend on the order of the files.
type survey struct {
	*run
	zone      *time.Location
	limit     uint64
	weights   map[uint64]int64 // number of records by hash of the new key; nil if the points need no sample
	user, key []byte
	rec       behaviour.Record
	values    [][]byte // as many nulls as any behaviour has fields
}

// surveyUsers makes the survey, unless it is made. It reads every user from the rolls. A user who does not fit the
// new layout is found before a file is written.
func (r *run) surveyUsers(ctx context.Context) error {
	if r.users != nil {
		return nil
	}
	zone, err := time.LoadLocation(r.m.Schema.Zone)
	if err != nil {
		return fmt.Errorf("%w: zone of the table: %w", ErrRequest, err)
	}
	s := &survey{run: r, zone: zone, limit: math.MaxUint64}
	if r.regions() > 1 && r.new.Traits().Splits == nil {
		s.weights = map[uint64]int64{}
	}
	if err := s.each(ctx, "looking at the users of", s.weigh); err != nil {
		return err
	}
	r.users = s
	return nil
}

// regions returns the number of regions of the new table.
func (r *run) regions() int { return cmp.Or(r.cfg.Regions, len(r.m.Splits)+1) }

// each calls take for each user of all files. It stops early, without an error, if take returns errEnough.
func (s *survey) each(ctx context.Context, step string, take func(records int64, rec *behaviour.Record) error) error {
	var size int64
	for i := range s.m.Files {
		size += s.m.Files[i].Records
	}
	s.progress.Step(step, "records", size)
	for i := range s.m.Files {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		err := s.file(ctx, &s.m.Files[i], take)
		if errors.Is(err, errEnough) {
			return nil
		}
		if err != nil {
			return err
		}
		s.progress.Add(s.m.Files[i].Records)
	}
	return nil
}

// file calls take for each user of one file.
func (s *survey) file(ctx context.Context, f *manifest.File, take func(int64, *behaviour.Record) error) (err error) {
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
		rec, err := s.record(it.Entry(), r.Meta().IDs)
		if err != nil {
			return fmt.Errorf("%s: %w", f.Roll, err)
		}
		if rec == nil {
			continue
		}
		if err := take(it.Entry().Records, rec); err != nil {
			return err
		}
	}
	if err := it.Err(); err != nil {
		return fmt.Errorf("read %s: %w", f.Roll, table.Corrupt(err))
	}
	return nil
}

// record returns the record that represents a user: a record at noon of the user's first day in the file. It is
// valid until the next call. It is nil if the user has no day.
func (s *survey) record(e *roll.Entry, ids []uint16) (_ *behaviour.Record, err error) {
	if s.user, err = s.old.AppendUser(s.user[:0], e.User); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	if len(e.Days) == 0 {
		return nil, nil
	}
	first := e.Days[0]
	kind, ok := s.m.Schema.KindByID(ids[e.Kinds(0).Least()])
	if !ok {
		return nil, fmt.Errorf("%w: the schema has not all of its behaviours", ErrDamaged)
	}
	s.rec = behaviour.Record{
		User: s.user, Kind: kind, Date: first.Date, Time: first.Date.Start(s.zone).Add(12 * time.Hour).UnixMicro(),
		Values: s.nulls(len(s.m.Schema.Kinds[kind].Fields)),
	}
	return &s.rec, nil
}

func (s *survey) nulls(n int) [][]byte {
	for len(s.values) < n {
		s.values = append(s.values, nil)
	}
	return s.values[:n]
}

// hash sets the current key to the new key of a record, and returns its hash.
func (s *survey) hash(rec *behaviour.Record) uint64 {
	s.key = layout.AppendSplitKey(s.key[:0], s.new, s.m.Schema, rec)
	return xxhash.Sum64(s.key)
}

// weigh checks that a user fits, and adds the user's records to the sample if the hash of the key is within the limit.
func (s *survey) weigh(records int64, rec *behaviour.Record) error {
	if err := s.fits(rec); err != nil {
		return err
	}
	if s.weights == nil {
		return nil
	}
	h := s.hash(rec)
	if h > s.limit {
		return nil
	}
	s.weights[h] += records
	for len(s.weights) > sampled {
		s.limit /= 2
		maps.DeleteFunc(s.weights, func(h uint64, _ int64) bool { return h > s.limit })
	}
	return nil
}

// errEnough ends the second reading of the users when it has all keys of the sample.
var errEnough = errors.New("the sample is complete")

// choosePoints chooses the new table's split points. It reads the users again for the keys of the sample, which
// may not fit into memory together, and sorts them. It empties the sample.
func (s *survey) choosePoints(ctx context.Context) (p split.Points, err error) {
	n := s.regions()
	if splits := s.new.Traits().Splits; splits != nil {
		return splits(n), nil
	}
	if len(s.weights) == 0 {
		return nil, nil
	}
	keys, err := shuffle.New(shuffle.Config{FS: s.cfg.FS, Dir: dfs.Join(s.cfg.Temp, "users"), Memory: s.memory()})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, keys.Close(ctx)) }()
	total, err := s.sort(ctx, keys)
	if err != nil {
		return nil, err
	}
	it, err := keys.Part(ctx, 0)
	if err != nil {
		return nil, err
	}
	p = split.BalancedSorted(func(yield func(split.Sample) bool) {
		for it.Next() && yield(split.Sample{Key: it.Row(), Weight: int64(it.Seq())}) {
		}
	}, total, n)
	return p, errors.Join(it.Err(), it.Close())
}

// sort adds each key of the sample once, with its weight as seq, to keys. It returns the sum of the weights.
func (s *survey) sort(ctx context.Context, keys *shuffle.Sorter) (total int64, err error) {
	err = s.each(ctx, "choosing regions by the users of", func(_ int64, rec *behaviour.Record) error {
		h := s.hash(rec)
		weight, ok := s.weights[h]
		if !ok {
			return nil
		}
		delete(s.weights, h)
		total += weight
		if err := keys.Shard(0).Add(ctx, 0, s.key, uint64(weight), nil); err != nil || len(s.weights) > 0 {
			return err
		}
		return errEnough
	})
	if err != nil {
		return 0, err
	}
	return total, keys.Finish(ctx)
}

// fits returns an error if the new layout cannot hold a record.
func (r *run) fits(rec *behaviour.Record) error {
	if err := r.new.Fits(r.m.Schema, rec); err != nil {
		unfit := (*layout.UserError)(nil)
		if errors.As(err, &unfit) {
			err = unfit.WithoutJob()
		}
		return fmt.Errorf("%w: an event %s of user %q: %w", ErrRequest, r.m.Schema.Kinds[rec.Kind].Name, rec.User, err)
	}
	return nil
}
