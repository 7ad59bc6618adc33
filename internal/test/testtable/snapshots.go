package testtable

import (
	"testing"

	"usertrail/internal/store/hbase"
	"usertrail/internal/store/hbase/wire"
)

// Snapshots returns the names of the snapshots of a table in HBase.
func Snapshots(t testing.TB, zooKeeper, table string) []string {
	t.Helper()
	client, err := hbase.Dial(t.Context(), hbase.Config{ZooKeeper: []string{zooKeeper}})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	all, err := client.Snapshots(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, s := range all {
		if s.Table == wire.ParseTableName(table) {
			names = append(names, s.Name)
		}
	}
	return names
}
