package faults_test

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"usertrail/internal/run/breakpoint"
	"usertrail/internal/test/testkit"
)

// killedPieces are the steps at which the first pieces are killed.
var killedPieces = []stop{at(breakpoint.Batch, 1), at(breakpoint.Segment, 1), at(breakpoint.Segment, 2)}

// killedCommits are the steps at which the commits are killed, one after the other.
var killedCommits = []stop{at(breakpoint.Commit, 1), at(breakpoint.Ledger, 1), at(breakpoint.Loaded, 1)}

// TestKilledPiecesGiveTheTableOfOneLoad kills workers in the middle of their pieces, and the
// commit. It then runs the same commands again.
func TestKilledPiecesGiveTheTableOfOneLoad(t *testing.T) {
	prepare(t)
	dir := t.TempDir()
	job := fmt.Sprintf("logs: {path: %q, zone: Asia/Shanghai}\ntable: {path: trails, regions: 3}\n%s", filepath.Join(testkit.Home(), "logs/{date}/{behaviour}.csv.gz"), testkit.SampleBehaviours)
	testkit.WriteFile(t, filepath.Join(dir, "usertrail.yaml"), job)
	days := []string{"--from", span.From.String(), "--to", span.To.String()}
	start(t, dir, nil, "bulkload", append(days, "--table", "one")...).done(t)

	plan := exec.CommandContext(t.Context(), filepath.Join(testkit.Commands(t), "bulkload"), append([]string{"plan", "--quiet", "--piece-size", "512KiB"}, days...)...)
	plan.Dir = dir
	lines, err := plan.Output()
	if err != nil {
		t.Fatal(err)
	}
	testkit.WriteFile(t, filepath.Join(dir, "pieces"), string(lines))
	pieces := strings.Split(strings.TrimSpace(string(lines)), "\n")
	if len(pieces) <= len(killedPieces) {
		t.Fatalf("%d pieces, want some more", len(pieces))
	}
	for i, line := range pieces {
		args := []string{"run-piece", "--quiet", "--piece", line}
		if i >= len(killedPieces) {
			start(t, dir, nil, "bulkload", args...).done(t)
			continue
		}
		p := start(t, dir, killedPieces[i].env(), "bulkload", args...)
		p.awaitStop(t)
		p.crash(t)
		both := []*process{start(t, dir, nil, "bulkload", args...), start(t, dir, nil, "bulkload", args...)}
		for _, p := range both {
			p.done(t)
		}
	}
	commit := []string{"commit", "--quiet", "--pieces", "pieces"}
	for _, s := range killedCommits {
		p := start(t, dir, s.env(), "bulkload", commit...)
		p.awaitStop(t)
		p.crash(t)
	}
	for range 2 { // the table had all pieces when the last commit was killed
		if r := start(t, dir, nil, "bulkload", commit...).wait(t); r.status != nothing {
			t.Errorf("the commit once more ended with status %d, want %d: %s", r.status, nothing, r.stderr)
		}
	}
	start(t, dir, nil, "bulkload", "verify", "--table", "trails").done(t)
	if got, want := trailsOf(t, dir, "trails"), trailsOf(t, dir, "one"); !maps.Equal(got, want) || len(want) == 0 {
		t.Errorf("the table of the pieces gives the parts %v, the table of one load %v", got, want)
	}
}

// trailsOf returns the digests of the parts of an extract of all users.
func trailsOf(t *testing.T, dir, table string) map[string]string {
	t.Helper()
	out := table + ".parts"
	start(t, dir, nil, "extract", "--table", table, "--users", "all", "--active", "any", "--types", "play,order,visit,login",
		"--from", span.From.String(), "--to", span.To.String(), "--out", out, "--quiet").done(t)
	all, err := filepath.Glob(filepath.Join(dir, out, "*.parquet"))
	if err != nil {
		t.Fatal(err)
	}
	sums := map[string]string{}
	for _, name := range all {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		sums[filepath.Base(name)] = fmt.Sprintf("%x", sha256.Sum256(b))
	}
	return sums
}
