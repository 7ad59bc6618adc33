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
	"time"
)

// mostKilled is how many of the pieces are killed: each costs three processes.
const mostKilled = 3

// TestKilledPiecesGiveTheTableOfOneLoad kills workers in the middle of their pieces, and
// the commit, and types the same commands again.
func TestKilledPiecesGiveTheTableOfOneLoad(t *testing.T) {
	prepare(t)
	dir := t.TempDir()
	job := fmt.Sprintf("logs: {path: %q, zone: Asia/Shanghai}\ntable: {path: trails, regions: 3}\n%s", filepath.Join(home, "logs/{date}/{behaviour}.csv.gz"), behaviours)
	if err := os.WriteFile(filepath.Join(dir, "usertrail.yaml"), []byte(job), 0o644); err != nil {
		t.Fatal(err)
	}
	days := []string{"--from", span.From.String(), "--to", span.To.String()}
	start(t, dir, nil, "bulkload", append(days, "--table", "one")...).done(t)

	plan := exec.CommandContext(t.Context(), filepath.Join(bin, "bulkload"), append([]string{"plan", "--quiet", "--piece-size", "3MiB"}, days...)...)
	plan.Dir = dir
	lines, err := plan.Output()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "pieces"), lines, 0o644); err != nil {
		t.Fatal(err)
	}
	pieces := strings.Split(strings.TrimSpace(string(lines)), "\n")
	if len(pieces) < 3 {
		t.Fatalf("%d pieces, want some more", len(pieces))
	}
	killed := 0
	for i, line := range pieces {
		args := []string{"run-piece", "--quiet", "--piece", line}
		p := start(t, dir, nil, "bulkload", args...)
		if i >= mostKilled {
			p.done(t)
			continue
		}
		for bytes := int64(0); p.running() && bytes < int64(i+1)<<20; time.Sleep(time.Millisecond) {
			bytes, _ = p.received() // of one that has just ended nothing is known
		}
		p.kill()
		if p.cmd.ProcessState.ExitCode() == -1 {
			killed++
		}
		both := []*process{start(t, dir, nil, "bulkload", args...), start(t, dir, nil, "bulkload", args...)}
		for _, p := range both {
			p.done(t)
		}
	}
	if killed == 0 {
		t.Error("every piece was done before it was killed")
	}
	commit := start(t, dir, nil, "bulkload", "commit", "--quiet", "--pieces", "pieces")
	for commit.running() {
		if _, err := os.Stat(filepath.Join(dir, "trails", "loads")); err == nil {
			break
		}
		time.Sleep(time.Millisecond)
	}
	commit.kill()
	const nothing = 99
	if r := start(t, dir, nil, "bulkload", "commit", "--quiet", "--pieces", "pieces").wait(t); r.status != 0 && r.status != nothing {
		t.Fatalf("the commit again ended with status %d: %s", r.status, r.stderr)
	}
	if r := start(t, dir, nil, "bulkload", "commit", "--quiet", "--pieces", "pieces").wait(t); r.status != nothing {
		t.Errorf("the commit once more ended with status %d, want %d", r.status, nothing)
	}
	start(t, dir, nil, "bulkload", "verify", "--table", "trails").done(t)
	if got, want := trailsOf(t, dir, "trails"), trailsOf(t, dir, "one"); !maps.Equal(got, want) || len(want) == 0 {
		t.Errorf("the pieces' table gives the parts %v, that of one load %v", got, want)
	}
}

// trailsOf are the digests of the parts of an extract of everybody.
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
