package e2e_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"usertrail/internal/format/manifest"
	"usertrail/internal/test/testkit"
)

// A said is a condition in two languages: as the user types it, and in SQL.
type said struct{ typed, sql string }

// A step is a step of a sequence, for SQL.
type step struct {
	Behaviour string `json:"behaviour"`
	Within    int    `json:"within"` // seconds after the previous step; 0 is any time
}

// An inquiry is a query with conditions. DuckDB gets the same conditions in SQL, over the
// columns of testdata/conditions.py. Some conditions of every family are always tested. Those
// marked all are tested only if everything is tested.
type inquiry struct {
	all        bool
	types      []string
	active     string // all, if it is empty
	where      said
	whereFirst bool
	having     said
	sequence   string
	steps      []step // the meaning of sequence
	without    []string
	fields     []string
	hours      said
	context    int
	at         said
	latest     int
}

// flags returns the flags of the inquiry.
func (q *inquiry) flags() []string {
	var out []string
	flag := func(name, value string) {
		if value != "" && value != "0" {
			out = append(out, "--"+name, value)
		}
	}
	flag("types", strings.Join(q.types, ","))
	flag("active", q.active)
	flag("where", q.where.typed)
	flag("having", q.having.typed)
	flag("sequence", q.sequence)
	flag("without", strings.Join(q.without, ","))
	flag("fields", strings.Join(q.fields, ","))
	flag("hours", q.hours.typed)
	flag("context", fmt.Sprint(q.context))
	flag("at", q.at.typed)
	flag("latest", fmt.Sprint(q.latest))
	if q.whereFirst {
		out = append(out, "--where-first")
	}
	return out
}

// least returns how many of its types a user needs.
func (q *inquiry) least() (n int) {
	switch {
	case q.active == "any":
		return 1
	case q.active == "":
		return len(q.types)
	}
	fmt.Sscanf(q.active, "min:%d", &n)
	return n
}

// A sqlQuery is an inquiry with its result, in the form that testdata/conditions.py reads.
type sqlQuery struct {
	From       string   `json:"from"`
	To         string   `json:"to"`
	Users      string   `json:"users"` // the file of the list
	Out        string   `json:"out"`
	Types      []string `json:"types"`
	Least      int      `json:"least"`
	Where      string   `json:"where"`
	WhereFirst bool     `json:"where_first"`
	Having     string   `json:"having"`
	Steps      []step   `json:"steps"`
	Without    []string `json:"without"`
	Fields     []string `json:"fields"`
	Hours      string   `json:"hours"`
	Context    int      `json:"context"`
	At         string   `json:"at"`
	Latest     int      `json:"latest"`
}

func (q *inquiry) sql(from, to, users, out string) sqlQuery {
	return sqlQuery{
		From: from, To: to, Users: users, Out: out, Types: q.types, Least: q.least(), Where: q.where.sql, WhereFirst: q.whereFirst, Having: q.having.sql,
		Steps: append([]step{}, q.steps...), Without: q.without, Fields: q.fields, Hours: q.hours.sql, Context: q.context, At: q.at.sql, Latest: q.latest,
	}
}

// A counted holds the counts of SQL or of extract.
type counted struct {
	Found  int64   `json:"found"`
	Active int64   `json:"active"`
	Kept   int64   `json:"kept"`
	Events int64   `json:"events"`
	Steps  []int64 `json:"steps"` // users that reached each step of a sequence
}

// A verdict holds DuckDB's counts, and its check of the rows that extract wrote.
type verdict struct {
	counted
	Columns     []string `json:"columns"`
	SQLColumns  []string `json:"sql_columns"`
	OnlySQL     int64    `json:"only_sql"`
	OnlyExtract int64    `json:"only_extract"`
	Disorder    int64    `json:"disorder"`
}

// command runs one of the commands and reads the last line of its standard output.
func command(t *testing.T, name string, into any, args ...string) {
	t.Helper()
	var stderr strings.Builder
	c := exec.CommandContext(t.Context(), filepath.Join(testkit.Commands(t), name), args...)
	c.Stderr = &stderr
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%s %q: %v\n%s", name, args, err, stderr.String())
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), into); err != nil {
		t.Fatalf("%s %q: %v: %s", name, args, err, out)
	}
}

// A sqlFixture is a table for inquiries, and the logs that it was loaded from.
type sqlFixture struct {
	name        string // name in testdata/conditions.py
	table, logs string
	from, to    string
	list        string // a file of some users, one of them unknown
}

// inquire runs queries for all users and for the users of the list, and compares the results
// with DuckDB. In a run that does not cover everything, the queries are for all users and for the
// list in turn.
func (c *sqlFixture) inquire(t *testing.T, inquiries []inquiry) {
	t.Helper()
	dir := t.TempDir()
	var queries []sqlQuery
	var counts []counted
	var typed [][]string
	for i := range inquiries {
		if inquiries[i].all && !testkit.All() {
			continue
		}
		both := []string{"all", c.list}
		next := len(queries) % len(both)
		for _, users := range testkit.Pick(both[next:next+1], both) {
			q, out := &inquiries[i], filepath.Join(dir, fmt.Sprint(len(queries)))
			args := append([]string{"--table", c.table, "--users", users, "--from", c.from, "--to", c.to, "--out", out, "--quiet"}, q.flags()...)
			var got counted
			command(t, "extract", &got, args...)
			got.Steps = funnel(t, out)
			if users == "all" {
				users = ""
			}
			counts, typed = append(counts, got), append(typed, args)
			queries = append(queries, q.sql(c.from, c.to, users, out))
		}
	}
	asked, err := json.Marshal(queries)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "queries.json")
	testkit.WriteFile(t, path, string(asked))
	var results []verdict
	python(t, &results, "conditions.py", c.name, c.logs, path)
	if len(results) != len(queries) {
		t.Fatalf("DuckDB has results for %d of %d queries", len(results), len(queries))
	}
	for i := range results {
		results[i].holds(t, typed[i], &counts[i], queries[i].Users == "")
	}
}

// funnel returns the number of users that reached each step, from the manifest of an extract.
func funnel(t *testing.T, out string) []int64 {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(out, "_manifest.json"))
	if err != nil {
		t.Fatal(err)
	}
	var m manifest.Extract
	if err := json.Unmarshal(text, &m); err != nil {
		t.Fatal(err)
	}
	steps := []int64{}
	for _, s := range m.Sequence {
		steps = append(steps, s.Users)
	}
	return steps
}

// holds compares DuckDB's counts with extract's. Among all users, at least one must have been
// kept, because otherwise nothing is compared.
func (v *verdict) holds(t *testing.T, typed []string, got *counted, all bool) {
	t.Helper()
	if a, b := fmt.Sprint(*got), fmt.Sprint(v.counted); a != b {
		t.Errorf("extract %q counts %+v, SQL %+v", typed, *got, v.counted)
	}
	if !slices.Equal(v.Columns, v.SQLColumns) {
		t.Errorf("extract %q has the columns %q, SQL %q", typed, v.Columns, v.SQLColumns)
	}
	if v.OnlySQL != 0 || v.OnlyExtract != 0 || v.Disorder != 0 {
		t.Errorf("extract %q: %d rows are in the SQL's result only, %d in the extract only, and %d out of order", typed, v.OnlySQL, v.OnlyExtract, v.Disorder)
	}
	if all && v.Events == 0 {
		t.Errorf("extract %q keeps nobody", typed)
	}
}
