package batch

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"sync"

	"usertrail/internal/behaviour"
	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/delivered"
	"usertrail/internal/bulkload/ledger"
	"usertrail/internal/bulkload/quarantine"
	"usertrail/internal/column"
	"usertrail/internal/format/manifest"
	"usertrail/internal/format/record"
	"usertrail/internal/format/rule"
)

// An Input is a delivered file of a batch.
type Input struct {
	delivered.File
	corrected Corrected // nil if the delivered file is read
	index     int       // in its batch

	mu      sync.Mutex
	counts  manifest.Counts // Loaded is what may be loaded, until the batch is written
	others  manifest.Unmapped
	days    map[dayOf]bool // of the good records that the load requests
	outside dateSet        // of the good records of other dates than the load's
	listed  *listedDays    // days and outside, after the last record of a file without a date in its path
	parsing int            // chunks that were sent to the workers and are not counted
	sent    bool           // all chunks were sent
	err     error          // why nothing of it is loaded
	sha     string         // of the bytes that are read
	ranges  []string       // digests of all ranges, if Cuts is set
	lines   int64          // that end in the range
	self    ledger.Copy    // the file as its copies see it
	copies  []ledger.Copy  // of the file, in the table already
	marks   []*rule.Rule   // the conditions of Partly, and those by which loads may have skipped records of copies
	sameAs  string         // the first of them, if they have every requested record
	replays []int64        // offsets of the records that replays added, in order
	bad     *quarantine.File
	places  []int64 // offsets of the corrected records that no earlier replay loaded
	there   []int64 // offsets of the corrected records that a load added
	texts   []textAt
}

// A textAt is the checksum of the good text of the corrected record at an offset.
type textAt struct {
	offset int64
	sum    uint32
}

// NewInput returns the input of a delivered file.
func NewInput(f *delivered.File) *Input { return &Input{File: *f} }

// NewCorrected returns an input of corrected records. sha is the digest of the delivered file.
func NewCorrected(f *delivered.File, sha string, c Corrected) *Input {
	return &Input{File: *f, corrected: c, sha: sha}
}

// Corrected are the corrected records of one delivered file. A batch loads them in place of the file.
// Package replay implements it.
type Corrected interface {
	// From returns the name of the quarantine file.
	From() string
	// Header returns the names of the columns.
	Header(ctx context.Context) ([]string, error)
	// Each calls do for each record, in order of the records' offsets. If an error concerns these records
	// alone, Refuse makes it.
	Each(ctx context.Context, do func(Texts) error) error
	// Brought reports whether the ledgers show that a load added the record at an offset, of a date and
	// behaviour, or found that it is a duplicate. text names the behaviour; it is nil if the path does.
	Brought(offset int64, d behaviour.Date, behaviour string, text *string) bool
	// Asked reports whether a load of the delivered file or of a copy requested records of a date and behaviour. text is as for
	// Brought.
	Asked(d behaviour.Date, behaviour string, text *string) bool
	// Numbers returns the numbers of the delivered file and of its copies.
	Numbers() []uint32
	// Held reports whether the table has the record at an offset, under any user, date and behaviour. It is called after
	// Each, and many goroutines may call it at once.
	Held(ctx context.Context, offset int64) (bool, error)
	// Keeps returns which lines stay in the quarantine file of records that are bad again.
	Keeps() quarantine.Keeps
}

// Texts are the texts of one corrected record.
type Texts struct {
	Chunks   []record.Chunk // one for each text; the first good one is the record
	Lines    []int64        // the line of each in the quarantine file
	Repeated int64          // further texts, which are duplicates
}

// A refusedError is an error for which nothing of an input is loaded. Other inputs are loaded.
type refusedError struct{ error }

// Refuse returns err as an error that concerns one input alone.
func Refuse(err error) error { return &refusedError{err} }

// Unwrap returns the cause.
func (r *refusedError) Unwrap() error { return r.error }

// source returns the name of the file that the records are read from: the delivered file or a quarantine file.
func (in *Input) source() string {
	if in.corrected != nil {
		return in.corrected.From()
	}
	return in.Path
}

// Fail records that nothing of the file is loaded. The first reason counts.
func (in *Input) Fail(err error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.err == nil {
		in.err = err
	}
}

// unfit adds the next step to err, an error of reading records of in.
func (in *Input) unfit(err error) error {
	if in.corrected != nil {
		return delivered.UnfitCorrected(err)
	}
	return delivered.Unfit(err)
}

// Failed reports whether nothing of the file is loaded because of an error.
func (in *Input) Failed() bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.err != nil
}

// Err returns why nothing of the file is loaded, or nil.
func (in *Input) Err() error {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.err
}

// count adds to the counts.
func (in *Input) count(c manifest.Counts) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.counts.Add(c)
}

// sends records that a chunk is about to be sent to a worker.
func (in *Input) sends() {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.parsing++
}

// sentAll records that all chunks of the file were sent.
func (in *Input) sentAll() {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.sent = true
	in.shorten()
}

// endBad ends the quarantine file after a number of chunks.
func (in *Input) endBad(chunks int) error {
	if in.bad == nil { // the file is not read for a load
		return nil
	}
	return in.bad.End(chunks)
}

// countOthers adds the records of a chunk whose text names no behaviour of the job.
func (in *Input) countOthers(u *manifest.Unmapped) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.others.Merge(u)
	in.parsing--
	in.shorten()
}

// A dayOf is a day of the records of a file. The behaviour is "" if the whole file is read.
type dayOf struct {
	behaviour string
	date      behaviour.Date
}

// addDays adds the days of the records of a chunk, and the dates of its records outside the dates of the load.
func (in *Input) addDays(days map[dayOf]bool, outside *dateSet) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.days == nil {
		in.days = map[dayOf]bool{}
	}
	maps.Copy(in.days, days)
	in.outside.merge(outside)
}

// shorten keeps only the texts and days that the ledger lists, when all records of the file are counted. A batch
// may have many files.
func (in *Input) shorten() {
	if !in.sent || in.parsing != 0 {
		return
	}
	if in.Only == nil {
		in.others.Shorten(manifest.ListedUnmapped)
	}
	if in.Date == nil && in.listed == nil {
		in.listed = in.list()
		in.days, in.outside = nil, dateSet{}
	}
}

// unmapped returns the texts of these records for the ledger. If the input is a range, it returns all
// texts, because the commit adds up the ranges.
func (in *Input) unmapped() []manifest.TextCount {
	if in.Only != nil {
		return in.others.List(manifest.MaxUnmapped)
	}
	return in.others.List(manifest.ListedUnmapped)
}

// Index returns the position of the input in its batch.
func (in *Input) Index() int { return in.index }

// SHA256 returns the digest of the bytes that were read, or "".
func (in *Input) SHA256() string { return in.sha }

// Bad returns the quarantine file of the input.
func (in *Input) Bad() *quarantine.File { return in.bad }

// dropped reports whether the records of the input are not loaded.
func (in *Input) dropped() bool { return in.err != nil || in.sameAs != "" }

// brought reports whether a record with a column ID, of a date and behaviour, is in the table by a copy
// of the file or by a replay. text names the behaviour; it is nil if the path does. marks has a bit for
// each of in.marks that holds for the record.
func (in *Input) brought(id int64, d behaviour.Date, behaviour string, text *string, marks uint64) bool {
	for i := range in.copies {
		if c := &in.copies[i]; !in.marked(c.SkippedBy, marks) && c.Has(d, behaviour, text) {
			return true
		}
	}
	_, offset := column.Place(id)
	_, found := slices.BinarySearch(in.replays, offset)
	return found
}

// digest returns the digest of the delivered file, or "" if only a range of it was read.
func (in *Input) digest() string {
	if !in.Whole() {
		return ""
	}
	return in.sha
}

// Places returns the sorted offsets of the corrected records that no earlier replay added.
func (in *Input) Places() []int64 {
	in.mu.Lock()
	defer in.mu.Unlock()
	return slices.Sorted(slices.Values(in.places))
}

// There returns the sorted offsets of the corrected records that a load added.
func (in *Input) There() []int64 {
	in.mu.Lock()
	defer in.mu.Unlock()
	return slices.Sorted(slices.Values(in.there))
}

// brings stores that a load added the corrected record at an offset.
func (in *Input) brings(offset int64) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.there = append(in.there, offset)
}

// settles records the good text of the corrected record at an offset.
func (in *Input) settles(offset int64, text []byte) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.texts = append(in.texts, textAt{offset, manifest.TextSum(text)})
}

// sums returns the checksums of the texts of the corrected records in places, which are sorted.
func (in *Input) sums() (out manifest.TextSums) {
	slices.SortFunc(in.texts, func(a, b textAt) int { return cmp.Compare(a.offset, b.offset) })
	for _, place := range in.places {
		i, _ := slices.BinarySearchFunc(in.texts, place, func(t textAt, offset int64) int { return cmp.Compare(t.offset, offset) })
		out = out.Append(in.texts[i].sum)
	}
	return out
}

// replayed records that a corrected record is not one of an earlier replay.
func (in *Input) replayed(id int64) {
	_, offset := column.Place(id)
	in.mu.Lock()
	defer in.mu.Unlock()
	in.places = append(in.places, offset)
}

// copyOf returns the path of a copy of another day, if all good records of the input are duplicates or of dropped days, and none is of the day in its path.
func (in *Input) copyOf() string {
	if in.corrected != nil || in.counts.Loaded > 0 || in.counts.Duplicate+in.counts.Skips.DroppedDays == 0 || in.days[dayOf{date: *in.Date}] {
		return ""
	}
	for i := range in.copies {
		if c := &in.copies[i]; c.Dates == nil || c.Dates.Middle() != *in.Date {
			return c.Path
		}
	}
	return ""
}

// listedDays are the days that the ledger has of a file without a date in its path.
type listedDays struct {
	days    []manifest.DaysOf
	outside []behaviour.Span
}

// spans returns the number of spans.
func (l *listedDays) spans() (n int) {
	if l == nil {
		return 0
	}
	for _, of := range l.days {
		n += len(of.Days)
	}
	return n + len(l.outside)
}

// list returns the days of a file without a date in its path for the ledger.
func (in *Input) list() *listedDays {
	if in.listed != nil {
		return in.listed
	}
	return &listedDays{in.daysOf(), in.outside.spans()}
}

func (in *Input) daysOf() []manifest.DaysOf {
	spans := map[string][]behaviour.Span{}
	for d := range in.days {
		spans[d.behaviour] = append(spans[d.behaviour], behaviour.Span{From: d.date, To: d.date})
	}
	return manifest.GroupDays(spans)
}

// entry returns the entry of an input in the ledger.
func (b *Batch) entry(in *Input) manifest.Input {
	kind := in.Behaviour(b.cfg.Job.Schema)
	out := manifest.Input{
		Path: in.Rel, Behaviour: kind, Number: in.Number, Size: in.Size, Modified: in.Modified,
		SHA256: in.sha, Part: in.Part, Dates: in.Dates(b.cfg.Job.Format.Slack), SameAs: in.sameAs, Older: in.counts.Skips.DroppedDays, Counts: in.counts,
		Unmapped: in.unmapped(), TextsBy: b.selection(in).TextsBy,
	}
	if in.corrected == nil {
		out.BadAt, out.StaysOut = in.bad.BadAt(), in.StaysOut
		if out.Older > 0 {
			out.Part = ledger.Undropped(in.Part, kind, b.cfg.To.Info().Dropped)
		}
	} else {
		out.Dates, out.Undated = nil, in.Date == nil
		slices.Sort(in.places)
		out.Offsets, out.Texts = in.places, in.sums()
		if out.Offsets == nil {
			out.Offsets = []int64{}
		}
	}
	if in.Date == nil {
		l := in.list()
		out.Days, out.Outside = l.days, l.outside
	} else {
		out.CopyOf = in.copyOf()
	}
	out.SetSelection(b.by)
	return out
}

// Outcomes returns the outcome of each input, without the files of bad records.
func (b *Batch) Outcomes() []manifest.Outcome {
	out := []manifest.Outcome{}
	for _, in := range b.inputs {
		o := manifest.Outcome{Input: b.entry(in), Range: in.Only, Lines: in.lines, Ranges: in.ranges}
		if in.err != nil {
			o.Error, o.TooBad = in.err.Error(), errors.Is(in.err, bulkload.ErrTooBad)
		}
		out = append(out, o)
	}
	return out
}
