// Package importer copies the loads of one table into another, as HFiles that are cut at the other
// table's regions. It copies the ledgers too, so both tables know the delivered files.
//
// # Memory
//
// An import counts the records of one row together. A row that does not fit ends the import with an error.
package importer

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"

	"usertrail/internal/behaviour"
	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/target"
	"usertrail/internal/format/layout"
	"usertrail/internal/format/manifest"
	"usertrail/internal/run/progress"
	"usertrail/internal/split"
	"usertrail/internal/table"
	"usertrail/internal/table/precheck"
	"usertrail/internal/tally"
)

// Run copies the loads of from into the table of with.Store, which accepts HFiles. Records keep their
// column IDs. Run skips loads that the table already has. It uses as many workers as fit in the memory.
func Run(ctx context.Context, with bulkload.Resources, from table.Exporter) (r bulkload.Result, err error) {
	with = with.WithDefaults()
	lock, err := with.Store.Lock(ctx)
	if err != nil {
		return bulkload.Result{}, err
	}
	defer bulkload.Unlock(lock, &err)
	i := &importer{with: with, from: from}
	err = i.run(ctx)
	return i.result, err
}

// An importer is one call of Run.
type importer struct {
	with   bulkload.Resources
	from   table.Exporter
	to     *target.Table
	result bulkload.Result
}

func (i *importer) run(ctx context.Context) error {
	if err := i.open(ctx); err != nil {
		return err
	}
	if err := i.to.FinishKilled(ctx, &i.result, i.with.Log); err != nil {
		return err
	}
	from := i.from.Info()
	if err := i.to.Extend(from.Schema); err != nil {
		return fmt.Errorf("%w: the schema of %s does not fit: %w", bulkload.ErrRequest, from.Address, err)
	}
	if err := i.sameOrder(); err != nil {
		return err
	}
	todo, err := i.choose(ctx)
	if err != nil {
		return err
	}
	if len(todo) == 0 {
		if i.result.Finished > 0 {
			return nil
		}
		return fmt.Errorf("%w: all loads of %s are in %s", bulkload.ErrNothing, from.Address, i.to.Address)
	}
	return i.all(ctx, todo)
}

// rowBytes is the least memory of a worker of an import, in bytes.
const rowBytes = 24 << 20

// workers returns the number of regions that are written at the same time, and the memory in bytes
// for counting the records of one row: a quarter of the memory of a worker.
func (i *importer) workers() (workers, most int) {
	room := i.with.SortMemory()
	workers = int(min(int64(i.with.Workers), max(room/rowBytes, 1)))
	return workers, int(room) / workers / 4
}

// open opens the target. If there is no table, it plans one with the schema and settings of the
// source.
func (i *importer) open(ctx context.Context) error {
	from := i.from.Info()
	t, err := target.OpenOrNew(ctx, i.with.Store, table.Plan{
		Layout: from.Layout.Name(), Schema: from.Schema,
		Splits: func(context.Context) (split.Points, error) { return nil, nil },
	})
	if err != nil {
		return err
	}
	i.to = t
	if to := t.Info(); to.Layout.Name() != from.Layout.Name() {
		return fmt.Errorf("%w: %s has the layout %s, %s has %s", bulkload.ErrRequest, from.Address, from.Layout.Name(), to.Address, to.Layout.Name())
	}
	if i.result.Choice, err = t.SetMode(ctx, bulkload.HFile, 0); err != nil {
		return err
	}
	if _, err = t.Stager.FileOptions(ctx); err != nil {
		return err
	}
	return i.checkFamily(ctx, from.Layout.Traits())
}

// checkFamily returns an error if the family keeps fewer versions than the layout needs. Some
// imported records would be lost.
func (i *importer) checkFamily(ctx context.Context, needs layout.Traits) error {
	c, ok := i.with.Store.(precheck.Checker)
	if !ok || needs.Versions <= 1 {
		return nil
	}
	checks := c.Check(ctx, precheck.Load{HFiles: true, Locked: true, Traits: needs})
	return precheck.Failure(slices.DeleteFunc(checks, func(c precheck.Check) bool { return c.Name != precheck.FamilyFit }))
}

// sameOrder refuses a source that has the fields of a behaviour in another order than the
// target.
func (i *importer) sameOrder() error {
	from, to := i.from.Info(), i.to.Info()
	k, n := target.Misplaced(from.Schema, to.Schema)
	if k < 0 {
		return nil
	}
	kind := from.Schema.Kinds[k]
	there, _ := to.Schema.KindByID(kind.ID)
	return fmt.Errorf("%w: behaviour %s: field %d is %s in %s, and %s in %s: cells identify a field by its position: load %s from the logs instead",
		bulkload.ErrRequest, kind.Name, n+1, kind.Fields[n].Name, from.Address, to.Schema.Kinds[there].Fields[n].Name, to.Address, to.Address)
}

// all imports as many loads together as make files of a good size.
func (i *importer) all(ctx context.Context, todo []*manifest.Load) error {
	var cells int64
	for _, l := range todo {
		cells += cellsOf(l)
	}
	p := progress.Start(i.with.Progress)
	defer p.Done()
	p.Step("importing", "cells", cells)
	for len(todo) > 0 {
		n, size := 1, sizeOf(todo[0])
		for joined := joinedWith(todo); n < len(todo) && (n <= joined[n-1] || size+sizeOf(todo[n]) <= target.HandedBytes); n++ {
			size += sizeOf(todo[n])
		}
		if err := i.together(ctx, todo[:n], p); err != nil {
			return err
		}
		todo = todo[n:]
	}
	return nil
}

// together imports loads as one.
func (i *importer) together(ctx context.Context, loads []*manifest.Load, p *progress.Progress) error {
	regions, err := i.to.Regions(ctx)
	if err != nil {
		return err
	}
	load, err := i.merged(loads)
	if err != nil {
		return err
	}
	numbers := make([]int, len(loads))
	for n, l := range loads {
		numbers[n] = l.Number
	}
	all := make([]written, len(regions))
	g, gctx := errgroup.WithContext(ctx)
	workers, most := i.workers()
	g.SetLimit(workers)
	for n, r := range regions {
		g.Go(func() (err error) {
			all[n], err = i.newRegion(gctx, n, spanOf(load), most).write(gctx, numbers, r, p)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	var files []manifest.File
	var sum tally.Tally
	for n, w := range all {
		load.Regions = append(load.Regions, manifest.Region{First: regions[n].Start, Tally: w.tally})
		sum.Add(w.tally)
		if w.file.Records > 0 {
			files = append(files, w.file)
		}
	}
	if want := tallyOf(load); sum != want {
		return fmt.Errorf("%s holds %s of loads %v, and its ledgers say %s: it is damaged; bulkload verify says where", i.from.Info().Address, sum, numbers, want)
	}
	if err := i.to.TakeIn(ctx, load, files); err != nil {
		return err
	}
	i.result.AddLoad(load)
	i.result.HFiles += len(files)
	return nil
}

// merged returns one ledger of several loads.
func (i *importer) merged(loads []*manifest.Load) (*manifest.Load, error) {
	out := &manifest.Load{Number: i.to.NextLoad(), Job: loads[len(loads)-1].Job, Days: []manifest.Day{}}
	at := map[string]int{}
	var none manifest.NoValues
	for _, l := range loads {
		moved := *l
		if err := moved.SetUnread(i.to.Info().Schema); err != nil {
			return nil, err
		}
		out.Inputs = append(out.Inputs, moved.Inputs...)
		out.Apart = out.Apart || l.Apart
		none.AddAll(l.NoValue)
		for _, d := range l.Days {
			key := d.Date.String() + d.Behaviour
			n, ok := at[key]
			if !ok {
				n, at[key] = len(out.Days), len(out.Days)
				out.Days = append(out.Days, manifest.Day{Date: d.Date, Behaviour: d.Behaviour})
			}
			out.Days[n].Records += d.Records
			out.Days[n].Tally.Add(d.Tally)
		}
	}
	out.NoValue = none.Result()
	out.SetVersion()
	names := i.to.Info().Schema.Names()
	slices.SortFunc(out.Days, func(a, b manifest.Day) int {
		return cmp.Or(cmp.Compare(a.Date, b.Date), slices.Index(names, a.Behaviour)-slices.Index(names, b.Behaviour))
	})
	return out, nil
}

func spanOf(l *manifest.Load) behaviour.Span {
	s := behaviour.NoDays
	for _, d := range l.Days {
		s.AddDay(d.Date)
	}
	return s
}

func tallyOf(l *manifest.Load) tally.Tally {
	var sum tally.Tally
	for _, d := range l.Days {
		sum.Add(d.Tally)
	}
	return sum
}

func cellsOf(l *manifest.Load) int64 { return tallyOf(l).Cells }

func sizeOf(l *manifest.Load) (n int64) {
	for _, in := range l.Inputs {
		n += in.Size
	}
	return n
}
