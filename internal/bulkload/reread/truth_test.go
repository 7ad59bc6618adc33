package reread_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/bulkloadtest"
	"usertrail/internal/bulkload/reread"
	"usertrail/internal/bulkload/upkeep"
	"usertrail/internal/run/exit"
)

// has fails the test unless a trail of the table contains a text so many times.
func has(t *testing.T, y *bulkloadtest.Fixture, text string, times int) {
	t.Helper()
	n := 0
	for _, line := range y.Trails(false) {
		if strings.Contains(line, text) {
			n++
		}
	}
	if n != times {
		t.Errorf("%d events have %q, want %d:\n%s", n, text, times, strings.Join(y.Trails(false), "\n"))
	}
}

const plays = "user,time,title,seconds,device\n"

// playJob returns a job of files of plays with more settings. device is set if it has that field.
func playJob(device bool, user, more string) string {
	fields := "title: string, seconds: int64"
	if device {
		fields += ", device: string"
	}
	return "logs: {path: \"logs/{date}/{behaviour}.*\", max_bad: 100%" + more + "}\nuser: " + user + "\nbehaviours:\n  play: {id: 1, fields: {" + fields + "}}\n"
}

// TestOnlyRecordsOfTheTableGetValues reads files again whose records were replayed, skipped, duplicates, or are bad for
// the longer job.
func TestOnlyRecordsOfTheTableGetValues(t *testing.T) {
	y := bulkloadtest.New(t, playJob(false, "user", ", skip: 'title == \"no\"'"))
	y.Write(first+"/play.csv", plays+
		"a,2014-09-01 10:00:00,one,1,tv\n"+
		"b,2014-09-01 11:00:00,two,many,phone\n"+ // bad, and then corrected
		"c,2014-09-01 12:00:00,no,3,radio\n"+ // skipped by the first job
		"d,2014-09-01 13:00:00,four,4,\n"+
		"e,never,five,5,tv\n") // bad, and it stays bad
	y.Write("2014-09-02/play.csv", plays+"a,2014-09-02 10:00:00,one,1,tv\n")
	y.Write("2014-09-02/play.copy.csv", plays+"a,2014-09-02 10:00:00,one,1,tv\n")
	y.Load(nil, first, "2014-09-02")
	y.Correct(first+"/play.csv", "two,many,phone", "two,2,radio")
	y.Replay(bulkload.ErrLeft, first+"/play.csv")
	y.SetJob(playJob(true, "user", ""))
	r := run(t, y, nil, first, "2014-09-02")
	if want := (bulkload.Reread{Records: 2, WithoutValue: 1, NotThere: 1, Replayed: 0, Bad: 2}); *r.Reread != want {
		t.Errorf("the reread counts %+v, want %+v", *r.Reread, want)
	}
	has(t, y, "device=tv", 2)
	has(t, y, "device=", 2)
	verified(t, y)
	run(t, y, bulkload.ErrNothing, first, "2014-09-02")
	y.Load(nil, first, first) // it loads the record that the first job skipped
	has(t, y, "device=radio", 1)
	verified(t, y)
}

// TestAReplayedRecordGetsNoValues reads a file again whose only bad record was corrected and is good for the job.
func TestAReplayedRecordGetsNoValues(t *testing.T) {
	y := bulkloadtest.New(t, playJob(false, "user", ""))
	y.Write(first+"/play.csv", plays+"a,2014-09-01 10:00:00,one,1,tv\nb,2014-09-20 11:00:00,two,2,phone\n")
	y.Load(nil, first, first)
	y.Correct(first+"/play.csv", "2014-09-20", first)
	y.Replay(nil, first+"/play.csv")
	y.SetJob(strings.Replace(playJob(true, "user", ""), "max_bad", "slack: 20, max_bad", 1))
	if r := run(t, y, nil, first, first); r.Reread.Replayed != 1 || r.Reread.Records != 1 {
		t.Errorf("the reread counts %+v", *r.Reread)
	}
	has(t, y, "device=", 1)
	verified(t, y)
}

// TestAnotherUserGetsNoValues reads files again by a job with another column of users. The file is refused, and a later
// reread by the right job gives the values.
func TestAnotherUserGetsNoValues(t *testing.T) {
	y := bulkloadtest.New(t, playJob(false, "user", ""))
	y.Write(first+"/play.csv", plays+"a,2014-09-01 10:00:00,one,1,tv\n")
	y.Load(nil, first, first)
	before := y.Cells()
	y.SetJob(playJob(true, "title", ""))
	r := run(t, y, bulkload.ErrRequest, first, first)
	if len(r.Failed) != 1 || !strings.Contains(r.Failed[0].Error, "the job reads none of the 1 record that the table has without a value") || !slices.Equal(before, y.Cells()) {
		t.Errorf("refused are %+v", r.Failed)
	}
	y.SetJob(playJob(true, "user", ""))
	run(t, y, nil, first, first)
	has(t, y, "device=tv", 1)
}

// TestTheFirstFieldOfABehaviour adds fields to a behaviour that had none.
func TestTheFirstFieldOfABehaviour(t *testing.T) {
	for _, layout := range layouts {
		y := bulkloadtest.New(t, strings.Replace(jobOf(layout, ""), ", fields: {}", "", 1))
		y.Write(first+"/a.csv", logOf(first))
		y.Load(nil, first, first)
		y.SetJob(jobOf(layout, long))
		if r := run(t, y, nil, first, first); r.Reread.Records != 20 {
			t.Errorf("the reread counts %+v", *r.Reread)
		}
		other := y.Twin()
		other.Load(nil, first, first)
		if got, want := y.Trails(true), other.Trails(true); !slices.Equal(got, want) {
			t.Errorf("%s: the trails are\n%s\nwant\n%s", layout, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		verified(t, y)
	}
}

// TestDatesAreReadAgainPartByPart reads a file without a date in its path again, for some of its dates at a time. A part of it was
// loaded with the field.
func TestDatesAreReadAgainPartByPart(t *testing.T) {
	job := func(fields string) string {
		return "logs: {path: \"logs/*.csv\", behaviour: kind, max_bad: 50%}\nuser: user\nbehaviours:\n  play: {id: 1, fields: {" + fields + "}}\n  order: {id: 2}\n"
	}
	text, _ := bulkloadtest.MixedLog()
	text = strings.ReplaceAll(strings.Replace(text, ",title\n", ",title,n\n", 1), "\n", ",7\n")
	text = strings.Replace(text, ",title,n,7\n", ",title,n\n", 1)
	y := bulkloadtest.New(t, job("title: string"))
	y.Write("all.csv", text)
	y.Load(nil, first, "2014-09-03")
	y.SetJob(job("title: string, n: int64"))
	y.Load(nil, "2014-09-04", "2014-09-04")
	run(t, y, nil, first, first)
	has(t, y, "n=7", 20)
	run(t, y, bulkload.ErrNothing, first, first)
	run(t, y, bulkload.ErrNothing, first, last, "order")
	if r := y.Load(bulkload.ErrNothing, first, last); len(r.Unread) != 1 || r.Unread[0].Dates.String() != "2014-09-02..2014-09-03" {
		t.Errorf("without fields are %+v", r.Unread)
	}
	r := run(t, y, nil, first, "2014-09-04")
	if r.Reread.Records != 20 || r.Reread.HadValues != 0 {
		t.Errorf("the reread counts %+v", *r.Reread)
	}
	has(t, y, "n=7", 40)
	same(t, y, first, "2014-09-04")
	verified(t, y)
}

// TestAChangedFileIsNotReadAgain changes one of two files.
func TestAChangedFileIsNotReadAgain(t *testing.T) {
	y := bulkloadtest.New(t, playJob(false, "user", ""))
	y.Write(first+"/play.csv", plays+"a,2014-09-01 10:00:00,one,1,tv\n")
	y.Write("2014-09-02/play.csv", plays+"a,2014-09-02 10:00:00,one,1,tv\n")
	y.Load(nil, first, "2014-09-02")
	y.Write(first+"/play.csv", plays+"a,2014-09-01 10:00:00,one,1,phone\n")
	y.SetJob(playJob(true, "user", ""))
	if r := run(t, y, bulkload.ErrChanged, first, "2014-09-02"); r.Files != 1 || len(r.Failed) != 1 {
		t.Errorf("the reread gives %+v", r)
	}
	has(t, y, "device=tv", 1)
	has(t, y, "device=", 1)
	verified(t, y)
}

// TestAChangedFileFailsBesideAFileWithoutValues changes one of two files. The other one has no value of the new field.
func TestAChangedFileFailsBesideAFileWithoutValues(t *testing.T) {
	y := bulkloadtest.New(t, playJob(false, "user", ""))
	y.Write(first+"/play.csv", plays+"a,2014-09-01 10:00:00,one,1,tv\n")
	y.Write("2014-09-02/play.csv", plays+"a,2014-09-02 10:00:00,one,1,\n")
	y.Load(nil, first, "2014-09-02")
	y.Write(first+"/play.csv", plays+"a,2014-09-01 10:00:00,one,1,phone\n")
	y.SetJob(playJob(true, "user", ""))
	c := y.Config(first, "2014-09-02")
	r, err := reread.Run(t.Context(), reread.Config{Resources: c.Resources, Job: c.Job, Span: c.Span, KeepFor: upkeep.DefaultKeepFor})
	if exit.Of(err) != exit.Failed || !errors.Is(err, bulkload.ErrChanged) || errors.Is(err, bulkload.ErrNothing) || len(r.Failed) != 1 {
		t.Errorf("%+v, %v with status %d; want that a file has changed, and status %d", r, err, exit.Of(err), exit.Failed)
	}
}

// TestAFileOfReplayedRecordsIsNotReadAgain reads two files again. The only record of one of them was bad, and a replay added it.
func TestAFileOfReplayedRecordsIsNotReadAgain(t *testing.T) {
	y := bulkloadtest.New(t, playJob(false, "user", ""))
	y.Write(first+"/play.csv", plays+"a,2014-09-01 10:00:00,one,1,tv\n")
	y.Write("2014-09-02/play.csv", plays+"b,never,two,2,phone\n")
	y.Load(nil, first, "2014-09-02")
	y.Correct("2014-09-02/play.csv", "never", "2014-09-02 11:00:00")
	y.Replay(nil, "2014-09-02/play.csv")
	y.SetJob(playJob(true, "user", ""))
	if r := y.Load(bulkload.ErrNothing, first, "2014-09-02"); len(r.Unread) != 1 || r.Unread[0].Files != 1 || r.Unread[0].Dates.String() != first {
		t.Errorf("without fields are %+v; want the log of %s", r.Unread, first)
	}
	if r := run(t, y, nil, first, "2014-09-02"); r.Reread.Records != 1 || r.Files != 1 || r.Already != 1 {
		t.Errorf("the reread gives %+v, %+v", r, *r.Reread)
	}
	has(t, y, "device=", 1)
	verified(t, y)
	if r := y.Load(bulkload.ErrNothing, first, "2014-09-02"); r.Unread != nil {
		t.Errorf("after the reread without fields are %+v", r.Unread)
	}
	run(t, y, bulkload.ErrNothing, first, "2014-09-02")
}

// TestALogLacksAColumnOfABehaviourWithoutRecords has an old log without records of one behaviour. The job gets a column for both
// behaviours that this log does not have. The log has the column of another new field.
func TestALogLacksAColumnOfABehaviourWithoutRecords(t *testing.T) {
	old := "logs: {path: \"logs/{date}/*.csv\", behaviour: kind}\nuser: user\nbehaviours: {play: {id: 1}, order: {id: 2}}\n"
	y := bulkloadtest.New(t, old)
	y.Write(first+"/a.csv", "user,time,kind,device\na,2014-09-01 10:00:00,play,tv\n")
	y.Load(nil, first, first)
	y.SetJob(old + "fields: {device: string, channel: string}\n")
	y.Write(last+"/a.csv", "user,time,kind,device,channel\na,2014-09-03 10:00:00,play,tv,app\na,2014-09-03 11:00:00,order,tv,app\n")
	y.Load(nil, last, last)
	if r := run(t, y, nil, first, last); r.Reread.Records != 1 {
		t.Errorf("the reread counts %+v, want values for a record", r.Reread)
	}
	has(t, y, "device=tv", 3)
	has(t, y, "channel=app", 2)
	verified(t, y)
}

// TestALogIsOlderThanAColumnThatWasReadAgain has an old log without a column. A reread finds that the log has no value of it. A later
// reread reads another field of the log.
func TestALogIsOlderThanAColumnThatWasReadAgain(t *testing.T) {
	old := "logs: {path: \"logs/{date}/{behaviour}.csv\"}\nuser: user\nbehaviours: {play: {id: 1}}\n"
	y := bulkloadtest.New(t, old)
	y.Write(first+"/play.csv", "user,time,os\na,2014-09-01 10:00:00,win\n")
	y.Write(last+"/play.csv", "user,time,os,device\na,2014-09-03 10:00:00,mac,tv\n")
	y.Load(nil, first, last)
	y.SetJob(old + "fields: {device: string}\n")
	run(t, y, nil, first, last)
	has(t, y, "device=tv", 1)
	y.SetJob(old + "fields: {device: string, os: string}\n")
	run(t, y, nil, first, last)
	has(t, y, "os=win", 1)
	has(t, y, "os=mac", 1)
	run(t, y, bulkload.ErrNothing, first, last)
	verified(t, y)
}
