// Package live implements a table in HBase. It reads and puts rows through the
// RegionServers. The records of the loads are in a catalog (package catalog), which is a
// directory outside HBase:
//
//	hbase://zk1,zk2:2181/ns:table                 cells, regions
//	hdfs://nn:8020/usertrail/ns/table             manifest, ledgers, quarantine, lock
//
// The table's attribute "usertrail.catalog" or the job names the catalog. The default is the
// folder usertrail/NAMESPACE/TABLE on Hadoop's default file system.
//
// HFiles are staged on HBase's own file system and handed to the regions. The catalog lists
// the files that are being handed over, so that the next load can hand over the rest after
// a crash:
//
//	hdfs://nn:8020/usertrail/ns/table/staging/RUN         HFiles that no region has yet
//	hdfs://nn:8020/usertrail/ns/table/pieces/ID/staging   HFiles of a plan's pieces
//	hdfs://nn:8020/usertrail/ns/table/d                   rolls, which stay
//
// Readers see each put at once. While a load by puts runs, or after it was killed, they see a
// part of it. If the load runs again, its records get the same IDs and timestamps, so the cells
// do not change.
//
// Every load writes rolls to the catalog before readers can see its first cell. The rolls
// therefore name all users of the table, unless other programs write to it. To find users
// without a scan of all rows, read the rolls.
package live

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"strings"
	"sync"
	"time"

	"usertrail/internal/format/hfile"
	"usertrail/internal/split"
	"usertrail/internal/store/hbase"
	"usertrail/internal/table"
	"usertrail/internal/table/catalog"
	"usertrail/internal/table/rolls"
)

// A Table is a table in HBase with its catalog.
type Table struct {
	*catalog.Catalog
	store   *Store
	client  *hbase.Client
	address Address
	family  string
	version string
	run     string // identifies the staged files of this process
	rolls   *rolls.Rolls

	mu      sync.Mutex
	options *hfile.Options // nil until they are known
	perhaps perhaps
}

func newTable(s *Store, c *catalog.Catalog) *Table {
	t := &Table{Catalog: c, store: s, client: s.client, address: s.address, family: s.family, run: strings.ToLower(rand.Text()[:8]), rolls: rolls.New(s.fs, c.Dir())}
	if c.NextLoad() == 1 {
		// Without a catalog, nothing shows whether the table has changed since another
		// time.
		t.version = fmt.Sprintf("unknown at %d", time.Now().UnixNano())
	}
	return t
}

// Info implements table.Table.
func (t *Table) Info() table.Info {
	m := t.Manifest()
	return table.Info{Address: t.address.String(), Version: cmp.Or(t.version, t.Version()), Family: t.family, Layout: t.Layout(), Schema: m.Schema, Narrow: true}
}

// Regions implements table.Table.
func (t *Table) Regions(ctx context.Context) ([]split.Region, error) {
	all, err := t.client.Regions(ctx, t.address.Table)
	if err != nil {
		return nil, t.address.explain(err)
	}
	out := make([]split.Region, len(all))
	for i, r := range all {
		out[i] = split.Region{Start: r.Start, End: r.End}
	}
	return out, nil
}

// Close implements table.Table. The store owns the connections.
func (t *Table) Close() error { return t.rolls.Close() }
