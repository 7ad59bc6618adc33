package load_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/bulkloadtest"
	"usertrail/internal/bulkload/load"
	"usertrail/internal/format/manifest"
)

// TestLedgersThatDoNotFitAreRefused says in the manifest that the ledger of a load has more files than fit into the least memory. A
// drop does not hold the ledgers.
func TestLedgersThatDoNotFitAreRefused(t *testing.T) {
	y := bulkloadtest.New(t, bulkloadtest.TwoKinds)
	y.Write("2014-09-01/play.csv", bulkloadtest.Plays)
	y.Load(nil, "2014-09-01", "2014-09-01")
	name, m := filepath.Join(y.Store.Dir, manifest.TableName), new(manifest.Table)
	if err := manifest.Read(t.Context(), y.Store.FS, name, m); err != nil {
		t.Fatal(err)
	}
	if n := m.Loads[0].Files; n != 1 {
		t.Fatalf("the manifest has %d files of the load, want 1", n)
	}
	m.Loads[0].Files = 15_400
	if err := manifest.Write(t.Context(), y.Store.FS, name, m); err != nil {
		t.Fatal(err)
	}
	y.Write("2014-09-05/play.csv", strings.ReplaceAll(bulkloadtest.Plays, "2014-09-01", "2014-09-05"))
	cfg := y.Config("2014-09-05", "2014-09-05")
	cfg.Memory = bulkload.MinMemory
	const says = "have 15,400 delivered files and 1 day, counted for each behaviour, and --memory 64 MiB is not enough for them: raise --memory to 256 MiB"
	if _, err := load.Run(t.Context(), cfg); !errors.Is(err, bulkload.ErrRequest) || !strings.Contains(err.Error(), says) {
		t.Errorf("%v, want %q", err, says)
	}
	if checks, _, err := load.PreCheck(t.Context(), cfg); !strings.Contains(fmt.Sprint(checks, err), says) {
		t.Errorf("the pre-check does not say %q: %v, %v", says, checks, err)
	}
	cfg.Memory = 256 << 20
	if r, err := load.Run(t.Context(), cfg); err != nil || r.Loaded == 0 {
		t.Errorf("with the memory that the message names: %+v, %v", r, err)
	}
	y.Drop("2014-09-03")
}
