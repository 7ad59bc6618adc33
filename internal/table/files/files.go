// Package files is a table of files: a directory, local or on HDFS, of the same
// HFiles that a live HBase takes in, with their rolls, the split points, the
// schema and the ledgers of all loads.
//
//	TABLE/manifest.json             what there is (package manifest)
//	TABLE/loads/000001.json         the ledger of load 1
//	TABLE/d/000001-0003.hfile       family d: load 1's rows of region 3
//	TABLE/d/000001-0003.roll        who is in it (package roll)
//	TABLE/quarantine/…              bad records, a file for each delivered file
//	TABLE/lock                      held while a load runs
//	TABLE/tmp/                      sorted runs of the load that is running
//
// A load writes its files, which nobody sees, and commits by replacing the
// manifest. Files that no manifest names are what a killed load left behind; the
// next one sweeps them. No file that a manifest has named is ever changed, so a
// reader needs no lock: it goes on with the manifest that it opened.
package files

import (
	"context"
	"errors"
	"fmt"
	iofs "io/fs"
	"strings"
	"sync"

	"usertrail/internal/behaviour"
	"usertrail/internal/dfs"
	"usertrail/internal/hfile"
	"usertrail/internal/layout"
	"usertrail/internal/manifest"
	"usertrail/internal/split"
	"usertrail/internal/table"
)

// Names in a table's directory.
const (
	ManifestName   = "manifest.json"
	TempName       = "tmp"
	lockName       = "lock"
	quarantineName = "quarantine"
	loadsName      = "loads"
	family         = "d"
)

// A Table is a directory of HFiles as one manifest describes it.
type Table struct {
	fs     dfs.FS
	dir    string
	layout layout.Layout

	mu      sync.Mutex
	m       *manifest.Table
	readers map[string]*reader
}

// Open opens the table in dir; it wraps table.ErrNoTable where there is none.
func Open(ctx context.Context, fs dfs.FS, dir string) (*Table, error) {
	m := new(manifest.Table)
	err := manifest.Read(ctx, fs, dfs.Join(dir, ManifestName), m)
	if errors.Is(err, iofs.ErrNotExist) {
		return nil, fmt.Errorf("%w: %s holds no %s", table.ErrNoTable, dir, ManifestName)
	}
	if err == nil {
		err = m.Validate()
	}
	if err != nil {
		return nil, fmt.Errorf("open table %s: %w", dir, err)
	}
	return newTable(fs, dir, m)
}

// New returns a table that will be in dir once it has taken its first load in.
func New(fs dfs.FS, dir string, p table.Plan) (*Table, error) {
	m := &manifest.Table{
		Version: manifest.Version, Layout: p.Layout, Family: family,
		Compression: p.Compression, Schema: p.Schema,
		Files: []manifest.File{}, Loads: []manifest.LoadRef{},
	}
	for _, s := range p.Splits {
		m.Splits = append(m.Splits, manifest.Key(s))
	}
	if err := m.Validate(); err != nil {
		return nil, fmt.Errorf("make table %s: %w", dir, err)
	}
	return newTable(fs, dir, m)
}

func newTable(fs dfs.FS, dir string, m *manifest.Table) (*Table, error) {
	l, err := layout.ByName(m.Layout)
	if err != nil {
		return nil, fmt.Errorf("open table %s: %w", dir, err)
	}
	return &Table{fs: fs, dir: dir, layout: l, m: m, readers: map[string]*reader{}}, nil
}

// Manifest is what the table held when it was opened, or after its last load.
// It must not be changed.
func (t *Table) Manifest() *manifest.Table {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.m
}

// Info implements table.Table.
func (t *Table) Info() table.Info {
	m := t.Manifest()
	version := fmt.Sprintf("%d/%s", len(m.Loads), m.Total().Digest)
	return table.Info{Address: t.dir, Version: version, Family: m.Family, Layout: t.layout, Schema: m.Schema}
}

// Regions implements table.Table.
func (t *Table) Regions(context.Context) ([]split.Region, error) {
	return t.Manifest().Points().Regions(), nil
}

// Extend adds what is new in a job's schema. The manifest says so after the next
// load.
func (t *Table) Extend(s *behaviour.Schema) error {
	m := *t.Manifest()
	merged, err := m.Schema.Merge(s)
	if err != nil {
		return fmt.Errorf("table %s: %w", t.dir, err)
	}
	m.Schema = merged
	t.set(&m)
	return nil
}

func (t *Table) set(m *manifest.Table) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.m = m
}

// FileOptions implements table.Loader. Blocks are small and cut where a user
// ends, so that reading one user reads one block; there is no Bloom filter,
// since rolls answer for it (docs/table.md has the measurements).
func (t *Table) FileOptions() hfile.Options {
	return hfile.Options{
		Codec:          hfile.Codec(strings.ToUpper(t.Manifest().Compression)),
		Encoding:       hfile.FastDiff,
		BlockSize:      16 << 10,
		IndexChunk:     32 << 10,
		ShortIndexKeys: true,
		GroupLen:       t.layout.UserKeyLen,
	}
}

// Close implements table.Table.
func (t *Table) Close() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	var errs []error
	for _, r := range t.readers {
		errs = append(errs, r.close())
	}
	clear(t.readers)
	return errors.Join(errs...)
}
