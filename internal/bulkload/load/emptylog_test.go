package load_test

import (
	"encoding/binary"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"usertrail/internal/bulkload/bulkloadtest"

	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/load"
	"usertrail/internal/table/precheck"
)

// TestALogReplacesAnEmptyOne loads a log without records, and then another log of the same name.
// The second log does not count as a changed file.
func TestALogReplacesAnEmptyOne(t *testing.T) {
	const name = "2014-09-01/play.csv"
	for _, way := range bulkloadtest.Ways {
		for _, empty := range []string{"", "\n\n", "user,time,title,seconds\n", "user,time,title,seconds"} {
			t.Run(way, func(t *testing.T) {
				y := bulkloadtest.New(t, bulkloadtest.TwoKinds)
				y.Write(name, bulkloadtest.Plays+"d,2014-09-01 10:00:00,one,many\n")
				y.Write("2014-09-02/play.csv", empty)
				y.LoadBy(way, nil, "2014-09-01")
				want := y.Trails(true)

				y = bulkloadtest.New(t, bulkloadtest.TwoKinds)
				y.Write(name, empty)
				y.WantCounts(y.LoadBy(way, nil, "2014-09-01"), 0, 0, 0, 0, 0)
				y.Load(bulkload.ErrNothing, "2014-09-01", "2014-09-01")
				y.Write(name, bulkloadtest.Plays+"d,2014-09-01 10:00:00,one,many\n")
				y.WantCounts(y.LoadBy(way, nil, "2014-09-01"), 3, 2, 1, 0, 0)
				if got := y.Trails(true); !slices.Equal(got, want) {
					t.Errorf("the table holds\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
				}
				y.Load(bulkload.ErrNothing, "2014-09-01", "2014-09-01")
				y.Correct(name, "many", "8")
				y.WantCounts(y.Replay(nil, name), 1, 1, 0, 0, 0)
				y.Write(name, bulkloadtest.Plays+"c,2014-09-01 12:00:00,three,3\n")
				y.Load(bulkload.ErrChanged, "2014-09-01", "2014-09-01")
			})
		}
	}
}

// TestEmptyLogsHideNoCopy replaces an empty file by a copy of another file.
func TestEmptyLogsHideNoCopy(t *testing.T) {
	for _, way := range bulkloadtest.Ways {
		t.Run(way, func(t *testing.T) {
			y := bulkloadtest.New(t, bulkloadtest.TwoKinds)
			y.Write("2014-09-01/play.csv", bulkloadtest.Plays)
			y.Write("2014-09-01/play.csv.1", "")
			y.LoadBy(way, nil, "2014-09-01")
			y.Write("2014-09-01/play.csv.1", bulkloadtest.Plays)
			y.WantCounts(y.LoadBy(way, nil, "2014-09-01"), 2, 0, 0, 2, 0)
		})
	}
}

// TestOtherFilesThanLogsAreRefused loads files whose header does not fit the job, with records
// and without.
func TestOtherFilesThanLogsAreRefused(t *testing.T) {
	const name = "2014-09-01/play.csv"
	for _, way := range bulkloadtest.Ways {
		for other, says := range map[string]string{
			"<html><body>503</body></html>":       "the header does not fit the job",
			"<html>\n<body>503</body>\n</html>\n": "the header does not fit the job",
			"user,when\n":                         "the header does not fit the job",
			"\"open\n":                            "the header does not fit the job",
			strings.ReplaceAll(bulkloadtest.Plays, "\n", "\r"): "the lines end in carriage returns alone",
		} {
			t.Run(way, func(t *testing.T) {
				y := bulkloadtest.New(t, bulkloadtest.TwoKinds)
				y.Write(name, other)
				y.Write("2014-09-01/order.csv", "user,time,price\na,2014-09-01 12:00:00,1.5\n")
				r := y.LoadBy(way, bulkload.ErrTooBad, "2014-09-01")
				y.WantCounts(r, 1, 1, 0, 0, 0)
				if len(r.Failed) != 1 || !strings.Contains(r.Failed[0].Error, says) || !strings.Contains(r.Failed[0].Error, "delivered again") {
					t.Errorf("failed: %+v, want %q and what to do", r.Failed, says)
				}
				y.Write(name, bulkloadtest.Plays)
				y.WantCounts(y.LoadBy(way, nil, "2014-09-01"), 2, 2, 0, 0, 0)
			})
		}
	}
}

// TestLogsOfUTF16 loads logs in UTF-16. They are read if the job has this encoding, and
// otherwise refused because of their byte order mark.
func TestLogsOfUTF16(t *testing.T) {
	const name = "2014-09-01/play.csv"
	lines := `{"user":"ä","time":"2014-09-01 10:00:00","title":"one","seconds":1}` + "\n"
	for ending, order := range map[string]binary.AppendByteOrder{"little": binary.LittleEndian, "big": binary.BigEndian} {
		for format, text := range map[string]string{"csv": strings.Replace(bulkloadtest.Plays, "b,", "ä,", 1), "jsonl": lines} {
			t.Run(ending+" "+format, func(t *testing.T) {
				var b []byte
				for _, u := range utf16.Encode([]rune("\ufeff" + text)) {
					b = order.AppendUint16(b, u)
				}
				as := strings.Replace(bulkloadtest.TwoKinds, "logs:\n", "logs:\n  format: "+format+"\n", 1)
				y := bulkloadtest.New(t, as)
				y.Write(name, string(b))
				r := y.Load(bulkload.ErrTooBad, "2014-09-01", "2014-09-01")
				if len(r.Failed) != 1 || !strings.Contains(r.Failed[0].Error, "encoding: utf-16") {
					t.Errorf("failed: %+v, want the key that reads it", r.Failed)
				}
				y.SetJob(strings.Replace(as, "logs:\n", "logs:\n  encoding: utf-16\n", 1))
				y.Load(nil, "2014-09-01", "2014-09-01")
				got := y.Trails(true)
				control := bulkloadtest.New(t, as)
				control.Write(name, text)
				control.Load(nil, "2014-09-01", "2014-09-01")
				want := control.Trails(true)
				if len(got) == 0 || !slices.Equal(got, want) {
					t.Errorf("the table holds\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
				}
			})
		}
	}
}

// TestTooFewRecordsAreRefused checks that a file with fewer records than min_records of its
// behaviour is refused.
func TestTooFewRecordsAreRefused(t *testing.T) {
	const name = "2014-09-01/play.csv"
	least := strings.Replace(bulkloadtest.TwoKinds, "{id: 1,", "{id: 1, min_records: 2,", 1)
	for _, way := range []string{"load", "pieces", "ranges"} {
		for _, few := range []string{"", "user,time,title,seconds\n", bulkloadtest.Plays[:strings.LastIndex(bulkloadtest.Plays, "b,")]} {
			t.Run(way, func(t *testing.T) {
				y := bulkloadtest.New(t, least)
				y.Write(name, few)
				y.Write("2014-09-01/order.csv", "")
				load := func(want error) bulkload.Result {
					if way != "ranges" {
						return y.LoadBy(way, want, "2014-09-01")
					}
					parts := y.Plan(nil, 40, "2014-09-01", "2014-09-01")
					y.DoAll(parts)
					return y.Commit(want, parts)
				}
				r := load(bulkload.ErrTooBad)
				if len(r.Failed) != 1 || !strings.Contains(r.Failed[0].Error, "min_records is 2") || r.Files != 1 {
					t.Errorf("failed: %+v, want the plays alone", r.Failed)
				}
				y.Write(name, bulkloadtest.Plays)
				y.WantCounts(load(nil), 2, 2, 0, 0, 0)
			})
		}
	}
}

// TestPreCheckSeesTooFewRecords checks that a pre-check finds an empty file without a load.
func TestPreCheckSeesTooFewRecords(t *testing.T) {
	y := bulkloadtest.New(t, strings.Replace(bulkloadtest.TwoKinds, "max_bad", "min_records: 1\n  max_bad", 1))
	y.Write("2014-09-01/play.csv", "")
	list, _, err := load.PreCheck(t.Context(), y.Config("2014-09-01", "2014-09-01"))
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(list, func(c precheck.Check) bool { return c.Name == precheck.InputReadable })
	if i < 0 || list[i].State != precheck.Fail || !strings.Contains(list[i].Detail, "min_records is 1") {
		t.Errorf("%+v, want that the file has too few records", list)
	}
}
