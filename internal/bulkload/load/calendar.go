package load

import (
	"slices"

	"usertrail/internal/behaviour"
	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/batch"
	"usertrail/internal/format/job"
	"usertrail/internal/format/manifest"
)

// A calendar holds the files of a load before its first batch.
type calendar struct {
	load   *Load
	inputs map[string]*batch.Input // by Rel: the files to load
	before map[string]int          // by Rel: number of ledgers that had them
}

func newCalendar(l *Load, inputs map[string]*batch.Input) *calendar {
	c := &calendar{load: l, inputs: inputs, before: map[string]int{}}
	for path := range inputs {
		c.before[path] = len(l.Known.Inputs(path))
	}
	return c
}

// addTo adds the days to a result, if the span has more than one day and paths have dates.
func (c *calendar) addTo(r *bulkload.Result) {
	span := c.load.cfg.Span
	if span.Days() < 2 || !c.load.cfg.Job.Pattern.Dated() {
		return
	}
	r.Days = new(bulkload.DayCounts)
	r.Calendar = make([]bulkload.DayLine, span.Days())
	for i := range r.Calendar {
		r.Calendar[i].Date, r.Calendar[i].Ended = span.From+behaviour.Date(i), bulkload.DayEmpty
	}
	at := func(d behaviour.Date) *bulkload.DayLine {
		if !span.Has(d) {
			return new(bulkload.DayLine)
		}
		return &r.Calendar[d-span.From]
	}
	for _, m := range c.load.found.Missing {
		at(m.Date).Missing++
	}
	for i := range c.load.found.Inputs {
		if f := &c.load.found.Inputs[i]; f.Date != nil {
			c.add(at(*f.Date), f)
		}
	}
	for _, f := range c.load.found.Refused {
		for d := f.Dates.From; d <= f.Dates.To; d++ {
			at(d).Ended = bulkload.DayFailed
		}
	}
	for i := range r.Calendar {
		r.Days.Add(r.Calendar[i].Ended)
	}
}

// severity orders the ends of a day's files. The highest is the end of the day.
var severity = map[bulkload.DayEnd]int{bulkload.DayEmpty: 0, bulkload.DayAlready: 1, bulkload.DayDropped: 2, bulkload.DayLoaded: 3, bulkload.DayLeft: 4, bulkload.DayFailed: 5}

// add adds a file to its day.
func (c *calendar) add(d *bulkload.DayLine, f *job.Input) {
	d.Files++
	known := c.load.Known.Inputs(f.Rel)
	ended := bulkload.DayAlready
	if slices.ContainsFunc(c.load.LeftOut, func(out manifest.LeftOut) bool { return out.Path == f.Rel }) {
		ended = bulkload.DayFailed
	} else if in := c.inputs[f.Rel]; in != nil {
		switch {
		case len(known) > c.before[f.Rel]:
			ended = bulkload.DayLoaded
			d.Counts.Add(known[len(known)-1].Counts)
		case in.Failed():
			ended = bulkload.DayFailed
		default:
			ended = bulkload.DayLeft
		}
	}
	older := len(known) > 0 && known[len(known)-1].AllOlder()
	if ended == bulkload.DayLoaded && older || ended == bulkload.DayAlready && (older || d.Date.Before(c.load.To.Info().Dropped)) {
		ended = bulkload.DayDropped
	}
	if severity[ended] > severity[d.Ended] {
		d.Ended = ended
	}
}
