package e2e_test

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"usertrail/internal/extract/ddl"
	"usertrail/internal/test/testkit"
)

// A tabled is a result as an engine sees it: its columns, and the number of rows for each date
// and behaviour.
type tabled struct {
	Columns []string `json:"columns"`
	Rows    [][]any  `json:"rows"`
}

// tableNames are the results that are made tables: in one directory, partitioned by each
// column, and partitioned without users.
var tableNames = []string{"plain", "days", "behaviours", "nobody"}

// escapedRows are the rows of the result "escaped". It is partitioned by behaviours whose names are escaped in directories.
var escapedRows = [][]any{{"2014-09-01", "100%20", 1.0}, {"2014-09-01", "Course viewed", 2.0}, {"2014-09-01", "a+b=ü", 1.0}}

// escaped writes the result "escaped" into a directory.
func escaped(t *testing.T, dir string) {
	t.Helper()
	log, job, table := filepath.Join(dir, "log-2014-09-01.csv"), filepath.Join(dir, "usertrail.yaml"), filepath.Join(dir, "trails")
	testkit.WriteFile(t, log, "user_id,time,event\nu1,2014-09-01 08:00:00,Course viewed\nu2,2014-09-01 08:00:00,Course viewed\nu1,2014-09-01 09:00:00,a+b=ü\nu1,2014-09-01 10:00:00,100%20\n")
	testkit.WriteFile(t, job, fmt.Sprintf("logs: {path: %q, behaviour: event}\ntable: %q\nbehaviours: {Course viewed: {id: 1}, a+b=ü: {id: 2}, 100%%20: {id: 3}}\n", filepath.Join(dir, "log-{date}.csv"), table))
	var ignored struct{}
	command(t, "bulkload", &ignored, "--job", job, "--from", "2014-09-01", "--to", "2014-09-01", "--quiet")
	command(t, "extract", &ignored, "--table", table, "--users", "all", "--types", "all", "--active", "any", "--partition-by", "behaviour", "--quiet", "--out", filepath.Join(dir, "escaped"))
}

// statementsOf extracts the results of tableNames from the sample logs, and returns the files
// with the statements for an engine, as arguments of tables.py.
func statementsOf(t *testing.T, engine ddl.Engine) (args []string) {
	t.Helper()
	_, plain := samples(t)
	table := filepath.Join(testkit.Home(), "sample-table")
	dir := t.TempDir()
	common := []string{"--table", table, "--users", "all", "--from", "2014-09-01", "--to", "2014-09-06", "--types", strings.Join(sampleTypes, ","), "--active", "any", "--quiet"}
	for name, flags := range map[string][]string{"days": {"--partition-by", "date"}, "behaviours": {"--partition-by", "behaviour"}, "nobody": {"--partition-by", "date", "--where", "play.seconds < 0"}} {
		var ignored struct{}
		command(t, "extract", &ignored, append(append(slices.Clone(common), flags...), "--out", filepath.Join(dir, name))...)
	}
	if err := os.Symlink(plain, filepath.Join(dir, "plain")); err != nil {
		t.Fatal(err)
	}
	escaped(t, dir)
	bin := testkit.Commands(t)
	for _, name := range append(tableNames, "escaped") {
		sql, err := exec.CommandContext(t.Context(), filepath.Join(bin, "extract"), "ddl", filepath.Join(dir, name), "--for", string(engine), "--name", name).Output()
		if err != nil {
			t.Fatalf("ddl of %s: %v", name, err)
		}
		file := filepath.Join(dir, name+".sql")
		testkit.WriteFile(t, file, string(sql))
		args = append(args, name+"="+file)
	}
	return args
}

// wantTables runs the statements for an engine, and compares the tables with each other and
// with the number of sample records.
func wantTables(t *testing.T, engine ddl.Engine) {
	t.Helper()
	var got map[string]tabled
	python(t, &got, "tables.py", append([]string{string(engine)}, statementsOf(t, engine)...)...)
	var total float64
	for _, row := range got["plain"].Rows {
		total += row[2].(float64)
	}
	if total != sampleRecords {
		t.Errorf("%s counts %v rows, want %d", engine, total, sampleRecords)
	}
	if !slices.EqualFunc(got["escaped"].Rows, escapedRows, slices.Equal[[]any]) {
		t.Errorf("%s: behaviours whose names are escaped have the rows %v, want %v", engine, got["escaped"].Rows, escapedRows)
	}
	for _, name := range tableNames {
		columns := slices.Sorted(slices.Values(got[name].Columns))
		if want := slices.Sorted(slices.Values(got["plain"].Columns)); !slices.Equal(columns, want) || len(want) < 10 {
			t.Errorf("%s: the table %s has the columns %q, want %q", engine, name, columns, want)
		}
		if name == "nobody" {
			if len(got[name].Rows) > 0 {
				t.Errorf("%s: a result without users has the rows %v", engine, got[name].Rows)
			}
			continue
		}
		if !slices.EqualFunc(got[name].Rows, got["plain"].Rows, slices.Equal[[]any]) {
			t.Errorf("%s: the table %s has the rows\n%v\nwant\n%v", engine, name, got[name].Rows, got["plain"].Rows)
		}
	}
}

func TestTablesInPythonDuckDB(t *testing.T) { wantTables(t, ddl.DuckDB) }

func TestTablesInPythonSpark(t *testing.T) {
	testkit.OnlyAll(t, "TestTablesInPythonDuckDB, and the drawings of internal/extract/ddl")
	wantTables(t, ddl.Spark)
	var got map[string]tabled
	python(t, &got, "tables.py", append([]string{"hive"}, statementsOf(t, ddl.Hive)...)...)
	for _, name := range tableNames {
		want := []string{"createtable"}
		if name != "plain" {
			want = append(want, "repairtable")
		}
		if !slices.Equal(got[name].Columns, want) {
			t.Errorf("the statements for Hive of %s are %q, want %q", name, got[name].Columns, want)
		}
	}
}

// TestTablesInPythonClickHouse needs chDB, which has half a gigabyte.
func TestTablesInPythonClickHouse(t *testing.T) {
	testkit.OnlyAll(t, "TestTablesInPythonDuckDB, and the drawings of internal/extract/ddl")
	t.Setenv("USERTRAIL_PYTHON", cmp.Or(os.Getenv("USERTRAIL_CHDB"), filepath.Join(testkit.Repository(t), ".cache", "chdb", "bin", "python")))
	wantTables(t, ddl.ClickHouse)
}

// TestTrinoParsesItsStatements has Trino's own parser, from Maven, read the statements.
func TestTrinoParsesItsStatements(t *testing.T) {
	testkit.OnlyAll(t, "the drawings of internal/extract/ddl")
	dir := t.TempDir()
	maven := exec.CommandContext(t.Context(), "mvn", "-q", "-B", "-f", "testdata/trino/pom.xml", "dependency:copy-dependencies", "-DoutputDirectory="+dir)
	if out, err := maven.CombinedOutput(); err != nil {
		t.Fatalf("mvn: %v\n%s", err, out)
	}
	for _, arg := range statementsOf(t, ddl.Trino) {
		name, file, _ := strings.Cut(arg, "=")
		out, err := exec.CommandContext(t.Context(), "java", "-cp", dir+"/*", "testdata/trino/Parse.java", file).CombinedOutput()
		want := "CreateTable\n"
		if name != "plain" {
			want += "Call\n"
		}
		if err != nil || string(out) != want {
			t.Errorf("Trino reads the statements of %s as %q, want %q: %v", name, out, want, err)
		}
	}
}
