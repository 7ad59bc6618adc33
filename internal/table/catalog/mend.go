package catalog

import (
	"context"
	"errors"
	"fmt"
	iofs "io/fs"
	"slices"
	"strings"

	"usertrail/internal/format/manifest"
	"usertrail/internal/store/dfs"
	"usertrail/internal/table"
)

// Faults returns the faults of the files of the catalog that no extract of a table of files reads: the list of retired
// files, the base, the records of loads that are being made or were killed, and the plans of loads in pieces.
func (c *Catalog) Faults(ctx context.Context) ([]table.Fault, error) {
	var out []table.Fault
	look := func(name string, err error) error {
		if !isFault(err) {
			return err
		}
		out = append(out, table.Fault{Name: name, Err: err})
		return nil
	}
	base := baseOf(c.Manifest().Rewritten)
	_, begun := leftByLoads(ctx, c.fs, c.dir)
	_, handover := c.Handover(ctx)
	if err := errors.Join(look(retiredName, c.checkRetiredNow(ctx)), look(base, c.checkBase(ctx)), look(loadingName, c.checkLoading(ctx)),
		look(begunName, begun), look(handoverName, handover)); err != nil {
		return nil, err
	}
	all, err := listDirs(ctx, c.fs, Plans(c.dir))
	if err != nil {
		return nil, err
	}
	for _, dir := range all {
		_, err := c.plan(ctx, dfs.Base(dir))
		if err := look(plansName+"/"+dfs.Base(dir)+"/"+planName, err); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// adviceBase is the next step after an error of the base.
const adviceBase = "let bulkload rebuild make it again"

// isFault reports whether an error means that a file is damaged or missing.
func isFault(err error) bool {
	return errors.Is(err, table.ErrDamaged) || errors.Is(err, manifest.ErrDamaged)
}

// checkBase returns an error that wraps manifest.ErrDamaged if the base is damaged, or is of another
// table. The error wraps errOtherState if the base has another drop than the manifest, or was written after other commands. It wraps table.ErrDamaged
// if the base is missing and Rebuild needs it.
func (c *Catalog) checkBase(ctx context.Context) error {
	m := c.Manifest()
	if !needsBase(m) {
		return nil
	}
	name := dfs.Join(c.dir, baseOf(m.Rewritten))
	b := new(manifest.Table)
	err := read(ctx, c.fs, name, b)
	if errors.Is(err, iofs.ErrNotExist) {
		return c.checkNoBase(ctx, name)
	}
	if err == nil {
		err = otherCopy(m, b)
	}
	if err == nil && !grewFrom(m, b) {
		err = fmt.Errorf("%s: %w: it is the copy of another manifest", name, manifest.ErrDamaged)
	}
	if errors.Is(err, manifest.ErrDamaged) {
		return fmt.Errorf("%w: %s", err, adviceBase)
	}
	return err
}

// checkNoBase returns an error that wraps table.ErrDamaged if Rebuild cannot make a manifest without the
// missing base called name. After a compact or drop that was killed before its sweep, the base is also
// missing. Then the replaced files still exist, and the ledgers or the base before name them. Older
// releases wrote no base and no digests of ledgers.
func (c *Catalog) checkNoBase(ctx context.Context, name string) error {
	m := c.Manifest()
	if slices.ContainsFunc(m.Loads, func(l manifest.LoadRef) bool { return l.SHA256 == "" }) {
		return nil
	}
	r := newRebuild(c.fs, c.dir)
	if _, err := r.fromLedgers(ctx); !isFault(err) && (err != nil || len(r.missing) == 0) {
		return err
	}
	// Another command may have written the base meanwhile, and removed the replaced files.
	if _, err := c.fs.Stat(ctx, name); !errors.Is(err, iofs.ErrNotExist) {
		return err
	}
	if again, err := ReadTable(ctx, c.fs, c.dir); err != nil || !sameTable(m, again) {
		return err
	}
	return fmt.Errorf("%w: %s is missing: put it back from a copy of the table, or %s", table.ErrDamaged, name, adviceBase)
}

// grewFrom reports whether loads alone made m of the manifest b.
func grewFrom(m, b *manifest.Table) bool {
	n := len(b.Loads)
	return m.Rewritten == b.Rewritten && len(m.Loads) >= n && slices.EqualFunc(m.Loads[:n], b.Loads, manifest.LoadRef.Same)
}

// Mended is what Mend repaired.
type Mended struct {
	Base    string // it was made again; empty if it was whole
	Retired bool   // the list of retired files is given up
}

// names returns the names of the repaired files.
func (d Mended) names() string {
	names := []string{retiredName, d.Base}
	if !d.Retired {
		names = names[1:]
	}
	return strings.Join(slices.DeleteFunc(names, func(name string) bool { return name == "" }), " and ")
}

// Mend repairs a table with an intact manifest. It makes a damaged or missing base again. If the list of retired
// files is damaged, missing, or lacks some of them, Mend gives these files up: the next load, compact
// or drop removes those that the list does not have. If checkBase returns errOtherState, Mend changes nothing: either file may be
// wrong. If a file that the manifest names is missing, Mend returns what it repaired with the error of this file.
func Mend(ctx context.Context, fs dfs.FS, dir string) (done Mended, err error) {
	c, err := Open(ctx, fs, dir)
	if err != nil {
		return done, err
	}
	if needed, err := c.needsMend(ctx); !needed || err != nil {
		return done, err
	}
	lock, err := lockRun(ctx, fs, dir)
	if err != nil {
		return done, fmt.Errorf("table %s: %w", dir, unwritable(err))
	}
	defer func() { err = errors.Join(err, lock.Unlock()) }()
	if c, err = Open(ctx, fs, dir); err != nil {
		return done, err
	}
	if needed, err := c.needsMend(ctx); !needed || err != nil {
		return done, err
	}
	if done.Retired, err = c.giveUpRetired(ctx); err != nil {
		return done, fmt.Errorf("rebuild %s: %w", dir, err)
	}
	if done.Base, err = c.mendBase(ctx); err != nil {
		return done, fmt.Errorf("rebuild %s: %w", dir, err)
	}
	if err := checkFiles(ctx, fs, dir, c.Manifest()); err != nil {
		return done, fmt.Errorf("rebuild %s: %s is repaired, and another file must be repaired: %w", dir, done.names(), err)
	}
	return done, nil
}

// needsMend reports whether Mend has something to repair.
func (c *Catalog) needsMend(ctx context.Context) (bool, error) {
	base := c.checkBase(ctx)
	if errors.Is(base, errOtherState) {
		return false, fmt.Errorf("rebuild %s: %w", c.dir, base)
	}
	faults := errors.Join(base, c.checkRetired(ctx))
	if faults == nil || !isFault(faults) {
		return false, faults
	}
	return true, nil
}

// giveUpRetired removes the list of retired files if it is damaged, and records that the table may
// have other replaced files. It reports whether the list has a fault.
func (c *Catalog) giveUpRetired(ctx context.Context) (bool, error) {
	err := c.checkRetired(ctx)
	if err == nil || !isFault(err) {
		return false, err
	}
	if errors.Is(err, manifest.ErrDamaged) {
		if err := c.fs.Remove(ctx, dfs.Join(c.dir, retiredName)); err != nil {
			return false, err
		}
	}
	m := *c.Manifest()
	m.Retired = false
	if err := manifest.Write(ctx, c.fs, dfs.Join(c.dir, ManifestName), &m); err != nil {
		return false, err
	}
	c.set(&m)
	return true, nil
}

// mendBase makes a damaged or missing base again, and returns its name.
func (c *Catalog) mendBase(ctx context.Context) (string, error) {
	err := c.checkBase(ctx)
	if err == nil || !isFault(err) {
		return "", err
	}
	name := baseOf(c.Manifest().Rewritten)
	if err := c.fs.Remove(ctx, dfs.Join(c.dir, name)); err != nil { // a directory cannot be replaced
		return "", err
	}
	return name, unlistable(baseName, manifest.Write(ctx, c.fs, dfs.Join(c.dir, name), c.Manifest()))
}
