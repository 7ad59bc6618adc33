package report

import (
	"context"
	"errors"
	"fmt"
	iofs "io/fs"
	"syscall"
	"time"

	"usertrail/internal/behaviour"
	"usertrail/internal/format/manifest"
	"usertrail/internal/format/trailfile"
	"usertrail/internal/store/dfs"
)

// ErrUnfit is returned for a result that a report cannot be made from.
var ErrUnfit = errors.New("no extract to report on")

const manifestName = manifest.ExtractName

// longSpan is the maximum number of days of a span that is shown from its first to its last
// day, even if these have no events. A longer span, such as one that means everything, is
// shown from its first day with events to its last.
const longSpan = 366

// A source is an extract that a report is made from.
type source struct {
	fs   dfs.FS
	dir  string
	m    *manifest.Extract
	zone *time.Location
	span behaviour.Span // the span that the report shows
}

// open checks an extract before it is read.
func open(ctx context.Context, fs dfs.FS, dir string) (*source, error) {
	m, err := manifest.ReadExtract(ctx, fs, dir)
	if err != nil {
		return nil, err
	}
	s := &source{fs: fs, dir: dir, m: m}
	if err := s.fits(); err != nil {
		return nil, err
	}
	if s.zone, err = time.LoadLocation(s.m.Zone); err != nil {
		return nil, fmt.Errorf("%s: %w: %w", manifestName, manifest.ErrDamaged, err)
	}
	if s.span = s.m.Query.Span; s.span.Days() > longSpan {
		err = s.narrow(ctx)
	}
	return s, err
}

// fits refuses a result in any form but Parquet with one row per event, in parts that hold
// whole users.
func (s *source) fits() error {
	q := &s.m.Query
	switch {
	case q.Format != "parquet":
		return s.unfit("is written as " + q.Format)
	case q.Shape != "":
		return s.unfit("is " + q.Shape + ", which has one row for each user")
	case q.PartitionBy != "":
		return s.unfit("is partitioned by " + q.PartitionBy + ", so that no file holds a trail whole")
	}
	return nil
}

func (s *source) unfit(is string) error {
	return fmt.Errorf("%w: %s %s: extract it again as Parquet, without --shape and --partition-by", ErrUnfit, s.dir, is)
}

// narrow reduces the span to the days with events, according to the footers.
func (s *source) narrow(ctx context.Context) error {
	var all behaviour.Span
	none := true
	for i := range s.m.Parts {
		if s.m.Parts[i].Events == 0 {
			continue
		}
		from, to, err := s.dates(ctx, &s.m.Parts[i])
		if err != nil {
			return err
		}
		if none {
			all, none = behaviour.Span{From: from, To: to}, false
		}
		all = behaviour.Span{From: min(all.From, from), To: max(all.To, to)}
	}
	if !none {
		s.span = all
	}
	return nil
}

func (s *source) dates(ctx context.Context, p *manifest.TrailPart) (from, to behaviour.Date, err error) {
	f, t, err := s.part(ctx, p)
	if err != nil {
		return 0, 0, err
	}
	defer f.Close()
	from, to, ok := t.Dates()
	if !ok {
		return 0, 0, fmt.Errorf("%s: its footer does not say which dates it holds", f.name)
	}
	return from, to, nil
}

// changed adds the next step to an error of reading a part, if the part has other bytes than were written.
func (s *source) changed(ctx context.Context, p *manifest.TrailPart, err error) error {
	if err == nil {
		return nil
	}
	state, fail := manifest.BytesOf(ctx, s.fs, dfs.Join(s.dir, p.Name), p.Size, p.Sum)
	if fail != nil || state != manifest.OtherBytes {
		return err
	}
	return fmt.Errorf("%w: its digest is not the digest in %s: %w: %s", dfs.ErrDamaged, manifestName, err, s.m.Again(ctx, s.fs, s.dir))
}

// part opens a part and compares it with the manifest.
func (s *source) part(ctx context.Context, p *manifest.TrailPart) (*partFile, *trailfile.File, error) {
	name := dfs.Join(s.dir, p.Name)
	f, err := dfs.OpenRegular(ctx, s.fs, name)
	if err = dfs.Lost(err); errors.Is(err, iofs.ErrNotExist) || errors.Is(err, syscall.EISDIR) || errors.Is(err, dfs.ErrSpecial) || errors.Is(err, dfs.ErrNotDir) {
		err = fmt.Errorf("%s: %w: it is gone: %s", name, dfs.ErrDamaged, s.m.Again(ctx, s.fs, s.dir))
	}
	if err != nil {
		return nil, nil, err
	}
	var t *trailfile.File
	if f.Size() != p.Size {
		err = fmt.Errorf("%w: its size is not the size in %s: %s", dfs.ErrDamaged, manifestName, s.m.Again(ctx, s.fs, s.dir))
	} else {
		t, err = trailfile.Open(f, f.Size())
		err = s.changed(ctx, p, err)
	}
	if err != nil {
		f.Close()
		return nil, nil, fmt.Errorf("%s: %w", name, err)
	}
	return &partFile{f, name}, t, nil
}

// A partFile is an open part and its name.
type partFile struct {
	dfs.File
	name string
}
