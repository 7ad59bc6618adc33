package files

import (
	"context"
	"errors"
	"fmt"
	iofs "io/fs"
	"slices"
	"strings"

	"usertrail/internal/dfs"
	"usertrail/internal/manifest"
)

// Stage implements table.Loader.
func (t *Table) Stage(ctx context.Context, name string) (dfs.Pending, error) {
	return t.fs.Create(ctx, dfs.Join(t.dir, name))
}

// Staged implements table.Loader.
func (t *Table) Staged(ctx context.Context, name string) (dfs.File, error) {
	return t.fs.Open(ctx, dfs.Join(t.dir, name))
}

// FileName implements table.Loader.
func (t *Table) FileName(load, region int) string {
	return fmt.Sprintf("%s/%06d-%04d", family, load, region)
}

// TakeIn implements table.Loader: it writes the ledger, then replaces the
// manifest.
func (t *Table) TakeIn(ctx context.Context, load *manifest.Load, files []manifest.File) error {
	old := t.Manifest()
	ref := manifest.LoadRef{Number: load.Number, Name: fmt.Sprintf("%s/%06d.json", loadsName, load.Number)}
	for _, f := range files {
		ref.Records += f.Records
	}
	if err := manifest.Write(ctx, t.fs, dfs.Join(t.dir, ref.Name), load); err != nil {
		return fmt.Errorf("write ledger: %w", err)
	}
	m := *old
	m.Files = append(slices.Clip(old.Files), files...)
	m.Loads = append(slices.Clip(old.Loads), ref)
	if err := manifest.Write(ctx, t.fs, dfs.Join(t.dir, ManifestName), &m); err != nil {
		return fmt.Errorf("commit load %d: %w", load.Number, err)
	}
	t.set(&m)
	return nil
}

// NextLoad implements table.Loader.
func (t *Table) NextLoad() int { return t.Manifest().Next() }

// Ledgers implements table.Loader.
func (t *Table) Ledgers(ctx context.Context) ([]*manifest.Load, error) {
	var out []*manifest.Load
	for _, ref := range t.Manifest().Loads {
		l := new(manifest.Load)
		if err := manifest.Read(ctx, t.fs, dfs.Join(t.dir, ref.Name), l); err != nil {
			return nil, fmt.Errorf("ledger of load %d: %w", ref.Number, err)
		}
		out = append(out, l)
	}
	return out, nil
}

// Sweep implements table.Loader: it removes runs, and files that the manifest
// does not name.
func (t *Table) Sweep(ctx context.Context) error {
	if err := t.fs.Sweep(ctx, t.dir); err != nil {
		return fmt.Errorf("sweep %s: %w", t.dir, err)
	}
	if err := t.fs.Remove(ctx, dfs.Join(t.dir, TempName)); err != nil {
		return fmt.Errorf("sweep: %w", err)
	}
	known := map[string]bool{}
	m := t.Manifest()
	for _, f := range m.Files {
		known[f.Name], known[f.Roll] = true, true
	}
	for _, l := range m.Loads {
		known[l.Name] = true
	}
	for _, sub := range []string{m.Family, loadsName} {
		if err := t.sweepUnknown(ctx, sub, known); err != nil {
			return err
		}
	}
	return nil
}

func (t *Table) sweepUnknown(ctx context.Context, sub string, known map[string]bool) error {
	list, err := t.fs.List(ctx, dfs.Join(t.dir, sub))
	if errors.Is(err, iofs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("sweep: %w", err)
	}
	for _, f := range list {
		base := f.Name[strings.LastIndexByte(f.Name, '/')+1:]
		if known[sub+"/"+base] {
			continue
		}
		if err := t.fs.Remove(ctx, f.Name); err != nil {
			return fmt.Errorf("sweep: %w", err)
		}
	}
	return nil
}
