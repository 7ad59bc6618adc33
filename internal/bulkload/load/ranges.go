package load

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"

	"usertrail/internal/bulkload/quarantine"
	"usertrail/internal/format/manifest"
	"usertrail/internal/format/record"
	"usertrail/internal/store/dfs"
	"usertrail/internal/tally"
)

// A file that is larger than a piece is cut into ranges, and each range is a piece. One worker
// also reads the whole file for its digests: the digest of the file, which goes into the ledger,
// and the digest of every range, which proves that the parsed bytes are bytes of that file.
// Commit decides about the file, and the decision holds for all ranges.

// Whole is a file that is larger than a piece was to be and is not cut.
type Whole struct {
	Path string
	Why  string
}

// ranges puts ranges and their digests in the place of the files that can be cut.
func (p *planner) ranges(inputs []*input, size int64, tied func(*input) string) ([]*input, error) {
	var out []*input
	for _, in := range inputs {
		if in.Size <= size {
			out = append(out, in)
			continue
		}
		why := p.whyWhole(in, tied)
		var cuts []int64
		if why == "" {
			cuts = p.see(in).cuts
			if cuts == nil {
				p.ask(in, size)
				continue
			}
			if len(cuts) == 1 {
				why = "no place in it is surely between two records"
			}
		}
		if why != "" {
			p.planned.Whole = append(p.planned.Whole, Whole{in.Path, why})
			out = append(out, in)
			continue
		}
		p.planned.Cut++
		out = append(out, in.split(cuts)...)
	}
	return out, p.allRead()
}

// whyWhole says why a file cannot be cut, "" if it can.
func (p *planner) whyWhole(in *input, tied func(*input) string) string {
	switch {
	case p.putter != nil:
		return "its cells are put, none before all of it was judged"
	case tied(in) != "":
		return "keys of its records must not repeat"
	case len(in.copies) > 0:
		return "it has the bytes of another"
	}
	return p.job.Format.WhyWhole(in.Path)
}

// cuts is where the ranges of a file begin, the first at 0: as many as keep to size, and
// of about one length.
func (p *planner) cuts(ctx context.Context, in *input, size int64) ([]int64, error) {
	f, err := dfs.OpenRegular(ctx, p.Config.FS, in.Path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	cuts := []int64{0}
	count := (in.Size + size - 1) / size
	for i := int64(1); i < count; i++ {
		at := in.Size/count*i + in.Size%count*i/count
		last := cuts[len(cuts)-1]
		if at <= last {
			continue // a record is longer than a range
		}
		if err := ctx.Err(); err != nil {
			return nil, context.Cause(ctx)
		}
		from, sure, err := p.job.Format.Begins(f, in.Size, at)
		if err != nil {
			return nil, err
		}
		if sure && from < in.Size {
			cuts = append(cuts, from)
		}
	}
	return slices.Compact(cuts), nil
}

// split is in as its digests, which take longest, and its ranges.
func (in *input) split(cuts []int64) []*input {
	part := func() *input {
		return &input{Input: in.Input, number: in.number, part: in.part, covered: in.covered}
	}
	digests := part()
	digests.cuts = cuts
	out := []*input{digests}
	for _, r := range rangesAt(cuts, in.Size) {
		p := part()
		p.only = &r
		out = append(out, p)
	}
	return out
}

// rangesAt are the ranges that begin at cuts.
func rangesAt(cuts []int64, size int64) []manifest.Range {
	var out []manifest.Range
	for i, from := range cuts {
		to := size
		if i+1 < len(cuts) {
			to = cuts[i+1]
		}
		out = append(out, manifest.Range{From: from, To: to})
	}
	return out
}

func sameRange(a, b *manifest.Range) bool {
	return a == b || a != nil && b != nil && *a == *b
}

// whole reports whether the whole file is read, so that it can be judged.
func (in *input) whole() bool { return in.only == nil && in.cuts == nil }

// toRead is how many bytes of the file are read.
func (in *input) toRead() int64 {
	if in.only != nil {
		return in.only.To - in.only.From
	}
	return in.Size
}

// stretch returns a reader for the part of f that is read. f is the file of in.
func (in *input) stretch(f dfs.File) io.Reader {
	if in.only == nil {
		return f
	}
	return io.NewSectionReader(f, in.only.From, in.toRead())
}

// openRecords starts to read in's records from raw. For a range, it reads the header from the
// file. If that fails, src holds the error.
func (b *batch) openRecords(f dfs.File, raw io.Reader, src *source, in *input) (*record.Reader, error) {
	if in.only == nil {
		return record.Open(raw, in.File(), &b.job.Format)
	}
	head := &source{r: io.NewSectionReader(f, 0, in.Size)}
	r, err := record.OpenRange(head, raw, in.File(), &b.job.Format, in.only.From, in.only.To)
	if head.err != nil {
		src.err = head.err
	}
	return r, err
}

// digestRanges reads a file, and computes its digest and the digests of its ranges.
func (b *batch) digestRanges(ctx context.Context, in *input) error {
	if err := b.unchanged(ctx, in); err != nil || in.err != nil {
		return err
	}
	at := b.progress.Worker("digesting")
	defer at.End()
	at.At("%s, of %d bytes", in.Path, in.Size)
	f, err := dfs.OpenRegular(ctx, b.cfg.FS, in.Path)
	if err != nil {
		return b.unreadable(in, err)
	}
	defer f.Close()
	whole := sha256.New()
	r := io.TeeReader(&counted{r: f, progress: b.progress}, whole)
	for _, part := range rangesAt(in.cuts, in.Size) {
		h := sha256.New()
		if _, err := io.CopyN(h, r, part.To-part.From); errors.Is(err, io.EOF) {
			break // it is shorter than it was, which is found out when it is judged
		} else if err != nil {
			return b.unreadable(in, fmt.Errorf("load: %w", err))
		}
		in.ranges = append(in.ranges, hex.EncodeToString(h.Sum(nil)))
	}
	if _, err := io.Copy(io.Discard, r); err != nil {
		return b.unreadable(in, fmt.Errorf("load: %w", err))
	}
	in.sha = hex.EncodeToString(whole.Sum(nil))
	return nil
}

// A part is a range of a file, and the report about it.
type part struct {
	*manifest.Outcome
	report *manifest.Report
}

// parts are the ranges of all files, by path and in order.
func (p *publisher) parts() map[string][]part {
	out := map[string][]part{}
	for _, r := range p.reports {
		for i := range r.Inputs {
			if o := &r.Inputs[i]; o.Range != nil {
				out[o.Path] = append(out[o.Path], part{o, r})
			}
		}
	}
	return out
}

// join combines the digests of a file, which in has asked for, and the outcomes of its ranges
// into the outcome that one process would have. If the file cannot be loaded, join removes its
// records from the reports.
func (p *publisher) join(in *PieceInput, digests *manifest.Outcome, parts []part) *manifest.Outcome {
	out := *digests
	bad := joinedBad{path: in.Rel, sha: digests.SHA256, covered: len(in.Covered) > 0}
	var lines int64
	var found []string
	var badAt []int64
	for _, part := range parts {
		if part.Error != "" && out.Error == "" {
			out.Error, out.TooBad = part.Error, part.TooBad
		}
		out.Counts.Add(part.Counts)
		if out.Older += part.Older; part.Older > 0 {
			out.Part = part.Part
		}
		found = append(found, part.SHA256)
		badAt = append(badAt, part.BadAt.List()...)
		if part.Bad != "" {
			bad.files = append(bad.files, quarantine.Range{Name: dfs.Join(p.folder.Plans, part.Bad), Before: lines})
		}
		lines += part.Lines
	}
	if out.Error == "" && !slices.Equal(found, digests.Ranges) {
		out.Error = errWritten(in.Path).Error()
	}
	if out.Error == "" {
		if err := p.tooBad(in.Path, in.Rel, &out.Counts); err != nil {
			out.Error, out.TooBad = err.Error(), true
		}
	}
	if out.Error == "" {
		if err := p.tooFewOf(in, out.Read); err != nil {
			out.Error, out.TooBad = err.Error(), true
		}
	}
	if int64(len(badAt)) == out.Quarantined && len(badAt) <= manifest.MaxBadOffsets {
		out.BadAt = manifest.OffsetsOf(badAt)
	}
	if len(bad.files) > 0 && (out.Error == "" || out.TooBad) {
		p.joined = append(p.joined, bad)
	}
	if out.Error != "" {
		for _, part := range parts {
			leaveOut(part.report)
		}
	}
	return &out
}

// leaveOut removes the files of a piece from its report. The files remain until a sweep.
func leaveOut(r *manifest.Report) {
	r.Files, r.Days = nil, nil
	for i := range r.Regions {
		r.Regions[i].Tally = tally.Tally{}
	}
}

// joinedBad are the files of the bad records of one delivered file's ranges, in order.
type joinedBad struct {
	path    string
	sha     string // digest of the delivered file
	covered bool   // a load brought records of path before
	files   []quarantine.Range
}

// publishJoined writes the bad records of a file that was read in ranges.
func (p *publisher) publishJoined(ctx context.Context, n int) error {
	j := &p.joined[n]
	if err := quarantine.Join(ctx, p.cfg.FS, j.files, p.cfg.Store.Quarantine(j.path), j.sha, quarantine.KeepsOfLoad(j.path, j.sha, j.covered)); err != nil {
		return fmt.Errorf("quarantine %s: %w", j.path, err)
	}
	return nil
}
