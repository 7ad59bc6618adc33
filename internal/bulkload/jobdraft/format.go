package jobdraft

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"usertrail/internal/behaviour"
	"usertrail/internal/format/record"
)

// A format describes how the sample's lines are cut into columns.
type format struct {
	syntax    record.Syntax
	delimiter string
	header    bool
	told      bool   // the text shows whether there is a header
	times     int    // 2 if one column holds a time, 1 if two adjacent ones do together, else 0
	width     int    // the columns that are read, if lines have different numbers of columns; else 0, which is all
	unsure    string // the unsure part of it
}

// rows cuts the first rows of a sample. bad counts the records with wrong quotes.
func (f *format) rows(s *sample, limit int) (rows [][]string, bad int) {
	rows, bad = record.Rows(s.text, f.syntax, f.delimiter, limit, s.ended)
	if f.width > 0 {
		for i, r := range rows {
			rows[i] = r[:min(len(r), f.width)]
		}
	}
	return rows, bad
}

// firstRows is enough rows to choose a delimiter.
const firstRows = 60

// even is the share of rows that must have the same number of columns.
const even = 0.95

// common lists delimiters in the order of preference.
var common = []string{"\t", "\x01", "\x02", "\x1f", "|", ";", ",", "^", "~", "#", "$", "@", "!", "&", "*", "%", "§", "¦", "¬"}

// guessFormat finds the format with which most samples have even rows, and cuts the samples.
func guessFormat(samples []*sample) format {
	if share(samples, isJSON) > 0.5 {
		f := format{syntax: record.JSONL, told: true}
		sheet := jsonSheet(samples)
		if sheet.timeSourceOf(sheet.allColumns(), &f).column != "" {
			f.times = 2
		}
		return f
	}
	best := bestDelimiter(samples)
	for _, s := range samples {
		s.cut(&best)
	}
	best.guessHeader(samples)
	return best
}

// share returns the share of the samples for which so is true.
func share(samples []*sample, so func(*sample) bool) float64 {
	n := 0
	for _, s := range samples {
		if so(s) {
			n++
		}
	}
	return float64(n) / float64(len(samples))
}

// isJSON reports whether most of the first lines are JSON objects.
func isJSON(s *sample) bool {
	objects, lines := 0, 0
	for line := range bytes.Lines(s.text) {
		line = bytes.TrimPrefix(bytes.TrimSpace(line), []byte("\uFEFF"))
		if len(line) == 0 {
			continue
		}
		if lines++; lines > firstRows {
			break
		}
		if line[0] == '{' {
			if _, err := record.Members(line); err == nil || lines == 1 {
				objects++
			}
		}
	}
	return lines > 0 && objects*2 > lines
}

// A trial is the result of cutting the samples with a syntax.
type trial struct {
	format
	even    float64 // share of rows with the most frequent width
	columns float64 // number of columns of a file that contain a letter or digit
	clean   float64 // share of rows without a wrong quote
	padded  bool    // most columns begin or end with blanks, so the delimiter is a part of a longer one
	rank    int     // place in the order of preference; less is better
}

// bestDelimiter tries all delimiters that occur.
func bestDelimiter(samples []*sample) format {
	some := spread(samples, 24)
	var trials []trial
	for i, d := range delimiters(some) {
		t := trial{format: format{syntax: record.CSV, delimiter: d}, rank: i}
		t.run(some)
		if d == "\t" || t.clean < 1 {
			plain := trial{format: format{syntax: record.TSV, delimiter: d}, rank: i}
			plain.run(some)
			if !quotes(some, d) || plain.clean*plain.even > t.clean*t.even {
				t = plain
			}
		}
		trials = append(trials, t)
	}
	blanks := trial{format: format{syntax: record.Blanks}, rank: len(trials)}
	blanks.run(some)
	trials = append(trials, blanks)
	trials = slices.DeleteFunc(trials, func(t trial) bool { return t.even < even || t.columns < 1.5 })
	for i := range trials {
		trials[i].lookForTimes(some)
	}
	if last := len(trials) - 1; last >= 0 && trials[last].syntax == record.Blanks && trials[last].times > 0 {
		trials = slices.DeleteFunc(trials, func(t trial) bool { return t.splitsTime(some) })
	}
	if !slices.ContainsFunc(trials, func(t trial) bool { return t.times > 0 }) {
		if t := unevenBlanks(some); t.times > 0 {
			return t.format
		}
	}
	if len(trials) == 0 {
		return format{syntax: record.CSV, delimiter: ",", unsure: "no delimiter splits all lines into the same number of columns"}
	}
	if last := len(trials) - 1; trials[last].syntax == record.Blanks && slices.ContainsFunc(trials[:last], func(t trial) bool { return t.fits() && t.times >= min(1, trials[last].times) }) {
		trials = trials[:last]
	}
	slices.SortStableFunc(trials, func(a, b trial) int {
		return cmp.Or(
			compareBool(a.padded, b.padded),
			-cmp.Compare(a.times, b.times),
			-cmp.Compare(a.columns, b.columns),
			-cmp.Compare(len(a.delimiter), len(b.delimiter)),
			cmp.Compare(a.rank, b.rank),
		)
	})
	out := trials[0].format
	if trials[0].times == 0 {
		out.unsure = "no column holds a time"
	}
	return out
}

// unevenBlanks cuts lines that end in a text of several words, such as the user agents of an access log. The
// columns are those that nearly every line has.
func unevenBlanks(samples []*sample) trial {
	t := trial{format: format{syntax: record.Blanks, told: true}}
	var widths []int
	for _, s := range samples {
		rows, _ := t.rows(s, firstRows)
		for _, r := range rows {
			widths = append(widths, len(r))
		}
	}
	if len(widths) == 0 {
		return t
	}
	slices.Sort(widths)
	t.readFirst(widths[int((1-even)*float64(len(widths)))])
	t.lookForTimes(samples)
	return t
}

// readFirst makes f read only the first columns of lines that have different numbers of columns.
func (f *format) readFirst(width int) {
	f.width = width
	f.unsure = fmt.Sprintf("lines have different numbers of columns, and the draft has the first %d; $line is the whole line", width)
}

// compareBool orders false before true.
func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// fits reports whether a usual delimiter splits nearly every line into the same number of columns. Such a
// delimiter wins over blanks, because texts and times hold blanks, too.
func (t *trial) fits() bool {
	return slices.Contains(common, t.delimiter) && !t.padded && t.even >= 0.98 && t.clean >= 0.98
}

// delimiters returns the usual delimiters, and other characters between words in the first
// lines.
func delimiters(samples []*sample) []string {
	seen := map[string]bool{}
	var odd []string
	for _, s := range samples {
		line, _, _ := bytes.Cut(s.text, []byte("\n"))
		for _, run := range strings.FieldsFunc(string(line), func(r rune) bool {
			return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '"' || r == '\r' || r == '\uFEFF' || r == '\uFFFD'
		}) {
			r := []rune(run)
			for n := 2; n <= min(4, len(r)); n++ {
				for i := range len(r) - n + 1 {
					d := string(r[i : i+n])
					if strings.Trim(d, " \t-:./_") != "" || d == "::" || d == "--" {
						seen[d] = true
					}
				}
			}
		}
	}
	for d := range seen {
		if strings.TrimSpace(d) == d || strings.Trim(d, " ") != "" && !strings.Contains(strings.TrimSpace(d), " ") {
			odd = append(odd, d)
		}
	}
	slices.Sort(odd)
	return append(slices.Clone(common), odd[:min(len(odd), 64)]...)
}

// run cuts the first rows of samples, and evaluates the columns.
func (t *trial) run(samples []*sample) {
	var evenRows, rows, bad, cells, blank int
	var columns float64
	for _, s := range samples {
		if len(t.delimiter) > 0 && !bytes.Contains(s.text, []byte(t.delimiter)) {
			rows += 2
			continue
		}
		got, wrong := t.rows(s, firstRows)
		bad += wrong
		rows += len(got) + wrong
		width, n := usualWidth(got)
		evenRows += n
		full := make([]bool, width)
		for _, r := range got {
			for i, text := range r[:min(width, len(r))] {
				cells++
				if strings.TrimSpace(text) != text {
					blank++
				}
				full[i] = full[i] || strings.ContainsFunc(text, isWord)
			}
		}
		for _, is := range full {
			if is {
				columns++
			}
		}
	}
	t.padded = blank*2 > cells
	t.columns = columns / float64(len(samples))
	t.even = float64(evenRows) / float64(max(1, rows))
	t.clean = 1 - float64(bad)/float64(max(1, rows))
}

// timedRows is enough rows to see that a column holds times.
const timedRows = 20

// lookForTimes determines whether the columns of samples hold times.
func (t *trial) lookForTimes(samples []*sample) {
	timed := [3]int{}
	for _, s := range samples {
		rows, _ := t.rows(s, timedRows)
		width, _ := usualWidth(rows)
		timed[timesIn(rows, width)]++
	}
	for n, count := range timed {
		if count*2 > len(samples) {
			t.times = n
		}
	}
}

// splitsTime reports whether most samples have a column with a day, and the time of day is the beginning of the next
// column. The delimiter then is one of the blanks between two columns.
func (t *trial) splitsTime(samples []*sample) bool {
	return share(samples, func(s *sample) bool {
		rows, _ := t.rows(s, timedRows)
		width, _ := usualWidth(rows)
		for i := range width - 1 {
			var days []stamped
			for _, r := range rows {
				if len(r) == width && clockFirst.MatchString(r[i+1]) {
					days = append(days, stamped{text: r[i]})
				}
			}
			if float64(len(days)) < nearlyAll*float64(len(rows)) {
				continue
			}
			if times := append(bestTimes(days), shortDays(days)...); len(times) > 0 && !times[0].clock {
				return true
			}
		}
		return false
	}) > 0.5
}

// isWord reports whether a character is a letter or digit.
func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// usualWidth returns the width of most rows, and the number of these rows.
func usualWidth(rows [][]string) (width, n int) {
	count := map[int]int{}
	for _, r := range rows {
		count[len(r)]++
	}
	for w, c := range count {
		if c > n || c == n && w > width {
			width, n = w, c
		}
	}
	return width, n
}

// timesIn returns 2 if one of the columns holds times, and 1 if two adjacent ones do
// together. All rows but the first must hold them, because the first may be a header.
func timesIn(rows [][]string, width int) int {
	if len(rows) > 1 {
		rows = rows[1:]
	}
	found := 0
	for i := range width {
		var one, two []stamped
		for _, r := range rows {
			if len(r) != width {
				continue
			}
			if r[i] != "" {
				one = append(one, stamped{text: r[i]})
			}
			if i+1 < width {
				two = append(two, stamped{text: strings.TrimPrefix(r[i], "[") + " " + strings.TrimSuffix(r[i+1], "]")})
			}
		}
		if pair := bestTimes(two); len(pair) > 0 && pair[0].clock {
			found = 1
		} else if len(bestTimes(one)) > 0 {
			return 2
		}
	}
	return found
}

// quotes reports whether columns are quoted, as in csv.
func quotes(samples []*sample, delimiter string) bool {
	for _, s := range samples {
		if bytes.Contains(s.text, []byte(`"`+delimiter)) && bytes.Contains(s.text, []byte(delimiter+`"`)) {
			return true
		}
	}
	return false
}

// guessHeader determines whether the first rows name the columns. They do not if lines have different numbers
// of columns, because a job with names needs as many columns in each line.
func (f *format) guessHeader(samples []*sample) {
	if f.width > 0 {
		return
	}
	var yes, no int
	firsts := map[string]int{}
	for _, s := range samples {
		if len(s.rows) > 0 {
			firsts[strings.Join(s.rows[0], "\x00")]++
		}
	}
	for _, s := range samples {
		if len(s.rows) == 0 {
			continue
		}
		is, sure := isHeader(s.rows, firsts[strings.Join(s.rows[0], "\x00")])
		f.told = f.told || sure
		if is {
			yes++
		} else {
			no++
		}
	}
	f.header = yes > no
	switch {
	case yes > 0 && no > 0:
		f.unsure = "some files seem to have a header and some not"
	case !f.told:
		f.unsure = "the text does not show whether the first line names the columns"
	}
}

// evenWidth returns the number of columns of all lines of samples without a header, except a few cut ones. It returns 0 if
// lines have more columns than most. Blanks are not counted, because a text of several words has several columns there.
func (f *format) evenWidth(samples []*sample) int {
	if f.header || f.syntax != record.CSV && f.syntax != record.TSV {
		return 0
	}
	var all [][]string
	for _, s := range samples {
		all = append(all, s.rows...)
	}
	width, n := usualWidth(all)
	if !fewWrong(len(all)-n, len(all)) || slices.ContainsFunc(all, func(r []string) bool { return len(r) > width }) {
		return 0
	}
	return width
}

// isHeader reports whether the first of rows is a header, and whether this is sure. repeated
// is the number of files that begin with it. A header may have one empty name.
func isHeader(rows [][]string, repeated int) (is, sure bool) {
	first := rows[0]
	empty := 0
	for _, text := range first {
		if typed(text) {
			return false, true
		}
		if text == "" {
			empty++
		}
	}
	switch {
	case empty > 1:
		return false, false
	case len(distinct(first))*2 <= len(first):
		return false, empty == 0
	}
	for _, r := range rows[1:] {
		for i := range min(len(r), len(first)) {
			if first[i] != "" && typed(r[i]) {
				return true, true
			}
		}
	}
	known := slices.ContainsFunc(first, func(s string) bool {
		return hint(s, userWords) >= 0 || hint(s, timeWords) >= 0
	})
	return known || repeated > 1 && empty == 0, known
}

// typed reports whether a text is a number or a time, and therefore not a name.
func typed(text string) bool {
	return record.Reads(behaviour.Double, text) || len(bestTimes([]stamped{{text: text}})) > 0
}
