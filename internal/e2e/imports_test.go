package e2e_test

import (
	"fmt"
	"maps"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
)

const module = "usertrail/"

// imports are the packages of the module, without its name, and what they import
// from the module and from others.
func imports(t *testing.T) map[string][]string {
	t.Helper()
	c := exec.CommandContext(t.Context(), "go", "list", "-f", `{{.ImportPath}} {{join .Imports " "}}`, "./cmd/...", "./internal/...")
	c.Dir = repository(t)
	var said strings.Builder
	c.Stderr = &said
	out, err := c.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, said.String())
	}
	all := map[string][]string{}
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		name := strings.TrimPrefix(fields[0], module)
		all[name] = []string{}
		for _, path := range fields[1:] {
			if first, _, _ := strings.Cut(path, "/"); first+"/" == module || strings.Contains(first, ".") {
				all[name] = append(all[name], strings.TrimPrefix(path, module))
			}
		}
	}
	return all
}

// TestPictureOfImports draws who imports whom: a change shows up in review.
func TestPictureOfImports(t *testing.T) {
	all := imports(t)
	datadriven.RunTest(t, "testdata/imports", func(t *testing.T, d *datadriven.TestData) string {
		var b strings.Builder
		for _, name := range slices.Sorted(maps.Keys(all)) {
			fmt.Fprintf(&b, "%s:", name)
			for _, path := range all[name] {
				fmt.Fprintf(&b, " %s", strings.TrimPrefix(path, "internal/"))
			}
			b.WriteString("\n")
		}
		return b.String()
	})
}

// floors are the house, from the roof down. A package imports from its own floor
// or those below.
var floors = [][]string{
	{"internal/faults", "internal/metamorphic"}, // tests of the programs
	{"cmd/bulkload", "cmd/extract"},
	{"cmd/internal/command", "cmd/internal/manual", "cmd/internal/scripttest"},
	{"internal/advise", "internal/bulkload", "internal/convert", "internal/draft", "internal/extract", "internal/inspect", "internal/report", "internal/show", "internal/upkeep", "internal/verify"}, // the programs
	{"internal/arrival", "internal/muster", "internal/shuffle", "internal/fetch", "internal/progress"},                                                                                               // movement
	{"internal/dfs/local", "internal/dfs/hdfs", "internal/dfs/dfstest", "internal/table/files", "internal/table/live", "internal/table/snapshot", "internal/table/tabletest"},                        // what implements the seams
	{"internal/catalog", "internal/hbase", "internal/stage", "internal/table/rolls"},
	{"internal/userlist", "internal/table", "internal/job", "internal/manifest", "internal/journal", "internal/layout", "internal/layout/toy", "internal/precheck"}, // formats and seams
	{"internal/record", "internal/hfile", "internal/trailfile", "internal/trailfile/textfile", "internal/trailfile/arrowfile", "internal/roll", "internal/condition", "internal/estimate", "internal/samplelog", "internal/dfs", "internal/hadoopconf", "internal/lineage", "internal/metrics", "internal/hbase/rpc", "internal/hbase/hbasetest", "internal/pace"},
	{"internal/hbase/wire"},
	{"internal/behaviour", "internal/column", "internal/rowkey", "internal/cell", "internal/split", "internal/tally", "internal/trail", "internal/activity", "internal/testworld"}, // values
	{"internal/testkit", "internal/invariants", "internal/breakpoint", "internal/clustertest", "internal/piece", "internal/pipe", "internal/visible"},
}

func TestArrowsPointDown(t *testing.T) {
	floor := map[string]int{}
	for i, names := range floors {
		for _, name := range names {
			floor[name] = i
		}
	}
	for name, paths := range imports(t) {
		from, ok := floor[name]
		if !ok && name != "internal/e2e" {
			t.Errorf("%s is on no floor: say in imports_test.go on which", name)
			continue
		}
		for _, path := range paths {
			if to, ok := floor[path]; ok && to < from {
				t.Errorf("%s imports %s, which lies above it", name, path)
			}
		}
	}
}

// doorsteps are the packages that alone import something: heavy dependencies, what
// implements a seam, and how keys look.
var doorsteps = map[string][]string{
	"github.com/parquet-go/parquet-go":  {"internal/trailfile"},
	"github.com/goccy/go-yaml":          {"internal/job"},
	"github.com/spf13/":                 {"cmd/"},
	"github.com/spf13/cobra/doc":        {"cmd/internal/manual"},
	"github.com/rogpeppe/":              {"cmd/internal/scripttest"},
	"github.com/schollz/progressbar":    {"internal/progress"},
	"github.com/gofrs/flock":            {"internal/dfs/local", "internal/clustertest"},
	"github.com/valyala/fastjson":       {"internal/layout", "internal/record"},
	"golang.org/x/time":                 {"internal/pace"},
	"golang.org/x/text":                 {"internal/record", "cmd/internal/scripttest"},
	"google.golang.org/protobuf":        {"internal/hfile", "internal/hbase", "internal/dfs/hdfs"},
	"internal/dfs/local":                {"cmd/"},
	"internal/table/files":              {"cmd/"},
	"internal/table/live":               {"cmd/"},
	"internal/dfs/hdfs":                 {"cmd/"},
	"internal/hbase":                    {"internal/table/live", "internal/table/snapshot"},
	"internal/table/snapshot":           {"internal/table/live", "cmd/"},
	"github.com/go-zookeeper/":          {"internal/hbase"},
	"internal/rowkey":                   {"internal/layout", "internal/inspect"},
	"internal/testworld":                {},
	"internal/layout/toy":               {},
	"internal/advise":                   {"cmd/"},
	"internal/bulkload":                 {"cmd/"},
	"internal/convert":                  {"cmd/"},
	"internal/extract":                  {"cmd/"},
	"internal/show":                     {"cmd/"},
	"github.com/xitongsys/":             {},
	"github.com/cockroachdb/datadriven": {},
	"github.com/colinmarc/hdfs":         {"internal/dfs/hdfs"},
	"github.com/tsuna/gohbase":          {},
	"github.com/wlynxg/":                {"internal/draft"},
	"github.com/expr-lang/":             {"internal/condition"},
	"github.com/prometheus/":            {"internal/metrics"},
	"github.com/apache/":                {"internal/trailfile/arrowfile"},
}

func TestHeavyDependenciesHaveOneDoorstep(t *testing.T) {
	for name, paths := range imports(t) {
		for _, path := range paths {
			for thing, doors := range doorsteps {
				if !under(path, thing) || under(name, thing) {
					continue
				}
				if !slices.ContainsFunc(doors, func(door string) bool { return under(name, door) }) {
					t.Errorf("%s imports %s; only %q may", name, path, doors)
				}
			}
		}
	}
}

// under says whether path is thing or lies below it.
func under(path, thing string) bool {
	return path == thing || strings.HasPrefix(path, strings.TrimSuffix(thing, "/")+"/")
}

// TestValuesDependOnNothing keeps input, output and the clock out of the values:
// beside each other they import a hash and the standard library's quiet parts.
func TestValuesDependOnNothing(t *testing.T) {
	values := floors[len(floors)-2]
	hashes := []string{"github.com/cespare/xxhash/v2", "github.com/zeebo/xxh3"}
	c := exec.CommandContext(t.Context(), "go", "list", "-f", `{{.ImportPath}} {{join .Imports " "}}`, "./internal/...")
	c.Dir = repository(t)
	out, err := c.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		name := strings.TrimPrefix(fields[0], module)
		if !slices.Contains(values, name) || name == "internal/testworld" {
			continue
		}
		for _, path := range fields[1:] {
			loud := slices.Contains([]string{"os", "net", "context", "log", "sync", "io"}, path)
			foreign := strings.Contains(path, ".") && !slices.Contains(hashes, path)
			if loud || foreign {
				t.Errorf("%s imports %s", name, path)
			}
		}
	}
}
