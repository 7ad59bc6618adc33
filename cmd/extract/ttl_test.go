package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"usertrail/internal/behaviour"
	"usertrail/internal/format/layout"
	"usertrail/internal/table/live"
	"usertrail/internal/table/tabletest"
	"usertrail/internal/test/testkit"
)

// TestCellsExpireBetweenALoadAndAnExtract sets a TTL for the family of a loaded table, so that
// HBase hides its first nights, and later all nights. Every plan returns the remaining nights,
// with rolls and without, before and after HBase removes the hidden cells.
func TestCellsExpireBetweenALoadAndAnExtract(t *testing.T) {
	testExpiring(t, layout.Default, tabletest.Files)
}

// TestCellsExpireInEveryLayout does the same with puts, and in the other layouts.
func TestCellsExpireInEveryLayout(t *testing.T) {
	testkit.OnlyAll(t, "TestCellsExpireBetweenALoadAndAnExtract")
	for _, name := range layout.Names() {
		way := tabletest.Files
		if name == layout.Default {
			way = tabletest.Puts
		}
		t.Run(name, func(t *testing.T) { testExpiring(t, name, way) })
	}
}

func testExpiring(t *testing.T, name string, way tabletest.Way) {
	of, err := layout.ByName(name)
	if err != nil {
		t.Fatal(err)
	}
	const nights = 4
	lengths := []int{3, 1, 5}
	l := newLoadedFixture(t, func(s *live.Store) { tabletest.LoadTrails(t, way, s, of, nights, lengths...) },
		fmt.Sprintf("VERSIONS=%d", max(1, of.Traits().Versions)))
	plans := plansOf(t, of)
	list := filepath.Join(l.dir, "users")
	testkit.WriteFile(t, list, "1\n2\n3\nnobody\n")
	for _, left := range []int{2, 0} {
		// The records of a night are of its first seconds, so noon has no record near.
		expired := time.Date(2014, 9, nights-left, 12, 0, 0, 0, time.UTC)
		l.Admin(t, "alter", l.name, "d", fmt.Sprintf("TTL=%d", int64(time.Since(expired)/time.Second)))
		for _, how := range []string{"hidden", "removed"} {
			t.Run(fmt.Sprintf("%d nights are left, the others %s", left, how), func(t *testing.T) {
				l.sameByAllPlans(t, list, plans, left*(3+1+5))
			})
			l.Admin(t, "flush", l.name)
			l.Admin(t, "compact", l.name)
		}
	}
}

// plansOf returns the plans by which tables of a layout can be read.
func plansOf(t *testing.T, of layout.Layout) []string {
	t.Helper()
	schema := &behaviour.Schema{Zone: "UTC", Kinds: []behaviour.Kind{{ID: 1, Name: "play"}}}
	reads, err := of.Reads(schema, layout.Everything(schema, behaviour.Span{From: 1, To: 2}))
	if err != nil {
		t.Fatal(err)
	}
	if reads.Rows == nil {
		return []string{"scan", "auto", "snapshot"}
	}
	return []string{"get", "scan", "auto", "snapshot"}
}

// sameByAllPlans extracts everything in each way, and checks that the parts are the same and
// have that many events.
func (l *snapshotFixture) sameByAllPlans(t *testing.T, users string, plans []string, events int) {
	t.Helper()
	want := l.result(t, "--users", users, "--plan", plans[0])
	if says := fmt.Sprintf("%q: %d,", "events", events); !strings.Contains(want["_manifest.json"], says) {
		t.Errorf("the manifest does not have %s\n%s", says, want["_manifest.json"])
	}
	for _, plan := range plans {
		for _, rolls := range []string{"use", "off"} {
			if got := l.result(t, "--users", users, "--plan", plan, "--rolls", rolls); got["part-00000.parquet"] != want["part-00000.parquet"] {
				t.Errorf("--plan %s --rolls %s has other rows than --plan %s", plan, rolls, plans[0])
			}
		}
	}
}
