package upkeep

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"usertrail/internal/behaviour"
	"usertrail/internal/bulkload"
	"usertrail/internal/format/manifest"
	"usertrail/internal/format/roll"
	"usertrail/internal/run/outcome"
	"usertrail/internal/run/progress"
	"usertrail/internal/table"
	"usertrail/internal/table/precheck"
	"usertrail/internal/table/rolls"
	"usertrail/internal/tally"
)

// A Dropped counts the rows and files that Drop removed, or would remove.
type Dropped struct {
	Before     behaviour.Date `json:"-"`
	Days       int            `json:"days"`       // dates of the removed rows
	Rows       int64          `json:"rows"`       // rows of all files: a row in two files counts twice
	Behaviours int64          `json:"behaviours"` // in these rows
	Cells      int64          `json:"cells"`
	Files      int            `json:"files"`     // removed HFiles
	Rewritten  int            `json:"rewritten"` // HFiles that were rewritten without those days
	Bytes      int64          `json:"bytes"`     // by which the table's HFiles became less; a dry run estimates the bytes of rewritten files
}

// Counted implements outcome.Result.
func (d Dropped) Counted() outcome.Counts {
	return outcome.Counts{outcome.Cells: float64(d.Cells), outcome.Files: float64(d.Files), outcome.Bytes: float64(d.Bytes)}
}

// Drop removes the days before a date. Files that have only such days are removed. Other files
// are rewritten without these days. The table remembers the date. Later loads skip records of
// the removed days.
//
// Drop commits once. If there is no room for the rewritten files and cfg.KeepFor is 0, Drop
// commits twice: first it drops the days that need no rewritten file, then the other days.
func Drop(ctx context.Context, cfg Config, before behaviour.Date) (Dropped, error) {
	r := newRun(cfg)
	out := Dropped{Before: before}
	err := r.locked(ctx, func() error {
		d, err := r.look(ctx, before)
		if err != nil {
			return err
		}
		if d, err = r.makeRoom(ctx, d, &out); err != nil {
			return err
		}
		if err := r.drop(ctx, d); err != nil {
			return err
		}
		out.add(&d.Dropped)
		return nil
	})
	return out, err
}

// makeRoom first drops days that need no room, if there is too little space for the rewritten
// files. It returns the drop that remains.
func (r *run) makeRoom(ctx context.Context, d *drop, out *Dropped) (*drop, error) {
	first, ok := clean(r.table.Manifest(), d.Before)
	if r.cfg.KeepFor > 0 || len(d.straddles) == 0 || !ok {
		return d, nil
	}
	if err := r.demand(ctx, d); !errors.Is(err, precheck.ErrNoRoom) {
		return d, err
	}
	some, err := r.look(ctx, first)
	if err != nil {
		return d, err
	}
	if err := r.drop(ctx, some); err != nil {
		return d, err
	}
	out.add(&some.Dropped)
	if _, err := r.table.Recover(ctx); err != nil {
		return d, err
	}
	return r.look(ctx, d.Before)
}

// clean returns the last date, not after before, for which a drop removes only whole files. It
// returns false if no file would be removed.
func clean(m *manifest.Table, before behaviour.Date) (behaviour.Date, bool) {
	for moved := true; moved; {
		moved = false
		for _, f := range m.Files {
			if f.Span.From < before && f.Span.To >= before {
				before, moved = f.Span.From, true
			}
		}
	}
	return before, slices.ContainsFunc(m.Files, func(f manifest.File) bool { return f.Span.To < before })
}

// demand returns an error if there is not enough space for the rewritten files and the
// manifest.
func (r *run) demand(ctx context.Context, d *drop) error {
	var size int64
	for _, f := range d.straddles {
		size += f.Size + f.RollSize
	}
	advice := "free the room elsewhere"
	if first, ok := clean(r.table.Manifest(), d.Before); ok && len(d.straddles) > 0 {
		advice = fmt.Sprintf("write --before %s, for which no file is rewritten", first)
	}
	return r.room(ctx, size, advice)
}

// add adds the counts of another drop.
func (d *Dropped) add(o *Dropped) {
	d.Days += o.Days
	d.Rows += o.Rows
	d.Behaviours += o.Behaviours
	d.Cells += o.Cells
	d.Files += o.Files
	d.Rewritten += o.Rewritten
	d.Bytes += o.Bytes
}

// WouldDrop returns what Drop would remove. It takes no lock.
func WouldDrop(ctx context.Context, cfg Config, before behaviour.Date) (Dropped, error) {
	r := newRun(cfg)
	if err := r.open(ctx); err != nil {
		return Dropped{Before: before}, err
	}
	defer r.table.Close()
	d, err := r.look(ctx, before)
	return d.Dropped, err
}

// A drop lists what a drop removes.
type drop struct {
	Dropped
	goes, straddles []manifest.File
	tally           tally.Tally // all cells that the drop removes, by the ledgers
}

// look returns what the drop removes. It counts days and cells by the ledgers, and rows by the
// rolls.
func (r *run) look(ctx context.Context, before behaviour.Date) (*drop, error) {
	d := &drop{Dropped: Dropped{Before: before}}
	m := r.table.Manifest()
	if m.DroppedBefore != nil && *m.DroppedBefore >= before {
		return d, fmt.Errorf("%w: the days before %s were dropped from %s", ErrNothing, m.DroppedBefore, r.cfg.Store.Address())
	}
	days := map[behaviour.Date]bool{}
	newest := behaviour.MinDate
	err := r.table.EachLedger(ctx, func(l *manifest.Load) error {
		for _, day := range l.Days {
			if day.Records > 0 {
				newest = max(newest, day.Date)
			}
			if day.Date < before {
				d.tally.Add(day.Tally) // also of cells that a load added to records of earlier loads
			}
			if day.Date < before && day.Records > 0 {
				days[day.Date] = true
				d.Behaviours += day.Records
			}
		}
		return nil
	})
	if err != nil {
		return d, err
	}
	if before > newest && !r.cfg.All {
		return d, fmt.Errorf("%w: %s has no day from %s on: the drop would remove every day, and later loads would skip records of these days: correct --before, or add --all", bulkload.ErrRequest, r.cfg.Store.Address(), before)
	}
	d.Days, d.Cells = len(days), d.tally.Cells
	for _, f := range m.Files {
		switch {
		case f.Span.From >= before:
			continue
		case f.Span.To < before:
			d.goes = append(d.goes, f)
		default:
			d.straddles = append(d.straddles, f)
		}
		rows, all, err := r.rowsBefore(ctx, &f, before)
		if err != nil {
			return d, err
		}
		d.Rows += rows
		d.Bytes += int64(float64(f.Size) * float64(rows) / float64(max(all, 1)))
	}
	d.Files, d.Rewritten = len(d.goes), len(d.straddles)
	return d, nil
}

// rowsBefore counts the rows of a file before a date, and all of its rows. It reads them from the roll.
func (r *run) rowsBefore(ctx context.Context, f *manifest.File, before behaviour.Date) (rows, all int64, err error) {
	file, err := r.table.Staged(ctx, f.Roll)
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	x, err := roll.Open(file, file.Size())
	if err == nil {
		err = rolls.Check(r.table.Info().Layout, f, x)
	}
	if err != nil {
		return 0, 0, fmt.Errorf("open %s: %w", f.Roll, table.Corrupt(err))
	}
	it := x.Iterator()
	for it.Next() {
		e := it.Entry()
		for i, d := range e.Days {
			n := int64(e.Kinds(i).Len())
			all += n
			if d.Date < before {
				rows += n
			}
		}
	}
	if err := it.Err(); err != nil {
		return 0, 0, fmt.Errorf("read %s: %w", f.Roll, table.Corrupt(err))
	}
	return rows, all, nil
}

// drop rewrites the files with days on both sides of the date, and commits.
func (r *run) drop(ctx context.Context, d *drop) error {
	m := r.next()
	if err := whole(m); err != nil {
		return err
	}
	jobs := make([]job, len(d.straddles))
	var size int64
	points := m.Points()
	for i, f := range d.straddles {
		jobs[i] = job{name: name(m, i), files: d.straddles[i : i+1], from: d.Before, region: points.Of(f.First)}
		size += f.Size
	}
	if err := r.demand(ctx, d); err != nil {
		return err
	}
	r.progress.Step("dropping", progress.Bytes, size)
	done, err := r.all(ctx, jobs)
	if err != nil {
		return err
	}
	for _, f := range d.goes {
		done = append(done, rewritten{inputs: []manifest.File{f}, region: points.Of(f.First), left: f.Tally})
	}
	d.Bytes = 0
	for i := range done {
		d.Bytes += done[i].inputs[0].Size - done[i].file.Size
	}
	regions := gone(m, done)
	var sum tally.Tally
	for i := range done {
		sum.Add(done[i].left)
	}
	if sum != d.tally {
		return fmt.Errorf("%w: of the days before %s its files hold %s, and its ledgers have %s", ErrDamaged, d.Before, sum, d.tally)
	}
	m.Files, m.DroppedBefore, m.Dropped = replaced(m.Files, done), &d.Before, regions
	return r.table.Replace(ctx, m, r.cfg.KeepFor)
}

// gone returns the removed cells by region, together with the cells that earlier drops removed.
func gone(m *manifest.Table, done []rewritten) []manifest.Region {
	out := slices.Clone(m.Dropped)
	if len(out) == 0 {
		for _, region := range m.Points().Regions() {
			out = append(out, manifest.Region{First: region.Start})
		}
	}
	for i := range done {
		out[done[i].region].Tally.Add(done[i].left)
	}
	return out
}
