package faults_test

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"usertrail/internal/run/breakpoint"
	"usertrail/internal/test/clustertest"
	"usertrail/internal/test/testkit"
)

// A planned is a load in pieces.
type planned struct {
	*fixture
	name   string
	table  []string // flags that name its table, if the job does not
	pieces string   // file with the lines of the pieces
	lines  []string
}

// planDone plans a load as plan does, and does its pieces.
func (h *fixture) planDone(t *testing.T, name string, table ...string) *planned {
	t.Helper()
	p := h.plan(t, name, table...)
	for _, line := range p.lines {
		p.do(t, line).done(t)
	}
	return p
}

// plan plans a load of the first two days into a table.
func (h *fixture) plan(t *testing.T, name string, table ...string) *planned {
	t.Helper()
	p := &planned{fixture: h, name: name, table: table, pieces: filepath.Join(h.dir, "pieces of "+name)}
	flags := []string{"plan", "--quiet", "--mode", "hfile", "--piece-size", "1MiB", "--from", span.From.String(), "--to", (span.From + 1).String()}
	plan := start(t, h.dir, h.env(), "bulkload", append(flags, table...)...)
	if <-plan.ended; !plan.cmd.ProcessState.Success() {
		t.Fatal(plan.stderr.String())
	}
	testkit.WriteFile(t, p.pieces, plan.stdout.String())
	p.lines = strings.Split(strings.TrimSpace(plan.stdout.String()), "\n")
	if len(p.lines) < 2 {
		t.Fatalf("%d pieces, want some", len(p.lines))
	}
	return p
}

// do starts a piece.
func (p *planned) do(t *testing.T, line string) *process {
	t.Helper()
	return start(t, p.dir, p.env(), "bulkload", "run-piece", "--quiet", "--piece", line)
}

// commit starts the commit of the pieces.
func (p *planned) commit(t *testing.T, s stop, flags ...string) *process {
	t.Helper()
	return start(t, p.dir, append(p.env(), s.env()...), "bulkload", append([]string{"commit", "--quiet", "--pieces", p.pieces}, flags...)...)
}

// An absence stops the NameNode, at a step of a commit or before it.
type absence struct {
	name string
	at   stop // of the commit
	take func(*testing.T, *clustertest.Cluster)
}

var absences = []absence{
	{"frozen before the commit", nowhere, freezeNameNode},
	{"frozen before the manifest", at(breakpoint.Ledger, 1), freezeNameNode},
	{"killed before the manifest", at(breakpoint.Ledger, 1), killNameNode},
	{"killed when the table has the load", at(breakpoint.Loaded, 1), killNameNode},
}

func freezeNameNode(t *testing.T, c *clustertest.Cluster) { c.Freeze(t, "nn") }
func killNameNode(t *testing.T, c *clustertest.Cluster)   { c.Kill(t, "nn") }

// TestACommitWithoutHDFS commits pieces, into a table of files on HDFS and into HBase, while the
// NameNode is away. The commit ends with 75. The same commit succeeds when the NameNode is back,
// and nothing is lost.
func TestACommitWithoutHDFS(t *testing.T) {
	testkit.OnlyAll(t, "TestWhatIsWrongIsSaid, and the failing file operations of a commit in internal/bulkload/load")
	for _, x := range absences {
		t.Run(x.name, func(t *testing.T) {
			c := clustertest.Alone(t)
			dir := c.HDFS(t)
			h := newFixture(t, c, dir)
			all := []*planned{h.planDone(t, "a table of files", "--table", dir+"/trails"), h.planDone(t, "a table in HBase")}
			started := make([]*process, len(all))
			for i, p := range all {
				if x.at != nowhere {
					started[i] = p.commit(t, x.at, "--retry-for", patience.String())
					started[i].awaitStop(t)
				}
			}
			x.take(t, c)
			for i, p := range all {
				if x.at == nowhere {
					started[i] = p.commit(t, nowhere, "--retry-for", patience.String())
				} else {
					started[i].resume(t)
				}
			}
			for i, p := range all {
				if r := started[i].wait(t); r.status != exitNotNow {
					t.Errorf("%s: the commit ended with status %d, want %d: %s", p.name, r.status, exitNotNow, r.stderr)
				}
			}
			clustertest.Alone(t) // starts what was killed, or ended without HDFS, and thaws
			for _, p := range all {
				p.succeeds(t, x.at == at(breakpoint.Loaded, 1))
			}
			h.sameTrails(t, all)
		})
	}
}

// succeeds repeats a commit. A lock on HDFS may outlive the process that held it.
func (p *planned) succeeds(t *testing.T, has bool) {
	t.Helper()
	r := p.commit(t, nowhere, "--wait-lock", "5m").wait(t)
	if r.status != exitDone && !(has && r.status == nothing) {
		t.Fatalf("%s: the same commit ended with status %d: %s", p.name, r.status, r.stderr)
	}
	if r := p.commit(t, nowhere).wait(t); r.status != nothing {
		t.Errorf("%s: the commit once more ended with status %d, want %d: %s", p.name, r.status, nothing, r.stderr)
	}
	start(t, p.dir, p.env(), "bulkload", append([]string{"verify", "--quiet"}, p.table...)...).done(t)
}

// sameTrails compares extracts of the tables with an extract of one load.
func (h *fixture) sameTrails(t *testing.T, all []*planned) {
	t.Helper()
	days := []string{"--from", span.From.String(), "--to", (span.From + 1).String(), "--quiet"}
	start(t, h.dir, nil, "bulkload", append(days, "--table", "one")...).done(t)
	extract := func(out string, table ...string) map[string]string {
		flags := slices.Concat(days, table, []string{"--users", "all", "--active", "any", "--types", "all", "--out", out})
		start(t, h.dir, h.env(), "extract", flags...).done(t)
		return h.parts(t, filepath.Join(h.dir, out))
	}
	want := extract("out-one", "--table", "one")
	for i, p := range all {
		if got := extract(fmt.Sprint("out-", i), p.table...); len(want) == 0 || !maps.Equal(got, want) {
			t.Errorf("%s has the parts %v, one load makes %v", p.name, got, want)
		}
	}
}
