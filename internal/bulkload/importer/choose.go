package importer

import (
	"context"
	"fmt"

	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/ledger"
	"usertrail/internal/format/manifest"
)

// choose returns the ledgers of the loads that are not in the target.
func (i *importer) choose(ctx context.Context) ([]*manifest.Load, error) {
	there, err := bulkload.Ledgers(ctx, i.to.Loader, i.with.Memory, i.with.Log)
	if err != nil {
		return nil, err
	}
	all, err := bulkload.Ledgers(ctx, i.from, i.with.Memory, i.with.Log)
	if err != nil {
		return nil, err
	}
	has := newImported(there, all)
	var todo []*manifest.Load
	for _, l := range all {
		have := 0
		for n := range l.Inputs {
			in := &l.Inputs[n]
			if has.inputs[identity(in)] {
				have++
			} else if err := i.clash(l, in, has); err != nil {
				return nil, err
			}
		}
		switch have {
		case len(l.Inputs):
			i.result.Already += have
		case 0:
			todo = append(todo, l)
		default:
			return nil, fmt.Errorf("%w: of the %d files of load %d of %s, %d are in %s already: load the others into it from the logs",
				bulkload.ErrRequest, len(l.Inputs), l.Number, i.from.Info().Address, have, i.to.Address)
		}
	}
	return todo, i.checkRereads(all, todo)
}

// An imported has the delivered files of the target.
type imported struct {
	inputs map[string]bool   // by identity
	paths  map[uint32]string // by the number of a file
	others *ledger.Index     // of inputs that the source does not have
}

func newImported(target, source []*manifest.Load) *imported {
	h, ours := &imported{inputs: map[string]bool{}, paths: map[uint32]string{}, others: ledger.New(nil, nil)}, map[string]bool{}
	for _, l := range source {
		for n := range l.Inputs {
			ours[brought(&l.Inputs[n])] = true
		}
	}
	for _, l := range target {
		for n := range l.Inputs {
			in := &l.Inputs[n]
			h.inputs[identity(in)], h.paths[in.Number] = true, in.Path
			if !ours[brought(in)] {
				h.others.Add(in)
			}
		}
	}
	return h
}

// clash returns an error for an input if the target may have a record of it that was not copied
// from the source. Two records would then have the same column ID, or one record would have
// two.
func (i *importer) clash(l *manifest.Load, in *manifest.Input, has *imported) error {
	from, to := i.from.Info().Address, i.to.Address
	if path, ok := has.paths[in.Number]; ok && path != in.Path {
		return fmt.Errorf("%w: %s is number %d in %s, and so is %s in %s: their records would be mistaken for each other; load one of them from the logs",
			bulkload.ErrRequest, in.Path, in.Number, from, path, to)
	}
	if c, ok := has.others.Overlapping(in); ok {
		return fmt.Errorf("%w: %s of %s has the same bytes as %s, and %s has records of it: load the missing records from the logs",
			bulkload.ErrRequest, in.Path, from, c.Path, to)
	}
	for _, o := range has.others.Inputs(in.Path) {
		switch {
		case o.SHA256 != in.SHA256 && (o.Read == 0 || in.Read == 0): // the empty file has no record
		case o.SHA256 != in.SHA256:
			return fmt.Errorf("%w: %s was loaded with other bytes into %s than into %s: records of both would have the same column IDs; import into a new table",
				bulkload.ErrRequest, in.Path, to, from)
		case ledger.Share(in, o):
			return fmt.Errorf("%w: %s: some records of load %d of %s are in %s: load the missing records from the logs",
				bulkload.ErrRequest, in.Path, l.Number, from, to)
		}
	}
	return nil
}

// brought returns the identity of a file with its number of new records: two tables may have had copies of
// different parts of the file before.
func brought(in *manifest.Input) string { return fmt.Sprint(in.Loaded, " ", identity(in)) }

// identity returns a text that is equal for two files if the same records of them were loaded. Jobs may have
// different texts for behaviours that were not loaded.
func identity(in *manifest.Input) string {
	if in.Part == nil {
		return ledger.Identity(in)
	}
	same := *in
	same.Part = in.Part.WithOwnTexts()
	return ledger.Identity(&same)
}
