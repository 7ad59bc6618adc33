package load_test

import (
	"reflect"
	"strings"
	"testing"

	"usertrail/internal/behaviour"
	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/bulkloadtest"
	"usertrail/internal/format/manifest"
)

// TestAnUndatedFileHasTheDaysOfItsRecords loads a file without a day in its path next to a file with a day, in one load. The
// late record of the second file adds no day. A second load reads another behaviour from both.
func TestAnUndatedFileHasTheDaysOfItsRecords(t *testing.T) {
	const job = "logs: {path: [\"logs/{date}__log.csv\", \"logs/old/*.csv\"], behaviour: {column: kind, others: skip}}\nuser: user\nbehaviours: {play: {id: 1}, order: {id: 2}}\n"
	late := "user,time,kind\na,2014-09-01 10:00:00,play\na,2014-09-02 10:00:00,play\n"
	old := "user,time,kind\na,2014-08-01 10:00:00,play\na,2014-08-03 10:00:00,order\n" + strings.Repeat("b,2014-08-02 10:00:00,play\n", 40)
	for _, way := range []string{"load", "pieces", "ranges"} {
		t.Run(way, func(t *testing.T) {
			y := bulkloadtest.New(t, job)
			y.Write("2014-09-02__log.csv", late)
			y.Write("old/a.csv", old)
			y.Write("old/empty.csv", "user,time,kind\n")
			span := func(from, to string) behaviour.Span {
				return behaviour.Span{From: bulkloadtest.Date(t, from), To: bulkloadtest.Date(t, to)}
			}
			load := func(kind string) bulkload.Result {
				if way == "load" {
					return y.Load(nil, "2014-08-01", "2014-09-02", kind)
				}
				parts := y.Plan(nil, map[string]int64{"pieces": 1 << 20, "ranges": 300}[way], "2014-08-01", "2014-09-02", kind)
				if (len(parts) > 1) != (way == "ranges") {
					t.Fatalf("%d pieces", len(parts))
				}
				y.DoAll(parts)
				return y.Commit(nil, parts)
			}
			for i, kind := range []string{"play", "order"} {
				if r := load(kind); r.Loaded != []int64{43, 1}[i] {
					t.Fatalf("%s: %+v", kind, r.Counts)
				}
				days := []behaviour.Span{span("2014-08-01", "2014-08-02"), span("2014-09-02", "2014-09-02")}
				if kind == "order" {
					days[0] = span("2014-08-03", "2014-08-03")
				}
				want := []manifest.DaysOf{{Behaviours: []string{kind}, Days: days}}
				if got := y.Ledgers()[i].Delivered(); !reflect.DeepEqual(got, want) {
					t.Errorf("%s is delivered on %v, want %v", kind, got, want)
				}
			}
		})
	}
}

// deliveredDays returns the days of a behaviour that the loads of a table have.
func deliveredDays(y *bulkloadtest.Fixture, kind string) string {
	var days []behaviour.Span
	for _, l := range y.Ledgers() {
		for _, d := range l.Delivered() {
			if d.Of(kind) {
				days = append(days, d.Days...)
			}
		}
	}
	var out []string
	for _, d := range behaviour.Join(days) {
		out = append(out, strings.ReplaceAll(d.String(), "2014-09-", ""))
	}
	return strings.Join(out, " ")
}

// TestTheDaysOfAnUndatedFileDoNotDependOnTheLoads loads both behaviours of a file in one load, and one after the other.
func TestTheDaysOfAnUndatedFileDoNotDependOnTheLoads(t *testing.T) {
	const job = "logs: {path: \"logs/*.csv\", behaviour: {column: kind, others: skip}}\nuser: user\nbehaviours: {play: {id: 1}, order: {id: 2}}\n"
	for _, loads := range [][][]string{{nil}, {{"order"}, nil}, {{"play"}, nil}} {
		y := bulkloadtest.New(t, job)
		y.Write("a.csv", "user,time,kind\na,2014-09-01 10:00:00,play\na,2014-09-04 10:00:00,order\n")
		for _, kinds := range loads {
			y.Load(nil, "2014-09-01", "2014-09-05", kinds...)
		}
		for _, kind := range []string{"play", "order"} {
			if got := deliveredDays(y, kind); got != "01 04" {
				t.Errorf("%v: %s is delivered on %q, want both days", loads, kind, got)
			}
		}
	}
}

// TestAReplayAddsTheDaysThatLoadsAskedFor corrects records of an undated file: one of a day and a behaviour that a load requested, one of
// another day, and one of another behaviour.
func TestAReplayAddsTheDaysThatLoadsAskedFor(t *testing.T) {
	const job = "logs: {path: \"logs/*.csv\", max_bad: 100%, behaviour: {column: kind, others: skip}}\nuser: user\nbehaviours: {play: {id: 1}, order: {id: 2}}\n"
	y := bulkloadtest.New(t, job)
	y.Write("a.csv", "user,time,kind\na,2014-09-01 10:00:00,play\n,2014-09-03 10:00:00,play\n,2014-09-06 10:00:00,play\n,2014-09-02 10:00:00,order\n")
	y.Load(nil, "2014-09-01", "2014-09-05", "play")
	y.Correct("a.csv", `"raw":",2014`, `"raw":"b,2014`)
	if r := y.Replay(nil, "a.csv"); r.Loaded != 3 {
		t.Fatalf("%+v", r.Counts)
	}
	for kind, want := range map[string]string{"play": "01 03", "order": ""} {
		if got := deliveredDays(y, kind); got != want {
			t.Errorf("%s is delivered on %q, want %q", kind, got, want)
		}
	}
}
