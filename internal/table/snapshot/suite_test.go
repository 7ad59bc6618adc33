package snapshot_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"usertrail/internal/behaviour"
	"usertrail/internal/cell"
	"usertrail/internal/format/layout"
	"usertrail/internal/split"
	"usertrail/internal/store/dfs/local"
	"usertrail/internal/table"
	"usertrail/internal/table/files"
	"usertrail/internal/table/snapshot"
	"usertrail/internal/table/tabletest"
)

// A photographed is a table of files that is read by a snapshot of a table in HBase
// with the same files, bulk loaded.
type photographed struct {
	*files.Table
	t *testing.T

	mu      sync.Mutex
	version string
	snap    *snapshot.Table
}

func (p *photographed) Read(ctx context.Context, q table.Query, emit func(*cell.Cell) error) error {
	return p.snapshot().Read(ctx, q, emit)
}

func (p *photographed) Users(ctx context.Context, r split.Region, span behaviour.Span) (table.Users, error) {
	return p.snapshot().Users(ctx, r, span)
}

func (p *photographed) Regions(ctx context.Context) ([]split.Region, error) {
	return p.snapshot().Regions(ctx)
}

// snapshot returns a snapshot of the table's files as they are now.
func (p *photographed) snapshot() *snapshot.Table {
	p.mu.Lock()
	defer p.mu.Unlock()
	info := p.Info()
	if p.snap != nil && p.version == info.Version {
		return p.snap
	}
	d := newDisk(p.t)
	d.family = map[string]string{"VERSIONS": fmt.Sprint(max(1, info.Layout.Traits().Versions))}
	for i, r := range p.Manifest().Points().Regions() {
		region := diskRegion{start: string(r.Start), end: string(r.End), id: 1}
		for _, f := range p.Manifest().Files {
			if !strings.HasSuffix(f.Name, fmt.Sprintf("-%04d.hfile", i)) {
				continue
			}
			name := fmt.Sprintf("%x_SeqId_%d_", f.Load, f.Load)
			b, err := os.ReadFile(filepath.Join(p.Dir(), f.Name))
			if err != nil {
				p.t.Error(err)
			}
			d.write(p.t, "data/ns/t/"+d.encoded(region)+"/d/"+name, b)
			region.files = append(region.files, diskFile{name: name, size: int64(len(b))})
		}
		d.regions = append(d.regions, region)
	}
	d.take(p.t, "s")
	s, err := snapshot.Open(context.Background(), snapshot.Config{FS: local.New(), Root: d.root, Name: "s", Table: "ns:t", Info: info, Now: time.Now()})
	if err != nil {
		p.t.Error(err)
	}
	p.snap, p.version = s, info.Version
	return s
}

func (p *photographed) Close() error {
	if p.snap != nil {
		if err := p.snap.Close(); err != nil {
			return err
		}
	}
	return p.Table.Close()
}

// A studio makes tables of files that are read by their snapshots.
type studio struct {
	files.Store
	t *testing.T
}

func (s studio) Open(ctx context.Context) (table.Loader, error) {
	t, err := files.Open(ctx, s.FS, s.Dir)
	if err != nil {
		return nil, err
	}
	return &photographed{Table: t, t: s.t}, nil
}

func TestASnapshotIsATable(t *testing.T) {
	tabletest.Run(t, tabletest.Files, func(t *testing.T, _ layout.Layout) table.Store {
		return studio{files.Store{FS: local.New(), Dir: filepath.Join(t.TempDir(), "table")}, t}
	})
}
