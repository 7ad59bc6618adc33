package e2e_test

import (
	"fmt"
	"testing"

	"usertrail/internal/store/hbase/hbasetest"
	"usertrail/internal/store/hbase/wire"
	"usertrail/internal/test/testkit"
)

// inMemory makes a table in HBase in memory the table of the job.
const inMemory = `sed -i "s|^table: .*|table: {path: '$table', root: '$root', catalog: '$PWD/catalog'}|" usertrail.yaml; `

// A memoryScript provokes a message about a table in an HBase in memory. Calls of one method may fail there.
type memoryScript struct {
	rowScript
	method string
	fails  *wire.ServerError
}

// memoryScripts has a script for each message in tables of the runbook that needs a fault of HBase, or two commands at one moment.
// $table is the address of the table, and $root is the folder of HBase's files.
var memoryScripts = map[string]memoryScript{
	"HBase shows its family and its catalog only to users who may alter it": {
		rowScript{64, inMemory + night}, "GetTableDescriptors",
		&wire.ServerError{Class: "org.apache.hadoop.hbase.security.AccessDeniedException", Message: "Insufficient permissions", DoNotRetry: true}},
	"HBase has snapshots disabled": {
		rowScript{64, inMemory + night + "; " + snapshots}, "Snapshot",
		&wire.ServerError{Class: "java.lang.UnsupportedOperationException", Message: "To use snapshots, You must add to the hbase-site.xml of the HBase Master: 'hbase.snapshot.enabled' property with value 'true'", DoNotRetry: true}},
	"the table is read again": {
		rowScript: rowScript{0, inMemory + stopped + night + " --types play; stopped fetch " + asking + " --out active; " + night + " --types order; kill -CONT $p; wait $p"}},
	"a load that is under way, or was killed": {
		rowScript: rowScript{64, inMemory + killed + "killed put " + night + " --types play; sed -i 's/seconds: int64/seconds: string/' usertrail.yaml; " + night + " --types order"}},
}

// TestOperationsRowsOfHBaseInMemory provokes messages about tables in an HBase in memory, and compares the exit status.
func TestOperationsRowsOfHBaseInMemory(t *testing.T) {
	programs := testkit.Commands(t)
	for message, row := range memoryScripts {
		t.Run(message, func(t *testing.T) {
			t.Parallel()
			dir := newNight(t)
			q := hbasetest.NewQuorum(t, t.TempDir())
			if row.fails != nil {
				q.SetHooks(hbasetest.Hooks{Call: func(c hbasetest.Call) (f hbasetest.Fault) {
					if c.Method == row.method {
						f.Exception = row.fails
					}
					return f
				}})
			}
			row.provokes(t, programs, dir, message, fmt.Sprintf("table=%s root=%s; ", q.Table(), q.Root()))
		})
	}
}
