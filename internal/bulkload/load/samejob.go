package load

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"usertrail/internal/behaviour"
	"usertrail/internal/bulkload"
	"usertrail/internal/format/job"
	"usertrail/internal/format/layout"
	"usertrail/internal/format/manifest"
)

// A killed load by puts leaves cells in the table. The same job puts these cells again. A job
// that only grew also puts them again. Any other job would leave cells in the table that no
// ledger describes.

// sameJob returns an error if a killed load began to put a file by another job. The table would
// have cells of both jobs.
func (l *load) sameJob(path string) error {
	for _, begun := range l.ledgers.Begun(path) {
		if begun.Job != "" && begun.Job != l.job.Digest() {
			return l.otherJob(begun, "")
		}
	}
	return nil
}

// fitsBegun checks a file that killed loads began to put. It returns an error if the file has
// changed, or if the job does not put every cell again.
func (l *load) fitsBegun(ctx context.Context, f job.Input) error {
	grew := true
	for _, begun := range l.ledgers.Begun(f.Rel) {
		if err := l.sameFile(ctx, f, begun); errors.Is(err, bulkload.ErrChanged) {
			return fmt.Errorf("%w; a load that was killed put some of its records as they were: deliver the file as it was, load it, then what is new", err)
		} else if err != nil {
			return err
		}
		grew = grew && l.grewFrom(begun)
	}
	if grew {
		return nil
	}
	return l.sameJob(f.Rel)
}

func (l *load) otherJob(begun *manifest.Input, why string) error {
	return fmt.Errorf("%w: %s: a load that was killed put some of its records by another job, whose digest begins with %.12s, and this job's with %.12s%s: load the file by the job as it was; if that was wrong, truncate the table, let `bulkload forget` set its catalog aside, and load all again",
		bulkload.ErrRequest, begun.Path, begun.Job, l.job.Digest(), why)
}

// reading returns the fields and behaviour texts that the job reads, and the table's fields.
func (l *load) reading() *manifest.Reading {
	r := &manifest.Reading{Fields: map[string][]string{}, Table: map[string][]string{}, Texts: slices.Sorted(maps.Keys(l.job.Format.KindOf))}
	for k := range l.job.Schema.Kinds {
		name := l.job.Schema.Kinds[k].Name
		r.Fields[name] = fieldNames(&l.job.Schema.Kinds[k])
		r.Table[name] = fieldNames(&l.schema.Kinds[l.kindMap[k].kind])
	}
	return r
}

func fieldNames(k *behaviour.Kind) []string {
	out := make([]string, len(k.Fields))
	for i := range k.Fields {
		out[i] = k.Fields[i].Name
	}
	return out
}

// grewFrom reports whether the job puts every cell that the job of a killed load put, and may
// put more: it has the same behaviours and fields, and reads them in the same way.
func (l *load) grewFrom(begun *manifest.Input) bool {
	r := begun.Reading
	if r == nil {
		return false
	}
	if digest, ok := l.job.DigestOf(r.Fields, r.Texts); !ok || digest != begun.Job {
		return false
	}
	for name, old := range r.Fields {
		in, _ := l.schema.Kind(name)
		now, then := fieldNames(&l.schema.Kinds[in]), r.Table[name]
		more := l.moreFields(name, old)
		switch {
		case l.layout.Name() != layout.Default: // its cells may depend on all fields
			if more || !slices.Equal(now, then) {
				return false
			}
		case len(then) == 0:
			if len(now) > 0 {
				return false
			}
		case now[0] != then[0], more && !slices.Contains(old, then[0]): // a record without the first field has a marker
			return false
		}
	}
	return true
}

// moreFields reports whether the job has more fields of a behaviour than another had.
func (l *load) moreFields(name string, old []string) bool {
	k, ok := l.job.Schema.Kind(name)
	return ok && len(l.job.Schema.Kinds[k].Fields) > len(old)
}

// sameBad checks a file that a killed load began to put. It returns an error if the job has more
// fields and finds another number of bad records: the killed load may have put some of them.
func (l *load) sameBad(in *input) error {
	for _, begun := range l.ledgers.Begun(in.Rel) {
		if begun.Reading == nil || begun.Quarantined == in.counts.Quarantined {
			continue
		}
		for name, old := range begun.Reading.Fields {
			if l.moreFields(name, old) {
				return l.otherJob(begun, fmt.Sprintf(", which finds %d bad records and not %d", in.counts.Quarantined, begun.Quarantined))
			}
		}
	}
	return nil
}
