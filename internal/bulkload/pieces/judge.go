package pieces

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"usertrail/internal/behaviour"
	"usertrail/internal/bulkload/delivered"
	"usertrail/internal/bulkload/ledger"
	"usertrail/internal/bulkload/quarantine"
	"usertrail/internal/format/manifest"
	"usertrail/internal/store/dfs"
	"usertrail/internal/tally"
)

// A judgement divides the files of a plan into files that are loaded and files that are left out.
type judgement struct {
	reports []*manifest.Report // by piece, without the records of files that are not loaded
	good    []manifest.Input   // in order, as the ledger will have them
	clean   []string           // paths of good files without a bad record, if no earlier load has records of them
	joined  []joinedBad        // bad records of files that were read in ranges
	apart   bool               // the files of the load are Apart
}

// A judged file is a delivered file with the outcome of all of it.
type judgedFile struct {
	day behaviour.Date
	in  *Input
	*manifest.Outcome
}

// judge decides again for each file, in order of all pieces, whether it is loaded: the outcome of all
// other files is known now.
func (c *commit) judge(ctx context.Context, reports []*manifest.Report) (*judgement, error) {
	j := &judgement{reports: reports}
	first, by := c.to.Info().Dropped, delivered.SelectionOf(c.job)
	outcomes, err := c.outcomes(ctx, j)
	if err != nil {
		return nil, err
	}
	for _, f := range outcomes {
		if f.Error != "" {
			c.refuse(manifest.LeftOut{Path: f.Path, File: f.in.Path, Part: f.in.Part, Error: f.Error, TooBad: f.TooBad})
			continue
		}
		holds := c.known.ContentOf(&f.Input)
		f.SetSelection(by)
		own := ledger.Copy{Path: f.Path, Part: f.in.Part, TextsBy: f.TextsBy, SkippedBy: by.Skip, CutBy: by.CutBy}
		planned, now := f.in.copiesOf(f.SHA256), c.known.Others(holds, own, by.Of(f.Behaviour))
		if i := slices.IndexFunc(planned, func(x ledger.Copy) bool { return !x.In(now, f.Behaviour, first) }); i >= 0 {
			c.refuse(manifest.LeftOut{
				Path: f.Path, File: f.in.Path, Part: f.in.Part,
				Error: fmt.Sprintf("%s: it has the bytes of %s, of which nothing is loaded: plan again to load it by itself", f.Path, planned[i].Path),
			})
			continue
		}
		if i := slices.IndexFunc(now, func(x ledger.Copy) bool { return !x.In(planned, f.Behaviour, first) }); i >= 0 {
			return nil, fmt.Errorf("%w: %s has the bytes of %s, which it had not when it was planned: plan again", ErrStale, f.Path, now[i].Path)
		}
		if !slices.Equal(f.in.Replayed.List(), c.known.Replayed(holds)) {
			return nil, fmt.Errorf("%w: %s: records of it were replayed after it was planned: plan again", ErrStale, f.Path)
		}
		if f.SameAs == "" {
			c.known.Remember(holds, ledger.CopyOf(&f.Input))
		}
		j.good = append(j.good, f.Input)
		j.apart = j.apart || f.in.asked().Extends()
		if f.Quarantined == 0 && !f.in.asked().Again() {
			j.clean = append(j.clean, f.Path)
		}
		c.result.Bytes += f.Size
	}
	return j, nil
}

// outcomes returns the files of all pieces, in order. It joins the ranges of a file.
func (c *commit) outcomes(ctx context.Context, j *judgement) (all []judgedFile, err error) {
	ranges := map[string][]rangeOutcome{} // by path and in order
	for _, r := range j.reports {
		for i := range r.Inputs {
			if o := &r.Inputs[i]; o.Range != nil {
				ranges[o.Path] = append(ranges[o.Path], rangeOutcome{o, r})
			}
		}
	}
	for n, r := range j.reports {
		for i := range r.Inputs {
			in, o := &c.pieces[n].Inputs[i], &r.Inputs[i]
			switch {
			case in.Range != nil:
				continue
			case in.Cuts != nil:
				if o, err = c.join(ctx, j, in, o, ranges[in.Rel]); err != nil {
					return nil, err
				}
			}
			all = append(all, judgedFile{in.day(), in, o})
		}
	}
	slices.SortStableFunc(all, func(a, b judgedFile) int { return cmp.Or(cmp.Compare(a.day, b.day), cmp.Compare(a.Path, b.Path)) })
	return all, nil
}

// A rangeOutcome is the outcome of a range of a file, and the report that has it.
type rangeOutcome struct {
	*manifest.Outcome
	report *manifest.Report
}

// joinedBad are the files of the bad records of one delivered file's ranges, in order.
type joinedBad struct {
	path    string
	sha     string // digest of the delivered file
	covered bool   // a load added records of path before
	files   []quarantine.Range
}

// outsideOf returns the dates of the records of a file that are of other dates than the load's. It returns nil if there are none, or if
// a range does not list its dates.
func outsideOf(ranges []rangeOutcome) (all []behaviour.Span) {
	for _, r := range ranges {
		if r.Skips.OutsideDates > 0 && r.Outside == nil {
			return nil
		}
		all = append(all, r.Outside...)
	}
	if all == nil {
		return nil
	}
	return manifest.OutsideOf(all)
}

// join combines the digests of a file and the outcomes of its ranges into the outcome that one process
// would have. If the file cannot be loaded, join removes its records from the reports.
func (c *commit) join(ctx context.Context, j *judgement, in *Input, digests *manifest.Outcome, ranges []rangeOutcome) (*manifest.Outcome, error) {
	out := *digests
	bad := joinedBad{path: in.Rel, sha: digests.SHA256, covered: in.asked().Again()}
	var lines int64
	var found []string
	var badAt []int64
	var others manifest.Unmapped
	var days []behaviour.Span
	for _, r := range ranges {
		if r.Error != "" && out.Error == "" {
			out.Error, out.TooBad = r.Error, r.TooBad
		}
		out.Counts.Add(r.Counts)
		others.AddList(r.Unmapped)
		for _, of := range r.Days {
			days = append(days, of.Days...)
		}
		if r.Older > 0 && (out.Older == 0 || r.Part.Dates().From > out.Part.Dates().From) {
			out.Part = r.Part // ranges that were done before the last drop skipped fewer days
		}
		out.Older += r.Older
		found = append(found, r.SHA256)
		badAt = append(badAt, r.BadAt.List()...)
		if r.Bad != "" {
			bad.files = append(bad.files, quarantine.Range{Name: dfs.Join(c.folder.Plans, r.Bad), Before: lines})
		}
		lines += r.Lines
	}
	if out.Error == "" && !slices.Equal(found, digests.Ranges) {
		out.Error = delivered.Written(in.Path).Error()
	}
	out.Unmapped = others.List(manifest.ListedUnmapped)
	if out.Days != nil {
		out.Days = manifest.GroupDays(map[string][]behaviour.Span{"": days})
	}
	out.Outside = outsideOf(ranges)
	refused, err := c.refusal(ctx, in, &out, &others, bad.files)
	if err != nil {
		return nil, err
	}
	if out.Error == "" && refused != nil {
		out.Error, out.TooBad = refused.Error(), true
	}
	if int64(len(badAt)) == out.Quarantined && len(badAt) <= manifest.MaxBadOffsets {
		out.BadAt = manifest.OffsetsOf(badAt)
	}
	if len(bad.files) > 0 && (out.Error == "" || out.TooBad) {
		j.joined = append(j.joined, bad)
	}
	if out.Error != "" {
		for _, r := range ranges {
			leaveOut(r.report)
		}
	}
	return &out, nil
}

// refusal returns why a file is refused: it has too many bad records, which are in the files bad, too
// many records of other behaviours, or too few records. It returns nil if the file is not refused.
func (c *commit) refusal(ctx context.Context, in *Input, o *manifest.Outcome, others *manifest.Unmapped, bad []quarantine.Range) (refused, err error) {
	reasons := &quarantine.Reasons{}
	if c.job.MaxBad.Exceeded(o.Read, o.Quarantined) {
		if reasons, err = quarantine.ReasonsOf(ctx, c.with.FS, bad); err != nil {
			return nil, err
		}
	}
	if refused := delivered.TooBad(c.job, in.Path, o.Read, o.Quarantined, reasons, "; see "+c.with.Store.Quarantine(in.Rel)); refused != nil {
		return refused, nil
	}
	if refused := delivered.TooManyOthers(c.job, in.Path, &o.Counts, others, delivered.NotLoaded); refused != nil {
		return refused, nil
	}
	kind, ok := c.job.Schema.Kind(in.Behaviour)
	if !ok {
		kind = -1
	}
	return delivered.TooFew(c.job, in.Path, kind, o.Read), nil
}

// leaveOut removes the files of a piece from its report. The files remain until a sweep.
func leaveOut(r *manifest.Report) {
	r.Files, r.Days, r.NoValue = nil, nil, nil
	for i := range r.Regions {
		r.Regions[i].Tally = tally.Tally{}
	}
}
