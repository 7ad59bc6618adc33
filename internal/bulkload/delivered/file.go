// Package delivered describes the delivered files of a load: which there are, which part of each is
// requested, and why a file cannot be loaded. One file that cannot be loaded fails itself and its
// day. All other files are loaded.
package delivered

import (
	"cmp"
	"io"
	"slices"

	"usertrail/internal/behaviour"
	"usertrail/internal/bulkload/ledger"
	"usertrail/internal/format/job"
	"usertrail/internal/format/manifest"
	"usertrail/internal/store/dfs"
)

// A File is a delivered file. At least some of its records are loaded.
type File struct {
	job.Input
	Number  uint32           // in the column IDs of its records
	Loaded  string           // SHA-256 of the file of this name from which earlier loads read records; "" if there is none
	Part    *manifest.Part   // the requested part; nil means all
	Covered []*manifest.Part // the parts that are in the table already
	// Partly has the parts of which an earlier load skipped records by a condition that the job does not have.
	// The other records are in the table.
	Partly []manifest.Except
	// StaysOut counts records that earlier loads skipped and that the job cannot find again.
	StaysOut map[manifest.Setting]int64
	// Only is the range that is read; nil means the whole file.
	Only *manifest.Range
	// Cuts are the beginnings of the file's ranges, in order. If it is set, the records of the
	// file are not read, but only the digests of the file and of its ranges.
	Cuts []int64
}

// Behaviour returns the behaviour that the path names, or "" if a column names it.
func (f *File) Behaviour(s *behaviour.Schema) string {
	if f.Kind < 0 {
		return ""
	}
	return s.Kinds[f.Kind].Name
}

// Dates returns the dates that the records may have: slack days before the date of the path to
// slack days after it. It returns nil if the path has no date.
func (f *File) Dates(slack int) *behaviour.Span {
	if f.Date == nil {
		return nil
	}
	at := int64(*f.Date)
	return &behaviour.Span{
		From: behaviour.Date(max(at-int64(slack), int64(behaviour.MinDate))), To: behaviour.Date(min(at+int64(slack), int64(behaviour.MaxDate))),
	}
}

// Whole reports whether the records of the whole file are read. Only then the file can be judged.
func (f *File) Whole() bool { return f.Only == nil && f.Cuts == nil }

// Bytes returns the number of bytes that are read.
func (f *File) Bytes() int64 {
	if f.Only != nil {
		return f.Only.To - f.Only.From
	}
	return f.Size
}

// Reader returns a reader of the bytes that are read. from is the opened file.
func (f *File) Reader(from dfs.File) io.Reader {
	if f.Only == nil {
		return from
	}
	return io.NewSectionReader(from, f.Only.From, f.Bytes())
}

// Ranges returns the ranges that begin at f.Cuts.
func (f *File) Ranges() []manifest.Range {
	var out []manifest.Range
	for i, from := range f.Cuts {
		to := f.Size
		if i+1 < len(f.Cuts) {
			to = f.Cuts[i+1]
		}
		out = append(out, manifest.Range{From: from, To: to})
	}
	return out
}

// TextsBy identifies how a job reads the texts that name behaviours in f. It is empty if the path names the
// behaviour.
func (f *File) TextsBy(j *job.Job) string {
	if f.Kind >= 0 {
		return ""
	}
	return j.TextsBy()
}

// Copy returns f as its copies see it. by and slack are of the job that loads it.
func (f *File) Copy(by manifest.Selection, slack int) ledger.Copy {
	return ledger.Copy{Path: f.Rel, Part: f.Part, Dates: f.Dates(slack), TextsBy: by.TextsBy, SkippedBy: by.Skip, CutBy: by.CutBy}
}

// Again reports whether an earlier load has read f.
func (f *File) Again() bool { return len(f.Covered)+len(f.Partly) > 0 }

// Extends reports whether an earlier load took other records of the same behaviours and dates, because
// the job had fewer texts for the behaviours or another condition.
func (f *File) Extends() bool {
	return len(f.Partly) > 0 || slices.ContainsFunc(f.Covered, f.Part.Extends)
}

// Day returns the date of the path. It returns MaxDate if the path has no date.
func (f *File) Day() behaviour.Date {
	if f.Date == nil {
		return behaviour.MaxDate
	}
	return *f.Date
}

// Compare orders files by date, and then by path. Files without a date come last.
func Compare(a, b *File) int { return cmp.Or(cmp.Compare(a.Day(), b.Day()), cmp.Compare(a.Rel, b.Rel)) }

// Batches sorts files by Compare, and groups them into batches of whole days, in order. A batch ends when it has
// limit bytes. Only the files determine the batches, so a run that continues after a killed run
// makes the remaining batches.
func Batches(files []*File, limit int64) [][]*File {
	slices.SortStableFunc(files, Compare)
	var out [][]*File
	var have int64
	for i := 0; i < len(files); {
		j, size := i+1, files[i].Size
		for j < len(files) && files[j].Date != nil && files[j].Day() == files[i].Day() {
			size += files[j].Size
			j++
		}
		if len(out) == 0 || have+size > limit {
			out = append(out, nil)
			have = 0
		}
		out[len(out)-1] = append(out[len(out)-1], files[i:j]...)
		have += size
		i = j
	}
	return out
}
