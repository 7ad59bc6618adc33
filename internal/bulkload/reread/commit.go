package reread

import (
	"context"

	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/delivered"
	"usertrail/internal/bulkload/ledger"
	"usertrail/internal/format/manifest"
	"usertrail/internal/table/segment"
)

// commit adds the load to the table.
func (x *reread) commit(ctx context.Context, done []*adder) error {
	number, tallies, made := x.to.NextLoad(), segment.NewTallies(), map[string]manifest.File{}
	for _, a := range done {
		tallies.Merge(a.tallies)
		if a.made.Name != "" {
			made[a.place.file.Name] = a.made
		}
	}
	load := &manifest.Load{
		Number: number, Job: x.cfg.Job.Digest(), Inputs: x.entries(), Days: tallies.Days(number, x.to.Schema), Regions: tallies.Regions(number, x.points),
	}
	for _, in := range x.inputs {
		if in.Failed() {
			x.failures.Add(in.Path, in.Err())
		} else {
			x.result.Reread.Add(in.counts.outcome())
		}
	}
	x.warnOfMissed()
	if len(load.Inputs) == 0 {
		return x.noneGiven()
	}
	load.SetVersion()
	err := bulkload.CheckLaw(load.Inputs)
	switch {
	case err != nil:
	case x.files != nil:
		err = x.files.Rewrite(ctx, load, made, x.cfg.KeepFor)
	default:
		err = x.to.TakeIn(ctx, load, nil)
	}
	if err != nil {
		return err
	}
	x.result.AddLoad(load)
	x.result.HFiles += len(made)
	x.cfg.Log.Info("read again", "files", len(load.Inputs), "hfiles", len(made))
	return nil
}

// entries returns the entries of the files that give values in the ledger.
func (x *reread) entries() (out []manifest.Input) {
	for _, in := range x.inputs {
		if in.gives() {
			out = append(out, x.entry(in))
		}
	}
	return out
}

// entry returns the entry of a file in the ledger. It has no offsets: the load added no record.
func (x *reread) entry(in *input) manifest.Input {
	kind := in.Behaviour(x.cfg.Job.Schema)
	by := delivered.SelectionOf(x.cfg.Job).Of(kind)
	out := manifest.Input{
		Path: in.Rel, Behaviour: kind, Number: in.Number, Size: in.Size, Modified: in.Modified, SHA256: in.SHA256(),
		Part: ledger.Undropped(in.Part, kind, x.to.Info().Dropped), Offsets: []int64{}, TextsBy: by.TextsBy, Reread: in.names, Missed: in.counts.again.Missed, RereadNoValue: in.noValue, Counts: in.counts.ofFile(),
	}
	out.SetSelection(by)
	return out
}
