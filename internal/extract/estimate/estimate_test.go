package estimate_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"usertrail/internal/extract/estimate"
)

// facts reads a query on a table whose users have rows of four behaviours a day, with three
// records in a row and four cells in a record.
func facts(t *testing.T, d *datadriven.TestData) *estimate.Facts {
	t.Helper()
	f := &estimate.Facts{Workers: 2, Rolls: estimate.Known, Asked: "auto", Days: 10, ByKind: true}
	users, read, people := int64(200_000), 4, map[string]int64{}
	for _, arg := range d.CmdArgs {
		value := ""
		if len(arg.Vals) > 0 {
			value = arg.Vals[0]
		}
		number := func() int64 { return parseNumber(t, d, arg.Key, value) }
		switch arg.Key {
		case "live":
			f.Live = true
		case "all":
			f.All = true
		case "absent":
			f.Absent = true
		case "screens":
			f.Screens = true
		case "rolls":
			f.Rolls = estimate.Rolls(value)
		case "plan":
			f.Asked = value
		case "auto":
			f.Auto = value
		case "listed":
			f.Listed = number()
		case "days":
			f.Days = int(number())
		case "read":
			read = int(number())
		case "users":
			users = number()
		case "layout":
			f.Layout = layouts[value]
			f.Name = value
		case "within":
			f.Timed, f.Within = true, float64(number())/100
		case "newest":
			f.Newest = number()
		case "found", "stay":
			people[arg.Key] = number()
		default:
			d.Fatalf(t, "what is %s?", arg.Key)
		}
	}
	addTable(f, users, read)
	found := peopleOf(f, people["found"], read)
	f.There, f.Found, f.Stay = found, found, peopleOf(f, people["stay"], read)
	if f.Rolls == estimate.Unknown {
		f.Found, f.Stay = estimate.People{}, estimate.People{}
		f.Guess(users)
	}
	return f
}

func parseNumber(t *testing.T, d *datadriven.TestData, key, value string) int64 {
	t.Helper()
	n, err := strconv.ParseInt(value, 10, 64)
	if err != nil {
		d.Fatalf(t, "%s: %v", key, err)
	}
	return n
}

// addTable adds a table of the given number of users, and a query that reads the first behaviours.
func addTable(f *estimate.Facts, users int64, read int) {
	f.Loads = int64(f.Days)
	records := peopleOf(f, users, read).Records / 4
	for k := range 4 {
		kind := estimate.Kind{Records: records, Cells: 4 * records, Bytes: 320 * records, Read: k < read, Asked: 1, Judged: 0.25}
		f.Kinds = append(f.Kinds, kind)
		f.Bytes += kind.Bytes
		f.Size += kind.Bytes / 3
		f.TableRecords += records
	}
}

// peopleOf counts the rows and records of some users, and the rows of the behaviours that are read.
func peopleOf(f *estimate.Facts, users int64, read int) estimate.People {
	days, kinds := int64(f.Days), int64(read)
	return estimate.People{Users: users, UserDays: users * days, UserKinds: users * kinds, Rows: users * days * kinds, AllRows: users * days * 4, Records: users * days * 12}
}

// layouts maps names to properties of layouts.
var layouts = map[string]estimate.Layout{
	"tall":   {Row: estimate.Record, TimeRows: true, Unnamed: true},
	"wide":   {Row: estimate.User, TimeRows: true, Columns: true, Named: 1},
	"hashed": {Row: estimate.UserKind, KindRows: true, AllDays: true, Prefixes: true, Apart: true, Named: 1, Versions: 400},
	"fixed":  {Row: estimate.Record, TimeRows: true, Sifts: true, Prefixes: true, Unnamed: true, Fuzzy: true},
}

// TestChoices prints the plans of queries, and the reasons for the chosen one.
func TestChoices(t *testing.T) {
	datadriven.RunTest(t, "testdata/choices", func(t *testing.T, d *datadriven.TestData) string {
		f := facts(t, d)
		plans := f.Plans()
		chosen, why := f.Choose(plans)
		var b strings.Builder
		for i, p := range plans {
			mark := " "
			if i == chosen {
				mark = "*"
			}
			fmt.Fprintf(&b, "%s %-8s %-13s users=%d rows=%d behaviours=%d cells=%d scanned=%d bytes=%d calls=%d %s\n", mark, p.Name, p.DecidedBy,
				p.Users, p.Rows, p.Behaviours, p.Cells, p.Scanned, p.Bytes, p.Calls, estimate.About(p.Seconds))
		}
		for _, said := range why {
			fmt.Fprintln(&b, said)
		}
		return b.String()
	})
}

// TestMoreTakesLonger doubles the users of queries of every kind. No amount of any plan may
// decrease, and no amount may more than double, except for rounding.
func TestMoreTakesLonger(t *testing.T) {
	for _, line := range []string{"all", "listed=4000", "live all", "live listed=4000", "live listed=4000 absent screens", "live rolls=unknown listed=4000 absent", "rolls=off all"} {
		var before []estimate.Plan
		for users := int64(1000); users <= 64_000; users *= 2 {
			d := &datadriven.TestData{Cmd: "choose"}
			for arg := range strings.FieldsSeq(fmt.Sprintf("%s found=%d stay=%d", line, users, users/2)) {
				key, value, ok := strings.Cut(arg, "=")
				a := datadriven.CmdArg{Key: key}
				if ok {
					a.Vals = []string{value}
				}
				d.CmdArgs = append(d.CmdArgs, a)
			}
			plans := facts(t, d).Plans()
			for i, b := range before {
				p := plans[i]
				if p.Seconds < b.Seconds || p.Cells < b.Cells || p.Bytes < b.Bytes || p.Seconds > 2.01*b.Seconds {
					t.Errorf("%s: of %d users %+v, of half as many %+v", line, users, p, b)
				}
				if p.Scanned < p.Cells && !p.Screen || p.Seconds <= 0 || p.Calls < 0 {
					t.Errorf("%s: %+v", line, p)
				}
			}
			before = plans
		}
	}
}

// TestLogsAreCheaper compares a scan of nearly everything with logs of several sizes.
func TestLogsAreCheaper(t *testing.T) {
	p := estimate.Plan{Name: estimate.Scan, Amount: estimate.Amount{Behaviours: 10_000_000}, Seconds: 30}
	for _, c := range []struct {
		files, bytes int64
		packed       bool
		said         string
	}{
		{40, 1_474_765_060 / 40, false, "40 delivered files of 1.4 GiB hold these days and behaviours"},
		{1, 1_000_000, false, "1 delivered file of 977 KiB"},
		{40, 30_000_000_000 / 40, false, ""},
		{40, 6_000_000_000 / 40, true, ""},
		{0, 0, false, ""},
	} {
		var l estimate.Logs
		for range c.files {
			l.Add(c.bytes, c.packed)
		}
		said := l.Compare(&p)
		if l.Sooner != (c.said != "") || !strings.Contains(said, c.said) || (said == "") != (c.said == "") {
			t.Errorf("%d files of %d bytes: %q, %+v; want %q", c.files, c.bytes, said, l, c.said)
		}
	}
}

func TestAboutIsRough(t *testing.T) {
	for seconds, want := range map[float64]string{0: "10ms", 0.0234: "20ms", 0.99: "990ms", 1.26: "1.3s", 61.4: "1m1s", 5400: "1.5 h"} {
		if got := estimate.About(seconds); got != want {
			t.Errorf("%g seconds are %q, want %q", seconds, got, want)
		}
	}
}
