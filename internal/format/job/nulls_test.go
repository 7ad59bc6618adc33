package job_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"usertrail/internal/behaviour"
	"usertrail/internal/format/job"
	"usertrail/internal/format/record"
	"usertrail/internal/test/testkit"
)

// A place is a part of a record that is read from a column. Its column has the same name.
type place string

// places are the columns of the table of texts that mean nothing, after the first.
var places = []place{"s", "n", "user", "time", "kind"}

// good are texts of the places.
var good = map[place]string{"s": "a", "n": "1", "user": "u1", "time": "2014-09-01 10:00:00", "kind": "play"}

// A nothing is a text, or the lack of one, that may mean nothing. format has the text of a column: quoted for
// csv, a JSON value for jsonl. missing leaves the column out.
type nothing struct {
	says    string // in the document
	formats []string
	text    string
	missing bool
	pattern bool // the place has the pattern ^k(.*)$
}

// nothings are the rows of the table.
var nothings = []nothing{
	{says: "csv, tsv: nothing, as in `a,,b`", formats: []string{"csv", "tsv"}},
	{says: "csv: `\"\"`", formats: []string{"csv"}, text: `""`},
	{says: "tsv, blanks: `\"\"`", formats: []string{"tsv", "blanks"}, text: `""`},
	{says: "csv, tsv: a space", formats: []string{"csv", "tsv"}, text: " "},
	{says: "csv, tsv, blanks: a text of `nulls`", formats: []string{"csv", "tsv", "blanks"}, text: "NULL"},
	{says: "csv, tsv, blanks: one column fewer than the names", formats: []string{"csv", "tsv", "blanks"}, missing: true},
	{says: "csv, tsv, blanks: `pattern` does not match", formats: []string{"csv", "tsv", "blanks"}, text: "z", pattern: true},
	{says: "csv, tsv, blanks: `pattern` matches, and its group is empty", formats: []string{"csv", "tsv", "blanks"}, text: "k", pattern: true},
	{says: "csv, tsv, blanks: `pattern` matches, and its group is a text of `nulls`", formats: []string{"csv", "tsv", "blanks"}, text: `kNULL`, pattern: true},
	{says: "jsonl: no such member", formats: []string{"jsonl"}, missing: true},
	{says: "jsonl: `null`", formats: []string{"jsonl"}, text: "null"},
	{says: "jsonl: `\"\"`", formats: []string{"jsonl"}, text: `""`},
	{says: "jsonl: `\" \"`", formats: []string{"jsonl"}, text: `" "`},
	{says: "jsonl: a text of `nulls`", formats: []string{"jsonl"}, text: `"NULL"`},
	{says: "jsonl: `{}`", formats: []string{"jsonl"}, text: `{}`},
	{says: "jsonl: `pattern` does not match", formats: []string{"jsonl"}, text: `"z"`, pattern: true},
	{says: "jsonl: `pattern` matches, and its group is empty", formats: []string{"jsonl"}, text: `"k"`, pattern: true},
	{says: "jsonl: `pattern` matches, and its group is a text of `nulls`", formats: []string{"jsonl"}, text: `"kNULL"`, pattern: true},
	{says: "all: another text, `zz`", formats: []string{"csv", "tsv", "jsonl"}, text: `"zz"`},
}

// line returns a record in which one place has the text.
func (n *nothing) line(format string, at place) string {
	var out []string
	for _, p := range places {
		text := good[p]
		if p == at {
			text = n.text
			if format != "jsonl" && n.text == `"zz"` {
				text = "zz"
			}
		}
		switch {
		case p == at && n.missing:
			continue
		case format == "jsonl" && p != at:
			text = fmt.Sprintf("%q", text)
		case format == "blanks":
			text = strings.ReplaceAll(text, " ", "T")
		}
		if format == "jsonl" {
			text = fmt.Sprintf("%q: %s", p, text)
		}
		out = append(out, text)
	}
	switch format {
	case "jsonl":
		return "{" + strings.Join(out, ", ") + "}\n"
	case "csv":
		return strings.Join(out, ",") + "\n"
	case "tsv":
		return strings.Join(out, "\t") + "\n"
	}
	return strings.Join(out, " ") + "\n"
}

// job returns a job in which one place has the pattern of n. The field n has a type.
func (n *nothing) job(t *testing.T, format string, at place, of behaviour.Type) *job.Job {
	t.Helper()
	column := func(p place) string {
		if p == at && n.pattern {
			return fmt.Sprintf("column: %s, pattern: \"^k(.*)$\"", p)
		}
		return "column: " + string(p)
	}
	names := ""
	if format != "jsonl" {
		names = "names: [s, n, user, time, kind], "
	}
	text := fmt.Sprintf("logs: {path: x, format: %s, %snulls: [\"NULL\"], behaviour: {%s}}\nuser: {%s}\ntime: {%s}\nfields: {s: {%s}, n: {type: %s, %s}}\nbehaviours: {play: {id: 1}}\n",
		format, names, column("kind"), column("user"), column("time"), column("s"), of, column("n"))
	j, err := job.Parse("job.yaml", []byte(text))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return j
}

// An outcome describes the value of a place of a parsed record, or the reason why the record is bad or skipped.
type outcome struct {
	at   place
	said string
}

// Keep implements record.Sink.
func (o *outcome) Keep(r *behaviour.Record) error {
	text := string(r.User)
	switch o.at {
	case "s", "n":
		value := r.Values[map[place]int{"s": 0, "n": 1}[o.at]]
		if value == nil {
			o.said = "null"
			return nil
		}
		text = string(value)
	}
	o.said = fmt.Sprintf("the text `%s`", text)
	if text == "" {
		o.said = "the empty text"
	}
	if text == " " {
		o.said = "a space"
	}
	return nil
}

// Skip implements record.Sink.
func (o *outcome) Skip(s *record.Skipped) error {
	o.said = "skipped: " + string(s.Why)
	return nil
}

// Reject implements record.Sink.
func (o *outcome) Reject(r *record.Reject) error {
	o.said = "bad: " + string(r.Reason)
	return nil
}

// outcome parses the record of a place.
func (n *nothing) outcome(t *testing.T, format string, at place, of behaviour.Type) string {
	t.Helper()
	j := n.job(t, format, at, of)
	p, err := record.NewParser(&j.Format, record.File{Path: "x", Kind: -1}, nil)
	if err != nil {
		t.Fatal(err)
	}
	o := &outcome{at: at}
	if err := p.Parse(record.Chunk{Data: []byte(n.line(format, at)), Line: 1}, o); err != nil {
		t.Fatal(err)
	}
	return o.said
}

// TestJobDocSaysWhatMeansNothing parses each text of the table in the reference, in each place and format.
func TestJobDocSaysWhatMeansNothing(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(testkit.Repository(t), "docs", "reference", "job.md"))
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, n := range nothings {
		cells := []string{n.says}
		for _, at := range places {
			said := ""
			for _, format := range n.formats {
				for _, of := range behaviour.Types {
					if of == behaviour.String || at != "n" && of != behaviour.Int64 {
						continue
					}
					was := said
					if said = n.outcome(t, format, at, of); was != "" && said != was {
						t.Errorf("%s in %s: %s in %s and %s, and %s in another", n.says, at, said, format, of, was)
					}
				}
			}
			cells = append(cells, said)
		}
		want = append(want, "| "+strings.Join(cells, " | ")+" |\n")
	}
	if !strings.Contains(string(page), strings.Join(want, "")) {
		t.Errorf("docs/reference/job.md does not have the table\n%s", strings.Join(want, ""))
	}
}
