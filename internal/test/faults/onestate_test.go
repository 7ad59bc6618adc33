package faults_test

import (
	"errors"
	iofs "io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"usertrail/internal/run/breakpoint"
	"usertrail/internal/test/clustertest"
)

// TestExtractsAreOfOneState loads the first day by HFiles and stops extracts of all plans
// while they read. It then kills the load of the other days between two regions. No extract
// may use a part of that load. A new extract must report it. A running extract must read
// again after another load has finished it.
func TestExtractsAreOfOneState(t *testing.T) {
	c := clustertest.Get(t)
	h := newFixture(t, c, c.HDFS(t))
	dir := t.TempDir()
	out := func(name string) string { return filepath.Join(dir, name) }
	h.loadFiles(t, nowhere, "--to", span.From.String()).done(t)
	all := func(plan string) query { return query{plan: plan, users: "all"} }
	first := h.extractUntil(t, nowhere, all("scan"), out("first")).done(t)

	frozen := map[string]*process{}
	for _, plan := range []string{"get", "scan", "snapshot"} {
		p := h.extractUntil(t, at(breakpoint.Fetch, 1), all(plan), out("frozen-"+plan), "--workers", "1")
		p.awaitStop(t)
		frozen[plan] = p
	}
	load := h.loadFiles(t, at(breakpoint.Handed, 1))
	load.awaitStop(t)
	load.crash(t)
	for plan := range frozen {
		late := func() result {
			return h.extractUntil(t, nowhere, all(plan), out("late-"+plan), "--retry-for", "0s").wait(t)
		}
		said := late()
		for tries := 0; tries < 20 && strings.Contains(said.Error, "cannot be reached"); tries++ { // a server is busy
			said = late()
		}
		if said.status != exitNotNow || !strings.Contains(said.Error, "a load is in the table in part") {
			t.Errorf("--plan %s ended with status %d, want %d: %s", plan, said.status, exitNotNow, said.stderr)
		}
		if _, err := os.Stat(out("late-" + plan)); !errors.Is(err, iofs.ErrNotExist) {
			t.Errorf("--plan %s left a result: %v", plan, err)
		}
	}
	for _, p := range frozen {
		p.resume(t)
	}
	h.loadFiles(t, nowhere).done(t)
	whole := h.extractUntil(t, nowhere, all("scan"), out("whole")).done(t)
	if whole.Events <= first.Events || first.Events == 0 {
		t.Fatalf("%d events of the first day, and %d of all", first.Events, whole.Events)
	}
	for plan, p := range frozen {
		want, files := whole, "whole"
		if plan == "snapshot" {
			want, files = first, "first"
		}
		if said := p.done(t); !said.same(want) {
			t.Errorf("--plan %s says %+v, want %+v", plan, said, want)
		}
		if got, want := h.parts(t, out("frozen-"+plan)), h.parts(t, out(files)); !maps.Equal(got, want) {
			t.Errorf("--plan %s wrote %v, want the parts %v", plan, got, want)
		}
	}
}
