package bulkload

import "usertrail/internal/behaviour"

// tooOld says whether a record is of a day that was dropped from the table. A file of a
// later day may bring some by the job's slack: loaded, they would be a part of a day of
// which the rest is gone.
func (p *parser) tooOld(d behaviour.Date) bool {
	if p.first == nil || d >= *p.first {
		return false
	}
	p.older++
	return true
}

// countOlder adds what the files that were taken in had of such records, and says so.
func (b *batch) countOlder() {
	var n int64
	for _, in := range b.inputs {
		if in.err == nil {
			n += in.older
		}
	}
	b.countSkipped(n)
}

func (l *load) countSkipped(older int64) {
	if older == 0 {
		return
	}
	l.result.Older += older
	l.log.Warn("skipped records of days that were dropped from the table", "records", older, "before", l.target.Info().Dropped)
}
