package main

import (
	"bytes"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"usertrail/internal/store/dfs/dfstest"
	"usertrail/internal/store/dfs/local"
	"usertrail/internal/test/testkit"
)

// program runs the program, requires status 0, and returns the standard output.
func program(t *testing.T, stdin string, args ...string) string {
	t.Helper()
	var stdout, stderr bytes.Buffer
	if status := run(t.Context(), args, strings.NewReader(stdin), &stdout, &stderr); status != 0 {
		t.Fatalf("extract %q: status %d, %s", args, status, stderr.String())
	}
	return stdout.String()
}

// byPieces compares an extract in one process with the same extract in pieces. It runs the
// pieces one after the other, the last first, and returns their number.
func byPieces(t *testing.T, size string, flags ...string) int {
	t.Helper()
	dir := t.TempDir()
	alone, shared := filepath.Join(dir, "alone"), filepath.Join(dir, "shared")
	flags = append(flags, "--quiet", "--piece-size", size)
	program(t, "", append(flags, "--out", alone)...)
	lines := program(t, "", slices.Concat([]string{"plan"}, flags, []string{"--out", shared})...)
	pieces := strings.Split(strings.TrimRight(lines, "\n"), "\n")
	for _, line := range slices.Backward(pieces) {
		program(t, line, "run-piece", "--quiet")
	}
	program(t, lines, "commit")
	got, want := dfstest.Snapshot(t, local.New(), shared), dfstest.Snapshot(t, local.New(), alone)
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if got[name] != want[name] {
			t.Errorf("%q: %s of one process is\n%.600s\nby pieces\n%.600s", flags, name, want[name], got[name])
		}
	}
	if len(got) != len(want) || len(want) < 3 {
		t.Errorf("%q: %d files by pieces, %d of one process", flags, len(got), len(want))
	}
	return len(pieces)
}

// TestPiecesOfALiveTable extracts from a table in HBase in pieces: with rolls, without rolls,
// and from a snapshot.
func TestPiecesOfALiveTable(t *testing.T) {
	l := newSnapshotFixture(t)
	list := l.list(t)
	l.Admin(t, "snapshot", "of_"+l.name, l.name)
	defer l.Admin(t, "drop-snapshot", "of_"+l.name)
	ask := []string{"--table", l.address(), "--from", "2014-09-01", "--to", "2014-09-06", "--types", "play,login"}
	for _, users := range []string{"all", list} {
		for _, how := range [][]string{
			{"--active", "any"}, {"--rolls", "off"}, {"--plan", "snapshot", "--snapshot", "of_" + l.name, "--active", "min:1"},
		} {
			flags := slices.Concat(ask, []string{"--users", users}, how)
			if n := byPieces(t, "20", flags...); n < 2 {
				t.Errorf("%q: only %d piece of 20 events", flags, n)
			}
		}
	}
}

// TestPiecesOfATableThatOthersLoaded extracts from a table without a catalog. Workers read its
// schema from their pieces.
func TestPiecesOfATableThatOthersLoaded(t *testing.T) {
	l := newSnapshotFixture(t)
	name := l.Create(t, "d", "split=2", "split=5")
	for _, user := range []string{"1", "3", "31", "7"} {
		l.Admin(t, "put", name, user+",20140901,00001", "d", "title,\x00\x00\x00\x01\x00\x00\x00\x00", "of "+user, "1409529600000")
	}
	job := filepath.Join(l.dir, "usertrail.yaml")
	text := fmt.Sprintf(`logs: logs/{date}/{behaviour}.csv
table: {path: "hbase://%s/%s", catalog: %s}
behaviours:
  play: {id: 1, fields: {title: string}}
`, l.ZooKeeper(), name, filepath.Join(l.dir, "nothing"))
	testkit.WriteFile(t, job, text)
	if n := byPieces(t, "1", "--job", job, "--users", "all", "--from", "2014-09-01", "--to", "2014-09-06", "--types", "play"); n != 3 {
		t.Errorf("%d pieces, want one of each region", n)
	}
}
