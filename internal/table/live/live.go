// Package live is a table in HBase: its rows are read and put through the
// RegionServers, and what its loads were is in a catalog (package catalog), a
// directory that lies elsewhere:
//
//	hbase://zk1,zk2:2181/ns:table                 cells, regions
//	hdfs://nn:8020/usertrail/ns/table             manifest, ledgers, quarantine, lock
//
// The table names its catalog in its attribute "usertrail.catalog", or the job
// does; where neither does, it is the folder usertrail/NAMESPACE/TABLE on Hadoop's
// default file system.
//
// HFiles are staged on HBase's own file system and handed to the regions. Which
// ones are on their way stands in the catalog, so that whoever comes after a crash
// hands over the rest:
//
//	hdfs://nn:8020/usertrail/ns/table/staging/RUN         HFiles that no region has yet
//	hdfs://nn:8020/usertrail/ns/table/pieces/ID/staging   those of a plan's pieces
//	hdfs://nn:8020/usertrail/ns/table/d                   rolls, which stay
//
// Puts are seen as soon as they are made, so a load that runs, or was killed, is
// seen in part. Its records have the IDs and timestamps that they will have when it
// is run again, which therefore changes nothing of them.
//
// Every load leaves rolls in the catalog before its first cell can be seen, so they
// name all users there are, unless others write to the table; who does not want
// to read every row to find a user asks the rolls.
package live

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"strings"
	"sync"
	"time"

	"usertrail/internal/catalog"
	"usertrail/internal/hbase"
	"usertrail/internal/hfile"
	"usertrail/internal/split"
	"usertrail/internal/table"
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
	run     string // tells its staged files from those of other processes
	rolls   *rolls.Rolls

	mu      sync.Mutex
	options *hfile.Options // once they are known
	perhaps perhaps
}

func newTable(s *Store, c *catalog.Catalog) *Table {
	t := &Table{Catalog: c, store: s, client: s.client, address: s.address, family: s.family, run: strings.ToLower(rand.Text()[:8]), rolls: rolls.New(s.fs, c.Dir())}
	if c.NextLoad() == 1 {
		// Nothing is known of who loaded it, so nothing says that it is the same
		// as at another time.
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

// Close implements table.Table. The connections are the store's.
func (t *Table) Close() error { return t.rolls.Close() }
