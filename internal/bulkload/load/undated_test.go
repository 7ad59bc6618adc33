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
// late record of the second file adds no day. A second load takes another behaviour from both.
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
