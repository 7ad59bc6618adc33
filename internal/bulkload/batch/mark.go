package batch

import (
	"fmt"
	"slices"

	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/delivered"
	"usertrail/internal/format/manifest"
	"usertrail/internal/format/rule"
)

// An earlier load may have skipped records of a file, or of a copy of it, by a condition that the job does not
// have. The batch evaluates the condition again to find these records. It does so while it reads the file,
// because it has the columns of a record only then. At that time it does not know the digest of the file yet.
// Therefore it does not know the copies of the file either.

// maxMarks is the number of bits of marks.
const maxMarks = 64

// mark sets self and marks of an input.
func (b *Batch) mark(in *Input) error {
	if in.corrected != nil {
		return nil
	}
	in.self = in.Copy(b.selection(in), b.cfg.Job.Format.Slack)
	var texts []string
	for _, p := range in.Partly {
		texts = append(texts, p.Skip)
	}
	if in.Whole() {
		texts = append(texts, b.owner.Conditions(in, in.self)...)
	}
	slices.Sort(texts)
	texts = slices.Compact(texts)
	if len(texts) > maxMarks {
		return fmt.Errorf("%w: %s: loads of it, or of files of its size, had %d conditions logs.skip, and at most %d can be told apart: load the logs into a new table",
			bulkload.ErrRequest, in.Path, len(texts), maxMarks)
	}
	in.marks = nil
	for _, text := range texts {
		r, err := rule.Parse(text)
		if err != nil {
			return fmt.Errorf("%s: logs.skip of an earlier load: %w", in.Path, err)
		}
		in.marks = append(in.marks, r)
	}
	return nil
}

// marked reports whether a condition of in.marks holds for a record with these marks. The empty condition
// does not hold.
func (in *Input) marked(skip string, marks uint64) bool {
	if skip == "" || marks == 0 {
		return false
	}
	i := in.markOf(skip)
	return i >= 0 && marks&(1<<i) != 0
}

// markOf returns the index of a condition in in.marks, or -1.
func (in *Input) markOf(skip string) int {
	return slices.IndexFunc(in.marks, func(r *rule.Rule) bool { return r.String() == skip })
}

// checkCopies returns an error if the job cannot determine which records of in a copy added.
func (in *Input) checkCopies() error {
	for _, c := range in.copies {
		if c.SkippedBy != "" && in.markOf(c.SkippedBy) < 0 {
			c.Unclear = manifest.SkipSetting
		}
		if err := delivered.UnclearCopy(in.Path, &c); err != nil {
			return err
		}
	}
	return nil
}
