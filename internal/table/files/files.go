// Package files implements a table of files: a directory, local or on HDFS, with the same
// HFiles that a live HBase accepts, and their rolls. The catalog in the same directory (package
// catalog) has the split points, the schema and all loads.
//
//	TABLE/d/000001-0003.hfile       family d: load 1's rows of region 3
//	TABLE/d/000001-0003.roll        its users (package roll)
//	TABLE/d/r000002-0000.hfile      rows of several loads, merged by rewriting 2
//
// A load writes its files, which no reader sees. It commits by replacing the catalog's
// manifest. A killed load leaves files that no manifest names. The next load removes them.
// A file that a manifest has named never changes, so a reader needs no lock: it continues
// with the manifest that it opened.
package files

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"usertrail/internal/format/hfile"
	"usertrail/internal/format/layout"
	"usertrail/internal/format/manifest"
	"usertrail/internal/split"
	"usertrail/internal/store/dfs"
	"usertrail/internal/table"
	"usertrail/internal/table/catalog"
	"usertrail/internal/table/rolls"
)

const family = "d"

// A Table is a directory of HFiles, as one manifest describes it.
type Table struct {
	*catalog.Catalog
	fs    dfs.FS
	rolls *rolls.Rolls
	meter table.Meter

	mu      sync.Mutex
	readers map[string]*reader
}

// Open opens the table in dir. It wraps table.ErrNoTable if there is none. It refuses the catalog of a table in HBase,
// because a load into it would not be in HBase.
func Open(ctx context.Context, fs dfs.FS, dir string) (*Table, error) {
	c, err := catalog.Open(ctx, fs, dir)
	if err != nil {
		return nil, err
	}
	if of := c.Manifest().Address; of != "" {
		return nil, fmt.Errorf("%w: %s is the catalog of %s, not a table of files: name %[3]s with --table or in the job", table.ErrUnfit, dir, of)
	}
	return newTable(fs, c), nil
}

// New returns a new table. It exists in dir when its first load is committed. New returns the error of catalog.CheckPlace.
func New(ctx context.Context, fs dfs.FS, dir string, p table.Plan) (*Table, error) {
	if err := catalog.CheckPlace(ctx, fs, dir); err != nil {
		return nil, err
	}
	points, err := p.Splits(ctx)
	if err != nil {
		return nil, err
	}
	m := &manifest.Table{Layout: p.Layout, Family: family, Compression: p.Compression, Schema: p.Schema, Splits: manifest.KeysOf(points)}
	c, err := catalog.New(fs, dir, m)
	if err != nil {
		return nil, err
	}
	return newTable(fs, c), nil
}

func newTable(fs dfs.FS, c *catalog.Catalog) *Table {
	return &Table{Catalog: c, fs: fs, rolls: rolls.New(fs, c.Dir()), readers: map[string]*reader{}}
}

// Info implements table.Table.
func (t *Table) Info() table.Info {
	m := t.Manifest()
	return table.Info{
		Address: t.Dir(), Version: t.Version(), Family: m.Family, Layout: t.Layout(), Schema: m.Schema, Sealed: true,
		Dropped: m.DroppedBefore,
	}
}

// Regions implements table.Table.
func (t *Table) Regions(context.Context) ([]split.Region, error) {
	return t.Manifest().Points().Regions(), nil
}

// Spent returns the reads of the table's HFiles.
func (t *Table) Spent() table.Spent { return t.meter.Spent() }

// FileOptions implements table.Stager. Blocks are small and are cut between users, so a read
// of one user reads one block. There is no Bloom filter, because rolls give the same results
// (docs/reference/table.md has the measurements).
func (t *Table) FileOptions(context.Context) (hfile.Options, error) {
	return hfile.Options{
		Codec:          hfile.Codec(strings.ToUpper(t.Manifest().Compression)),
		Encoding:       hfile.FastDiff,
		BlockSize:      16 << 10,
		IndexChunk:     32 << 10,
		ShortIndexKeys: true,
		GroupLen:       layout.GroupLen(t.Layout()),
	}, nil
}

// Close implements table.Table.
func (t *Table) Close() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	errs := []error{t.rolls.Close()}
	for _, r := range t.readers {
		errs = append(errs, r.close())
	}
	clear(t.readers)
	return errors.Join(errs...)
}
