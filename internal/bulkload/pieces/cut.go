package pieces

import (
	"fmt"
	"slices"

	"usertrail/internal/bulkload"
	"usertrail/internal/format/job"
	"usertrail/internal/format/manifest"
)

// A file that is larger than a piece is cut into ranges, and each range is a piece. One worker
// also reads the whole file for its digests: the digest of the file, which goes into the ledger,
// and the digest of every range, which proves that the parsed bytes are bytes of that file.
// Commit decides about the file, and the decision holds for all ranges.

// DefaultSize is about the size of a piece in bytes of delivered files. On YARN, a smaller piece
// would spend most of its time on the start of its container.
const DefaultSize = 1 << 30

const (
	// maxFiles limits the description of a piece in a plan to about 300 KB.
	maxFiles = 1000
	// maxPieces is the largest number of pieces. Each is a line, a report, files in each
	// region, and a task of the scheduler.
	maxPieces = 99_999
)

// Whole is a file that is larger than a piece was to be and is not cut.
type Whole struct {
	Path string
	Why  string
}

// A cutter cuts files into pieces of about size bytes.
type cutter struct {
	size  int64
	job   *job.Job
	puts  bool
	keyed []int // requested behaviours with key fields
	mixed bool  // some files have records of many behaviours
}

// tie finds the files that must be in one piece. kinds are the requested behaviours.
func (c *cutter) tie(kinds []int, files []*plannedFile) {
	for _, k := range kinds {
		if c.job.Behaviours[k].Unique.Asked() {
			c.keyed = append(c.keyed, k)
		}
	}
	c.mixed = slices.ContainsFunc(files, func(f *plannedFile) bool { return f.Kind < 0 })
}

// tiedNames returns the names of the behaviours whose files are tied.
func (c *cutter) tiedNames() []string {
	var out []string
	for _, k := range c.keyed {
		out = append(out, c.job.Schema.Kinds[k].Name)
	}
	return out
}

// tied returns a word. Files with the same word must be in one piece, because a record of one may repeat a
// record of another. For all other files the word is empty.
func (c *cutter) tied(f *plannedFile) string {
	switch {
	case len(c.keyed) == 0 || f.Kind >= 0 && !slices.Contains(c.keyed, f.Kind):
		return ""
	case c.mixed:
		return "any"
	}
	return "of " + f.Behaviour(c.job.Schema)
}

// whyWhole returns the reason why a file cannot be cut, or "" if it can.
func (c *cutter) whyWhole(f *plannedFile) string {
	switch {
	case c.puts:
		return "its cells are put, none before all of it was judged"
	case c.tied(f) != "":
		return "keys of its records must not repeat"
	case len(f.copies) > 0:
		return "it has the bytes of another"
	}
	return c.job.Format.WhyWhole(f.Path)
}

// fewEnough returns an error if pieces of this size would be too many.
func (c *cutter) fewEnough(files []*plannedFile) error {
	n := c.count(files)
	if n <= maxPieces {
		return nil
	}
	larger := *c
	for larger.size = 1; larger.size < c.size || larger.count(files) > maxPieces; {
		larger.size *= 2
	}
	return fmt.Errorf("%w: --piece-size %d makes about %d pieces, more than %d: --piece-size %s is enough", bulkload.ErrRequest, c.size, n, maxPieces, roundSize(larger.size))
}

// roundSize formats a power of two for --piece-size.
func roundSize(n int64) string {
	unit := 0
	for n >= 1024 && unit < 4 {
		n /= 1024
		unit++
	}
	return fmt.Sprint(n, []string{"B", "KiB", "MiB", "GiB", "TiB"}[unit])
}

// count returns the number of pieces that the files make, or a few less.
func (c *cutter) count(files []*plannedFile) int64 {
	var ranges int64
	var whole []*plannedFile
	for _, f := range files {
		if f.Size <= c.size || c.whyWhole(f) != "" {
			whole = append(whole, f)
			continue
		}
		ranges += (f.Size+c.size-1)/c.size + 1
	}
	return ranges + int64(len(c.group(whole)))
}

// group groups files into pieces, in order. Files that are tied by the same word are a piece of their own, of
// any size. Each range is a piece of its own, because its cells are left out if its file is.
func (c *cutter) group(files []*plannedFile) [][]*plannedFile {
	var out [][]*plannedFile
	var have int64
	open := -1 // the current piece
	together := map[string]int{}
	for _, f := range files {
		if !f.File.Whole() {
			out = append(out, []*plannedFile{f})
			continue
		}
		if word := c.tied(f); word != "" {
			n, ok := together[word]
			if !ok {
				n = len(out)
				together[word] = n
				out = append(out, nil)
			}
			out[n] = append(out[n], f)
			continue
		}
		if open < 0 || have+f.Size > c.size || len(out[open]) == maxFiles {
			open, have = len(out), 0
			out = append(out, nil)
		}
		out[open] = append(out[open], f)
		have += f.Size
	}
	return out
}

// split returns the pieces of f: its digests, which need the most time, and its ranges, which begin at
// cuts.
func (f *plannedFile) split(cuts []int64) []*plannedFile {
	part := func(only *manifest.Range, cuts []int64) *plannedFile {
		file := *f.File
		file.Only, file.Cuts = only, cuts
		return &plannedFile{File: &file, replayed: f.replayed}
	}
	digests := part(nil, cuts)
	out := []*plannedFile{digests}
	for _, r := range digests.Ranges() {
		out = append(out, part(&r, nil))
	}
	return out
}
