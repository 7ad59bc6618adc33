package output_test

import (
	"bytes"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"usertrail/internal/behaviour"
	"usertrail/internal/extract/explain"
	"usertrail/internal/extract/extracttest"
	"usertrail/internal/extract/query"
	"usertrail/internal/store/dfs"
	"usertrail/internal/test/testkit"
	"usertrail/internal/test/testworld"
)

// longTrails is a table of users who log in often on each of some days, and a query
// for all of it. Their logins are so many parts.
func longTrails(t *testing.T, days, parts int) (*extracttest.Fixture, testworld.Query) {
	t.Helper()
	const users = 500
	h := extracttest.New(t, `logs: logs/{date}/{behaviour}.csv
table: trails
behaviours:
  login: {id: 1, fields: {from: string}}
  play: {id: 2, fields: {seconds: int64}}
`)
	span := behaviour.Span{From: behaviour.DateOf(2014, 9, 1)}
	span.To = span.From + behaviour.Date(days-1)
	for d := span.From; d <= span.To; d++ {
		var logins, plays bytes.Buffer
		logins.WriteString("user_id,time,from\n")
		plays.WriteString("user_id,time,seconds\n")
		for i := range parts * int(extracttest.SmallSizes.PartEvents) / users / days {
			for u := range users {
				fmt.Fprintf(&logins, "%05d,%s 00:%02d:%02d,%d\n", u, d, i/60, i%60, u%7)
			}
		}
		for u := range users / 10 {
			fmt.Fprintf(&plays, "%05d,%s 01:00:00,%d\n", u, d, u)
		}
		h.Deliver(t, testworld.File{Name: d.String() + "/login.csv", Text: logins.Bytes()}, testworld.File{Name: d.String() + "/play.csv", Text: plays.Bytes()})
	}
	h.Load(t, extracttest.Turn{Name: "trails", Workers: 2, Memory: 256 << 20, Regions: 3}, span)
	return h, testworld.Query{Span: span, Kinds: []string{"login", "play"}, Active: "any"}
}

// TestAPartitionGrowsAcrossParts lays a result of five parts into directories: each day
// has one file, and each behaviour as many as the larger one needs.
func TestAPartitionGrowsAcrossParts(t *testing.T) {
	h, q := longTrails(t, 6, 5)
	whole := filepath.Join(testkit.Scratch(t), "whole")
	if _, err := h.Extract(t.Context(), q, extracttest.Turn{Name: "trails", Workers: 2, Output: query.Output{Format: query.CSV}}, whole); err != nil {
		t.Fatal(err)
	}
	rows := readOutput(t, h.FS, whole, q.Kinds)
	for partition, most := range map[string]int{"date": 6, "behaviour": 2 * 3} {
		var want map[string]string
		for _, u := range []extracttest.Turn{
			{Name: "trails", Workers: 1, Output: query.Output{Format: query.CSV, Partition: partition}},
			{Name: "trails", Workers: 3, Output: query.Output{Format: query.CSV, Partition: partition}},
		} {
			out := filepath.Join(testkit.Scratch(t), "out")
			r, err := h.Extract(t.Context(), q, u, out)
			if err != nil {
				t.Fatal(err)
			}
			got := extracttest.Parts(t, h.FS, out)
			if want == nil {
				want = got
				checkLeaves(t, h, out, q.Kinds, rows)
			}
			if r.Files > most || r.Files != len(got) {
				t.Errorf("by %s: %d files, the result says %d; want at most %d: %q", partition, len(got), r.Files, most, slices.Sorted(maps.Keys(got)))
			}
			if !maps.Equal(got, want) {
				t.Errorf("by %s: %d workers write other bytes", partition, u.Workers)
			}
		}
		c := h.Query(t, q, h.Opened(t, "trails"))
		c.Output.Partition = partition
		x, err := explain.Estimate(t.Context(), c, h.Opened(t, "trails"))
		if err != nil {
			t.Fatal(err)
		}
		if said := strings.Join(x.Why, " "); x.Files != int64(most) || !strings.Contains(said, fmt.Sprintf("--partition-by %s writes the result to about %d files", partition, most)) {
			t.Errorf("explain says %d files, want %d: %s", x.Files, most, said)
		}
	}
}

// checkLeaves checks that a result in directories has the rows that it has in one, and
// that users are in order in each file.
func checkLeaves(t *testing.T, h *extracttest.Fixture, out string, kinds []string, rows []testworld.Row) {
	t.Helper()
	extracttest.Same(t, out, testworld.Result{Rows: readOutput(t, h.FS, out, kinds)}, testworld.Result{Rows: rows})
	m := extracttest.ReadManifest(t, h.FS, out)
	for _, p := range m.Parts {
		lines := readLines(t, h.FS, dfs.Join(out, p.Name), m)
		if !slices.IsSortedFunc(lines, func(a, b map[string]string) int {
			if c := strings.Compare(a["user_id"], b["user_id"]); c != 0 {
				return c
			}
			return strings.Compare(a["time"], b["time"])
		}) {
			t.Errorf("%s: rows are not in order of user and time", p.Name)
		}
		users := map[string]bool{}
		for _, l := range lines {
			users[l["user_id"]] = true
		}
		if int64(len(users)) != p.Users {
			t.Errorf("%s has %d users, the manifest says %d", p.Name, len(users), p.Users)
		}
	}
}
