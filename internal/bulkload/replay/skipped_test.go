package replay_test

import (
	"strings"
	"testing"

	"usertrail/internal/bulkload/bulkloadtest"
)

// skippingJob returns a job whose records name their behaviour in a column. behaviour has the further keys
// of logs.behaviour, and more has behaviours.
func skippingJob(column, behaviour, more string) string {
	return "logs: {path: \"logs/{date}.csv\", max_bad: 100%, behaviour: {column: " + column + ", others: skip" + behaviour + "}}\n" +
		"user: user\nfields: {x: int64}\nbehaviours: {play: {id: 1}" + more + "}\n"
}

// A skipCase is a record that the first job skips, and that the second job finds bad.
type skipCase struct {
	what          string
	first, second string
	forget        string // what the first ledger does not have
	record        string
	correct       []string
}

// TestReplayLoadsARecordThatALoadSkipped loads a file by a job that skips a record, and then by a job that
// finds the record bad. The ledger of the first load does not show that it skipped this record. The replay
// loads the corrected record, and removes its line.
func TestReplayLoadsARecordThatALoadSkipped(t *testing.T) {
	const (
		order = ", order: {id: 2}"
		reads = `,\s*"texts_by": "[^"]*"`
		texts = `,\s*"(texts|skips)": \{[^}]*\}|,\s*"unmapped": \[[^]]*\]|` + reads
	)
	empty := func(job string) string {
		return strings.Replace(job, "user: user", "user: {column: user, empty: skip}", 1)
	}
	where := func(job string) string { return strings.Replace(job, "max_bad", "skip: 'x == \"0\"', max_bad", 1) }
	for _, c := range []skipCase{{
		what:  "a text that the first job did not know, and a ledger without texts",
		first: skippingJob("kind", "", ""), second: skippingJob("kind", ", texts: {stop: play}", order), forget: texts,
		record: "b,never,stop,,2", correct: []string{"never", "2014-09-01 11:00:00"},
	}, {
		what:  "a text of another column",
		first: skippingJob("kind", "", ""), second: skippingJob("event", "", order), forget: reads,
		record: "b,never,stop,play,2", correct: []string{"never", "2014-09-01 11:00:00"},
	}, {
		what:  "a pattern that does not find the text",
		first: skippingJob("kind", ", pattern: '^(.*)$'", ""), second: skippingJob("kind", ", pattern: '(\\w+)$'", order), forget: reads,
		record: "b,never,x/play,,2", correct: []string{"never", "2014-09-01 11:00:00"},
	}, {
		what:  "a text that the correction changes",
		first: skippingJob("kind", "", ""), second: skippingJob("kind", ", texts: {paly: play}", order),
		record: "b,never,paly,,2", correct: []string{"never,paly", "2014-09-01 11:00:00,play"},
	}, {
		what:  "no user",
		first: empty(skippingJob("kind", "", "")), second: skippingJob("kind", "", order),
		record: ",2014-09-01 11:00:00,play,,2", correct: []string{`"raw":",2014`, `"raw":"b,2014`},
	}, {
		what:  "the condition of the job",
		first: where(skippingJob("kind", "", "")), second: skippingJob("kind", "", order),
		record: "b,never,play,,0", correct: []string{"never,play,,0", "2014-09-01 11:00:00,play,,2"},
	}} {
		t.Run(c.what, c.run)
	}
}

func (c *skipCase) run(t *testing.T) {
	const name = "2014-09-01.csv"
	y := bulkloadtest.New(t, c.first)
	y.Write(name, "user,time,kind,event,x\na,2014-09-01 10:00:00,play,play,1\n"+c.record+"\nc,2014-09-01 12:00:00,order,order,3\n")
	if r := y.Load(nil, "2014-09-01", "2014-09-01"); r.Loaded != 1 || r.Skipped != 2 || r.Quarantined != 0 {
		t.Fatalf("the first load: %+v, want a record loaded, and two skipped", r.Counts)
	}
	if c.forget != "" {
		forget(y, c.forget)
	}
	y.SetJob(c.second)
	if r := y.Load(nil, "2014-09-01", "2014-09-01"); r.Loaded != 1 || r.Quarantined != 1 {
		t.Fatalf("the second load: %+v, want a record loaded, and a bad one", r.Counts)
	}
	y.Correct(name, c.correct[0], c.correct[1])
	r, err := replayed(y, name)
	if err != nil || r.Loaded != 1 || r.Duplicate != 0 || r.Removed != 1 {
		t.Errorf("%+v, %v; want the record loaded, and its line removed", r, err)
	}
	y.WantTrails(
		"a 2014-09-01 2014-09-01T10:00:00Z play x=1",
		"b 2014-09-01 2014-09-01T11:00:00Z play x=2",
		"c 2014-09-01 2014-09-01T12:00:00Z order x=3",
	)
	if got := y.Quarantined(name); got != "" {
		t.Errorf("the file has\n%s\nwant no record", got)
	}
}

// TestReplayFindsARecordThatALoadBrought is for a load that skipped other records. Its ledger does not show
// whether it skipped the replayed record, which is in the table.
func TestReplayFindsARecordThatALoadBrought(t *testing.T) {
	const name = "2014-09-01.csv"
	grown := skippingJob("kind", "", ", order: {id: 2}")
	y := bulkloadtest.New(t, strings.Replace(skippingJob("kind", "", ""), "fields: {x: int64}\n", "", 1))
	y.Write(name, "user,time,kind,x\na,2014-09-01 10:00:00,play,1\nb,2014-09-01 11:00:00,play,many\nc,2014-09-01 12:00:00,order,3\n")
	y.WantCounts(y.Load(nil, "2014-09-01", "2014-09-01"), 3, 2, 0, 0, 1)
	y.SetJob(grown)
	y.WantCounts(y.Load(nil, "2014-09-01", "2014-09-01"), 3, 1, 1, 0, 1)
	y.Correct(name, "many", "2")
	wantOther(y, name)
	y.WantTrails(
		"a 2014-09-01 2014-09-01T10:00:00Z play",
		"b 2014-09-01 2014-09-01T11:00:00Z play",
		"c 2014-09-01 2014-09-01T12:00:00Z order x=3",
	)
}

// TestReplayLoadsARecordThatTwoLoadsSkipped is for a load that skipped the record because an earlier load had
// requested its date and behaviour. The ledger of the earlier load is of an older version.
func TestReplayLoadsARecordThatTwoLoadsSkipped(t *testing.T) {
	const name = "2014-09-01.csv"
	without := func(job string) string { return strings.Replace(job, "fields: {x: int64}\n", "", 1) }
	found := ", pattern: '(\\w+)$', texts: {stop: play}"
	y := bulkloadtest.New(t, without(skippingJob("kind", "", "")))
	y.Write(name, "user,time,kind,x\na,2014-09-01 10:00:00,play,1\nb,2014-09-01 11:00:00,x/stop,many\nc,2014-09-01 12:00:00,order,3\n")
	y.WantCounts(y.Load(nil, "2014-09-01", "2014-09-01"), 3, 1, 0, 0, 2)
	forget(y, `,\s*"texts_by": "[^"]*"`)
	y.SetJob(without(skippingJob("kind", found, ", order: {id: 2}")))
	y.WantCounts(y.Load(nil, "2014-09-01", "2014-09-01"), 3, 1, 0, 0, 2)
	y.SetJob(skippingJob("kind", found, ", order: {id: 2}, seek: {id: 3}"))
	y.WantCounts(y.Load(nil, "2014-09-01", "2014-09-01"), 3, 0, 1, 0, 2)
	y.Correct(name, "many", "2")
	if r, err := replayed(y, name); err != nil || r.Loaded != 1 || r.Removed != 1 {
		t.Errorf("%+v, %v; want the record loaded, and its line removed", r, err)
	}
}

// TestReplayFindsARecordThatALaterLoadBrought is for a record that the first load skipped by its condition, and the
// second load added as another behaviour than the job has now. A copy in the folder of another day has it as bad.
func TestReplayFindsARecordThatALaterLoadBrought(t *testing.T) {
	const log = "user,time,kind,x\na,2014-09-01 10:00:00,watch,1\n"
	job := strings.Replace(skippingJob("kind", ", texts: {watch: play}", ""), "max_bad", "slack: 1, max_bad", 1)
	y := bulkloadtest.New(t, strings.Replace(job, "max_bad", "skip: 'x == \"1\"', max_bad", 1))
	y.Write("2014-09-01.csv", log)
	y.WantCounts(y.Load(nil, "2014-09-01", "2014-09-01"), 1, 0, 0, 0, 1)
	y.SetJob(job)
	y.WantCounts(y.Load(nil, "2014-09-01", "2014-09-01"), 1, 1, 0, 0, 0)
	y.Write("2014-09-04.csv", log)
	y.WantCounts(y.Load(nil, "2014-09-04", "2014-09-04"), 1, 0, 1, 0, 0)
	y.SetJob(strings.Replace(strings.Replace(job, "watch: play", "watch: view", 1), "play: {id: 1}", "play: {id: 1}, view: {id: 2}", 1))
	y.Correct("2014-09-04.csv", "watch,1", "watch,2")
	wantOther(y, "2014-09-04.csv")
	y.WantTrails("a 2014-09-01 2014-09-01T10:00:00Z play x=1")
}
