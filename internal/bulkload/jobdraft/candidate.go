package jobdraft

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/dustin/go-humanize/english"

	"usertrail/internal/run/visible"
)

// A candidate is a column that may be the user, or that may name the behaviour.
type candidate struct {
	at       int // index in the sheet
	column   string
	pattern  string // selects the value in the column, "" if the column is the value
	score    int
	rows     int
	distinct int
	sparse   bool // it is called a user, but few records have one
	odd      bool // its texts have the form of IDs that are not plain ones
	examples []string
	nulls    []string // texts that the pattern selects, and that must mean null
}

// title returns the column and its pattern, as in a job.
func (c *candidate) title() string {
	if c.pattern != "" {
		return c.column + " by pattern " + c.pattern
	}
	return c.column
}

// figures describes the texts of the column in numbers and examples.
func (c *candidate) figures() string {
	return fmt.Sprintf("%s in %s, such as %s", english.Plural(c.distinct, "text", ""), english.Plural(c.rows, "record", ""), visible.List(c.examples))
}

// listed returns candidates for a comment.
func listed(all []candidate) string {
	var out []string
	for i := range all {
		c := &all[i]
		if len(out) == mostListed {
			out = append(out, fmt.Sprintf("and %d others", len(all)-i))
			break
		}
		out = append(out, fmt.Sprintf("%s (%s)", visible.Text(c.title()), c.figures()))
	}
	return strings.Join(out, ", ")
}

// mostListed is the number of candidates that a comment lists.
const mostListed = 6

// ranked sorts candidates by their scores, the best first.
func ranked(all []candidate) []candidate {
	slices.SortStableFunc(all, func(a, b candidate) int { return -cmp.Compare(a.score, b.score) })
	return all
}

// candidateOf describes a column of a sheet. Empty texts and nulls do not count.
func (s *sheet) candidateOf(at int, nulls ...string) candidate {
	c := candidate{at: at, column: s.columns[at]}
	c.look(s.texts(at), nulls)
	return c
}

// look counts texts, and keeps examples of them. Empty texts and nulls do not count.
func (c *candidate) look(texts []stamped, nulls []string) {
	seen := map[string]bool{}
	for _, t := range texts {
		if t.text == "" || slices.Contains(nulls, t.text) {
			continue
		}
		c.rows++
		if !seen[t.text] {
			seen[t.text] = true
			if len(c.examples) < 3 {
				c.examples = append(c.examples, short(t.text))
			}
		}
	}
	c.distinct = len(seen)
}

// short returns the beginning of a text, for comments.
func short(text string) string {
	const most = 40
	if r := []rune(text); len(r) > most {
		return string(r[:most]) + "…"
	}
	return text
}
