package e2e_test

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"usertrail/internal/behaviour"
	"usertrail/internal/format/layout"
)

// hostileNames are names of behaviours that a flag, a condition, a row, a qualifier or a folder could
// misread. The last one is too long for a folder.
var hostileNames = []string{
	"play", "Course viewed", "cowrie.login.failed", "0", "a,b", `say "hi"`, "a/b", "..", "%20", "100%", "k=v", "a_b", `a\cb`, `\`, "播放 视频", "in", "#:?*'[]{}^",
	strings.Repeat("长", behaviour.MaxNameLen/3),
}

// loadHostile loads some events of each of hostileNames into a new table, and returns their number by
// behaviour.
func loadHostile(t *testing.T, dir, layout string) map[string]int {
	t.Helper()
	job := "logs: {path: \"{date}.jsonl\", format: jsonl, behaviour: event}\nlayout: " + layout + "\ntable: trails\nfields: {n: int64}\nbehaviours:\n"
	counts := map[string]int{}
	var text strings.Builder
	for i, name := range hostileNames {
		job += fmt.Sprintf("  %s: {id: %d}\n", strconv.Quote(name), 100-i)
		for n := range i%3 + 1 {
			event, err := json.Marshal(name)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&text, "{\"user_id\":\"%d\",\"time\":\"2014-09-01 %02d:00:%02d\",\"event\":%s,\"n\":%d}\n", n+1, i, n, event, i)
			counts[name]++
		}
	}
	write(t, filepath.Join(dir, "2014-09-01.jsonl"), text.String())
	write(t, filepath.Join(dir, "usertrail.yaml"), job)
	var load struct{ Loaded, Skipped int }
	command(t, "bulkload", &load, "--job", filepath.Join(dir, "usertrail.yaml"), "--from", "2014-09-01", "--to", "2014-09-01", "--quiet")
	if want := strings.Count(text.String(), "\n"); load.Loaded != want || load.Skipped != 0 {
		t.Fatalf("%d records were loaded and %d skipped, want %d", load.Loaded, load.Skipped, want)
	}
	return counts
}

// TestHostileNamesInEveryLayout loads behaviours with hostile names, and requests all of them, and then
// every other one by its name and by a condition.
func TestHostileNamesInEveryLayout(t *testing.T) {
	for _, name := range layout.Names() {
		if name == "day" { // the toy
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			counts := loadHostile(t, dir, name)
			query := []string{"--table", filepath.Join(dir, "trails"), "--from", "2014-09-01", "--to", "2014-09-01", "--users", "all", "--active", "any", "--quiet", "--format", "csv"}
			out := 0
			asks := func(want map[string]int, args ...string) {
				t.Helper()
				out++
				to := filepath.Join(dir, fmt.Sprint("out", out))
				var result struct{ Events int }
				command(t, "extract", &result, append(append(args, query...), "--out", to)...)
				if got := csvCounts(t, to); !maps.Equal(got, want) {
					t.Errorf("%q gives %v, want %v", args, got, want)
				}
			}
			asks(counts, "--types", "all")
			for rest := range 2 {
				var names, conditions []string
				want := map[string]int{}
				for i, name := range hostileNames {
					if i%2 == rest {
						names, conditions = append(names, name), append(conditions, "["+strconv.Quote(name)+"].n >= 0")
						want[name] = counts[name]
					}
				}
				asks(want, "--types", behaviour.Flag(names))
				asks(want, "--types", "all", "--where", strings.Join(conditions, " || "))
			}
			var ignored struct{}
			command(t, "bulkload", &ignored, "verify", "--table", filepath.Join(dir, "trails"), "--quiet")
		})
	}
}

// csvCounts counts the events of each behaviour in a result in csv.
func csvCounts(t *testing.T, out string) map[string]int {
	t.Helper()
	parts, err := filepath.Glob(filepath.Join(out, "part-*.csv"))
	if err != nil {
		t.Fatal(err)
	}
	counts := map[string]int{}
	for _, part := range parts {
		f, err := os.Open(part)
		if err != nil {
			t.Fatal(err)
		}
		rows, err := csv.NewReader(f).ReadAll()
		if err = errors.Join(err, f.Close()); err != nil {
			t.Fatal(err)
		}
		for _, row := range rows[1:] {
			counts[row[3]]++
		}
	}
	return counts
}

// TestReadersTakeHostileNames reads results with hostile names in every shape and partition.
func TestReadersTakeHostileNames(t *testing.T) {
	dir := t.TempDir()
	counts := loadHostile(t, dir, layout.Default)
	short := maps.Clone(counts)
	delete(short, hostileNames[len(hostileNames)-1])
	for shape, args := range map[string][]string{
		"long": nil, "wide": {"--shape", "wide"}, "date": {"--partition-by", "date"},
		"behaviour": {"--partition-by", "behaviour", "--types", behaviour.Flag(hostileNames[:len(hostileNames)-1])},
	} {
		want := counts
		if shape == "behaviour" {
			want = short
		} else {
			args = append(args, "--types", "all")
		}
		out := filepath.Join(dir, shape)
		var ignored struct{}
		command(t, "extract", &ignored, append(args, "--table", filepath.Join(dir, "trails"), "--from", "2014-09-01", "--to", "2014-09-01", "--users", "all", "--active", "any", "--quiet", "--out", out)...)
		var got map[string]map[string]int
		python(t, &got, "names.py", shape, out)
		if len(got) != 3 {
			t.Errorf("%s: %d readers have results, want pyarrow, DuckDB and polars", shape, len(got))
		}
		for reader, names := range got {
			if !maps.Equal(names, want) {
				t.Errorf("%s: %s counts %v, want %v", shape, reader, names, want)
			}
		}
	}
}
