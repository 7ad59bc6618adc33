package progress

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

// attempt is the environment variable that names the attempt of a Hadoop task. Only tasks
// have it.
const attempt = "mapreduce_task_attempt_id"

// heartbeat is the time between two reports to Hadoop. Hadoop kills a task that is silent for
// longer than mapreduce.task.timeout.
const heartbeat = time.Second

// group is the name of the counters' group in Hadoop.
const group = "usertrail"

// underHadoop reports whether this process is the program of a task of Hadoop Streaming.
func underHadoop() bool { return os.Getenv(attempt) != "" }

// A hadoop reports to Hadoop Streaming. Hadoop reads these lines from a task's
// standard error, and leaves the other lines in the task's log:
//
//	reporter:status:TEXT                  the task lives, and is at TEXT
//	reporter:counter:usertrail,NAME,N     adds N to the counter NAME
//
// The measure of a step is a counter too; see measure. Hadoop keeps only the
// counters of the attempt that succeeds, so nothing is counted twice. Each report is one
// Write of whole lines, so that no line of a log interrupts it.
type hadoop struct {
	out  io.Writer
	told map[string]int64 // the step's counters as last reported
}

func (h *hadoop) begin(r report) {
	h.told = map[string]int64{}
	h.update(r)
}

func (h *hadoop) update(r report) {
	var b bytes.Buffer
	h.count(&b, measure(r.unit), r.done)
	for _, c := range r.counts {
		h.count(&b, c.name, c.n)
	}
	fmt.Fprintf(&b, "reporter:status:%s\n", oneLine.Replace(r.standing()))
	_, _ = h.out.Write(b.Bytes()) // if the log of a task cannot be written, Hadoop ends the task
}

func (h *hadoop) end(r report) { h.update(r) }

// Count adds n to Hadoop's counter name, if this process is the program of a Hadoop task. out
// is its standard error. Count is for counters that are known only at the end.
func Count(out io.Writer, name string, n int64) {
	if underHadoop() && n != 0 {
		_, _ = io.WriteString(out, counted(name, n))
	}
}

func counted(name string, n int64) string {
	return fmt.Sprintf("reporter:counter:%s,%s,%d\n", group, oneWord.Replace(name), n)
}

// count reports the increase of a counter.
func (h *hadoop) count(b *bytes.Buffer, name string, n int64) {
	if more := n - h.told[name]; more != 0 {
		b.WriteString(counted(name, more))
		h.told[name] = n
	}
}

// measure returns the name of the counter of a step's unit. Events that a step reads have a name of
// their own, because the counter "events" counts the events of a result.
func measure(unit string) string {
	if unit == Events {
		return "behaviours"
	}
	return unit
}

// Characters that would end a line or a name for Hadoop are replaced.
var (
	oneLine = strings.NewReplacer("\n", " ", "\r", " ")
	oneWord = strings.NewReplacer("\n", " ", "\r", " ", ",", " ")
)

// standing returns a report from the middle of a step: "loading: 1.5 GB of 3.0 GB (109 MB/s),
// 14s left, 10,000,000 records".
func (r report) standing() string {
	s := r.title + ": " + r.amount(r.done)
	if r.total > 0 {
		s += " of " + r.amount(r.total)
	}
	if r.unit != Bytes {
		s += " " + r.unit
	}
	s += " (" + r.rate() + ")"
	if left, ok := r.left(); ok && left > 0 {
		s += ", " + left.String() + " left"
	}
	if c := r.countsText(); c != "" {
		s += ", " + c
	}
	return s
}
