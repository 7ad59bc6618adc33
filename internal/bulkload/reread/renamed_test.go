package reread_test

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/bulkloadtest"
	"usertrail/internal/bulkload/reread"
	"usertrail/internal/format/job"
)

const second = "2014-09-02"

// renamedJob returns a job of orders, whose price is in a column.
func renamedJob(layout, path, column string) string {
	return "logs: {path: \"logs/" + path + "\", format: jsonl, behaviour: kind}\nlayout: " + layout + "\nuser: user\n" +
		"behaviours: {order: {id: 1, fields: {n: int64, price: {type: double, column: " + column + "}}}}\n"
}

// orders returns the log of a day. Each text has the members of an order.
func orders(day string, members ...string) string {
	var b strings.Builder
	for i, more := range members {
		b.WriteString(`{"kind":"order","user":"` + string(rune('1'+i)) + `","time":"` + day + ` 10:00:00","n":1,` + more + "}\n")
	}
	return b.String()
}

// TestARereadLeavesTheDaysOnWhichAFieldHasValues renames the column of a field on the second day. The first day has values, and a record
// without one. The record gets none from the new column, however the days were loaded.
func TestARereadLeavesTheDaysOnWhichAFieldHasValues(t *testing.T) {
	one, two := orders(first, `"price":5,"amount":77`, `"price":null,"amount":77`), orders(second, `"amount":6.5`, `"amount":7.5`)
	for name, way := range map[string]struct {
		path  string
		logs  map[string]string
		loads [][2]string
		dates string // of the days without a value, as a load names them
		again error  // of a load of both days
	}{
		"one load":                {"{date}/*.jsonl", map[string]string{first + "/a.jsonl": one, second + "/a.jsonl": two}, [][2]string{{first, second}}, first + ".." + second, bulkload.ErrNothing},
		"night by night":          {"{date}/*.jsonl", map[string]string{first + "/a.jsonl": one, second + "/a.jsonl": two}, [][2]string{{first, first}, {second, second}}, second, bulkload.ErrNothing},
		"no date":                 {"*.jsonl", map[string]string{"a.jsonl": one + two}, [][2]string{{first, second}}, second, bulkload.ErrNothing},
		"no date, night by night": {"*.jsonl", map[string]string{"a.jsonl": one + two}, [][2]string{{first, first}, {second, second}}, second, nil},
		"late records":            {"{date}/*.jsonl", map[string]string{first + "/a.jsonl": one + two}, [][2]string{{first, second}}, first + ".." + second, bulkload.ErrNothing},
	} {
		for _, layout := range layouts {
			t.Run(name+", "+layout, func(t *testing.T) {
				y := bulkloadtest.New(t, renamedJob(layout, way.path, "price"))
				for path, text := range way.logs {
					y.Write(path, text)
				}
				for _, days := range way.loads {
					y.Load(nil, days[0], days[1])
				}
				y.SetJob(renamedJob(layout, way.path, "amount"))
				if r := y.Load(way.again, first, second); len(r.Unread) != 1 || r.Unread[0].Dates.String() != way.dates {
					t.Errorf("without a value are %+v; want the price of %s", r.Unread, way.dates)
				}
				r := run(t, y, nil, first, second)
				if want := (bulkload.Reread{Records: 2}); *r.Reread != want {
					t.Errorf("the reread counts %+v, want %+v", *r.Reread, want)
				}
				has(t, y, "price=77", 0)
				has(t, y, "price=", 3)
				verified(t, y)
				if r := y.Load(bulkload.ErrNothing, first, second); r.Unread != nil {
					t.Errorf("after the reread without a value are %+v", r.Unread)
				}
				run(t, y, bulkload.ErrNothing, first, second)
			})
		}
	}
}

// TestARereadLeavesTheDaysThatWereReadAgain reads one day of a file again, and then the whole file by another column. The first day keeps
// its values, and its record without one.
func TestARereadLeavesTheDaysThatWereReadAgain(t *testing.T) {
	plain := strings.Replace(renamedJob("reversed", "*.jsonl", "x"), ", price: {type: double, column: x}", "", 1)
	y := bulkloadtest.New(t, plain)
	y.Write("a.jsonl", orders(first, `"amount":5,"total":77`, `"amount":null,"total":77`)+orders(second, `"total":6.5`))
	y.Load(nil, first, second)
	y.SetJob(renamedJob("reversed", "*.jsonl", "amount"))
	run(t, y, nil, first, first)
	y.SetJob(renamedJob("reversed", "*.jsonl", "total"))
	r := run(t, y, nil, first, second)
	if want := (bulkload.Reread{Records: 1}); *r.Reread != want {
		t.Errorf("the reread counts %+v, want %+v", *r.Reread, want)
	}
	has(t, y, "price=77", 0)
	has(t, y, "price=6.5", 1)
	verified(t, y)
}

// TestADayWithoutAValueIsNotHidden adds a field whose column has another name on the last of three days. However the days are read again, a
// warning names the last day, and a job with the other column gives its values. It gives none to the first day.
func TestADayWithoutAValueIsNotHidden(t *testing.T) {
	one, two := orders(first, `"amount":5`, `"amount":null,"total":77`), orders(second, `"amount":6`)
	early, late := orders(last, `"total":7`, `"total":8`), strings.Replace(orders(last, `"total":9`), last+" 10", last+" 11", 1)
	three := early + late
	for name, way := range map[string]struct {
		path    string
		logs    map[string]string
		rereads [][2]string
	}{
		"one reread":               {"{date}/*.jsonl", map[string]string{first + "/a.jsonl": one, second + "/a.jsonl": two, last + "/a.jsonl": three}, [][2]string{{first, last}}},
		"a reread of each day":     {"{date}/*.jsonl", map[string]string{first + "/a.jsonl": one, second + "/a.jsonl": two, last + "/a.jsonl": three}, [][2]string{{first, first}, {second, second}, {last, last}}},
		"late records":             {"{date}/*.jsonl", map[string]string{first + "/a.jsonl": one, second + "/a.jsonl": two + three}, [][2]string{{first, last}}},
		"no date":                  {"*.jsonl", map[string]string{"a.jsonl": one + two + three}, [][2]string{{first, last}}},
		"no date, each day":        {"*.jsonl", map[string]string{"a.jsonl": one + two + three}, [][2]string{{first, first}, {second, second}, {last, last}}},
		"no date, in several logs": {"*.jsonl", map[string]string{"a.jsonl": one, "b.jsonl": two + early, "c.jsonl": late}, [][2]string{{first, last}}},
	} {
		for _, layout := range []string{"reversed", "tall"} {
			t.Run(name+", "+layout, func(t *testing.T) {
				y := bulkloadtest.New(t, strings.Replace(renamedJob(layout, way.path, "x"), ", price: {type: double, column: x}", "", 1))
				for path, text := range way.logs {
					y.Write(path, text)
				}
				y.Load(nil, first, last)
				y.SetJob(renamedJob(layout, way.path, "amount"))
				var log bytes.Buffer
				for _, days := range way.rereads {
					c := y.Config(days[0], days[1])
					c.Log = slog.New(slog.NewTextHandler(&log, nil))
					if _, err := reread.Run(t.Context(), reread.Config{Resources: c.Resources, Job: c.Job, Span: c.Span}); err != nil && !errors.Is(err, bulkload.ErrNothing) {
						t.Fatal(err)
					}
				}
				if !strings.Contains(log.String(), "no record of these files has a value of a field, which stays unread on these dates") || !strings.Contains(log.String(), " field=price ") || !strings.Contains(log.String(), " dates="+last+"\n") {
					t.Errorf("the log is %s; want a warning of the price of %s", &log, last)
				}
				y.SetJob(renamedJob(layout, way.path, "total"))
				if r := y.Load(bulkload.ErrNothing, first, last); len(r.Unread) != 1 || !r.Unread[0].Dates.Has(bulkloadtest.Date(t, last)) {
					t.Errorf("without a value are %+v; want the price of %s", r.Unread, last)
				}
				if r := run(t, y, nil, first, last); r.Reread.Records != 3 {
					t.Errorf("the reread counts %+v, want 3 records", *r.Reread)
				}
				has(t, y, "price=77", 0)
				has(t, y, "price=", 5)
				verified(t, y)
				if r := y.Load(bulkload.ErrNothing, first, last); r.Unread != nil {
					t.Errorf("after the reread without a value are %+v", r.Unread)
				}
				run(t, y, bulkload.ErrNothing, first, last)
			})
		}
	}
}

// TestARereadHidesNoDayThatItDidNotRead reads an undated log again by one column, whose last day has another name for it. Some of the days
// are read first, or were loaded by that job. A job with the other name still gives the values of the last day.
func TestARereadHidesNoDayThatItDidNotRead(t *testing.T) {
	log := orders(first, `"amount":1`) + orders(second, `"amount":2`) + orders(last, `"total":3`)
	plain := strings.Replace(renamedJob("reversed", "*.jsonl", "x"), ", price: {type: double, column: x}", "", 1)
	amount, total := renamedJob("reversed", "*.jsonl", "amount"), renamedJob("reversed", "*.jsonl", "total")
	for name, way := range map[string]struct {
		before func(t *testing.T, y *bulkloadtest.Fixture)
		again  error // of a load of all days
	}{
		"a reread of the last days": {func(t *testing.T, y *bulkloadtest.Fixture) {
			y.Load(nil, first, last)
			y.SetJob(amount)
			run(t, y, nil, second, last)
		}, bulkload.ErrNothing},
		"a load of the last day": {func(_ *testing.T, y *bulkloadtest.Fixture) {
			y.Load(nil, first, second)
			y.SetJob(amount)
			y.Load(nil, last, last)
		}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			y := bulkloadtest.New(t, plain)
			y.Write("a.jsonl", log)
			way.before(t, y)
			run(t, y, nil, first, last)
			run(t, y, bulkload.ErrNothing, first, last)
			y.SetJob(total)
			if r := y.Load(way.again, first, last); len(r.Unread) != 1 || r.Unread[0].Dates.String() != last {
				t.Errorf("without a value are %+v; want the price of %s", r.Unread, last)
			}
			run(t, y, nil, first, last)
			for _, price := range []string{"price=1", "price=2", "price=3"} {
				has(t, y, price, 1)
			}
			verified(t, y)
			run(t, y, bulkload.ErrNothing, first, last)
		})
	}
}

// TestARereadJudgesEachLog reads two logs again that have records of the same day. One of them has the field in another column. Its
// values do not depend on the days that were read together.
func TestARereadJudgesEachLog(t *testing.T) {
	plain := strings.Replace(renamedJob("reversed", "{date}/*.jsonl", "x"), ", price: {type: double, column: x}", "", 1)
	late := strings.Replace(orders(first, `"amount":99`), first+" 10", first+" 11", 1)
	for name, rereads := range map[string][][2]string{
		"together": {{first, second}}, "one by one": {{first, first}, {second, second}}, "the later one first": {{second, second}, {first, first}},
	} {
		t.Run(name, func(t *testing.T) {
			y := bulkloadtest.New(t, plain)
			y.Write(first+"/a.jsonl", orders(first, `"total":1`, `"total":2`))
			y.Write(second+"/a.jsonl", late+orders(second, `"amount":3`))
			y.Load(nil, first, second)
			y.SetJob(renamedJob("reversed", "{date}/*.jsonl", "amount"))
			for _, days := range rereads {
				c := y.Config(days[0], days[1])
				if _, err := reread.Run(t.Context(), reread.Config{Resources: c.Resources, Job: c.Job, Span: c.Span}); err != nil && !errors.Is(err, bulkload.ErrNothing) {
					t.Fatal(err)
				}
			}
			y.SetJob(renamedJob("reversed", "{date}/*.jsonl", "total"))
			run(t, y, nil, first, second)
			for _, price := range []string{"price=99", "price=1", "price=2", "price=3"} {
				has(t, y, price, 1)
			}
			verified(t, y)
		})
	}
}

// TestADuplicateShowsNoValue loads a log, and a log that repeats a record of it with a value of a field that the job gets later. The record
// is a duplicate, so it is no record of the table, and the first log stays unread.
func TestADuplicateShowsNoValue(t *testing.T) {
	unique := func(job string) string { return strings.Replace(job, "{id: 1,", "{id: 1, unique: [n],", 1) }
	y := bulkloadtest.New(t, unique(strings.Replace(renamedJob("reversed", "{date}/*.jsonl", "x"), ", price: {type: double, column: x}", "", 1)))
	y.Write(first+"/a.jsonl", orders(first, `"total":1`))
	y.Write(second+"/a.jsonl", orders(first, `"amount":8`)+orders(second, `"amount":3`))
	if r := y.Load(nil, first, second); r.Counts.Duplicate != 1 {
		t.Fatalf("%+v; want a duplicate", r.Counts)
	}
	y.SetJob(unique(renamedJob("reversed", "{date}/*.jsonl", "amount")))
	run(t, y, nil, first, second)
	y.SetJob(unique(renamedJob("reversed", "{date}/*.jsonl", "total")))
	run(t, y, nil, first, second)
	has(t, y, "price=1", 1)
	has(t, y, "price=3", 1)
	has(t, y, "price=8", 0)
	verified(t, y)
}

// TestARenamedLogLacksAField renames a log after its load, and then adds a field to the job. The file of the new name is a copy. Loads name
// the field, and a reread reads the log under the name of its load.
func TestARenamedLogLacksAField(t *testing.T) {
	y := bulkloadtest.New(t, strings.Replace(renamedJob("reversed", "{date}/*.jsonl", "x"), ", price: {type: double, column: x}", "", 1))
	y.Write(first+"/a.jsonl", orders(first, `"x":5`, `"x":6`))
	y.Write(second+"/a.jsonl", orders(second, `"x":7`))
	y.Load(nil, first, second)
	y.Rename(first+"/a.jsonl", first+"/b.jsonl")
	y.SetJob(renamedJob("reversed", "{date}/*.jsonl", "x"))
	y.Load(nil, first, first)
	if r := y.Load(bulkload.ErrNothing, first, first); len(r.Unread) != 1 || r.Unread[0].Dates.String() != first {
		t.Errorf("without a value are %+v; want the price of %s", r.Unread, first)
	}
	run(t, y, job.ErrNoInput, first, first)
	y.Rename(first+"/b.jsonl", first+"/a.jsonl")
	run(t, y, nil, first, first)
	has(t, y, "price=5", 1)
	has(t, y, "price=6", 1)
	verified(t, y)
	if r := y.Load(bulkload.ErrNothing, first, first); r.Unread != nil {
		t.Errorf("after the reread without a value are %+v", r.Unread)
	}
}

// TestAPartlyLoadedLogThatWasRenamedLacksAField loads a behaviour of a log, renames the log, and loads the other behaviour. Loads name the
// field that the records of both names lack.
func TestAPartlyLoadedLogThatWasRenamedLacksAField(t *testing.T) {
	const text = "logs: {path: \"logs/{date}/*.csv\", behaviour: event}\nuser: user\nbehaviours: {play: {id: 1, fields: {a: string%s}}, order: {id: 2, fields: {a: string%[1]s}}}\n"
	y := bulkloadtest.New(t, fmt.Sprintf(text, ""))
	y.Write(first+"/a.csv", "user,time,event,a,b\n1,"+first+" 10:00:00,play,x,y\n1,"+first+" 11:00:00,order,x,y\n")
	y.Load(nil, first, first, "play")
	y.Rename(first+"/a.csv", first+"/b.csv")
	y.Load(nil, first, first)
	y.SetJob(fmt.Sprintf(text, ", b: string"))
	r := y.Load(bulkload.ErrNothing, first, first)
	var lacks []string
	for _, u := range r.Unread {
		lacks = append(lacks, u.Behaviour+"."+u.Field)
	}
	if slices.Sort(lacks); !slices.Equal(lacks, []string{"order.b", "play.b"}) {
		t.Errorf("the table lacks %q, want b of both behaviours", lacks)
	}
}
