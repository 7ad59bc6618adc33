package lint_test

import (
	"fmt"
	"maps"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"usertrail/internal/test/testkit"
)

const module = "usertrail/"

// storeys lists the storeys of the program from the top down, each by the prefixes of its
// packages' paths. A package may import packages of its own storey and of storeys below.
var storeys = []struct {
	name     string
	prefixes []string
}{
	{"commands", []string{"cmd"}},
	{"programs", []string{"internal/bulkload", "internal/extract", "internal/inspect"}},
	{"table", []string{"internal/table"}},
	{"format", []string{"internal/format"}},
	{"store", []string{"internal/store"}},
	{"run", []string{"internal/run"}},
	{"values", []string{"internal/behaviour", "internal/cell", "internal/column", "internal/rowkey", "internal/split", "internal/tally", "internal/trail", "internal/activity"}},
}

// rooms lists the packages of an extract from the top down. A package in a line may import
// packages in lines below, and no other package of the list. Packages that are not listed are
// not part of an extract.
var rooms = [][]string{
	{"internal/extract/explain", "internal/extract/pieces", "internal/extract/sample"},
	{"internal/extract/notes"},
	{"internal/extract"},
	{"internal/extract/cut", "internal/extract/place"},
	{"internal/extract/facts", "internal/extract/output"},
	{"internal/extract/judge"},
	{"internal/extract/query", "internal/extract/footprint", "internal/extract/memory", "internal/extract/notfound"},
	{"internal/extract/condition", "internal/extract/estimate", "internal/extract/userlist"},
}

// room returns the line of a package in rooms, or -1.
func room(name string) int {
	return slices.IndexFunc(rooms, func(line []string) bool { return slices.Contains(line, name) })
}

// onlyTests returns whether the product never imports the package called name: it is under
// internal/test, or it is a conformance suite, whose name ends in "test". Such a package
// may import all others.
func onlyTests(name string) bool {
	return under(name, "internal/test") || under(name, "internal/format/layout/toy") || strings.HasSuffix(name, "test")
}

// onlyImporters lists the packages that alone import something: a large dependency, an
// implementation of a seam, or the form of keys.
var onlyImporters = map[string][]string{
	"github.com/parquet-go/parquet-go":  {"internal/format/trailfile"},
	"github.com/goccy/go-yaml":          {"internal/format/job"},
	"github.com/spf13/":                 {"cmd/"},
	"github.com/spf13/cobra/doc":        {"cmd/internal/manual"},
	"github.com/rogpeppe/":              {"cmd/internal/scripttest"},
	"github.com/schollz/progressbar":    {"internal/run/progress"},
	"github.com/gofrs/flock":            {"internal/store/dfs/local", "internal/test/clustertest"},
	"github.com/valyala/fastjson":       {"internal/format/layout", "internal/format/record"},
	"golang.org/x/time":                 {"internal/run/ratelimit"},
	"golang.org/x/text":                 {"internal/format/record", "internal/behaviour", "cmd/internal/scripttest"},
	"google.golang.org/protobuf":        {"internal/format/hfile", "internal/store/hbase", "internal/store/dfs/hdfs", "internal/store/secure/token", "internal/store/protofield"},
	"internal/store/dfs/local":          {"cmd/"},
	"internal/table/files":              {"cmd/"},
	"internal/table/live":               {"cmd/"},
	"internal/store/dfs/hdfs":           {"cmd/"},
	"internal/store/hbase":              {"internal/table/live", "internal/table/snapshot"},
	"internal/table/snapshot":           {"internal/table/live", "cmd/"},
	"github.com/go-zookeeper/":          {"internal/store/hbase"},
	"internal/rowkey":                   {"internal/format/layout", "internal/inspect"},
	"internal/test/testworld":           {},
	"internal/format/layout/toy":        {},
	"internal/bulkload":                 {"cmd/"},
	"internal/extract":                  {"cmd/"},
	"github.com/xitongsys/":             {},
	"github.com/cockroachdb/datadriven": {},
	"github.com/colinmarc/hdfs":         {"internal/store/dfs/hdfs"},
	"github.com/tsuna/gohbase":          {},
	"software.sslmate.com/":             {"internal/store/secure/certs"},
	"github.com/jcmturner/":             {"internal/store/secure/kerberos"},
	"golang.org/x/crypto":               {"internal/store/secure"},
	"github.com/wlynxg/":                {"internal/bulkload/jobdraft"},
	"github.com/expr-lang/":             {"internal/extract/condition", "internal/format/rule"},
	"github.com/prometheus/":            {"internal/run/metrics"},
	"github.com/apache/":                {"internal/format/trailfile/arrowfile"},
}

// noisy lists the packages that a value never imports: input, output, the clock's users and goroutines.
var noisy = []string{"os", "net", "context", "log", "sync", "io"}

// pure are the only packages outside the module and the standard library that values import: hashes, the
// distance of words, and the forms of their characters.
var pure = []string{"github.com/cespare/xxhash/v2", "github.com/zeebo/xxh3", "github.com/agext/levenshtein", "golang.org/x/text/unicode/norm"}

// storey returns the index of the storey of a package, or -1.
func storey(name string) int {
	return slices.IndexFunc(storeys, func(s struct {
		name     string
		prefixes []string
	}) bool {
		return slices.ContainsFunc(s.prefixes, func(p string) bool { return under(name, p) })
	})
}

// under returns whether path is dir or is below it.
func under(path, dir string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}

// misplaced returns one line for each import that breaks a rule. all maps the packages of
// the module, without its name, to their imports.
func misplaced(all map[string][]string) []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(all)) {
		from := storey(name)
		if from < 0 && !onlyTests(name) {
			out = append(out, fmt.Sprintf("%s is in no storey: storeys in imports_test.go lists them", name))
			continue
		}
		for _, path := range all[name] {
			ours := under(path, "cmd") || under(path, "internal")
			if onlyTests(name) {
				continue
			}
			switch to := storey(path); {
			case ours && onlyTests(path):
				out = append(out, fmt.Sprintf("%s imports %s, which is for tests", name, path))
			case ours && to < from:
				out = append(out, fmt.Sprintf("%s imports %s, which is in a higher storey", name, path))
			case room(name) >= 0 && room(path) >= 0 && room(path) <= room(name):
				out = append(out, fmt.Sprintf("%s imports %s, which is not below it in rooms", name, path))
			}
			if storeys[from].name == "values" && (slices.Contains(noisy, path) || strings.Contains(path, ".") && !slices.Contains(pure, path)) {
				out = append(out, fmt.Sprintf("%s imports %s; values do no input or output", name, path))
			}
			for thing, doors := range onlyImporters {
				if under(path, thing) && !under(name, thing) && !slices.ContainsFunc(doors, func(door string) bool { return under(name, door) }) {
					out = append(out, fmt.Sprintf("%s imports %s; only %q may", name, path, doors))
				}
			}
		}
	}
	return out
}

func TestImportsPointDownwards(t *testing.T) {
	c := exec.CommandContext(t.Context(), "go", "list", "-f", `{{.ImportPath}} {{join .Imports " "}}`, "./cmd/...", "./internal/...")
	c.Dir = testkit.Repository(t)
	var said strings.Builder
	c.Stderr = &said
	out, err := c.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, said.String())
	}
	all := map[string][]string{}
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		paths := []string{}
		for _, path := range fields[1:] {
			paths = append(paths, strings.TrimPrefix(path, module))
		}
		all[strings.TrimPrefix(fields[0], module)] = paths
	}
	if len(all) < 50 {
		t.Errorf("go list found %d packages", len(all))
	}
	for _, line := range misplaced(all) {
		t.Error(line)
	}
}

// TestMisplacedImportsAreFound breaks each rule once.
func TestMisplacedImportsAreFound(t *testing.T) {
	for _, x := range []struct{ name, path, want string }{
		{"internal/format/hfile", "internal/table", "higher storey"},
		{"internal/table/files", "internal/bulkload", "higher storey"},
		{"internal/split", "internal/run/pipe", "higher storey"},
		{"internal/extract/judge", "internal/extract/output", "not below"},
		{"internal/extract/facts", "internal/extract/output", "not below"},
		{"internal/new", "fmt", "no storey"},
		{"internal/extract", "internal/test/testkit", "for tests"},
		{"internal/extract", "internal/table/tabletest", "for tests"},
		{"internal/tally", "io", "values do no input"},
		{"internal/tally", "github.com/some/thing", "values do no input"},
		{"internal/extract", "github.com/parquet-go/parquet-go/format", "only"},
	} {
		got := misplaced(map[string][]string{x.name: {x.path}})
		if len(got) == 0 || !strings.Contains(strings.Join(got, "\n"), x.want) {
			t.Errorf("%s imports %s: %q, want %q", x.name, x.path, got, x.want)
		}
	}
	for _, x := range [][2]string{{"internal/table/live", "internal/store/dfs"}, {"internal/table/tabletest", "internal/bulkload"}, {"internal/run/pipe", "io"}, {"cmd/extract", "internal/extract"}, {"internal/extract/notes", "internal/extract"}} {
		if got := misplaced(map[string][]string{x[0]: {x[1]}}); len(got) > 0 {
			t.Errorf("%s imports %s: %q, want no objection", x[0], x[1], got)
		}
	}
}
