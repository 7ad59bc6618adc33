package jobdraft

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"usertrail/internal/behaviour"
	"usertrail/internal/format/job"
)

// Scores of candidates for the column that names the behaviour.
const (
	kindByName = 100
	kindByPart = 60
	kindByText = 40 // texts are verbs, or other columns depend on the column
	kindByCode = 30 // small numbers in a file without names

	// chosenKind is the score from which a column is taken to name the behaviour, and
	// listedKind the score from which a comment lists it.
	chosenKind = kindByCode
	listedKind = 10
)

// kindsOf returns the columns that may name the behaviour, the most likely first: columns with
// few texts over the whole sheet, and texts that may be names. Columns that are certainly
// something else have a score of 0 or less.
func (s *sheet) kindsOf(columns []column, taken []int) []candidate {
	var out []candidate
	for i := range columns {
		if slices.Contains(taken, i) {
			continue
		}
		c := s.candidateOf(i)
		texts := s.countTexts(i)
		if !s.mayBeKinds(i, &columns[i], texts) {
			continue
		}
		c.score = s.kindScore(i, &columns[i], texts)
		out = append(out, c)
	}
	return ranked(out)
}

// countTexts returns the number of rows with each text of a column.
func (s *sheet) countTexts(column int) map[string]int {
	count := map[string]int{}
	for _, t := range s.texts(column) {
		count[t.text]++
	}
	return count
}

// longestKind is the length of the longest text, in bytes, that names a behaviour.
const longestKind = 100

// mayBeKinds reports whether the texts of a column are few, repeat, and may be names.
func (s *sheet) mayBeKinds(i int, c *column, texts map[string]int) bool {
	total, longest := 0, 0
	for text, n := range texts {
		total, longest = total+n, max(longest, len(text))
	}
	repeats := 3
	if len(texts) > 64 {
		repeats = 10
	}
	return float64(total) >= nearlyAll*float64(len(s.rows)) && longest <= longestKind &&
		len(texts) > 1 && len(texts) <= behaviour.MaxKinds && len(texts)*repeats <= total &&
		(c.typ == behaviour.String || c.typ == behaviour.Int64) && !s.most(i, userText.MatchString)
}

// code matches a small number that may stand for a behaviour.
var code = regexp.MustCompile(`^[0-9]{1,2}$`)

// methods are the methods of HTTP. They name how something was done and not what was done.
var methods = []string{"GET", "PUT", "POST", "HEAD", "PATCH", "DELETE", "OPTIONS", "CONNECT", "TRACE"}

// kindScore returns how likely a column names the behaviour.
func (s *sheet) kindScore(i int, c *column, texts map[string]int) int {
	name := s.names[i]
	codes, only := true, true
	for text := range texts {
		codes = codes && code.MatchString(text)
		only = only && slices.Contains(methods, text)
	}
	if only {
		return 0
	}
	score := s.kindTextScore(i, texts)
	switch n := hint(name, kindWords); {
	case n >= 0:
		return score + kindByName + len(kindWords) - n
	case holds(name, kindParts) && !holds(name, notKinds[kindSuffixes:]):
		return score + kindByPart
	case !s.numbers && holds(name, notKinds):
		return score - kindByName
	case c.typ == behaviour.Int64 && !codes:
		return 0
	case codes && s.numbers && contiguous(texts):
		return score + kindByCode
	case codes:
		return 0
	}
	return score
}

// kindTextScore judges a column by its texts and by the columns that depend on it.
func (s *sheet) kindTextScore(i int, texts map[string]int) int {
	score := kindByText * knownKinds(texts) / len(texts)
	return score + int(float64(kindByText)*s.explains(i))
}

// knownKinds returns the number of texts with words of behaviours.
func knownKinds(texts map[string]int) int {
	known := 0
	for text := range texts {
		if holds(text, verbs) {
			known++
		}
	}
	return known
}

// finerKinds returns a column that names behaviours by its own name and by most of its texts. The sheet has the files of one
// behaviour by their paths.
func (s *sheet) finerKinds(columns []column, taken []int) (candidate, bool) {
	for _, c := range s.kindsOf(columns, taken) {
		if texts := s.countTexts(c.at); hint(s.names[c.at], kindWords) >= 0 && knownKinds(texts)*2 > len(texts) {
			return c, true
		}
	}
	return candidate{}, false
}

// memberKinds returns the members of which each record has one, and which are objects: {"login":{…}} and {"match":{…}}. Members
// that all records have do not count. It returns nil if there are none, or too many.
func (s *sheet) memberKinds() []string {
	count, records := map[string]int{}, []map[string]bool{}
	for _, r := range s.rows {
		objects := map[string]bool{}
		for i := range r {
			if object, _, ok := strings.Cut(s.columns[i], "."); ok && !r[i].null {
				objects[object] = true
			}
		}
		for object := range objects {
			count[object]++
		}
		records = append(records, objects)
	}
	maps.DeleteFunc(count, func(_ string, n int) bool { return n == len(s.rows) })
	one := 0
	for _, objects := range records {
		n := 0
		for object := range objects {
			n += min(1, count[object])
		}
		if n > 1 {
			return nil
		}
		one += n
	}
	const repeats = 3
	if len(count) < 2 || len(count) > behaviour.MaxKinds || len(count)*repeats > one || float64(one) < nearlyAll*float64(len(s.rows)) {
		return nil
	}
	return slices.Sorted(maps.Keys(count))
}

// doubtMembers returns the comment that the names of objects may be the behaviours, "" if they are not.
func (s *sheet) doubtMembers() string {
	objects := s.memberKinds()
	if objects == nil || slices.ContainsFunc(objects, func(o string) bool { return !plainMember.MatchString(o) }) {
		return ""
	}
	pattern := `"(` + strings.Join(objects, "|") + `)"\s*:\s*\{`
	return fmt.Sprintf("all records are one behaviour, but each has one of the objects %s: if these are the behaviours, list them here, and write under logs: behaviour: {column: $line, pattern: %s}", wordsOf(objects), job.Quote(pattern))
}

// plainMember matches the name of a member that a pattern needs no escapes for.
var plainMember = regexp.MustCompile(`^[\p{L}\p{N}_-]+$`)

// contiguous reports whether codes are the numbers from 0 or 1 on, with few gaps.
func contiguous(texts map[string]int) bool {
	if len(texts) > 10 || texts["0"] == 0 && texts["1"] == 0 {
		return false
	}
	longest := 0
	for text := range texts {
		longest = max(longest, len(text))
	}
	return longest == 1
}

// explains returns, from 0 to 1, how well the text of a column predicts which other columns are
// filled. The name of an event does, because it determines which data the event has. Columns
// that are nearly always or nearly never filled show nothing.
func (s *sheet) explains(column int) float64 {
	type counts struct{ filled, rows int }
	best := 0.0
	for j := range s.columns {
		if j == column {
			continue
		}
		byText := map[string]*counts{}
		filled := 0
		for _, r := range s.rows {
			c := byText[r[column].text]
			if c == nil {
				c = &counts{}
				byText[r[column].text] = c
			}
			c.rows++
			if !r[j].null && r[j].text != "" {
				c.filled, filled = c.filled+1, filled+1
			}
		}
		before := min(filled, len(s.rows)-filled)
		if before*20 < len(s.rows) {
			continue
		}
		after := 0
		for _, c := range byText {
			after += min(c.filled, c.rows-c.filled)
		}
		best = max(best, 1-float64(after)/float64(before))
	}
	return best
}

// namesKinds reports whether a name means nothing but behaviours.
func (c *candidate) namesKinds() bool { return c.score >= kindByName }
