package load_test

import (
	"encoding/binary"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/load"
	"usertrail/internal/bulkload/pieces"
	"usertrail/internal/table/precheck"
)

// ways are how a night may be loaded: at once, or in pieces.
var ways = []string{"load", "pieces"}

// loadBy loads a day, and wants the error that is given, if any.
func (y *fixture) loadBy(way string, want error, day string) bulkload.Result {
	y.t.Helper()
	if way == "load" {
		return y.load(want, day, day)
	}
	parts := y.plan(nil, 1<<20, day, day)
	y.doAll(parts)
	return y.commit(want, parts)
}

// TestHollowLogsMakeRoomForTheTrueOnes: a log without records is loaded, and another of its
// name is no changed file.
func TestHollowLogsMakeRoomForTheTrueOnes(t *testing.T) {
	const name = "2014-09-01/play.csv"
	for _, way := range ways {
		for _, hollow := range []string{"", "\n\n", "user,time,title,seconds\n", "user,time,title,seconds"} {
			t.Run(way, func(t *testing.T) {
				y := newFixture(t, twoKinds)
				y.jobIs(twoKinds)
				y.write(name, plays+"d,2014-09-01 10:00:00,one,many\n")
				y.write("2014-09-02/play.csv", hollow)
				y.loadBy(way, nil, "2014-09-01")
				want := y.trails(true)

				y = newFixture(t, twoKinds)
				y.jobIs(twoKinds)
				y.write(name, hollow)
				y.wantCounts(y.loadBy(way, nil, "2014-09-01"), 0, 0, 0, 0, 0)
				y.load(bulkload.ErrNothing, "2014-09-01", "2014-09-01")
				y.write(name, plays+"d,2014-09-01 10:00:00,one,many\n")
				y.wantCounts(y.loadBy(way, nil, "2014-09-01"), 3, 2, 1, 0, 0)
				if got := y.trails(true); !slices.Equal(got, want) {
					t.Errorf("the table holds\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
				}
				y.load(bulkload.ErrNothing, "2014-09-01", "2014-09-01")
				y.correct(name, "many", "8")
				y.wantCounts(y.replay(nil, name), 1, 1, 0, 0, 0)
				y.write(name, plays+"c,2014-09-01 12:00:00,three,3\n")
				y.load(bulkload.ErrChanged, "2014-09-01", "2014-09-01")
			})
		}
	}
}

// TestHollowLogsHideNoCopy: a file that takes the place of an empty one may be a copy of
// another.
func TestHollowLogsHideNoCopy(t *testing.T) {
	for _, way := range ways {
		t.Run(way, func(t *testing.T) {
			y := newFixture(t, twoKinds)
			y.jobIs(twoKinds)
			y.write("2014-09-01/play.csv", plays)
			y.write("2014-09-01/play.csv.1", "")
			y.loadBy(way, nil, "2014-09-01")
			y.write("2014-09-01/play.csv.1", plays)
			y.wantCounts(y.loadBy(way, nil, "2014-09-01"), 2, 0, 0, 2, 0)
		})
	}
}

// TestAHollowLogEndsNoPlan: loads keep the plan of the true log, which has its name.
func TestAHollowLogEndsNoPlan(t *testing.T) {
	y := newFixture(t, twoKinds)
	y.jobIs(twoKinds)
	y.write("2014-09-01/play.csv", "user,time,title,seconds\n")
	y.load(nil, "2014-09-01", "2014-09-01")
	y.write("2014-09-01/play.csv", plays)
	y.write("2014-09-02/play.csv", "user,time,title,seconds\n")
	y.write("2014-09-03/play.csv", strings.ReplaceAll(plays, "2014-09-01", "2014-09-03"))
	parts := y.plan(nil, 1<<20, "2014-09-01", "2014-09-01")
	other := y.plan(nil, 1<<20, "2014-09-02", "2014-09-02")
	y.load(nil, "2014-09-02", "2014-09-03")
	y.doAll(parts)
	y.wantCounts(y.commit(nil, parts), 2, 2, 0, 0, 0)
	y.commit(pieces.ErrStale, other)
}

// TestOtherFilesThanLogsAreRefused: a file whose header does not fit is not loaded, with
// records or without.
func TestOtherFilesThanLogsAreRefused(t *testing.T) {
	const name = "2014-09-01/play.csv"
	for _, way := range ways {
		for _, other := range []string{"<html><body>503</body></html>", "<html>\n<body>503</body>\n</html>\n", "user,when\n", "\"open\n"} {
			t.Run(way, func(t *testing.T) {
				y := newFixture(t, twoKinds)
				y.jobIs(twoKinds)
				y.write(name, other)
				y.write("2014-09-01/order.csv", "user,time,price\na,2014-09-01 12:00:00,1.5\n")
				r := y.loadBy(way, bulkload.ErrTooBad, "2014-09-01")
				y.wantCounts(r, 1, 1, 0, 0, 0)
				if len(r.Failed) != 1 || !strings.Contains(r.Failed[0].Error, "the header does not fit the job") || !strings.Contains(r.Failed[0].Error, "delivered again") {
					t.Errorf("failed: %+v, want the plays' header and what to do", r.Failed)
				}
				y.write(name, plays)
				y.wantCounts(y.loadBy(way, nil, "2014-09-01"), 2, 2, 0, 0, 0)
			})
		}
	}
}

// TestLogsOfUTF16 are read if the job says so, and else refused by their byte order mark.
func TestLogsOfUTF16(t *testing.T) {
	const name = "2014-09-01/play.csv"
	lines := `{"user":"ä","time":"2014-09-01 10:00:00","title":"one","seconds":1}` + "\n"
	for ending, order := range map[string]binary.AppendByteOrder{"little": binary.LittleEndian, "big": binary.BigEndian} {
		for format, text := range map[string]string{"csv": strings.Replace(plays, "b,", "ä,", 1), "jsonl": lines} {
			t.Run(ending+" "+format, func(t *testing.T) {
				var b []byte
				for _, u := range utf16.Encode([]rune("\ufeff" + text)) {
					b = order.AppendUint16(b, u)
				}
				as := strings.Replace(twoKinds, "logs:\n", "logs:\n  format: "+format+"\n", 1)
				y := newFixture(t, as)
				y.write(name, string(b))
				r := y.load(bulkload.ErrTooBad, "2014-09-01", "2014-09-01")
				if len(r.Failed) != 1 || !strings.Contains(r.Failed[0].Error, "encoding: utf-16") {
					t.Errorf("failed: %+v, want the key that reads it", r.Failed)
				}
				y.is(strings.Replace(as, "logs:\n", "logs:\n  encoding: utf-16\n", 1))
				y.load(nil, "2014-09-01", "2014-09-01")
				got := y.trails(true)
				control := newFixture(t, as)
				control.write(name, text)
				control.load(nil, "2014-09-01", "2014-09-01")
				want := control.trails(true)
				if len(got) == 0 || !slices.Equal(got, want) {
					t.Errorf("the table holds\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
				}
			})
		}
	}
}

// TestTooFewRecordsAreRefused: a behaviour's files must have as many records as the job says.
func TestTooFewRecordsAreRefused(t *testing.T) {
	const name = "2014-09-01/play.csv"
	least := strings.Replace(twoKinds, "{id: 1,", "{id: 1, min_records: 2,", 1)
	for _, way := range []string{"load", "pieces", "ranges"} {
		for _, few := range []string{"", "user,time,title,seconds\n", plays[:strings.LastIndex(plays, "b,")]} {
			t.Run(way, func(t *testing.T) {
				y := newFixture(t, least)
				y.jobIs(least)
				y.write(name, few)
				y.write("2014-09-01/order.csv", "")
				load := func(want error) bulkload.Result {
					if way != "ranges" {
						return y.loadBy(way, want, "2014-09-01")
					}
					parts := y.plan(nil, 40, "2014-09-01", "2014-09-01")
					y.doAll(parts)
					return y.commit(want, parts)
				}
				r := load(bulkload.ErrTooBad)
				if len(r.Failed) != 1 || !strings.Contains(r.Failed[0].Error, "min_records is 2") || r.Files != 1 {
					t.Errorf("failed: %+v, want the plays alone", r.Failed)
				}
				y.write(name, plays)
				y.wantCounts(load(nil), 2, 2, 0, 0, 0)
			})
		}
	}
}

// TestPreCheckSeesTooFewRecords: an empty file is found without a load.
func TestPreCheckSeesTooFewRecords(t *testing.T) {
	y := newFixture(t, strings.Replace(twoKinds, "max_bad", "min_records: 1\n  max_bad", 1))
	y.write("2014-09-01/play.csv", "")
	list, err := load.PreCheck(t.Context(), y.config("2014-09-01", "2014-09-01"))
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(list, func(c precheck.Check) bool { return c.Name == precheck.InputReadable })
	if i < 0 || list[i].State != precheck.Fail || !strings.Contains(list[i].Detail, "min_records is 1") {
		t.Errorf("%+v, want that the file has too few records", list)
	}
}
