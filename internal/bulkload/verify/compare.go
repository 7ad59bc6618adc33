package verify

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"usertrail/internal/format/manifest"
	"usertrail/internal/table"
)

// compare compares the counted cells with the expected ones.
func (r *run) compare(ctx context.Context) error {
	gone, err := r.expired(ctx)
	if err != nil {
		return err
	}
	keys := slices.AppendSeq(make([]dayKey, 0, len(r.expected)), maps.Keys(r.expected))
	for k := range r.found.days {
		if _, ok := r.expected[k]; !ok {
			keys = append(keys, k)
		}
	}
	slices.SortFunc(keys, inOrder)
	r.result.Compared = len(keys)
	for _, k := range keys {
		e, found := r.expected[k], r.found.days[k]
		r.result.Cells += found.Cells
		r.result.Records += e.records
		if found != e.cells {
			r.differs(k, gone)
		}
	}
	r.result.Foreign = r.found.foreign
	r.result.ForeignCells = r.found.foreign.Cells
	if r.result.ExpiredDays > 0 && r.ranges != nil {
		r.result.Unlocated = "cells have expired"
		r.ranges = nil
	}
	r.compareRanges()
	return nil
}

// differs adds a day that differs from the loaded day.
func (r *run) differs(k dayKey, gone func(dayKey) bool) {
	e, found := r.expected[k].cells, r.found.days[k]
	d := Day{Date: k.date, Behaviour: r.schema.Kinds[k.kind].Name, Expected: e, Found: found}
	hidden := r.hidden.days[k]
	d.Hidden = min(hidden.Cells, max(e.Cells-found.Cells, 0))
	all := found
	all.Add(hidden)
	switch {
	case found.Cells < e.Cells && gone(k):
		d.Verdict = Expired
	case all == e:
		d.Verdict = Hidden
	case found.Cells == 0:
		d.Verdict = Missing
	case e.Cells == 0:
		d.Verdict = Unknown
	case found.Cells < e.Cells:
		d.Verdict = Fewer
	case found.Cells > e.Cells:
		d.Verdict = More
	default:
		d.Verdict = Other
	}
	if d.Verdict == Expired {
		r.result.ExpiredDays++
	} else {
		r.result.DifferingDays++
		r.result.Hidden += d.Hidden
	}
	d.Maybe = found.Cells > e.Cells && len(r.result.Unfinished)+len(r.result.Since) > 0
	r.result.Days = append(r.result.Days, d)
}

func (r *run) compareRanges() {
	if r.ranges == nil {
		return
	}
	for i, region := range r.points.Regions() {
		if e, found := r.ranges[i], r.found.ranges[i]; e != found {
			r.result.Regions = append(r.result.Regions, Range{region, e, found})
		}
	}
	r.result.DifferingRegions = len(r.result.Regions)
}

// expired returns a function that reports whether some or all cells of a day may have
// expired.
func (r *run) expired(ctx context.Context) (func(dayKey) bool, error) {
	never := func(dayKey) bool { return false }
	t, ok := table.As[table.Expiring](r.table)
	if !ok {
		return never, nil
	}
	ttl, err := t.TTL(ctx)
	if err != nil || ttl == 0 {
		return never, err
	}
	zone, err := time.LoadLocation(r.schema.Zone)
	if err != nil {
		return nil, fmt.Errorf("the table's zone: %w", err)
	}
	return func(k dayKey) bool { return k.date.Start(zone).Add(ttl).Before(r.cfg.Now) }, nil
}

// unfinished records which loads are under way or were killed, and which ended since the
// table was opened. A table of files shows only finished loads, and a table that is already
// open does not show later ones.
func (r *run) unfinished(ctx context.Context) error {
	if _, ok := table.As[table.Filed](r.table); ok {
		return nil
	}
	begun, err := r.begun(ctx)
	if err != nil {
		return err
	}
	for _, in := range begun {
		if !slices.Contains(r.result.Unfinished, in.Path) {
			r.result.Unfinished = append(r.result.Unfinished, in.Path)
		}
	}
	now, err := r.cfg.Store.Open(ctx)
	if err != nil {
		return err
	}
	defer now.Close()
	r.result.Since = nil
	for n := r.table.NextLoad(); n < now.NextLoad(); n++ {
		r.result.Since = append(r.result.Since, n)
	}
	return nil
}

// begun returns the delivered files whose cells may be in the table although no ledger counts them.
func (r *run) begun(ctx context.Context) ([]manifest.Input, error) {
	var all []manifest.Input
	if t, ok := table.As[table.BegunByPuts](r.table); ok {
		inputs, err := t.Begun(ctx)
		if err != nil {
			return nil, err
		}
		all = inputs
	}
	if t, ok := table.As[table.HandedOver](r.table); ok {
		h, err := t.Handover(ctx)
		if err != nil {
			return nil, err
		}
		if h != nil {
			all = append(all, h.Load.Inputs...)
		}
	}
	return all, nil
}
