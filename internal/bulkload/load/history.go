package load

import (
	"fmt"

	"usertrail/internal/behaviour"
	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/delivered"
	"usertrail/internal/bulkload/ledger"
	"usertrail/internal/format/manifest"
)

// A history describes the records of a delivered file that earlier loads added to the table.
type history struct {
	held     bool // one earlier load was for all requested records; some of them may stay out
	whole    bool // that load left out no record
	allOlder bool // all records are of days that were dropped
	asked    bool // an earlier load had records of some of the requested dates, or all of them were dropped
	covered  []*manifest.Part
	partly   []manifest.Except
	out      map[manifest.Setting]int64 // records that stay out
	unclear  manifest.Setting           // why it is not known which other records the table has; "" if it is known
}

// historyOf returns the history of f. olds are the entries of the same file in earlier loads. The table has no days
// before dropped, which may be nil.
func (l *Load) historyOf(f *delivered.File, olds []*manifest.Input, dropped *behaviour.Date) (*history, error) {
	h := &history{out: map[manifest.Setting]int64{}}
	kind := f.Behaviour(l.cfg.Job.Schema)
	by, asked := l.by.Of(kind), ledger.Undropped(f.Part, kind, dropped)
	h.asked = asked.Dates().Days() < 1 // all requested dates were dropped
	for _, old := range olds {
		v := old.SeenBy(asked, by)
		h.asked = h.asked || old.HasDays(asked.Dates())
		if v.None {
			h.covered = append(h.covered, new(manifest.Part))
			continue
		}
		if err := l.fitsOther(f, old); err != nil {
			return nil, err
		}
		h.add(&v, old)
	}
	if h.unclear != "" && !h.held && !manifest.Covered(h.covered, asked) {
		return nil, unclearError(f, h.unclear)
	}
	return h, nil
}

// add adds the records that one load added. in is the file in that load.
func (h *history) add(v *manifest.View, in *manifest.Input) {
	for why, records := range in.StaysOut {
		h.out[why] = max(h.out[why], records)
	}
	for why, records := range v.Out {
		h.out[why] = min(h.out[why]+records, in.Read) // several loads may have skipped the same record
	}
	if v.Unclear != "" {
		h.unclear = v.Unclear
	}
	switch {
	case in.Read == 0:
	case v.Skip != "":
		h.partly = append(h.partly, manifest.Except{Part: v.Part, Skip: v.Skip})
		return
	default:
		h.covered = append(h.covered, v.Part)
	}
	if v.Whole {
		h.held, h.whole = true, h.whole || len(v.Out)+len(in.StaysOut) == 0
		h.allOlder = h.allOlder || in.AllOlder()
	}
}

// unclearError returns the error for a file that has to be read again although a load cannot determine which of its
// records the table has.
func unclearError(f *delivered.File, why manifest.Setting) error {
	return fmt.Errorf("%w: %s: the table has records of it, by a job with other settings of %s. This job asks for more records of the file, and a load cannot tell which of them the table has: %s",
		bulkload.ErrRequest, f.Path, why, bulkload.UnclearAdvice[why])
}
