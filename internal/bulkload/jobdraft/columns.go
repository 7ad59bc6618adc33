package jobdraft

import (
	"bytes"
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
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
	lines   []stamped         // the first lines of each file, uncut; none of JSON
	partly  []string          // columns that not all files have
	twice   []string          // columns that a header names more than once
	unnamed []string          // the numbers of columns that have no name in a header
	numbers bool              // the columns have no names
}

// sheetOf puts the rows of samples into one sheet.
func (f *format) sheetOf(samples []*sample) *sheet {
	if f.syntax == record.JSONL {
		return jsonSheet(samples)
	}
	s := &sheet{lines: uncut(samples, f.header)}
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
			if !f.header || !slices.Equal(r, sm.rows[0]) { // joined logs repeat the header
				s.add(r, to, sm.day, f.header)
			}
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

// fromHeaders sets the columns that every file's header names once, and returns their indexes.
func (s *sheet) fromHeaders(samples []*sample) (at map[string]int) {
	at = map[string]int{}
	count, twice := map[string]int{}, map[string]bool{}
	var order []string
	for _, sm := range samples {
		if len(sm.rows) == 0 {
			continue
		}
		for i, name := range sm.rows[0] {
			if name == "" {
				if number := fmt.Sprintf("$%d", i+1); !slices.Contains(s.unnamed, number) {
					s.unnamed = append(s.unnamed, number)
				}
				continue
			}
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
func jsonSheet(samples []*sample) *sheet {
	s := &sheet{}
	at := map[string]int{}
	for _, sm := range samples {
		for line := range bytes.Lines(sm.text) {
			if !bytes.HasSuffix(line, []byte("\n")) && !sm.ended {
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

// filledWhere returns the columns that are not null in some row in which a column has a text.
func (s *sheet) filledWhere(column int, text string) map[int]bool {
	out := map[int]bool{}
	for _, r := range s.rows {
		if r[column].null || r[column].text != text {
			continue
		}
		for i := range r {
			if !r[i].null {
				out[i] = true
			}
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
	distinct int    // number of its texts
	commas   bool   // its texts are numbers with a decimal comma
	ofOne    bool   // nearly all of its texts are the same text
	typ      behaviour.Type
	times    []timing // formats that read it, the most likely first
	nulls    []string // texts that must mean null for it to be of its type
	unsure   string
}

// nullTexts are the texts that programs commonly write for null. In a column of texts only
// the first nullStrings of them mean null, because people use the others as texts.
var (
	nullTexts   = append(slices.Clone(nullStrings), "NA", "None", "none", "nil", "-", "--", "?", "unknown")
	nullStrings = []string{`\N`, "NULL", "null", "(null)", "N/A", "n/a", "NaN", "nan", "undefined"}
)

var fieldName = regexp.MustCompile(`[^\p{L}\p{N}_]+`)

// allColumns describes all columns of a sheet.
func (s *sheet) allColumns() []column {
	var out []column
	for i := range s.columns {
		out = append(out, s.columnOf(i))
	}
	s.doubtThousands(out)
	return out
}

var (
	decimalComma = regexp.MustCompile(`^-?([0-9]+|[0-9]{1,3}(\.[0-9]{3})+),([0-9]{1,2}|[0-9]{4,})$`)
	dotThousands = regexp.MustCompile(`^-?[0-9]{1,3}(\.[0-9]{3})?$`)
)

// doubtThousands adds a comment to columns of numbers such as 1.234 if another column has decimal commas.
func (s *sheet) doubtThousands(columns []column) {
	if !slices.ContainsFunc(columns, func(c column) bool { return c.commas }) {
		return
	}
	for i := range columns {
		if c := &columns[i]; c.typ == behaviour.Double && s.most(i, dotThousands.MatchString) {
			c.unsure = "another column has decimal commas, so a dot may separate thousands here; if it does, write string, because a load reads the dot as a decimal point"
		}
	}
}

// columnOf determines the type of a column of a sheet.
func (s *sheet) columnOf(i int) column {
	c := column{name: s.columns[i], field: fieldNameOf(s.names[i])}
	texts := s.texts(i)
	quoted := slices.ContainsFunc(s.rows, func(r []cell) bool { return r[i].quoted })
	count := map[string]int{}
	most := 0
	for _, t := range texts {
		count[t.text]++
		most = max(most, count[t.text])
	}
	c.ofOne = len(count) > 1 && len(texts) >= 30 && float64(most) >= nearlyAll*float64(len(texts))
	c.nulls = nullsIn(count, len(texts), quoted)
	kept := slices.DeleteFunc(slices.Clone(texts), func(t stamped) bool { return slices.Contains(c.nulls, t.text) })
	c.typ, c.times = typeOf(kept, quoted)
	if c.typ == behaviour.Double && holds(c.name, []string{"version", "ver", "release"}) {
		c.typ = behaviour.String // 7.10 is not 7.1
	}
	if c.typ == behaviour.String && len(kept) > 0 {
		c.nulls = onlyStrings(c.nulls)
	}
	for _, n := range c.nulls {
		delete(count, n)
	}
	c.commas = c.typ == behaviour.String && s.most(i, decimalComma.MatchString)
	c.distinct = len(count)
	for _, n := range count {
		c.filled += n
	}
	switch {
	case c.filled == 0:
		c.unsure = "it has no value in the sample"
	case c.commas:
		c.unsure = "numbers with a decimal comma are read as texts, because a double has a decimal point"
	case c.typ == behaviour.String:
		c.unsure = notQuite(kept, quoted)
	}
	return c
}

// nullsIn returns the common texts for null among texts with their counts. Rarer texts are bad records, and not a text for
// null.
func nullsIn(count map[string]int, texts int, quoted bool) []string {
	var out []string
	for _, n := range append([]string{""}, nullTexts...) {
		if isCommon(count[n], texts) && (n != "" || quoted) {
			out = append(out, n)
		}
	}
	return out
}

// isCommon reports whether more than one in a hundred texts is a text that occurs n times.
func isCommon(n, texts int) bool { return n*100 > texts }

// onlyStrings returns those of nulls that mean null in a column of texts, too.
func onlyStrings(nulls []string) []string {
	return slices.DeleteFunc(nulls, func(n string) bool { return !slices.Contains(nullStrings, n) })
}

// fewWrong reports whether n texts of many are so few that they may be bad records: at most
// one in a hundred, as the default of max_bad, or a single one.
func fewWrong(n, of int) bool { return n*100 <= of || n == 1 && of >= 20 }

// notQuite returns why texts that are nearly all numbers or times have no type, or "".
func notQuite(texts []stamped, quoted bool) string {
	if example := exponentOf(texts); example != "" && !quoted {
		return fmt.Sprintf("texts such as %q may be codes; if they are numbers, write double", short(example))
	}
	wrong, example := 0, ""
	for _, t := range texts {
		if !record.Reads(behaviour.Double, t.text) {
			wrong, example = wrong+1, t.text
		}
	}
	if quoted || wrong == 0 || wrong*10 > len(texts) {
		return ""
	}
	return fmt.Sprintf("%d of %d texts are no numbers, such as %q", wrong, len(texts), short(example))
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

// typeOf returns the type that reads all texts except a few. It treats quoted texts of JSON for
// strings, even if they look like numbers.
func typeOf(texts []stamped, quoted bool) (behaviour.Type, []timing) {
	if len(texts) == 0 {
		return behaviour.String, nil
	}
	times := bestTimes(texts)
	var ints, numbers, bools, codes int
	for _, t := range texts {
		switch {
		case leadingZero(t.text) || beyondInt64(t.text):
			codes++
		case record.Reads(behaviour.Int64, t.text):
			ints, numbers = ints+1, numbers+1
		case record.Reads(behaviour.Double, t.text):
			numbers++
		case record.Reads(behaviour.Bool, t.text):
			bools++
		}
	}
	most := func(n int) bool { return fewWrong(len(texts)-n, len(texts)) }
	switch {
	case quoted || codes > 0 || !most(numbers) && !most(bools):
	case most(bools):
		return behaviour.Bool, times
	case exponentOf(texts) != "":
	case ints == numbers:
		return behaviour.Int64, times
	case !slices.ContainsFunc(texts, func(t stamped) bool { return inexact(t.text) }):
		return behaviour.Double, times
	}
	if len(times) > 0 && fewWrong(len(texts)-times[0].read, len(texts)) && !times[0].epoch() && wholePart(texts[0].text) == "" {
		if times[0].clock || times[0].zoned || strings.Contains(texts[0].text, ":") {
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

// wholeNumber matches a number of digits alone.
var wholeNumber = regexp.MustCompile(`^-?[0-9]+$`)

// beyondInt64 reports whether a text is a whole number with more than 64 bits, which is an ID.
func beyondInt64(s string) bool {
	return wholeNumber.MatchString(s) && !record.Reads(behaviour.Int64, s)
}

// inexact reports whether a text is a whole number that loses digits as a double.
func inexact(s string) bool {
	if !wholeNumber.MatchString(s) {
		return false
	}
	n, err := strconv.ParseInt(s, 10, 64)
	return err != nil || int64(float64(n)) != n
}

// exponent matches a text such as 1E5, which is a number or a code.
var exponent = regexp.MustCompile(`^[0-9]+[eE][0-9]+$`)

// exponentOf returns the first text such as 1E5 if the other texts are whole numbers, "" otherwise.
func exponentOf(texts []stamped) string {
	first := ""
	for _, t := range texts {
		switch {
		case exponent.MatchString(t.text):
			first = cmp.Or(first, t.text)
		case !wholeNumber.MatchString(t.text):
			return ""
		}
	}
	return first
}
