package pieces

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/quarantine"
	"usertrail/internal/bulkload/target"
	"usertrail/internal/format/manifest"
	"usertrail/internal/split"
	"usertrail/internal/store/dfs"
	"usertrail/internal/table/segment"
	"usertrail/internal/tally"
)

// publish writes the bad records to the quarantine, and makes all pieces part of the table as one load.
func (c *commit) publish(ctx context.Context, j *judgement) error {
	if err := atOnce(ctx, len(c.pieces), func(ctx context.Context, n int) error { return c.copyBad(ctx, &c.pieces[n], j.reports[n]) }); err != nil {
		return err
	}
	if err := atOnce(ctx, len(j.joined), func(ctx context.Context, n int) error { return c.joinBad(ctx, &j.joined[n]) }); err != nil {
		return err
	}
	if len(j.good) == 0 {
		return nil
	}
	if err := quarantine.Remove(ctx, c.with.FS, c.with.Log, j.clean, c.with.Store.Quarantine); err != nil {
		return err
	}
	load, files, err := c.ledger(j)
	if err != nil {
		return err
	}
	if err := c.to.TakeIn(ctx, load, files); err != nil {
		return err
	}
	c.result.AddLoad(load)
	c.to.CountOlder(load, &c.result, c.with.Log)
	target.WarnOfCopies(load, c.with.Log)
	target.WarnOfSkipped(load, c.with.Log)
	c.result.HFiles = bulkload.HFiles(files)
	c.result.Mode = c.first.Mode
	c.known.Commit(c.first.Plan, load.Number)
	for i := range load.Inputs {
		c.known.Add(&load.Inputs[i])
	}
	return c.to.EndPlans(ctx, c.known)
}

// copyBad copies the bad records of a piece to the quarantine.
func (c *commit) copyBad(ctx context.Context, of *Piece, r *manifest.Report) error {
	for i := range r.Inputs {
		in := &r.Inputs[i]
		if in.Bad == "" || in.Range != nil {
			continue
		}
		stay := quarantine.KeepsOfLoad(in.Path, in.SHA256, of.Inputs[i].asked().Again())
		if err := quarantine.Copy(ctx, c.with.FS, c.with.Log, dfs.Join(c.folder.Plans, in.Bad), c.with.Store.Quarantine(in.Path), stay); err != nil {
			return fmt.Errorf("quarantine %s: %w", in.Path, err)
		}
	}
	return nil
}

// joinBad writes the bad records of a file that was read in ranges.
func (c *commit) joinBad(ctx context.Context, j *joinedBad) error {
	stay := quarantine.KeepsOfLoad(j.path, j.sha, j.covered)
	if err := quarantine.Join(ctx, c.with.FS, c.with.Log, j.files, c.with.Store.Quarantine(j.path), j.sha, stay); err != nil {
		return fmt.Errorf("quarantine %s: %w", j.path, err)
	}
	return nil
}

// ledger returns the ledger of the load of all pieces, and its files. It returns an error if the
// reports contradict each other.
func (c *commit) ledger(j *judgement) (*manifest.Load, []manifest.File, error) {
	out := &manifest.Load{
		Version: manifest.Version, Number: c.to.NextLoad(), Job: c.job.Digest(), Plan: c.first.Plan, Inputs: j.good,
		Days: c.days(j.reports), NoValue: c.noValue(j.reports), Regions: commonRegions(j.reports), LeftOut: c.leftOut, Apart: j.apart,
	}
	unread := c.to.Unread()
	for i := range out.Inputs {
		out.Inputs[i].Unread = unread
	}
	if err := bulkload.CheckLaw(out.Inputs); err != nil {
		return nil, nil, err
	}
	var loaded, records int64
	var days, regions tally.Tally
	for i := range out.Inputs {
		loaded += out.Inputs[i].Loaded
	}
	for _, d := range out.Days {
		records += d.Records
		days.Add(d.Tally)
	}
	for _, r := range out.Regions {
		regions.Add(r.Tally)
	}
	if loaded != records || days != regions {
		return nil, nil, fmt.Errorf("plan %s: %w: its files have %d records to load, its days %d; its days hold %s, its regions %s",
			c.first.Plan, manifest.ErrDamaged, loaded, records, days, regions)
	}
	var files []manifest.File
	for _, r := range j.reports {
		for _, f := range r.Files {
			f.Load, f.Apart = out.Number, j.apart
			files = append(files, f)
		}
	}
	return out, files, nil
}

// days returns the sums of the days of all pieces, in order of date and behaviour ID.
func (c *commit) days(reports []*manifest.Report) []manifest.Day {
	sum := segment.NewTallies()
	for _, r := range reports {
		for _, d := range r.Days {
			k, _ := c.to.Schema.Kind(d.Behaviour) // the job has it, and so has the table
			sum.Add(segment.Day{Load: noLoad, Date: d.Date, Kind: k}, d.Records, d.Tally)
		}
	}
	return sum.Days(noLoad, c.to.Schema)
}

// noValue returns the fields without a value: a field of a day has none if it has none in any piece with records of the day.
func (c *commit) noValue(reports []*manifest.Report) *manifest.NoValue {
	var none manifest.NoValues
	fields := map[manifest.DayOf][]int32{} // indexes of none, of all days with records
	for _, r := range reports {
		of := r.NoValue.Of(r.Days)
		for _, d := range r.Days {
			if d.Records == 0 {
				continue
			}
			day, own := manifest.DayOf{Date: d.Date, Behaviour: d.Behaviour}, []int32(nil)
			if entry := of[day]; entry != nil {
				own = none.Indexes(r.NoValue.FieldsOf(entry))
			}
			if had, ok := fields[day]; ok {
				own = slices.DeleteFunc(own, func(i int32) bool { _, found := slices.BinarySearch(had, i); return !found })
			}
			fields[day] = own
		}
	}
	days := slices.SortedFunc(maps.Keys(fields), func(a, b manifest.DayOf) int {
		ka, _ := c.to.Schema.Kind(a.Behaviour)
		kb, _ := c.to.Schema.Kind(b.Behaviour)
		return cmp.Or(cmp.Compare(ka, kb), cmp.Compare(a.Date, b.Date))
	})
	for _, day := range days {
		none.Add(none.Group(day.Behaviour, fields[day]), day.Date)
	}
	return none.Result()
}

// commonRegions returns the sums of the regions of all pieces. If the table's regions changed between
// pieces, it uses the regions between the split points that all pieces had.
func commonRegions(reports []*manifest.Report) []manifest.Region {
	var points split.Points
	for i, r := range reports {
		own := pointsIn(r.Regions)
		if i == 0 {
			points = own
			continue
		}
		points = slices.DeleteFunc(points, func(x []byte) bool {
			_, found := slices.BinarySearchFunc(own, x, bytes.Compare)
			return !found
		})
	}
	out := make([]manifest.Region, len(points)+1)
	for i, x := range points {
		out[i+1].First = manifest.Key(x)
	}
	for _, r := range reports {
		for _, region := range r.Regions {
			out[points.Of(region.First)].Tally.Add(region.Tally)
		}
	}
	return out
}

// pointsIn returns the split points between regions.
func pointsIn(regions []manifest.Region) split.Points {
	var out split.Points
	for _, r := range regions[1:] {
		out = append(out, r.First)
	}
	return out
}
