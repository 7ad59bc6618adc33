package load_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/bulkloadtest"
	"usertrail/internal/bulkload/load"
)

// TestLedgersThatDoNotFitAreRefused loads so many files that their ledger does not fit into the least memory.
func TestLedgersThatDoNotFitAreRefused(t *testing.T) {
	y := bulkloadtest.New(t, bulkloadtest.TwoKinds)
	const files = 15_400
	for i := range files {
		y.Write(fmt.Sprintf("2014-09-01/play.%d", i), fmt.Sprintf("user,time,title,seconds\nu%d,2014-09-01 10:00:00,a,1\n", i))
	}
	cfg := y.Config("2014-09-01", "2014-09-01")
	cfg.Memory = 1 << 30
	if r, err := load.Run(t.Context(), cfg); err != nil || r.Loaded != files {
		t.Fatalf("%d records are loaded, %v, want %d", r.Loaded, err, files)
	}
	y.Write("2014-09-05/play.csv", bulkloadtest.Plays)
	cfg = y.Config("2014-09-05", "2014-09-05")
	cfg.Memory = bulkload.MinMemory
	const says = "have 15,400 delivered files, and --memory 64 MiB is not enough for them: raise --memory to 256 MiB"
	if _, err := load.Run(t.Context(), cfg); !errors.Is(err, bulkload.ErrRequest) || !strings.Contains(err.Error(), says) {
		t.Errorf("%v, want %q", err, says)
	}
	if checks, _, err := load.PreCheck(t.Context(), cfg); !strings.Contains(fmt.Sprint(checks, err), says) {
		t.Errorf("the pre-check does not say %q: %v, %v", says, checks, err)
	}
}
