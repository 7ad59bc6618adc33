package upkeep

import (
	"context"
	"errors"
	"fmt"
	iofs "io/fs"
	"slices"
	"syscall"

	"usertrail/internal/behaviour"
	"usertrail/internal/bulkload"
	"usertrail/internal/format/manifest"
	"usertrail/internal/run/outcome"
	"usertrail/internal/run/progress"
	"usertrail/internal/store/dfs"
	"usertrail/internal/table"
)

// An Undropped counts the days and files that Undrop restored.
type Undropped struct {
	Before     behaviour.Date `json:"-"` // the date of the drop
	Days       int            `json:"days"`
	Behaviours int64          `json:"behaviours"`
	Cells      int64          `json:"cells"`
	Files      int            `json:"files"` // restored HFiles
}

// Counted implements outcome.Result.
func (u Undropped) Counted() outcome.Counts {
	return outcome.Counts{outcome.Cells: float64(u.Cells), outcome.Files: float64(u.Files)}
}

// Undrop undoes the last drop in one commit, while the files that the drop replaced are kept.
// Loads after the drop remain. The records that they skipped are loaded if the same loads run again.
func Undrop(ctx context.Context, cfg Config) (Undropped, error) {
	r := newRun(cfg)
	var out Undropped
	err := r.held(ctx, func() error { // without the list of retired files, their removal could not be undone
		if err := table.CheckFiles(ctx, r.table); err != nil {
			return err
		}
		m := r.table.Manifest()
		if m.DroppedBefore == nil {
			if _, err := r.table.Recover(ctx); err != nil {
				return err
			}
			return fmt.Errorf("%w: no days were dropped from %s", ErrNothing, cfg.Store.Address())
		}
		u, err := r.table.Undrop(ctx)
		if err != nil {
			return err
		}
		if err := r.undoable(ctx, m, u); err != nil {
			return err
		}
		if _, err := r.table.Recover(ctx); err != nil { // Replace lists the files that are there now
			return err
		}
		m = r.next()
		m.Files = slices.DeleteFunc(m.Files, func(f manifest.File) bool { return slices.Contains(u.Made, f.Name) })
		m.Files = append(slices.Clone(u.Files), m.Files...)
		m.DroppedBefore, m.Dropped = nil, nil
		from := behaviour.MinDate
		if u.Earlier != nil {
			from = u.Earlier.DroppedBefore
			m.DroppedBefore, m.Dropped = &from, u.Earlier.Dropped
		}
		if err := whole(m); err != nil {
			return err
		}
		back := Undropped{Before: u.Before, Files: len(u.Files)}
		if err := r.countBack(ctx, m, &back); err != nil {
			return err
		}
		if err := r.roomForRecords(ctx); err != nil {
			return err
		}
		if err := r.table.Replace(ctx, m, cfg.KeepFor); err != nil {
			return err
		}
		out = back
		return nil
	})
	return out, err
}

// undoable returns an error if some files of the drop are not kept, or if its new files were
// merged with others.
func (r *run) undoable(ctx context.Context, m *manifest.Table, u *manifest.Undrop) error {
	no := func(why string) error {
		return fmt.Errorf("%w: the drop of the days before %s from %s can no longer be undone: %s: load the days from their logs into a new table",
			bulkload.ErrRequest, m.DroppedBefore, r.cfg.Store.Address(), why)
	}
	if u == nil {
		return no("its --keep-for has passed, retired.json is missing, or an undrop has undone a later drop (perhaps one that was killed at its end: see bulkload runs); if the table needs these days")
	}
	if name := u.Lacks(m); name != "" {
		return no("a compact has merged, or a load with --reread has replaced, " + name + ", which the drop wrote")
	}
	if err := r.unchanged(ctx, u.Files); err != nil {
		return fmt.Errorf("undo the drop of the days before %s: %w", m.DroppedBefore, err)
	}
	return nil
}

// unchanged reads HFiles and rolls whole. It returns an error that wraps table.ErrDamaged if a
// file is not as it was written.
func (r *run) unchanged(ctx context.Context, files []manifest.File) error {
	var all int64
	for i := range files {
		all += files[i].Size + files[i].RollSize
	}
	r.progress.Step("checking", progress.Bytes, all)
	for i := range files {
		f := &files[i]
		if err := r.unchangedFile(ctx, f.Name, f.Size, f.Sum); err != nil {
			return err
		}
		if err := r.unchangedFile(ctx, f.Roll, f.RollSize, f.RollSum); err != nil {
			return err
		}
	}
	return nil
}

// unchangedFile reads one file whole. If size is 0, the size is not known.
func (r *run) unchangedFile(ctx context.Context, name string, size int64, sum string) error {
	file, err := r.table.Staged(ctx, name)
	if err == nil {
		if size == 0 {
			size = -1
		}
		r.progress.Add(file.Size())
		err = errors.Join(dfs.CheckBytes(ctx, file, size, sum), file.Close())
	}
	if errors.Is(err, syscall.EISDIR) {
		return table.Damaged("%v", err) // without its status
	}
	if errors.Is(err, iofs.ErrNotExist) || errors.Is(err, dfs.ErrDamaged) || errors.Is(err, dfs.ErrSpecial) {
		return fmt.Errorf("%w: %s: %w: put the file back from a copy of the table", table.ErrDamaged, name, err)
	}
	return err
}

// countBack counts the days that m, the manifest after the undrop, has again.
func (r *run) countBack(ctx context.Context, m *manifest.Table, out *Undropped) error {
	days := map[behaviour.Date]bool{}
	for i := range m.Loads {
		l, err := r.table.Ledger(ctx, &m.Loads[i])
		if err != nil {
			return err
		}
		for _, day := range m.Kept(l.Days) {
			if day.Date < out.Before && day.Records > 0 {
				days[day.Date] = true
				out.Behaviours += day.Records
				out.Cells += day.Tally.Cells
			}
		}
	}
	out.Days = len(days)
	return nil
}
