package replay

import (
	"cmp"
	"slices"

	"usertrail/internal/bulkload/batch"
	"usertrail/internal/bulkload/ledger"
	"usertrail/internal/format/manifest"
)

// A record in the table is never changed. If the user corrects a record that the table has with another text, the replay reports it, and
// the line stays. If a load added the record, a corrected text is another text. If a replay added it, its ledger has a checksum of the
// text. Lines without marks, and ledgers of older versions, do not show whether the text is another text. Then the record counts only as
// a duplicate.

// note records whether the texts of the next record are corrected, and whether an earlier replay added another text.
func (f *file) note(texts []correction) {
	offset := texts[0].offset
	if !slices.ContainsFunc(texts, func(x correction) bool { return x.edited }) {
		return
	}
	f.edited = append(f.edited, offset)
	i, ok := slices.BinarySearchFunc(f.doneAs, offset, func(t ledger.ReplayedText, offset int64) int { return cmp.Compare(t.Offset, offset) })
	if ok && slices.ContainsFunc(texts, func(x correction) bool { return x.edited && manifest.TextSum(x.raw) != f.doneAs[i].Sum }) {
		f.others = append(f.others, offset)
	}
}

// noteOthers adds the records that are in the table by a load, and that the user has corrected, to the others of each file.
func (p *replay) noteOthers(inputs []*batch.Input) {
	for i, f := range p.files {
		if inputs[i].Failed() {
			continue
		}
		for _, offset := range inputs[i].There() {
			if has(f.edited, offset) {
				f.others = append(f.others, offset)
			}
		}
		slices.Sort(f.others)
	}
}
