package jobdraft

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"usertrail/internal/behaviour"
	"usertrail/internal/format/record"
)

// A cell is the value of a column in a row.
type cell struct {
	text   string
	null   bool
	quoted bool // a JSON string, which may look like a number
}

// A sheet holds rows with the same columns.
type sheet struct {
	columns []string // names of the columns in a job
	names   []string // the names that their fields may have
	rows    [][]cell
	days    []*behaviour.Date // for each row, the day in its file's path
	partly  []string          // columns that not all files have
	twice   []string          // columns that a header names more than once
	numbers bool              // the columns have no names
}

// sheetOf puts the rows of samples into one sheet.
func (f *format) sheetOf(samples []*sample, records int) *sheet {
	if f.syntax == record.JSONL {
		return jsonSheet(samples, records)
	}
	s := &sheet{}
	at := map[string]int{}
	if f.header {
		at = s.fromHeaders(samples)
	} else {
		s.numbered(samples)
	}
	for _, sm := range samples {
		rows := sm.rows
		var to []int
		if f.header && len(rows) > 0 {
			header := rows[0]
			rows = rows[1:]
			for _, name := range header {
				if i, ok := at[name]; ok {
					to = append(to, i)
				} else {
					to = append(to, -1)
				}
			}
		}
		for _, r := range rows {
			s.add(r, to, sm.day, f.header)
		}
	}
	return s
}

// headed returns the number of samples with a header.
func headed(samples []*sample) int {
	n := 0
	for _, sm := range samples {
		if len(sm.rows) > 0 {
			n++
		}
	}
	return n
}

// fromHeaders sets the columns that every file's header has once, and returns their indexes.
func (s *sheet) fromHeaders(samples []*sample) (at map[string]int) {
	at = map[string]int{}
	count, twice := map[string]int{}, map[string]bool{}
	var order []string
	for _, sm := range samples {
		if len(sm.rows) == 0 {
			continue
		}
		for i, name := range sm.rows[0] {
			if slices.Contains(sm.rows[0][:i], name) {
				twice[name] = true
				continue
			}
			if count[name] == 0 {
				order = append(order, name)
			}
			count[name]++
		}
	}
	for _, name := range order {
		switch {
		case twice[name]:
			s.twice = append(s.twice, name)
		case count[name] < headed(samples):
			s.partly = append(s.partly, name)
		default:
			at[name] = len(s.columns)
			s.columns, s.names = append(s.columns, name), append(s.names, name)
		}
	}
	return at
}

// numbered sets numbers as the names of the columns.
func (s *sheet) numbered(samples []*sample) {
	var all [][]string
	for _, sm := range samples {
		all = append(all, sm.rows...)
	}
	s.numbers = true
	width, _ := usualWidth(all)
	for i := range width {
		s.columns = append(s.columns, fmt.Sprintf("$%d", i+1))
		s.names = append(s.names, fmt.Sprintf("c%d", i+1))
	}
}

// add adds a row of delimited columns. to has the destination of each; nil is in order.
func (s *sheet) add(r []string, to []int, day *behaviour.Date, exact bool) {
	if exact && len(r) != len(to) || !exact && len(r) < len(s.columns) {
		return // a bad record
	}
	row := make([]cell, len(s.columns))
	for i, text := range r {
		j := i
		if to != nil {
			j = to[i]
		}
		if j >= 0 && j < len(row) {
			row[j] = cell{text: text, null: text == ""}
		}
	}
	s.rows = append(s.rows, row)
	s.days = append(s.days, day)
}

// jsonSheet returns a sheet with a column for every member.
func jsonSheet(samples []*sample, records int) *sheet {
	s := &sheet{}
	at := map[string]int{}
	for _, sm := range samples {
		n := 0
		for line := range bytes.Lines(sm.text) {
			if n++; n > records || !bytes.HasSuffix(line, []byte("\n")) && !sm.whole {
				break
			}
			members, err := record.Members(bytes.TrimPrefix(bytes.TrimSpace(line), []byte("\uFEFF")))
			if err != nil {
				continue
			}
			row := make([]cell, len(s.columns), len(s.columns)+len(members))
			for i := range row {
				row[i].null = true
			}
			for _, m := range members {
				i, ok := at[m.Name]
				if !ok {
					i = len(s.columns)
					at[m.Name] = i
					s.columns, s.names = append(s.columns, m.Name), append(s.names, m.Name)
					row = append(row, cell{})
				}
				row[i] = cell{text: m.Text, null: m.Null(), quoted: m.Quoted()}
			}
			s.rows, s.days = append(s.rows, row), append(s.days, sm.day)
		}
	}
	for i, row := range s.rows {
		for len(row) < len(s.columns) {
			row = append(row, cell{null: true})
		}
		s.rows[i] = row
	}
	return s
}

// where returns the sheet of the rows in which a column has a text.
func (s *sheet) where(column int, text string) *sheet {
	out := &sheet{columns: s.columns, names: s.names, partly: s.partly, twice: s.twice, numbers: s.numbers}
	for i, r := range s.rows {
		if !r[column].null && r[column].text == text {
			out.rows, out.days = append(out.rows, r), append(out.days, s.days[i])
		}
	}
	return out
}

// texts returns the values of a column without nulls.
func (s *sheet) texts(column int) []stamped {
	var out []stamped
	for i, r := range s.rows {
		if !r[column].null {
			out = append(out, stamped{r[column].text, s.days[i]})
		}
	}
	return out
}

// A column describes a column of the logs.
type column struct {
	name     string // name in a job
	field    string // the name of a field for it
	filled   int    // rows in which it is not null
	distinct int
	typ      behaviour.Type
	times    []timing // formats that read it, the most likely first
	nulls    []string // texts that must mean null for it to be of its type
	unsure   string
}

// nullTexts are the texts that programs commonly write for null.
var nullTexts = []string{`\N`, "NULL", "null", "N/A", "NA", "n/a", "None", "nil", "-", "--", "(null)"}

var fieldName = regexp.MustCompile(`[^\p{L}\p{N}_]+`)

// columnOf determines the type of a column of a sheet.
func (s *sheet) columnOf(i int) column {
	c := column{name: s.columns[i], field: fieldNameOf(s.names[i])}
	texts := s.texts(i)
	c.filled = len(texts)
	quoted := slices.ContainsFunc(s.rows, func(r []cell) bool { return r[i].quoted })
	count := map[string]int{}
	for _, t := range texts {
		count[t.text]++
	}
	for _, n := range nullTexts {
		// Rarer texts are bad records, and not a text for null.
		if !quoted && count[n]*100 > len(texts) {
			c.nulls = append(c.nulls, n)
		}
	}
	kept := slices.DeleteFunc(slices.Clone(texts), func(t stamped) bool { return slices.Contains(c.nulls, t.text) })
	c.distinct = len(count)
	c.typ, c.times = typeOf(kept, quoted)
	if c.typ == behaviour.String {
		// If nothing else is known, only texts that nobody would use as text are null.
		c.nulls = slices.DeleteFunc(c.nulls, func(n string) bool { return n != `\N` && n != "NULL" })
	}
	if len(kept) == 0 {
		c.unsure = "it has no value in the sample"
	}
	return c
}

func fieldNameOf(name string) string {
	f := strings.Trim(fieldName.ReplaceAllString(name, "_"), "_")
	if f == "" {
		f = "field"
	}
	if !letter.MatchString(string([]rune(f)[:1])) {
		f = "f_" + f
	}
	if slices.ContainsFunc(behaviour.Reserved, func(r string) bool { return behaviour.Fold(r) == behaviour.Fold(f) }) {
		f += "_"
	}
	return f
}

// typeOf returns the type that reads all texts except a few. It takes quoted texts of JSON
// for strings, even if they look like numbers.
func typeOf(texts []stamped, quoted bool) (behaviour.Type, []timing) {
	if len(texts) == 0 {
		return behaviour.String, nil
	}
	times := bestTimes(texts)
	var ints, numbers, bools, zeros int
	for _, t := range texts {
		switch {
		case leadingZero(t.text):
			zeros++
		case record.Reads(behaviour.Int64, t.text):
			ints, numbers = ints+1, numbers+1
		case record.Reads(behaviour.Double, t.text):
			numbers++
		case record.Reads(behaviour.Bool, t.text):
			bools++
		}
	}
	most := func(n int) bool { return float64(n) >= mostOf*float64(len(texts)) }
	switch {
	case quoted || zeros > 0 || !most(numbers) && !most(bools):
	case most(bools):
		return behaviour.Bool, times
	case ints == numbers:
		return behaviour.Int64, times
	default:
		return behaviour.Double, times
	}
	if len(times) > 0 && !times[0].epoch() && wholePart(texts[0].text) == "" {
		if times[0].clock || times[0].zoned {
			return behaviour.Timestamp, times
		}
		return behaviour.Day, times
	}
	return behaviour.String, times
}

// leadingZero reports whether a text is a number that would lose characters if it were read
// as one: a leading zero or plus, as in the numbers of telephones and shops.
func leadingZero(s string) bool {
	digits := strings.TrimPrefix(s, "-")
	zero := len(digits) > 1 && digits[0] == '0' && digits[1] != '.' && !strings.ContainsAny(digits, "eE")
	return (zero || strings.HasPrefix(s, "+")) && record.Reads(behaviour.Double, s)
}
