package bulkload

import (
	"slices"

	"usertrail/internal/behaviour"
	"usertrail/internal/format/job"
	"usertrail/internal/format/manifest"
)

// A DayLine describes the result for the files of one day. Counts counts the records of the
// files that this load loaded. Files without a date in their path belong to no day.
type DayLine struct {
	Date    behaviour.Date
	Files   int // delivered, of the behaviours that were asked for
	Missing int // behaviours without a file
	manifest.Counts
	Ended DayEnd
}

// A DayEnd is how a day ended.
type DayEnd string

// How a day ends.
const (
	DayLoaded  DayEnd = "loaded"  // all of its files are in, and some were not before
	DayAlready DayEnd = "already" // all of its files were in before
	DayEmpty   DayEnd = "empty"   // it has no file
	DayFailed  DayEnd = "failed"  // nothing of one of its files was loaded, at least
	DayLeft    DayEnd = "left"    // the load did not come to all of its files: the same command does
)

// DayCounts holds the number of days for each DayEnd.
type DayCounts struct {
	Loaded  int `json:"loaded"`
	Already int `json:"already"`
	Empty   int `json:"empty"`
	Failed  int `json:"failed"`
	Left    int `json:"left"`
}

// A calendar holds the files that a load found before it began.
type calendar struct {
	load   *load
	found  job.Found
	inputs map[string]*input // by path: those that are to be loaded
	before map[string]int    // how many ledgers had them
}

func (l *load) newCalendar(found job.Found, inputs []*input) *calendar {
	c := &calendar{load: l, found: found, inputs: map[string]*input{}, before: map[string]int{}}
	for _, in := range inputs {
		c.inputs[in.Rel] = in
		c.before[in.Rel] = len(l.ledgers.byPath[in.Rel])
	}
	return c
}

// tell adds the days to a result, if the span has more than one day and paths have dates.
func (c *calendar) tell(r *Result) {
	span := c.load.cfg.Span
	if span.Days() < 2 || !c.load.job.Pattern.Dated() {
		return
	}
	r.Days = new(DayCounts)
	r.Calendar = make([]DayLine, span.Days())
	for i := range r.Calendar {
		r.Calendar[i].Date, r.Calendar[i].Ended = span.From+behaviour.Date(i), DayEmpty
	}
	at := func(d behaviour.Date) *DayLine {
		if !span.Has(d) {
			return new(DayLine)
		}
		return &r.Calendar[d-span.From]
	}
	for _, m := range c.found.Missing {
		at(m.Date).Missing++
	}
	for i := range c.found.Inputs {
		if f := &c.found.Inputs[i]; f.Date != nil {
			c.add(at(*f.Date), f)
		}
	}
	for i := range r.Calendar {
		r.Days.add(r.Calendar[i].Ended)
	}
}

// severity orders the ends of a day's files. The highest is the end of the day.
var severity = map[DayEnd]int{DayEmpty: 0, DayAlready: 1, DayLoaded: 2, DayLeft: 3, DayFailed: 4}

// add adds a file to its day.
func (c *calendar) add(d *DayLine, f *job.Input) {
	d.Files++
	ended := DayAlready
	if slices.ContainsFunc(c.load.leftOut, func(out manifest.LeftOut) bool { return out.Path == f.Rel }) {
		ended = DayFailed
	} else if in := c.inputs[f.Rel]; in != nil {
		known := c.load.ledgers.byPath[f.Rel]
		switch {
		case len(known) > c.before[f.Rel]:
			ended = DayLoaded
			d.Counts.Add(known[len(known)-1].Counts)
		case in.failed():
			ended = DayFailed
		default:
			ended = DayLeft
		}
	}
	if severity[ended] > severity[d.Ended] {
		d.Ended = ended
	}
}

func (n *DayCounts) add(e DayEnd) {
	switch e {
	case DayLoaded:
		n.Loaded++
	case DayAlready:
		n.Already++
	case DayEmpty:
		n.Empty++
	case DayFailed:
		n.Failed++
	case DayLeft:
		n.Left++
	}
}
