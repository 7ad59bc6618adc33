package job

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"usertrail/internal/behaviour"
	"usertrail/internal/layout"
	"usertrail/internal/record"
)

// A meaning is what decides which cells a delivered line becomes, in a form
// that is the same for the same meaning. Not in it, because the same cells come
// of it: where the table and the logs' root lie, how a new table is made, how
// many bad records are allowed, which behaviours are required, and what is
// waited for.
type meaning struct {
	Schema    *behaviour.Schema
	Layout    string `json:",omitempty"` // empty where it is the default
	Syntax    record.Syntax
	Delimiter string
	Header    bool
	Names     []string
	Encoding  string
	MaxLine   int
	Nulls     []string
	Slack     int
	Paths     string
	PathNames []string
	Column    *columnMeaning
	Texts     map[string]int // JSON sorts its keys
	Kinds     []kindMeaning
}

type kindMeaning struct {
	User   columnMeaning
	Time   columnMeaning
	Fields []columnMeaning
	Unique Unique
}

type columnMeaning struct {
	Name, Pattern, Format, Zone string
	Year                        int
}

// Digest is the SHA-256, in hex, of what the job means. Two job files with one
// digest make the same table of the same logs.
func (j *Job) Digest() string {
	f := &j.Format
	m := meaning{
		Schema: j.Schema, Syntax: f.Syntax, Delimiter: f.Delimiter, Header: f.Header, Names: f.Names,
		Encoding: f.Encoding, MaxLine: f.MaxLine, Nulls: f.Nulls, Slack: f.Slack,
		Paths: j.Pattern.String(), PathNames: j.Pattern.paths, Texts: f.KindOf,
	}
	if j.Layout != layout.Default {
		m.Layout = j.Layout
	}
	if f.KindColumn != nil {
		c := meaningOf(*f.KindColumn)
		m.Column = &c
	}
	for i, k := range f.Kinds {
		m.Kinds = append(m.Kinds, kindMeaning{
			User: meaningOf(k.User), Time: timeMeaning(k.Time), Fields: fieldMeanings(k.Fields), Unique: j.Behaviours[i].Unique,
		})
	}
	text, err := json.Marshal(m)
	if err != nil {
		panic(fmt.Sprintf("job: a job that is not JSON: %v", err)) // nothing in it can fail
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

func meaningOf(c record.Column) columnMeaning {
	m := columnMeaning{Name: c.Name, Format: c.Format}
	if c.Pattern != nil {
		m.Pattern = c.Pattern.String()
	}
	return m
}

func timeMeaning(t record.Time) columnMeaning {
	m := meaningOf(t.Column)
	m.Format, m.Year = t.Format, t.Year
	if t.Zone != nil {
		m.Zone = t.Zone.String()
	}
	return m
}

func fieldMeanings(cs []record.Column) []columnMeaning {
	var out []columnMeaning
	for _, c := range cs {
		out = append(out, meaningOf(c))
	}
	return out
}
