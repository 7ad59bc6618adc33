package live

import (
	"context"
	"errors"
	"fmt"
	iofs "io/fs"
	"maps"
	"strings"

	"usertrail/internal/format/hfile"
	"usertrail/internal/store/dfs"
	"usertrail/internal/store/hbase/wire"
	"usertrail/internal/table"
	"usertrail/internal/table/catalog"
)

// stagingName is the name of the folder for files that no region has accepted yet.
const stagingName = "staging"

// stagingIn returns the staging directory. It is on HBase's own file system, so that a region
// accepts a file by a rename. It is in the catalog if the catalog is on that file system, too.
func (s *Store) stagingIn() (string, error) {
	home, err := s.home()
	if err != nil {
		return "", err
	}
	if root := dfs.Root(home); root != dfs.Root(s.dir) {
		return dfs.Join(root, s.address.folder(), stagingName), nil
	}
	return dfs.Join(s.dir, stagingName), nil
}

// top returns the highest directory above the staged files that usertrail makes: the folder of all
// tables, or a catalog at another place.
func (s *Store) top(staging string) string {
	folder, _, _ := strings.Cut(s.address.folder(), "/")
	if all := dfs.Join(dfs.Root(staging), folder); strings.HasPrefix(staging, all+"/") {
		return all
	}
	return strings.TrimRight(s.dir, "/")
}

// FileOptions implements table.Stager. The options follow the settings of the family.
func (t *Table) FileOptions(ctx context.Context) (hfile.Options, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.options != nil {
		return *t.options, nil
	}
	o, err := t.store.familyOptions(ctx)
	if err != nil {
		return o, err
	}
	t.options = &o
	return o, nil
}

// familyOptions returns the options of HFiles for the family.
func (s *Store) familyOptions(ctx context.Context) (hfile.Options, error) {
	unfit := func(err error) (hfile.Options, error) {
		return hfile.Options{}, fmt.Errorf("table %s: %w for HFiles: %w", s.address, table.ErrUnfit, err)
	}
	if s.untold != nil {
		return unfit(s.untold)
	}
	if _, err := s.stagingIn(); err != nil {
		return hfile.Options{}, err
	}
	o, err := hfile.ForFamily(settingsOf(s.schema))
	if err != nil {
		return unfit(fmt.Errorf("family %s: %w", s.family, err))
	}
	if o.Codec == hfile.ZSTD {
		if o.Codec, err = s.zstd(ctx); err != nil {
			return unfit(err)
		}
	}
	return o, nil
}

// zstd returns the format of ZSTD that the servers use. There are two formats, and a server that
// gets a file in the wrong one crashes. zstd reads the layout from a file that the servers wrote.
func (s *Store) zstd(ctx context.Context) (hfile.Codec, error) {
	home, err := s.home()
	if err != nil {
		return "", err
	}
	space, name, ok := strings.Cut(s.address.Table, ":")
	if !ok {
		space, name = "default", s.address.Table
	}
	pattern := dfs.Join(home, "data", space, name, "*", s.family, "*")
	all, err := dfs.Glob(ctx, s.fs, pattern)
	if err != nil && !errors.Is(err, iofs.ErrNotExist) {
		return "", err
	}
	for _, f := range all {
		codec, err := s.codecOf(ctx, f.Name)
		if err == nil && (codec == hfile.ZSTD || codec == hfile.ZSTDPlain) {
			return codec, nil
		}
	}
	return "", fmt.Errorf("family %s has COMPRESSION ZSTD, which has two formats, and none of the %d files in %s shows which format the servers read: load by --mode put and flush the table once, or choose another codec",
		s.family, len(all), pattern)
}

func (s *Store) codecOf(ctx context.Context, name string) (hfile.Codec, error) {
	f, err := s.fs.Open(ctx, name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	r, err := hfile.Open(f, f.Size())
	if err != nil {
		return "", err
	}
	return r.Codec(), nil
}

// FileName implements table.Stager.
func (t *Table) FileName(load, region int) string {
	return fmt.Sprintf("%s/%06d-%04d", t.family, load, region)
}

// Stage implements table.Stager. HFiles go to HBase. Rolls stay in the catalog.
func (t *Table) Stage(ctx context.Context, name string) (dfs.Pending, error) {
	path, err := t.place(name)
	if err != nil {
		return nil, err
	}
	if err := t.BeginFile(ctx, name); err != nil {
		return nil, err
	}
	return t.store.fs.Create(ctx, path)
}

// Staged implements table.Stager.
func (t *Table) Staged(ctx context.Context, name string) (dfs.File, error) {
	path, err := t.place(name)
	if err != nil {
		return nil, err
	}
	return t.store.fs.Open(ctx, path)
}

func (t *Table) place(name string) (string, error) {
	if !strings.HasSuffix(name, ".hfile") {
		return dfs.Join(t.Dir(), name), nil
	}
	in, below, err := t.stagedIn(name)
	return dfs.Join(in, below), err
}

// stagedIn returns the staging directory of an HFile and its name there. Each process has a
// directory of its own: a process that has lost the table's lock must not hand over the files of
// the next process. All pieces of a plan share a directory, which no other load removes.
func (t *Table) stagedIn(name string) (dir, below string, err error) {
	in, err := t.store.stagingIn()
	if err != nil {
		return "", "", err
	}
	if plan, rest, ok := catalog.OfPlan(name); ok {
		return stagingOf(in, plan), t.family + "/" + rest, nil
	}
	return dfs.Join(in, t.run), name, nil
}

// stagingOf returns the staging directory of a plan, next to the staging directory of loads.
func stagingOf(staging, plan string) string {
	return dfs.Join(dfs.Dir(staging), catalog.PieceFolder(plan), stagingName)
}

// EndPlan implements table.Loader.
func (t *Table) EndPlan(ctx context.Context, id string) error {
	if in, err := t.store.stagingIn(); err == nil { // else no HFiles are staged
		staging := stagingOf(in, id)
		if dfs.Dir(in) != t.Dir() { // there is nothing else then
			staging = dfs.Dir(staging)
		}
		if err := t.store.fs.Remove(ctx, staging); err != nil {
			return err
		}
	}
	return t.Catalog.EndPlan(ctx, id)
}

// settingsOf returns all settings of a family.
func settingsOf(f *wire.FamilySchema) map[string]string {
	all := map[string]string{}
	maps.Copy(all, f.Attributes)
	maps.Copy(all, f.Configuration)
	return all
}

// familyOf returns the description of a family.
func familyOf(all []wire.FamilySchema, name string) *wire.FamilySchema {
	for i := range all {
		if all[i].Name == name {
			return &all[i]
		}
	}
	return nil
}
