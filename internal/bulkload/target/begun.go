package target

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/dustin/go-humanize/english"

	"usertrail/internal/behaviour"
	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/delivered"
	"usertrail/internal/format/job"
	"usertrail/internal/format/layout"
	"usertrail/internal/format/manifest"
	"usertrail/internal/store/dfs"
)

// A killed load by puts leaves cells in the table. The same job puts these cells again. A job
// that only grew also puts them again. Any other job would leave cells in the table that no
// ledger describes. The argument begun of the following methods has the entries of one file in
// killed loads, as ledger.Index.Begun returns them.

// SameJob returns an error if a killed load began to put a file by another job. The table would
// have cells of both jobs.
func (t *Table) SameJob(begun []*manifest.Input) error {
	for _, b := range begun {
		if b.Job != "" && b.Job != t.Job.Digest() {
			return t.otherJob(b, "")
		}
	}
	return nil
}

// FitsBegun checks a file that killed loads began to put. It returns an error if the file has
// changed, or if the job does not put every cell again.
func (t *Table) FitsBegun(ctx context.Context, fs dfs.FS, f job.Input, begun []*manifest.Input) error {
	grew := true
	for _, b := range begun {
		if err := delivered.SameAs(ctx, fs, f, b); errors.Is(err, bulkload.ErrChanged) {
			return fmt.Errorf("%w; a killed load put some of its records in their earlier form: deliver the earlier file and load it; then load the new records", err)
		} else if err != nil {
			return err
		}
		grew = grew && t.grewFrom(b)
	}
	if grew {
		return nil
	}
	return t.SameJob(begun)
}

func (t *Table) otherJob(begun *manifest.Input, why string) error {
	return fmt.Errorf("%w: %s: a killed load put some of its records by another job. The digest of that job begins with %.12s, the digest of this job with %.12s%s: load the file by the earlier job; if that was wrong, truncate the table, let `bulkload forget` set its catalog aside, and load all again",
		bulkload.ErrRequest, begun.Path, begun.Job, t.Job.Digest(), why)
}

// Reading returns the fields and behaviour texts that the job reads, and the table's fields.
func (t *Table) Reading() *manifest.Reading {
	r := &manifest.Reading{Fields: map[string][]string{}, Table: map[string][]string{}, Texts: slices.Sorted(maps.Keys(t.Job.Format.KindOf))}
	for k := range t.Job.Schema.Kinds {
		name := t.Job.Schema.Kinds[k].Name
		r.Fields[name] = fieldNames(&t.Job.Schema.Kinds[k])
		r.Table[name] = fieldNames(&t.Schema.Kinds[t.kinds[k].index])
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
func (t *Table) grewFrom(begun *manifest.Input) bool {
	r := begun.Reading
	if r == nil {
		return false
	}
	if digest, ok := t.Job.DigestOf(r.Fields, r.Texts); !ok || digest != begun.Job {
		return false
	}
	for name, old := range r.Fields {
		in, _ := t.Schema.Kind(name)
		now, then := fieldNames(&t.Schema.Kinds[in]), r.Table[name]
		more := t.moreFields(name, old)
		switch {
		case t.Layout.Name() != layout.Default: // its cells may depend on all fields
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
func (t *Table) moreFields(name string, old []string) bool {
	k, ok := t.Job.Schema.Kind(name)
	return ok && len(t.Job.Schema.Kinds[k].Fields) > len(old)
}

// SameBad returns an error if the job has more fields than the job of a killed load, and finds another
// number of bad records in the file: the killed load may have put some of them.
func (t *Table) SameBad(begun []*manifest.Input, bad int64) error {
	for _, b := range begun {
		if b.Reading == nil || b.Quarantined == bad {
			continue
		}
		for name, old := range b.Reading.Fields {
			if t.moreFields(name, old) {
				return t.otherJob(b, fmt.Sprintf(", which finds %s and not %d", english.Plural(int(bad), "bad record", ""), b.Quarantined))
			}
		}
	}
	return nil
}
