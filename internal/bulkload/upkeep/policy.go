package upkeep

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"usertrail/internal/behaviour"
	"usertrail/internal/format/manifest"
	"usertrail/internal/table/segment"
)

const (
	// wideDays is longer than a month, together with the days of other months that its first
	// and last loads have.
	wideDays = 62
	// settled is how many days after its end a month has nearly all of its records.
	settled = 7
	// whileOpen limits merges in a month that still grows. A file is merged if it is at most
	// whileOpen times as large as all smaller files together. Each byte of the month is then
	// written about five times, and the month has two or three files.
	whileOpen = 4
	// onceOver is the same limit for a month that is over. Late files are merged into the
	// month's file when they have a hundredth of its size.
	onceOver = 100
)

// A Step lists files of one region that are merged into one file.
type Step struct {
	Region int
	Files  []manifest.File // the smallest first
}

// Size returns the size of all files together in bytes.
func (s *Step) Size() (n int64) {
	for i := range s.Files {
		n += s.Files[i].Size
	}
	return n
}

// A Round lists the steps of one month. They are committed together.
type Round struct {
	Month Month
	Steps []Step
}

// A Month groups files by the middle of their dates.
type Month int32

// wide is the Month of files whose dates span more than wideDays.
const wide Month = 1 << 30

func (m Month) String() string {
	if m == wide {
		return "many months"
	}
	return strings.TrimSuffix(m.first().String(), "-01")
}

// first returns the month's first date.
func (m Month) first() behaviour.Date { return behaviour.DateOf(int(m)/12, time.Month(m%12)+1, 1) }

// A Policy selects the files that Compact merges.
type Policy struct {
	FileSize int64 // limit of a merged file in bytes; a file may already be larger
	FanIn    int   // how many files are merged at once
}

// Plan returns the merges to do now. After these merges, Plan may return more, because it
// merges the new files again. It returns nothing if no merge is worthwhile.
//
// Plan merges the files of a region and month in ascending order of size, as long as each file
// is not much larger than all smaller files together. Every night therefore costs a small
// amount of writing. A merged file is rewritten only when enough files have been added. Plan skips
// files that are Apart.
func (p Policy) Plan(m *manifest.Table) []Round {
	groups, newest := grouped(m)
	rounds := map[Month]*Round{}
	for at, files := range groups {
		for _, s := range p.steps(files, at.month.over(newest)) {
			if rounds[at.month] == nil {
				rounds[at.month] = &Round{Month: at.month}
			}
			rounds[at.month].Steps = append(rounds[at.month].Steps, Step{at.region, s})
		}
	}
	var out []Round
	for _, month := range slices.Sorted(maps.Keys(rounds)) {
		r := rounds[month]
		slices.SortFunc(r.Steps, func(a, b Step) int {
			return cmp.Or(cmp.Compare(a.Region, b.Region), inOrder(&a.Files[0], &b.Files[0]))
		})
		out = append(out, *r)
	}
	return out
}

// A place is what the files of a merge have in common.
type place struct {
	month  Month
	region int
}

// grouped returns the files that may be merged, by their places, and the newest date.
func grouped(m *manifest.Table) (map[place][]manifest.File, behaviour.Date) {
	groups, points := map[place][]manifest.File{}, m.Points()
	newest := behaviour.MinDate
	for _, f := range m.Files {
		if f.Apart {
			continue
		}
		at := place{monthOf(f.Span), points.Of(f.First)}
		groups[at] = append(groups[at], f)
		if at.month != wide {
			newest = max(newest, middle(f.Span))
		}
	}
	return groups, newest
}

// Reasons returns the reasons why the files of a table are not merged. Plan returns nothing for
// this table.
func (p Policy) Reasons(m *manifest.Table) []string {
	groups, _ := grouped(m)
	apart, alone, large, waiting := len(m.Files), 0, 0, 0
	for _, files := range groups {
		apart -= len(files)
		slices.SortFunc(files, func(a, b manifest.File) int { return inOrder(&a, &b) })
		switch {
		case len(files) == 1:
			alone++
		case files[0].Size+files[1].Size > p.FileSize:
			large += len(files)
		default:
			waiting += len(files)
		}
	}
	var out []string
	for _, r := range []struct {
		files     int
		one, many string
	}{
		{alone, "is the only file of its region and month", "are the only files of their regions and months"},
		{large, "", "would make a file larger than --file-size"},
		{waiting, "", "wait until there is more new data of their months"},
		{apart, "is of a load that read logs again for new texts or another logs.skip", "are of loads that read logs again for new texts or another logs.skip"},
	} {
		switch r.files {
		case 0:
		case 1:
			out = append(out, "1 "+r.one)
		default:
			out = append(out, fmt.Sprintf("%d %s", r.files, r.many))
		}
	}
	return out
}

// steps returns the steps for the files of one region and month.
func (p Policy) steps(files []manifest.File, over bool) [][]manifest.File {
	slices.SortFunc(files, func(a, b manifest.File) int { return inOrder(&a, &b) })
	ratio := int64(whileOpen)
	if over {
		ratio = onceOver
	}
	var sum int64
	merged := 0
	for i := range files {
		if i > 0 && sum+files[i].Size > p.FileSize {
			break
		}
		if i > 0 && files[i].Size <= ratio*sum {
			merged = i + 1
		}
		sum += files[i].Size
	}
	var out [][]manifest.File
	for s := range slices.Chunk(files[:merged], max(p.FanIn, 2)) {
		if len(s) > 1 {
			out = append(out, s)
		}
	}
	return out
}

// inOrder compares files by size, then name.
func inOrder(a, b *manifest.File) int {
	return cmp.Or(cmp.Compare(a.Size, b.Size), cmp.Compare(a.Name, b.Name))
}

func middle(s behaviour.Span) behaviour.Date { return s.From + (s.To-s.From)/2 }

func monthOf(s behaviour.Span) Month {
	if s.Days() > wideDays {
		return wide
	}
	year, month, _ := middle(s).Civil()
	return Month(year*12 + int(month) - 1)
}

// over reports whether a month has ended and its late records have arrived. newest is the
// newest date of the table's files.
func (m Month) over(newest behaviour.Date) bool {
	return m != wide && newest >= (m+1).first()+settled
}

// Merged returns the manifest after a round, as far as it is known before the merge.
func (r *Round) Merged(m *manifest.Table) *manifest.Table {
	after := *m
	after.Rewritten++
	done := make([]rewritten, len(r.Steps))
	for i := range r.Steps {
		s := &r.Steps[i]
		done[i] = rewritten{inputs: s.Files, file: joined(s.Files)}
		done[i].file.Name = name(&after, i) + segment.HFileEnding
		done[i].file.Size = s.Size()
	}
	after.Files = replaced(m.Files, done)
	return &after
}

// joined returns the manifest's entry of a merged file before the file is written.
func joined(files []manifest.File) manifest.File {
	f := manifest.File{First: files[0].First, Last: files[0].Last, Span: files[0].Span}
	for i := range files {
		x := &files[i]
		if bytes.Compare(x.First, f.First) < 0 {
			f.First = x.First
		}
		if bytes.Compare(x.Last, f.Last) > 0 {
			f.Last = x.Last
		}
		f.Span.Add(x.Span)
		f.Records += x.Records
		f.Tally.Add(x.Tally)
		f.Apart = f.Apart || x.Apart
		f.Loads = append(append(f.Loads, x.Load), x.Loads...)
	}
	slices.Sort(f.Loads)
	f.Loads = slices.Compact(f.Loads)
	f.Load = f.Loads[len(f.Loads)-1]
	if len(f.Loads) == 1 {
		f.Loads = nil
	}
	return f
}
