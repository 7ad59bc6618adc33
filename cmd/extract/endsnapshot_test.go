package main

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"usertrail/cmd/internal/cli"
	"usertrail/internal/table"
)

// unclosable is a table that cannot be closed.
type unclosable struct{ table.Table }

// Close implements table.Table.
func (unclosable) Close() error { return errors.New("no HBase master is active") }

// TestASnapshotThatStaysIsAWarning ends a snapshot that HBase does not drop.
func TestASnapshotThatStaysIsAWarning(t *testing.T) {
	var said bytes.Buffer
	o := &options{env: &cli.Env{Stderr: &said}}
	o.endSnapshot(unclosable{})
	const warning, why = `level=WARN msg="the snapshot was not dropped; an extract on a later day drops it"`, "no HBase master is active"
	if got := said.String(); !strings.Contains(got, warning) || !strings.Contains(got, why) {
		t.Errorf("standard error has %q, want %s and %s", got, warning, why)
	}
}
