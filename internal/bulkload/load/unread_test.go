package load_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"usertrail/internal/behaviour"
	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/bulkloadtest"
	"usertrail/internal/bulkload/load"
	"usertrail/internal/format/manifest"
	"usertrail/internal/table/precheck"
)

// fieldJob returns a job of plays and orders in one file, with fields of plays.
func fieldJob(fields string) string {
	return "logs: {path: \"logs/{date}/*.csv\", behaviour: {column: kind, others: skip}}\nuser: user\n" +
		"behaviours: {play: {id: 1, fields: {" + fields + "}}, order: {id: 2}}\n"
}

// bare returns fields without the paths of their files.
func bare(fields []bulkload.UnreadField) []bulkload.UnreadField {
	out := slices.Clone(fields)
	for i := range out {
		out[i].Paths = nil
	}
	return out
}

// TestLoadedFilesWithoutAFieldAreNamed loads days by jobs with more fields of plays, and by one with fewer. Each
// load names the fields that the loaded files of its dates do not have. Files without plays are not named.
func TestLoadedFilesWithoutAFieldAreNamed(t *testing.T) {
	days := []string{"2014-09-01", "2014-09-02", "2014-09-03", "2014-09-04"}
	unread := func(field string, files int, from, to string) bulkload.UnreadField {
		return bulkload.UnreadField{Behaviour: "play", Field: field, Files: files, Dates: behaviour.Span{From: bulkloadtest.Date(t, from), To: bulkloadtest.Date(t, to)}}
	}
	for _, way := range []string{"load", "pieces", "ranges"} {
		t.Run(way, func(t *testing.T) {
			y := bulkloadtest.New(t, fieldJob("n: int64"))
			for _, day := range days[:3] {
				y.Write(day+"/a.csv", textLog(day, "play", "order"))
			}
			y.Write(days[3]+"/a.csv", textLog(days[3], "order"))
			for i, fields := range []string{"n: int64", "n: int64, m: {type: int64, column: n}", "n: int64"} {
				y.SetJob(fieldJob(fields))
				y.LoadBy(way, nil, days[i])
			}
			y.LoadBy(way, nil, days[3])

			if r := y.Load(bulkload.ErrNothing, days[0], days[3]); r.Unread != nil {
				t.Errorf("the job of the first load gives %+v", r.Unread)
			}
			y.SetJob(fieldJob("k: {type: int64, column: n}, m: {type: int64, column: n}, n: int64"))
			want := []bulkload.UnreadField{unread("k", 3, days[0], days[2]), unread("m", 2, days[0], days[2])}
			if r := y.Load(bulkload.ErrNothing, days[0], days[3]); !reflect.DeepEqual(bare(r.Unread), want) {
				t.Errorf("without fields are %+v, want %+v", r.Unread, want)
			}
			if r := y.Load(bulkload.ErrNothing, days[1], days[1]); !reflect.DeepEqual(bare(r.Unread), []bulkload.UnreadField{unread("k", 1, days[1], days[1])}) {
				t.Errorf("without fields on %s are %+v", days[1], r.Unread)
			}
			if r := y.Load(bulkload.ErrNothing, days[0], days[3], "order"); r.Unread != nil {
				t.Errorf("for orders without fields are %+v", r.Unread)
			}
			checks, _, err := load.PreCheck(t.Context(), y.Config(days[0], days[3]))
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range checks {
				if c.Name == precheck.SchemaFits && (c.State != precheck.Warn || !strings.Contains(c.Detail, "up to 3 files of 2014-09-01..2014-09-03 with records of play: loaded without a value of the field k: their job did not have it, or read it by other settings; and so for 1 more field")) {
					t.Errorf("pre-check says %v: %s", c.State, c.Detail)
				}
			}
			if p, err := load.DryRun(t.Context(), y.Config(days[0], days[3])); err != nil || !reflect.DeepEqual(bare(p.Unread), want) {
				t.Errorf("a dry run gives %+v, %v", p.Unread, err)
			}
			y.Write("2014-09-05/a.csv", textLog("2014-09-05", "play"))
			if r := y.Load(nil, days[0], "2014-09-05"); r.Loaded != 1 || !reflect.DeepEqual(bare(r.Unread), want) {
				t.Errorf("with a new file, %d records are loaded, and without fields are %+v", r.Loaded, r.Unread)
			}
			if r := y.Load(bulkload.ErrNothing, "2014-09-05", "2014-09-05"); r.Unread != nil {
				t.Errorf("of the new file without fields are %+v", r.Unread)
			}
		})
	}
}

// TestAFileOfSeveralDaysIsCountedOnce adds the result of a second day, as a load of each day does.
func TestAFileOfSeveralDaysIsCountedOnce(t *testing.T) {
	day := func(date string, paths ...string) bulkload.Result {
		at := bulkloadtest.Date(t, date)
		f := bulkload.UnreadField{Behaviour: "play", Field: "m", Files: len(paths), Dates: behaviour.Span{From: at, To: at}, Paths: map[string][]behaviour.Span{}}
		for _, path := range paths {
			f.Paths[path] = []behaviour.Span{f.Dates}
		}
		return bulkload.Result{NotRead: bulkload.NotRead{Unread: []bulkload.UnreadField{f}}}
	}
	first := day("2014-09-01", "a.csv")
	var r bulkload.Result
	r.Add(first)
	r.Add(day("2014-09-02", "a.csv", "b.csv"))
	want := []bulkload.UnreadField{{Behaviour: "play", Field: "m", Files: 2, Dates: behaviour.Span{From: bulkloadtest.Date(t, "2014-09-01"), To: bulkloadtest.Date(t, "2014-09-02")}}}
	if got := bare(r.Unread); !reflect.DeepEqual(got, want) {
		t.Errorf("two days have %+v, want %+v", got, want)
	}
	if len(first.Unread[0].Paths) != 1 {
		t.Errorf("the first day has %v afterwards", first.Unread[0].Paths)
	}
}

// TestDroppedDaysHaveNoFields drops a day that was loaded without a field of the job.
func TestDroppedDaysHaveNoFields(t *testing.T) {
	y := bulkloadtest.New(t, fieldJob("n: int64"))
	for _, day := range []string{"2014-09-01", "2014-09-02"} {
		y.Write(day+"/a.csv", textLog(day, "play"))
		y.Load(nil, day, day)
	}
	y.SetJob(fieldJob("m: {type: int64, column: n}, n: int64"))
	y.Drop("2014-09-02")
	second := bulkloadtest.Date(t, "2014-09-02")
	want := []bulkload.UnreadField{{Behaviour: "play", Field: "m", Files: 1, Dates: behaviour.Span{From: second, To: second}}}
	if r := y.Load(bulkload.ErrNothing, "2014-09-01", "2014-09-02"); !reflect.DeepEqual(bare(r.Unread), want) {
		t.Errorf("without fields are %+v, want %+v", r.Unread, want)
	}
	if r := y.Load(bulkload.ErrNothing, "2014-09-01", "2014-09-01"); r.Unread != nil {
		t.Errorf("the dropped day has %+v", r.Unread)
	}
}

// TestALogOfADroppedDayHasFieldsOfItsKeptRecords drops the days of some logs. Only the log of the last dropped day has a
// record of the next day, which the table keeps.
func TestALogOfADroppedDayHasFieldsOfItsKeptRecords(t *testing.T) {
	const before, dropped, kept = "2014-08-31", "2014-09-01", "2014-09-02"
	y := bulkloadtest.New(t, fieldJob("n: int64"))
	y.Write(before+"/a.csv", textLog(before, "play"))
	y.Write(dropped+"/a.csv", textLog(dropped, "play")+"u1,2014-09-02 00:10:00,play,7\n")
	y.Load(nil, before, dropped)
	y.SetJob(fieldJob("m: {type: int64, column: n}, n: int64"))
	y.Drop(kept)
	want := []bulkload.UnreadField{{Behaviour: "play", Field: "m", Files: 1, Dates: behaviour.Span{From: bulkloadtest.Date(t, dropped), To: bulkloadtest.Date(t, kept)}}}
	if r := y.Load(bulkload.ErrNothing, before, kept); !reflect.DeepEqual(bare(r.Unread), want) {
		t.Errorf("without fields are %+v, want %+v", r.Unread, want)
	}
	if r := y.Load(bulkload.ErrNothing, before, before); r.Unread != nil {
		t.Errorf("the first dropped day has %+v", r.Unread)
	}
	y.Drop("2014-09-03")
	if r := y.Load(bulkload.ErrNothing, before, kept); r.Unread != nil {
		t.Errorf("after a drop of all records, without fields are %+v", r.Unread)
	}
}

// TestMovedLedgersKeepTheFieldsThatWereNotRead copies the ledger of a load from a table with fewer fields
// into a table with more fields, as convert and import do.
func TestMovedLedgersKeepTheFieldsThatWereNotRead(t *testing.T) {
	y := bulkloadtest.New(t, bulkloadtest.TwoKinds)
	y.Write("2014-09-01/play.csv", "user,time,title,seconds\nu1,2014-09-01 10:00:00,a,1\n")
	y.Load(nil, "2014-09-01", "2014-09-01")
	l := y.Ledgers()[0]
	of := y.Job.Schema
	more := &behaviour.Schema{Zone: of.Zone, Kinds: []behaviour.Kind{
		{ID: 1, Name: "play", Fields: append([]behaviour.Field{{Name: "device"}}, of.Kinds[0].Fields...)},
		{ID: 2, Name: "order", Fields: append([]behaviour.Field{{Name: "shop"}}, of.Kinds[1].Fields...)},
		{ID: 3, Name: "visit", Fields: []behaviour.Field{{Name: "page"}}},
	}}
	want := []map[string][]string{{"play": {"device"}}}
	if got, err := l.UnreadOf(more); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("the ledger gives %v, %v; want %v", got, err, want)
	}
	if err := l.SetUnread(more); err != nil {
		t.Fatal(err)
	}
	l.Table = &manifest.Table{Schema: more}
	if got, err := l.UnreadOf(more); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("the moved ledger gives %v, %v; want %v", got, err, want)
	}
	older := &manifest.Load{Inputs: l.Inputs}
	older.Inputs[0].Unread = nil
	if got, err := older.UnreadOf(more); err != nil || !reflect.DeepEqual(got, []map[string][]string{nil}) {
		t.Errorf("an older ledger gives %v, %v; though it does not know", got, err)
	}
}
