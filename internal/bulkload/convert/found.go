package convert

import (
	"context"
	"fmt"
	"slices"

	"usertrail/internal/behaviour"
	"usertrail/internal/format/manifest"
)

// found completes the table: it writes the ledgers, the bad records and the manifest.
func (r *run) found(ctx context.Context) error {
	m := *r.to.Manifest()
	m.DroppedBefore = r.m.DroppedBefore
	for _, c := range r.done {
		for _, f := range c.Files {
			f.Apart = slices.ContainsFunc(r.ledgers, func(l *manifest.Load) bool { return l.Number == f.Load && l.Apart })
			m.Files = append(m.Files, f)
		}
	}
	ledgers, err := r.newLedgers()
	if err != nil {
		return err
	}
	for i, l := range ledgers {
		m.Loads = append(m.Loads, manifest.RefOf(l, r.m.Loads[i].Name))
	}
	m.SetVersion()
	if err := r.to.CopyQuarantine(ctx, r.cfg.From.Address()); err != nil {
		return err
	}
	if err := r.to.Found(ctx, ledgers, &m); err != nil {
		return err
	}
	r.count(&m)
	return r.end(ctx)
}

// newLedgers returns the old ledgers with the tallies of the new cells. Dropped days have no
// cells in the new table, so nothing has to be subtracted for them.
func (r *run) newLedgers() ([]*manifest.Load, error) {
	made := map[int][]*manifest.Load{}
	for _, c := range r.done {
		for i := range c.Loads {
			l := &c.Loads[i]
			made[l.Number] = append(made[l.Number], l)
		}
	}
	var out []*manifest.Load
	for _, old := range r.ledgers {
		l := *old
		l.Replaced = nil // the new table has no earlier files
		if err := l.SetUnread(r.m.Schema); err != nil {
			return nil, err
		}
		l.Regions = regionsOf(r.plan.Splits)
		for _, part := range made[l.Number] {
			for i, region := range part.Regions {
				l.Regions[i].Tally.Add(region.Tally)
			}
		}
		var err error
		if l.Days, err = newDaysOf(old, made[l.Number]); err != nil {
			return nil, err
		}
		out = append(out, &l)
	}
	return out, nil
}

// newDaysOf returns the days of a ledger with their new tallies. It returns an error if the
// converted records are not the records in the ledger.
func newDaysOf(old *manifest.Load, parts []*manifest.Load) ([]manifest.Day, error) {
	type key struct {
		date behaviour.Date
		kind string
	}
	sum := map[key]manifest.Day{}
	for _, p := range parts {
		for _, d := range p.Days {
			k := key{d.Date, d.Behaviour}
			e := sum[k]
			e.Records += d.Records
			e.Tally.Add(d.Tally)
			sum[k] = e
		}
	}
	out := []manifest.Day{}
	for _, d := range old.Days {
		k := key{d.Date, d.Behaviour}
		got := sum[k]
		delete(sum, k)
		if got.Records != d.Records {
			return nil, fmt.Errorf("%w: load %d: the files hold %d records of %s on %s, the ledger has %d", ErrDamaged, old.Number, got.Records, d.Behaviour, d.Date, d.Records)
		}
		d.Tally = got.Tally
		out = append(out, d)
	}
	for k, d := range sum {
		return nil, fmt.Errorf("%w: load %d: the files hold %d records of %s on %s, the ledger has none", ErrDamaged, old.Number, d.Records, k.kind, k.date)
	}
	return out, nil
}
