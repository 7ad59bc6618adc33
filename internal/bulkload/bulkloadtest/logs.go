package bulkloadtest

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Plays is a log of two records.
const Plays = `user,time,title,seconds
a,2014-09-01 10:00:00,one,1
b,2014-09-01 11:00:00,two,2
`

// Header is the first line of a log of plays.
const Header = "user,time,title,seconds\n"

// MixedLog returns a log of MixedJob and its trails. On each of four days, each of ten users has one
// play and one order.
func MixedLog() (text string, trails []string) {
	text = "user,time,kind,title\n"
	for day := 1; day <= 4; day++ {
		for n := range 20 {
			user, title, tail := 10+n/2, fmt.Sprintf("t%d", n), ""
			kind := []string{"play", "order"}[n%2]
			if kind == "play" {
				tail = " title=" + title
			}
			text += fmt.Sprintf("%d,2014-09-%02d 10:00:%02d,%s,%s\n", user, day, n, kind, title)
			trails = append(trails, fmt.Sprintf("%d 2014-09-%02d 2014-09-%02dT10:00:%02dZ %s%s", user, day, day, n, kind, tail))
		}
	}
	slices.Sort(trails)
	return text, trails
}

// MixedJob is a job whose files have records of several days and behaviours.
const MixedJob = `
logs: {path: "logs/*.csv", behaviour: kind, max_bad: 50%}
user: user
behaviours:
  play: {id: 1, fields: {title: string}}
  order: {id: 2}
`

// WithBad is a log of two good and two bad records.
const WithBad = `user,time,title,seconds
a,2014-09-01 10:00:00,one,1
b,2014-09-01 11:00:00,two,many
,2014-09-01 11:30:00,"of
two lines",3
c,2014-09-01 12:00:00,four,4
`

// Busy returns a log of one day. One user has the given number of plays. The log has one user before
// and one user after this user.
func Busy(plays int) string {
	var b strings.Builder
	b.WriteString("user,time,title,seconds\na,2014-09-01 10:00:00,one,1\n")
	for i := range plays {
		fmt.Fprintf(&b, "b,2014-09-01 11:%02d:%02d.%03d,title %d,%d\n", i/60%60, i%60, i*7%1000, i%50, i)
	}
	b.WriteString("c,2014-09-01 12:00:00,two,2\n")
	return b.String()
}

// LaidOut returns TwoKinds with a layout.
func LaidOut(name string) string { return "layout: " + name + TwoKinds }

// LongLines returns TwoKinds with a limit for the length of lines, such as 4MiB.
func LongLines(most string) string {
	return strings.Replace(TwoKinds, "logs:\n", "logs:\n  max_line: "+most+"\n", 1)
}

// Digests matches the digests and the marks in the lines of a quarantine file.
var Digests = regexp.MustCompile(`,"sha256":"[0-9a-f]{64}","mark":"[0-9a-f]{16}","raw_mark":"[0-9a-f]{16}"`)

// Rename renames a delivered file.
func (y *Fixture) Rename(from, to string) {
	y.T.Helper()
	if err := os.Rename(filepath.Join(y.Dir, "logs", from), filepath.Join(y.Dir, "logs", to)); err != nil {
		y.T.Fatal(err)
	}
}

// KeepBad writes the quarantine file of the delivered file called name.
func (y *Fixture) KeepBad(name, text string) {
	y.T.Helper()
	if err := os.WriteFile(y.Store.Quarantine(name), []byte(text), 0o644); err != nil {
		y.T.Fatal(err)
	}
}

// ListJob returns a job of plays with the given fields.
func ListJob(syntax, layout string, fields []string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "logs: {path: \"logs/{date}/{behaviour}.log\", format: %s, max_bad: 50%%}\nlayout: %s\nuser: user\n", syntax, layout)
	b.WriteString("behaviours:\n  play:\n    id: 1\n    fields:\n")
	for _, f := range fields {
		fmt.Fprintf(&b, "      %s: string\n", f)
	}
	return b.String()
}

// ListLog returns a log of four records. The time of the third record is bad. Each record has every
// column of the log. trails are the trails of the good records with the given fields, and corrected is
// the trail of the bad record after its correction.
func ListLog(syntax string, day int, fields []string) (text string, trails []string, corrected string) {
	columns := []string{"z", "a", "x", "c", "b", "y"}
	if syntax == "csv" {
		text = "user,time," + strings.Join(columns, ",") + "\n"
	}
	for n := range 4 {
		when := fmt.Sprintf("2014-09-%02d 10:00:0%d", day, n)
		line := fmt.Sprintf("%d 2014-09-%02d %sZ play", 11+n, day, strings.Replace(when, " ", "T", 1))
		for _, f := range TableOrder {
			if slices.Contains(fields, f) {
				line += fmt.Sprintf(" %s=%s%d.%d", f, f, day, n)
			}
		}
		if n == 2 {
			corrected, when = line, "never"
		} else {
			trails = append(trails, line)
		}
		text += listRecord(syntax, fmt.Sprint(11+n), when, columns, fmt.Sprintf("%d.%d", day, n))
	}
	return text, trails, corrected
}

// listRecord returns a record with a value in each column.
func listRecord(syntax, user, when string, columns []string, value string) string {
	var b strings.Builder
	if syntax == "csv" {
		fmt.Fprintf(&b, "%s,%s", user, when)
		for _, c := range columns {
			fmt.Fprintf(&b, ",%s%s", c, value)
		}
		return b.String() + "\n"
	}
	fmt.Fprintf(&b, `{"user":%q,"time":%q`, user, when)
	for _, c := range columns {
		fmt.Fprintf(&b, `,%q:%q`, c, c+value)
	}
	return b.String() + "}\n"
}

// FieldLists are the fields of successive jobs. The table has the fields of all jobs, in the
// order in which they first appeared.
var (
	FieldLists = [][]string{{"a", "b"}, {"a", "c", "b"}, {"z", "a", "b"}, {"b", "a"}, {"b"}, {"y", "z", "c", "b", "a"}, {"x"}}
	TableOrder = []string{"a", "b", "c", "z", "y", "x"}
)
