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
	"usertrail/internal/bulkload/upkeep"
	"usertrail/internal/bulkload/verify"
	"usertrail/internal/format/manifest"
)

var layouts = []string{"reversed", "game", "fixed", "tall", "wide", "game-time", "hashed"}

// jobOf returns a job of plays and orders. A column names the behaviour. fields are the fields of plays.
func jobOf(layout, fields string) string {
	return "logs: {path: \"logs/{date}/*.csv\", behaviour: {column: kind, others: skip}, max_bad: 50%}\nlayout: " + layout + "\nuser: user\n" +
		"behaviours: {play: {id: 1, fields: {" + fields + "}}, order: {id: 2}}\n"
}

const (
	short = "n: int64"
	long  = "n: int64, device: string, age: int64"
	first = "2014-09-01"
	last  = "2014-09-03"
)

// logOf returns a log with records of several users. Some records have no value of device, and one is bad for
// jobs with the field age.
func logOf(day string) string {
	var b strings.Builder
	b.WriteString("user,time,kind,n,device,age\n")
	for i := range 40 {
		kind := []string{"play", "play", "order", "seek"}[i%4]
		device := []string{"tv", "phone", ""}[i%3]
		fmt.Fprintf(&b, "%d,%s 10:00:%02d.%06d,%s,%d,%s,%d\n", 10+i%7, day, i, i%3*1500, kind, i, device, 20+i)
	}
	return b.String()
}

// run reads dates again. want is the error that the reread must end with, or nil.
func run(t *testing.T, y *bulkloadtest.Fixture, want error, from, to string, types ...string) bulkload.Result {
	t.Helper()
	c := y.Config(from, to, types...)
	r, err := reread.Run(t.Context(), reread.Config{Resources: c.Resources, Job: c.Job, Span: c.Span, Types: types, KeepFor: upkeep.DefaultKeepFor})
	if !errors.Is(err, want) {
		t.Fatalf("reread of %s..%s %v: %v, want %v", from, to, types, err, want)
	}
	if err := r.Check(); err != nil {
		t.Error(err)
	}
	return r
}

// verified compares the table with its ledgers.
func verified(t *testing.T, y *bulkloadtest.Fixture) {
	t.Helper()
	if r, err := verify.Run(t.Context(), verify.Config{Store: y.Store}); err != nil {
		t.Errorf("verify: %v: %+v", err, r)
	}
}

// same compares the table with a new table that the current job loads.
func same(t *testing.T, y *bulkloadtest.Fixture, from, to string) {
	t.Helper()
	other := y.Twin()
	other.Load(nil, from, to)
	if got, want := y.Cells(), other.Cells(); !slices.Equal(got, want) {
		t.Errorf("the table has %d cells, a new one %d: %s", len(got), len(want), bulkloadtest.Difference(got, want))
	}
	if got, want := y.Trails(true), other.Trails(true); !slices.Equal(got, want) {
		t.Errorf("the trails are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestARereadGivesTheTableOfTheLongerJob loads days by a job, and reads them again by a job with more fields. The table
// is the same as if the longer job had loaded all.
func TestARereadGivesTheTableOfTheLongerJob(t *testing.T) {
	for _, layout := range layouts {
		for _, compacted := range []bool{false, true} {
			t.Run(fmt.Sprint(layout, compacted), func(t *testing.T) {
				y := bulkloadtest.New(t, jobOf(layout, short))
				for _, day := range []string{first, "2014-09-02", last} {
					y.Write(day+"/a.csv", logOf(day))
					y.Load(nil, day, day)
				}
				if compacted {
					if _, err := upkeep.Compact(t.Context(), y.Upkeep(true)); err != nil {
						t.Fatal(err)
					}
				}
				y.SetJob(jobOf(layout, long))
				if r := y.Load(bulkload.ErrNothing, first, last); len(r.Unread) != 2 {
					t.Errorf("without fields are %+v", r.Unread)
				}
				r := run(t, y, nil, first, last)
				if r.Reread.Records != 60 || r.Loaded != 0 || r.Skipped != 120 || r.Skips.LoadedBefore != 90 {
					t.Errorf("the reread counts %+v, %+v", r.Counts, r.Reread)
				}
				verified(t, y)
				same(t, y, first, last)
				if r := y.Load(bulkload.ErrNothing, first, last); r.Unread != nil {
					t.Errorf("after the reread without fields are %+v", r.Unread)
				}
				run(t, y, bulkload.ErrNothing, first, last)
			})
		}
	}
}

// TestARereadWarnsOfResults has a result of extract between the folders of the logs. A reread leaves it out, and names it.
func TestARereadWarnsOfResults(t *testing.T) {
	y := bulkloadtest.New(t, strings.Replace(jobOf("reversed", short), "logs/{date}/*.csv", "logs/{date}*/*.csv", 1))
	y.Write(first+"/a.csv", logOf(first))
	y.Load(nil, first, first)
	y.Write(first+"-result/b.csv", logOf(first))
	y.Write(first+"-result/"+manifest.ExtractName, `{"version": 1, "question": {"active": "any", "users": "all", "format": "csv"}}`)
	y.SetJob(strings.Replace(jobOf("reversed", long), "logs/{date}/*.csv", "logs/{date}*/*.csv", 1))
	c := y.Config(first, first)
	var log bytes.Buffer
	c.Log = slog.New(slog.NewTextHandler(&log, nil))
	r, err := reread.Run(t.Context(), reread.Config{Resources: c.Resources, Job: c.Job, Span: c.Span, KeepFor: upkeep.DefaultKeepFor})
	if err != nil || r.Reread.Records == 0 {
		t.Errorf("%+v, %v; want records with new values", r.Reread, err)
	}
	if !strings.Contains(log.String(), bulkload.WrittenText) || !strings.Contains(log.String(), "folders="+first+"-result ") {
		t.Errorf("the log is %s; want the folder of the result", &log)
	}
}
