package batch

import (
	"context"

	"usertrail/internal/bulkload/ledger"
	"usertrail/internal/bulkload/quarantine"
	"usertrail/internal/format/manifest"
)

// An Owner is the load or the piece of a plan that a batch belongs to. It names the files that the
// batch writes. The same inputs give the same names, so a second run replaces the files of the first.
type Owner interface {
	// Number returns the number of the load.
	Number() int
	// FileName returns the name of the files of a region, without their endings.
	FileName(region int) string
	// RollName returns the name of the roll of a batch whose cells are put. Batches of other
	// records have another id.
	RollName(id uint64) string
	// Begin records in the table the delivered files and the roll whose cells are about to be put.
	Begin(ctx context.Context, files []manifest.Input, roll *manifest.File) error
	// Copies returns the copies of an input that are in the table, and their SameAs. The input was
	// read whole. by is the selection of the job.
	Copies(in *Input, own ledger.Copy, by manifest.Selection) (copies []ledger.Copy, sameAs string)
	// Conditions returns the skip conditions by which loads may have skipped records of the copies of an
	// input. The input was not read.
	Conditions(in *Input, own ledger.Copy) []string
	// Replayed returns the offsets of the input's records that replays added, in order. The input was
	// read.
	Replayed(in *Input) []int64
	// Quarantine returns the file for the bad records of an input.
	Quarantine(ctx context.Context, in *Input) *quarantine.File
}

// A loadOwner is a load without a plan.
type loadOwner struct{ *Config }

// Number implements Owner.
func (o *loadOwner) Number() int { return o.To.NextLoad() }

// FileName implements Owner.
func (o *loadOwner) FileName(region int) string { return o.To.Stager.FileName(o.To.NextLoad(), region) }

// RollName implements Owner.
func (o *loadOwner) RollName(id uint64) string { return o.To.Putter.RollName(id) }

// Begin implements Owner.
func (o *loadOwner) Begin(ctx context.Context, files []manifest.Input, roll *manifest.File) error {
	for i := range files {
		files[i].Reading = o.To.Reading()
	}
	return o.To.Putter.Begin(ctx, files, roll)
}

// Copies implements Owner.
func (o *loadOwner) Copies(in *Input, own ledger.Copy, by manifest.Selection) (copies []ledger.Copy, sameAs string) {
	return o.Known.FindCopies(o.content(in), own, by, o.To.Info().Dropped)
}

// Conditions implements Owner.
func (o *loadOwner) Conditions(in *Input, own ledger.Copy) []string {
	return o.Known.Conditions(in.Size, in.Behaviour(o.To.Job.Schema), own)
}

// Replayed implements Owner.
func (o *loadOwner) Replayed(in *Input) []int64 { return o.Known.Replayed(o.content(in)) }

func (o *loadOwner) content(in *Input) ledger.Content {
	return ledger.Content{SHA256: in.sha, Behaviour: in.Behaviour(o.To.Job.Schema)}
}

// Quarantine implements Owner.
func (o *loadOwner) Quarantine(ctx context.Context, in *Input) *quarantine.File {
	path := in.Rel
	keeps := func(sha string) quarantine.Keeps { return quarantine.KeepsOfLoad(in.Rel, sha, in.Again()) }
	if in.corrected != nil {
		path += quarantine.Again
		keeps = func(string) quarantine.Keeps { return in.corrected.Keeps() }
	}
	return quarantine.NewFile(ctx, o.FS, o.Log, o.Store.Quarantine(path), keeps)
}
