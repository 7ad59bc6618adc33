package catalog_test

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"usertrail/internal/format/manifest"
	"usertrail/internal/store/dfs"
	"usertrail/internal/store/dfs/local"
	"usertrail/internal/table"
	"usertrail/internal/table/catalog"
	"usertrail/internal/test/testkit"
)

// together opens the first ledgers only when eight of them are being opened.
type together struct {
	dfs.FS
	opened atomic.Int32
	eight  chan bool
}

func (f *together) Open(ctx context.Context, name string) (dfs.File, error) {
	if strings.Contains(name, "loads") {
		if f.opened.Add(1) == 8 {
			close(f.eight)
		}
		<-f.eight
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
		c, err := catalog.Open(t.Context(), &together{FS: local.New(), eight: make(chan bool)}, dir)
		if err != nil {
			t.Fatal(err)
		}
		ledgers, err := table.Ledgers(t.Context(), c)
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
		if _, err := table.Ledgers(t.Context(), c); !errors.Is(err, manifest.ErrDamaged) || !strings.Contains(err.Error(), "ledger of load 4:") {
			t.Fatalf("%v, want that the ledger of load 4 is damaged", err)
		}
	}
}

// gauge counts the ledgers that were opened.
type gauge struct {
	dfs.FS
	opened atomic.Int32
}

func (g *gauge) Open(ctx context.Context, name string) (dfs.File, error) {
	if strings.Contains(name, "loads") {
		g.opened.Add(1)
	}
	return g.FS.Open(ctx, name)
}

// TestFewLedgersAreReadAhead looks at each of many ledgers, and checks how many were opened before it was looked at.
func TestFewLedgersAreReadAhead(t *testing.T) {
	const loads, ahead = 60, 10
	dir := nights(t, loads)
	g := &gauge{FS: local.New()}
	c, err := catalog.Open(t.Context(), g, dir)
	if err != nil {
		t.Fatal(err)
	}
	g.opened.Store(0)
	seen := 0
	err = c.EachLedger(t.Context(), func(l *manifest.Load) error {
		if seen++; l.Number != seen {
			t.Errorf("ledger %d is the ledger of load %d", seen, l.Number)
		}
		if opened := int(g.opened.Load()); opened > seen+ahead {
			t.Errorf("%d ledgers were opened before ledger %d was looked at", opened, seen)
		}
		return nil
	})
	if err != nil || seen != loads {
		t.Errorf("%d ledgers, %v; want %d", seen, err, loads)
	}
}

// TestReadingOfLedgersEnds ends with an error of the function, and when the context ends. No reader is left.
func TestReadingOfLedgersEnds(t *testing.T) {
	dir := nights(t, 30)
	enough := errors.New("enough")
	synctest.Test(t, func(t *testing.T) {
		c, err := catalog.Open(t.Context(), local.New(), dir)
		if err != nil {
			t.Fatal(err)
		}
		seen := 0
		stopAt := func(n int, stop func() error) func(*manifest.Load) error {
			seen = 0
			return func(*manifest.Load) error {
				if seen++; seen == n {
					return stop()
				}
				return nil
			}
		}
		if err := c.EachLedger(t.Context(), stopAt(3, func() error { return enough })); !errors.Is(err, enough) || seen != 3 {
			t.Errorf("%v after %d ledgers, want the error of the function after 3", err, seen)
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		err = c.EachLedger(ctx, stopAt(3, func() error { cancel(enough); return nil }))
		if err == nil || seen == 30 {
			t.Errorf("%v after %d ledgers, although the context ended after 3", err, seen)
		}
	})
}
