package catalog_test

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"usertrail/internal/format/manifest"
	"usertrail/internal/store/dfs"
	"usertrail/internal/store/dfs/local"
	"usertrail/internal/table/catalog"
	"usertrail/internal/test/testkit"
)

// together opens a ledger only when another ledger is being opened.
type together struct {
	dfs.FS
	meet chan bool
}

func (f *together) Open(ctx context.Context, name string) (dfs.File, error) {
	if strings.Contains(name, "loads") {
		select {
		case f.meet <- true:
		case <-f.meet:
		}
	}
	return f.FS.Open(ctx, name)
}

// nights returns the directory of a catalog with a number of loads.
func nights(t *testing.T, n int) string {
	t.Helper()
	dir := t.TempDir()
	c := newCatalog(t, dir)
	for i := range n {
		if err := c.Commit(t.Context(), &manifest.Load{Version: manifest.Version, Number: i + 1}, nil); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestLedgersAreReadTogether reads the ledgers of many nights. A reader that waits for one ledger after
// the other never continues here, and the bubble reports it.
func TestLedgersAreReadTogether(t *testing.T) {
	const loads = 20
	dir := nights(t, loads)
	synctest.Test(t, func(t *testing.T) {
		c, err := catalog.Open(t.Context(), &together{local.New(), make(chan bool)}, dir)
		if err != nil {
			t.Fatal(err)
		}
		ledgers, err := c.Ledgers(t.Context())
		if err != nil || len(ledgers) != loads {
			t.Fatalf("%d ledgers, %v; want %d", len(ledgers), err, loads)
		}
		for i, l := range ledgers {
			if l.Number != i+1 {
				t.Errorf("ledger %d is the ledger of load %d", i, l.Number)
			}
		}
	})
}

// TestTheOldestDamagedLedgerIsNamed damages two of many ledgers.
func TestTheOldestDamagedLedgerIsNamed(t *testing.T) {
	dir := nights(t, 20)
	c, err := catalog.Open(t.Context(), local.New(), dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"000004.json", "000006.json"} {
		testkit.WriteFile(t, filepath.Join(dir, "loads", name), "{}")
	}
	for range 20 {
		if _, err := c.Ledgers(t.Context()); !errors.Is(err, manifest.ErrDamaged) || !strings.Contains(err.Error(), "ledger of load 4:") {
			t.Fatalf("%v, want that the ledger of load 4 is damaged", err)
		}
	}
}
