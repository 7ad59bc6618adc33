// Package target is the table that a load goes into, with the job of the load.
//
//	Open, New      the table of a store, which may not exist yet
//	FinishKilled   killed loads are finished or removed
//	Fit            the job's behaviours and fields are added
//	Learn          the ledgers list the delivered files that are loaded
//	SetMode        HFiles or puts
package target

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"usertrail/internal/behaviour"
	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/ledger"
	"usertrail/internal/format/job"
	"usertrail/internal/format/layout"
	"usertrail/internal/split"
	"usertrail/internal/store/dfs"
	"usertrail/internal/table"
	"usertrail/internal/table/segment"
	"usertrail/internal/table/shuffle"
)

// A Table is the table of a load.
type Table struct {
	table.Loader
	Address string // as the user wrote it
	IsNew   bool   // it does not exist yet

	// Fit sets:
	Job    *job.Job
	Layout layout.Layout
	Schema *behaviour.Schema // of the table, with the job's behaviours and fields
	Unique []job.Unique      // key fields that the job names, by the table's kinds; zero if there are none
	kinds  []kind            // by the job's kinds

	// SetMode sets one of these:
	Stager    table.Stager // HFiles are loaded
	Putter    table.Putter // cells are put
	handsOver bool         // HFiles are handed to HBase
}

// Open opens the table of a store. If there is none, the error wraps table.ErrNoTable.
func Open(ctx context.Context, store table.Store) (*Table, error) {
	t, err := store.Open(ctx)
	if err != nil {
		return nil, err
	}
	return &Table{Loader: t, Address: store.Address()}, nil
}

// OpenOrNew opens the table of a store. If there is none, it prepares a new one.
func OpenOrNew(ctx context.Context, store table.Store, plan table.Plan) (*Table, error) {
	t, err := Open(ctx, store)
	if !errors.Is(err, table.ErrNoTable) {
		return t, err
	}
	made, err := store.New(ctx, plan)
	if err != nil {
		return nil, err
	}
	return &Table{Loader: made, Address: store.Address(), IsNew: true}, nil
}

// PlanOf returns the properties of a new table of a job.
func PlanOf(j *job.Job, splits func(context.Context) (split.Points, error)) table.Plan {
	return table.Plan{Layout: j.Layout, Compression: j.Table.Compression, Schema: j.Schema, Splits: splits}
}

// FinishKilled finishes loads that were killed while the table took them in, and removes the files of
// other killed loads. It adds the finished loads to r. It warns of files that a killed load loaded
// in part.
func (t *Table) FinishKilled(ctx context.Context, r *bulkload.Result, log *slog.Logger) error {
	finished, err := t.Recover(ctx)
	if err != nil {
		return err
	}
	for _, of := range finished {
		r.AddLoad(of)
		r.Finished++
		log.Warn("finished a load that was killed", "load", of.Number, "files", len(of.Inputs))
	}
	from, ok := table.As[table.Losing](t.Loader)
	if !ok {
		return nil
	}
	lost, err := from.Lost(ctx)
	if len(lost) > 0 {
		log.Warn("HFiles of a killed load are gone, and other HFiles of it are in the table: load its files again; until then extracts end with 75", "files", strings.Join(lost, ", "))
	}
	return err
}

// SameLayout returns an error if the job has another layout than the table.
func SameLayout(j *job.Job, info table.Info) error {
	has := info.Layout.Name()
	if has == j.Layout {
		return nil
	}
	return fmt.Errorf("%w: %s: layout: the job has %s, and table %s has %s, which cannot change: write layout: %s, or name another table; bulkload convert copies a table of files to another layout",
		job.ErrJob, j.Name, j.Layout, info.Address, has, has)
}

// Fit adds the new behaviours and fields of a job to the table. Fit must follow Recover, because a load that Recover finishes adds the schema of its own job.
func (t *Table) Fit(j *job.Job) error {
	if err := SameLayout(j, t.Info()); err != nil {
		return err
	}
	if err := t.Extend(j.Schema); err != nil {
		return fmt.Errorf("%w: %w", job.ErrJob, err)
	}
	info := t.Info()
	t.Job, t.Layout, t.Schema = j, info.Layout, info.Schema
	t.kinds = kindsOf(j.Schema, t.Schema)
	t.Unique = uniqueOf(j, t.Schema, t.kinds)
	return nil
}

// Learn reads the ledgers of the table, the files of killed loads by puts, and the plans that are not
// committed. It returns an error if they do not fit into the memory of with.
func (t *Table) Learn(ctx context.Context, with *bulkload.Resources) (*ledger.Index, error) {
	loads, err := bulkload.Ledgers(ctx, t.Loader, with.Memory, with.Log)
	if err != nil {
		return nil, err
	}
	var names ledger.Names
	if t.Job != nil { // the commit of a plan whose folder is gone has none
		names = t.Job
	}
	known := ledger.New(loads, names)
	if err := t.LearnBegun(ctx, known); err != nil {
		return nil, err
	}
	plans, err := t.Plans(ctx)
	if err != nil {
		return nil, err
	}
	known.Reserve(plans)
	return known, nil
}

// LearnBegun adds the files of killed loads by puts to known.
func (t *Table) LearnBegun(ctx context.Context, known *ledger.Index) error {
	p, ok := table.As[table.Putter](t.Loader)
	if !ok {
		return nil
	}
	begun, err := p.Begun(ctx)
	if err != nil {
		return err
	}
	for i := range begun {
		known.AddBegun(&begun[i])
	}
	return nil
}

// EndPlans removes the plans that are committed, or whose files were all loaded in another way.
func (t *Table) EndPlans(ctx context.Context, known *ledger.Index) error {
	for _, id := range known.Ended() {
		if err := t.EndPlan(ctx, id); err != nil {
			return fmt.Errorf("forget plan %s: %w", id, err)
		}
	}
	return nil
}

// WarnOfDeletes checks a sample of the loaded cells, and warns if deletes of other clients hide some
// of them.
func (t *Table) WarnOfDeletes(ctx context.Context, log *slog.Logger) {
	from, ok := table.As[table.HidingSampled](t.Loader)
	if !ok {
		return
	}
	cells, row, err := from.HiddenSample(ctx)
	switch {
	case err != nil:
		log.Info("could not check for deletes that hide loaded cells", "error", err)
	case cells > 0:
		log.Warn("deletes of another client hide loaded cells from all readers: bulkload verify counts these cells; docs/explanation/hbase.md describes the effect of a delete on later loads", "cells", cells, "row", fmt.Sprintf("%q", row))
	}
}

// NewSegment returns a writer of the files of one region. name is their name without the endings.
// span includes all dates of the records. The users of the roll are sorted in the memory that with has for a
// row, and in runs below its Temp.
func NewSegment(ctx context.Context, to table.Stager, with *bulkload.Resources, name string, span behaviour.Span) *segment.Writer {
	info := to.Info()
	return segment.New(ctx, to, segment.Config{
		Name: name, Layout: info.Layout, Schema: info.Schema, Span: span,
		Spill: shuffle.Config{FS: with.FS, Dir: dfs.Join(with.Temp, name+segment.RollEnding), Memory: with.RowMemory()},
	})
}
