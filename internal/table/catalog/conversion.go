package catalog

import (
	"context"
	"errors"
	"fmt"
	iofs "io/fs"
	"strconv"
	"strings"

	"usertrail/internal/format/manifest"
	"usertrail/internal/store/dfs"
	"usertrail/internal/table"
)

const (
	convertName = "convert"
	runsName    = "runs" // package runlog
)

// A Workshop holds the plan and the finished parts of a conversion until the new table exists.
type Workshop struct {
	FS  dfs.FS
	Dir string // of the catalog
}

func (w Workshop) at(name string) string { return dfs.Join(w.Dir, convertName, name) }

func (w Workshop) part(load int) string { return w.at(fmt.Sprintf("%06d.json", load)) }

// Plan returns the plan of the conversion, or nil if none is under way.
func (w Workshop) Plan(ctx context.Context) (*manifest.Conversion, error) {
	c := new(manifest.Conversion)
	err := read(ctx, w.FS, w.at(planName), c)
	if absent(err) {
		return nil, nil
	}
	return c, w.advised(err)
}

// advised adds to the error of a damaged file what to do.
func (w Workshop) advised(err error) error {
	if !errors.Is(err, manifest.ErrDamaged) {
		return err
	}
	return fmt.Errorf("%w: move %s away, and convert again", err, w.Dir)
}

// Begin writes the plan.
func (w Workshop) Begin(ctx context.Context, c *manifest.Conversion) error {
	c.Version = manifest.Version
	return manifest.Write(ctx, w.FS, w.at(planName), c)
}

// Done returns the finished parts in order of loads.
func (w Workshop) Done(ctx context.Context) ([]*manifest.Converted, error) {
	list, err := w.FS.List(ctx, dfs.Join(w.Dir, convertName))
	if err != nil {
		return nil, err
	}
	var out []*manifest.Converted
	for _, f := range list {
		number, ok := strings.CutSuffix(dfs.Base(f.Name), ".json")
		load, err := strconv.Atoi(number)
		if !ok || err != nil {
			continue // the plan
		}
		c := new(manifest.Converted)
		switch err := read(ctx, w.FS, f.Name, c); {
		case errors.Is(err, iofs.ErrNotExist):
			continue // a link to nothing
		case err != nil:
			return nil, w.advised(err)
		}
		if c.Load != load {
			return nil, w.advised(fmt.Errorf("%s: %w: it is the report of load %d", f.Name, manifest.ErrDamaged, c.Load))
		}
		out = append(out, c)
	}
	return out, nil
}

// Add records that a part is finished.
func (w Workshop) Add(ctx context.Context, c *manifest.Converted) error {
	c.Version = manifest.Version
	return manifest.Write(ctx, w.FS, w.part(c.Load), c)
}

// Drop removes the report of a part, so that the part is not finished.
func (w Workshop) Drop(ctx context.Context, load int) error { return w.FS.Remove(ctx, w.part(load)) }

// End removes the finished parts, and then the plan. It keeps files of others in the folder. The caller holds the table's lock.
func (w Workshop) End(ctx context.Context) error {
	folder := dfs.Join(w.Dir, convertName)
	list, err := w.FS.List(ctx, folder)
	if absent(err) {
		return nil
	}
	if err != nil {
		return unlistable(convertName, err)
	}
	others := false
	for _, f := range list {
		switch name := convertName + "/" + dfs.Base(f.Name); {
		case !isOurs(name, f.Dir):
			others = true
		case dfs.Base(f.Name) != planName:
			if err := w.FS.Remove(ctx, f.Name); err != nil {
				return err
			}
		}
	}
	if others {
		return w.FS.Remove(ctx, w.at(planName))
	}
	return w.FS.Remove(ctx, folder)
}

// Clear removes the remains of an unfinished conversion from the catalog's directory. It
// removes the plan last. It keeps the lock and the run log.
func (w Workshop) Clear(ctx context.Context, folder string) error {
	if err := w.Tidy(ctx); err != nil {
		return err
	}
	for _, name := range []string{folder, loadsName, quarantineName} {
		if err := w.FS.Remove(ctx, dfs.Join(w.Dir, name)); err != nil {
			return err
		}
	}
	return w.End(ctx)
}

// Tidy removes unfinished files and sorted runs.
func (w Workshop) Tidy(ctx context.Context) error {
	if err := w.FS.Sweep(ctx, w.Dir); err != nil {
		return err
	}
	return w.FS.Remove(ctx, dfs.Join(w.Dir, TempName))
}

// Keep removes the files of folder that no part in done names.
func (w Workshop) Keep(ctx context.Context, folder string, done []*manifest.Converted) error {
	var known []string
	for _, c := range done {
		for i := range c.Files {
			known = append(known, c.Files[i].Names()...)
		}
	}
	return (&Catalog{fs: w.FS, dir: w.Dir}).sweepOthers(ctx, folder, known)
}

// Found writes the ledgers of a new table and then the manifest, which makes the table visible.
// The loads of m name the ledgers one by one.
func (c *Catalog) Found(ctx context.Context, ledgers []*manifest.Load, m *manifest.Table) error {
	if err := c.SweepLedgers(ctx); err != nil {
		return err
	}
	for i, l := range ledgers {
		l.Table, l.Previous = m.Of(l.Number), ""
		if i > 0 {
			l.Previous = m.Loads[i-1].SHA256
		}
		if err := c.writeLedger(ctx, &m.Loads[i], l); err != nil {
			return err
		}
	}
	if err := manifest.Write(ctx, c.fs, dfs.Join(c.dir, ManifestName), m); err != nil {
		return fmt.Errorf("make table %s: %w", c.dir, err)
	}
	c.set(m)
	endLoading(ctx, c.fs, c.dir)
	return nil
}

// CopyQuarantine copies the bad records of the catalog in dir.
func (c *Catalog) CopyQuarantine(ctx context.Context, dir string) error {
	list, err := c.fs.List(ctx, dfs.Join(dir, quarantineName))
	if absent(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("copy bad records: %w", unlistable(quarantineName, err))
	}
	for _, f := range list {
		if f.Dir {
			continue
		}
		err := dfs.Copy(ctx, c.fs, f.Name, dfs.Join(c.dir, quarantineName, dfs.Base(f.Name)))
		if errors.Is(err, dfs.ErrSpecial) || f.Lost && err != nil {
			err = fmt.Errorf("%w: %w: move it away, then type the same command again", table.ErrUnfit, err)
		}
		if err != nil {
			return fmt.Errorf("copy bad records: %w", table.Unreadable(err))
		}
	}
	return nil
}

// Own reports whether f, a file in the catalog's directory, belongs to a workshop without a
// plan: the lock, the run log, the file in which Lock records a first load, or the workshop's
// folder.
func (w Workshop) Own(f dfs.Info) bool {
	switch dfs.Base(f.Name) {
	case lockName, runsName, convertName, loadingName:
		return true
	}
	return false
}
