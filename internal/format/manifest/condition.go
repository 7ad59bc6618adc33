package manifest

import (
	"strings"
	"time"

	"github.com/dustin/go-humanize"
)

// A Condition is a flag of extract, as the user typed it, that not every query has.
type Condition struct {
	Flag string `json:"flag"`
	Text string `json:"text"`
}

// Conditions returns the conditions of q. It formats times in zone.
func (q *Query) Conditions(zone *time.Location) []Condition {
	var all []Condition
	add := func(flag, text string) {
		if text != "" {
			all = append(all, Condition{flag, text})
		}
	}
	add("--where", q.Where)
	if q.WhereFirst {
		add("--where-first", "who is active is settled on what --where and --hours kept")
	}
	add("--hours", q.Hours)
	add("--having", q.Having)
	add("--sequence", q.Sequence)
	add("--without", strings.Join(q.Without, ", "))
	add("--fields", strings.Join(q.Fields, ", "))
	if q.Context > 0 {
		add("--context", humanize.Comma(int64(q.Context)))
	}
	if q.At != nil {
		add("--at", time.UnixMicro(*q.At).In(zone).Format("2006-01-02 15:04:05.999999"))
	}
	if q.Latest > 0 {
		add("--latest", humanize.Comma(int64(q.Latest)))
	}
	return all
}
