package load_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/bulkloadtest"
	"usertrail/internal/bulkload/verify"
)

// A readRecord is a record of a log that jobs read in different ways.
type readRecord struct {
	n           int
	event, kind string // texts that name the behaviour
	uid         string // the user, or empty
	day         int
}

// A readJob is a job that reads these logs.
type readJob struct {
	kind, first, uid, americas, play bool // see text
	behaviours                       int
	nulls                            bool
	path                             bool // it names the behaviour
}

func newReadJob(random *rand.Rand) readJob {
	some := func() bool { return random.IntN(4) == 0 }
	return readJob{kind: some(), first: some(), uid: some(), americas: some(), play: some(), behaviours: 1 + random.IntN(3), nulls: some(), path: some()}
}

// text returns the job file. If dated is false, the path has no date.
func (j readJob) text(dated bool) string {
	column, user, zone, path := "event", "user", "UTC", "{date}/*.csv"
	if j.kind {
		column = "kind"
	}
	if j.uid {
		user = "uid"
	}
	if j.americas {
		zone = "America/New_York"
	}
	if !dated {
		path = "all/*.csv"
	}
	more := ""
	if j.first {
		more += `, pattern: "[a-z]+"`
	}
	if j.play {
		more += ", texts: {watch: play}"
	}
	behaviour := fmt.Sprintf(", behaviour: {column: %s, others: skip%s}", column, more)
	if j.path {
		path, behaviour = strings.Replace(path, "*", "{behaviour}-*", 1), ""
	}
	out := fmt.Sprintf("logs: {path: \"logs/%s\", max_bad: 100%%, zone: UTC%s", path, behaviour)
	if j.nulls {
		out += ", nulls: [\"-\"]"
	}
	out += fmt.Sprintf("}\nuser: {column: %s, empty: skip}\ntime: {column: time, zone: %s}\nfields: {n: int64}\nbehaviours:\n", user, zone)
	for i, name := range readBehaviours[:j.behaviours] {
		out += fmt.Sprintf("  %s: {id: %d}\n", name, i+1)
	}
	return out
}

// readBehaviours are the behaviours of the jobs, in the order in which they come.
var readBehaviours = []string{"play", "order", "watch"}

// asks reports whether j requests a record on some date.
func (j readJob) asks(r readRecord) bool {
	text, user := r.event, "u"
	if j.path {
		return (!j.uid || r.uid != "")
	}
	if j.kind {
		text = r.kind
	}
	if j.uid {
		user = r.uid
	}
	if j.first {
		text = strings.TrimRight(text, "0123456789")
	}
	if j.play && text == "watch" {
		text = "play"
	}
	return user != "" && slices.Contains(readBehaviours[:j.behaviours], text)
}

// date returns the day of a record in UTC. The logs have the hour 22.
func (j readJob) date(r readRecord) int {
	if j.americas {
		return r.day + 1
	}
	return r.day
}

// TestNothingIsLoadedTwiceOrLostInSilence loads files, and copies of them, by jobs that find behaviours, users and times
// in different ways. No record is in the table twice. If a load succeeds, each record that its job requests is in the
// table, or a result has reported that records stay out. A load is refused if it cannot determine which records the
// table has.
func TestNothingIsLoadedTwiceOrLostInSilence(t *testing.T) {
	for seed := range uint64(30) {
		for _, way := range []string{"load", "pieces"} {
			t.Run(fmt.Sprintf("%d by %s", seed, way), func(t *testing.T) { playReadings(t, seed, way) })
		}
	}
}

// playReadings plays one sequence of jobs.
func playReadings(t *testing.T, seed uint64, way string) {
	random := rand.New(rand.NewPCG(seed, 47))
	dated := random.IntN(2) == 0
	records := newReadRecords(random, dated)
	job := newReadJob(random)
	y := bulkloadtest.New(t, job.text(dated))
	folder := map[bool]string{true: skipDay, false: "all"}[dated]
	y.Write(folder+"/play-0.csv", readText(records))
	files := 1
	var told []string
	named := false // some records stay out
	for range 10 {
		switch random.IntN(5) {
		case 0:
			y.Write(fmt.Sprintf("%s/play-%d.csv", folder, files), readText(records))
			files++
		case 1, 2:
			job = newReadJob(random)
		default: // one setting changes
			job.changeOne(random)
		}
		y.SetJob(job.text(dated))
		from, to := 3, 3
		if !dated {
			from = 2 + random.IntN(3)
			to = from + random.IntN(2)
		}
		result, err := loadSpan(y, way, fmt.Sprintf("2014-09-%02d", from), fmt.Sprintf("2014-09-%02d", to))
		told = append(told, fmt.Sprintf("%+v, %d files, days %d to %d: %v", job, files, from, to, err))
		if err != nil && !errors.Is(err, bulkload.ErrRequest) {
			t.Fatalf("%v\nafter %s", err, strings.Join(told, "\n"))
		}
		named = named || len(result.StaysOut) > 0
		have := recordsIn(t, y)
		for _, r := range records {
			if have[r.n] > 1 {
				t.Fatalf("record %+v is in the table %d times, after\n%s", r, have[r.n], strings.Join(told, "\n"))
			}
			asked := job.asks(r) && (dated || job.date(r) >= from && job.date(r) <= to)
			if asked && have[r.n] == 0 && err == nil && !named {
				t.Fatalf("record %+v is not in the table, and no result says so, after\n%s", r, strings.Join(told, "\n"))
			}
		}
	}
	if _, err := verify.Run(t.Context(), verify.Config{Store: y.Store}); err != nil && !errors.Is(err, bulkload.ErrNothing) {
		t.Error(err)
	}
}

// recordsIn counts how often the table has each record.
func recordsIn(t *testing.T, y *bulkloadtest.Fixture) map[int]int {
	t.Helper()
	have := map[int]int{}
	for _, line := range y.Trails(false) {
		var n int
		_, field, _ := strings.Cut(line, " n=")
		if _, err := fmt.Sscan(field, &n); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		have[n]++
	}
	return have
}

// changeOne changes one setting of the job.
func (j *readJob) changeOne(random *rand.Rand) {
	next := newReadJob(random)
	[]func(){
		func() { j.kind = next.kind }, func() { j.first = next.first }, func() { j.uid = next.uid }, func() { j.americas = next.americas },
		func() { j.play = next.play }, func() { j.behaviours = next.behaviours }, func() { j.nulls = next.nulls },
		func() { j.path = next.path },
	}[random.IntN(8)]()
}

func newReadRecords(random *rand.Rand, dated bool) (out []readRecord) {
	texts := []string{"play", "order", "watch", "play1", "never", "-"}
	for n := range 12 {
		r := readRecord{n: n, event: texts[random.IntN(6)], kind: texts[random.IntN(6)], uid: []string{"", "x"}[random.IntN(2)], day: 3}
		if !dated {
			r.day = 2 + random.IntN(3)
		}
		out = append(out, r)
	}
	return out
}

// readText returns the log of records.
func readText(records []readRecord) string {
	var b strings.Builder
	b.WriteString("user,uid,time,event,kind,n\n")
	for _, r := range records {
		fmt.Fprintf(&b, "u,%s,2014-09-%02d 22:00:00,%s,%s,%d\n", r.uid, r.day, r.event, r.kind, r.n)
	}
	return b.String()
}
