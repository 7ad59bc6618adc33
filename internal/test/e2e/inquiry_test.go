package e2e_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"usertrail/internal/format/manifest"
	"usertrail/internal/test/testkit"
)

// A said is one thing in two languages: as it is typed, and in SQL.
type said struct{ typed, sql string }

// A step of a sequence, for SQL.
type step struct {
	Behaviour string `json:"behaviour"`
	Within    int    `json:"within"` // seconds since the one before; 0 is any time
}

// An inquiry is a question with conditions. Those that are said are told DuckDB in SQL,
// over the columns of testdata/conditions.py. Of every family of conditions some are always
// asked; those marked all are asked if everything is tested.
type inquiry struct {
	all        bool
	types      []string
	active     string // all, if it is not said
	where      said
	whereFirst bool
	having     said
	sequence   string
	steps      []step // what sequence means
	without    []string
	fields     []string
	hours      said
	context    int
	at         said
	latest     int
}

// flags are the inquiry as it is typed.
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

// least is how many of its types a user has to have done.
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

// A sqlQuestion is an inquiry and its answer as testdata/conditions.py takes them.
type sqlQuestion struct {
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

func (q *inquiry) sql(from, to, users, out string) sqlQuestion {
	return sqlQuestion{
		From: from, To: to, Users: users, Out: out, Types: q.types, Least: q.least(), Where: q.where.sql, WhereFirst: q.whereFirst, Having: q.having.sql,
		Steps: append([]step{}, q.steps...), Without: q.without, Fields: q.fields, Hours: q.hours.sql, Context: q.context, At: q.at.sql, Latest: q.latest,
	}
}

// A counted answer is that of SQL or of extract.
type counted struct {
	Found  int64   `json:"found"`
	Active int64   `json:"active"`
	Kept   int64   `json:"kept"`
	Events int64   `json:"events"`
	Steps  []int64 `json:"steps"` // users who came to each step of a sequence
}

// A verdict is DuckDB's count, and what it says of the rows that extract wrote.
type verdict struct {
	counted
	Columns     []string `json:"columns"`
	SQLColumns  []string `json:"sql_columns"`
	OnlySQL     int64    `json:"only_sql"`
	OnlyExtract int64    `json:"only_extract"`
	Disorder    int64    `json:"disorder"`
}

// bin is the folder of the commands, built once.
var bin = sync.OnceValues(func() (string, error) {
	dir := filepath.Join(scratch, "bin")
	return dir, testkit.Build(dir)
})

// command runs one of the commands and reads the last line of its standard output.
func command(t *testing.T, name string, into any, args ...string) {
	t.Helper()
	dir, err := bin()
	if err != nil {
		t.Fatal(err)
	}
	var stderr strings.Builder
	c := exec.CommandContext(t.Context(), filepath.Join(dir, name), args...)
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

// A city is a table that inquiries are about, and the logs that it was loaded from.
type city struct {
	name        string // to testdata/conditions.py
	table, logs string
	from, to    string
	list        string // a file of some users, one of them unknown
}

// inquire asks of all users and of those of the list, as it is typed, and compares with
// DuckDB.
func (c *city) inquire(t *testing.T, inquiries []inquiry) {
	t.Helper()
	dir := t.TempDir()
	var questions []sqlQuestion
	var counts []counted
	var typed [][]string
	for i := range inquiries {
		if inquiries[i].all && !testkit.All() {
			continue
		}
		for _, users := range []string{"all", c.list} {
			q, out := &inquiries[i], filepath.Join(dir, fmt.Sprint(len(questions)))
			args := append([]string{"--table", c.table, "--users", users, "--from", c.from, "--to", c.to, "--out", out, "--quiet"}, q.flags()...)
			var got counted
			command(t, "extract", &got, args...)
			got.Steps = funnel(t, out)
			if users == "all" {
				users = ""
			}
			counts, typed = append(counts, got), append(typed, args)
			questions = append(questions, q.sql(c.from, c.to, users, out))
		}
	}
	asked, err := json.Marshal(questions)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "questions.json")
	if err := os.WriteFile(path, asked, 0o644); err != nil {
		t.Fatal(err)
	}
	var answers []verdict
	python(t, &answers, "conditions.py", c.name, c.logs, path)
	if len(answers) != len(questions) {
		t.Fatalf("DuckDB answered %d of %d questions", len(answers), len(questions))
	}
	for i := range answers {
		answers[i].holds(t, typed[i], &counts[i], questions[i].Users == "")
	}
}

// funnel is how many users came to each step, as the manifest of an extract says.
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

// holds compares what DuckDB says with what extract counted. Of all users somebody must
// have been kept, or nothing is compared.
func (v *verdict) holds(t *testing.T, typed []string, got *counted, all bool) {
	t.Helper()
	if a, b := fmt.Sprint(*got), fmt.Sprint(v.counted); a != b {
		t.Errorf("extract %q counts %+v, SQL %+v", typed, *got, v.counted)
	}
	if !slices.Equal(v.Columns, v.SQLColumns) {
		t.Errorf("extract %q has the columns %q, SQL %q", typed, v.Columns, v.SQLColumns)
	}
	if v.OnlySQL != 0 || v.OnlyExtract != 0 || v.Disorder != 0 {
		t.Errorf("extract %q: %d rows are in the SQL's answer only, %d in the extract only, and %d out of order", typed, v.OnlySQL, v.OnlyExtract, v.Disorder)
	}
	if all && v.Events == 0 {
		t.Errorf("extract %q keeps nobody", typed)
	}
}
