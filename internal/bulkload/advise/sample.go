package advise

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/cespare/xxhash/v2"

	"usertrail/internal/behaviour"
	"usertrail/internal/bulkload"
	"usertrail/internal/column"
	"usertrail/internal/format/job"
	"usertrail/internal/format/layout"
	"usertrail/internal/format/record"
	"usertrail/internal/store/dfs"
)

const (
	// chunkBytes is the size of a chunk of a file. At least one chunk of each file is read.
	chunkBytes = 256 << 10

	// keptRecords is the largest number of records that are written in each layout. Users are
	// chosen by a hash. All records of a chosen user in the sample are kept.
	keptRecords = 40_000
)

// DefaultBytes is the default amount of log text to read.
const DefaultBytes = 128 << 20

// A Sample has numbers about all logs, estimated from a part of them.
type Sample struct {
	Files   int     `json:"files"`
	Bytes   int64   `json:"bytes"` // size of all files, as delivered
	Days    int     `json:"days"`
	Sampled int64   `json:"sampled"` // records that were read
	Bad     int64   `json:"bad"`     // bad records
	Whole   bool    `json:"whole"`   // the files were read to the end
	Records float64 `json:"records"` // in all files
	Users   float64 `json:"users"`   // in all files
	Kinds   []Kind  `json:"kinds"`

	kept  []behaviour.Record
	unfit map[string]error // by layout
	names []string         // of layouts to compare
}

// A Kind has the number of records of a behaviour in the sample.
type Kind struct {
	Name  string `json:"name"`
	Count int64  `json:"sampled"`
}

// Take reads the beginnings of the files of span and types: about limit bytes of text in all, and
// at least one chunk of each file, for at most a thousand files.
func Take(ctx context.Context, files dfs.FS, j *job.Job, span behaviour.Span, types []string, limit int64) (*Sample, error) {
	kinds, err := j.Schema.Select(types)
	if err != nil {
		return nil, fmt.Errorf("%w: --types: the job has %w", bulkload.ErrRequest, err)
	}
	found, err := j.Find(ctx, files, span, kinds)
	if err != nil {
		return nil, err
	}
	t := newTaker(j, span, kinds)
	step := max(len(found.Inputs)/1000, 1)
	read := (len(found.Inputs) + step - 1) / step
	for i, in := range found.Inputs {
		t.s.Bytes += in.Size
		if i%step != 0 {
			continue
		}
		if err := t.take(ctx, files, in, max(limit/int64(max(read, 1)), chunkBytes)); err != nil {
			return nil, fmt.Errorf("sample %s: %w", in.Path, err)
		}
	}
	t.s.Files = len(found.Inputs)
	if t.s.Sampled == 0 {
		return nil, fmt.Errorf("%w: no good record of %s in %d files below %s: choose other dates", job.ErrNoInput, span, len(found.Inputs), j.Pattern.Root)
	}
	t.finish(found.Inputs)
	return t.s, nil
}

// A taker reads a sample.
type taker struct {
	job   *job.Job
	span  behaviour.Span
	asked []bool // kinds
	s     *Sample

	file    uint32
	counts  map[uint64]int64 // records, by hash of the user
	highest uint64           // the highest hash of a user whose records are kept
	days    map[behaviour.Date]bool
	layouts []layout.Layout
	records float64 // in the files that were read, estimated from the parts that were read
	size    int64   // of these files
}

func newTaker(j *job.Job, span behaviour.Span, kinds []int) *taker {
	t := &taker{
		job: j, span: span, asked: make([]bool, len(j.Schema.Kinds)), counts: map[uint64]int64{},
		highest: math.MaxUint64, days: map[behaviour.Date]bool{}, layouts: layouts(),
		s: &Sample{Whole: true, unfit: map[string]error{}},
	}
	for _, k := range j.Schema.Kinds {
		t.s.Kinds = append(t.s.Kinds, Kind{Name: k.Name})
	}
	for _, k := range kinds {
		t.asked[k] = true
	}
	return t
}

// A meter counts the bytes that are read of a file, and stores the error of the last read.
type meter struct {
	r   io.Reader
	n   int64
	err error
}

// Read implements io.Reader.
func (m *meter) Read(b []byte) (int, error) {
	n, err := m.r.Read(b)
	m.n += int64(n)
	if err != nil && err != io.EOF {
		m.err = err
	}
	return n, err
}

// take adds the records of a file to the sample, up to limit bytes of text. It ignores mistakes
// in the text, because a load reports them.
func (t *taker) take(ctx context.Context, files dfs.FS, in job.Input, limit int64) error {
	f, err := dfs.OpenRegular(ctx, files, in.Path)
	if err != nil {
		return err
	}
	defer f.Close()
	m := &meter{r: f}
	r, err := record.Open(m, in.File(), &t.job.Format)
	if err != nil {
		return m.err
	}
	defer r.Close()
	p, err := record.NewParser(&t.job.Format, in.File(), r.Header())
	if err != nil {
		return nil
	}
	t.file++
	before := t.s.Sampled
	share, err := t.read(ctx, r, p, m, in.Size, limit)
	if err != nil {
		return err
	}
	t.records += float64(t.s.Sampled-before) / share
	t.size += in.Size
	return nil
}

// read reads chunks, and returns their share of the file.
func (t *taker) read(ctx context.Context, r *record.Reader, p *record.Parser, m *meter, size, limit int64) (float64, error) {
	buf := make([]byte, 0, chunkBytes)
	for text := int64(0); text < limit-chunkBytes/2; { // a chunk is a little smaller than chunkBytes
		c, err := r.Next(buf)
		if err != nil {
			return 1, m.err
		}
		if err := p.Parse(c, t); err != nil {
			return 1, err
		}
		if err := ctx.Err(); err != nil {
			return 1, err
		}
		text += int64(len(c.Data))
	}
	if m.n >= size {
		return 1, nil
	}
	t.s.Whole = false
	return float64(m.n) / float64(size), nil
}

// Keep implements record.Sink.
func (t *taker) Keep(r *behaviour.Record) error {
	if !t.span.Has(r.Date) || !t.asked[r.Kind] {
		return nil
	}
	t.s.Sampled++
	t.s.Kinds[r.Kind].Count++
	t.days[r.Date] = true
	h := xxhash.Sum64(r.User)
	t.counts[h]++
	if t.counts[h] == 1 || h <= t.highest {
		t.fit(r)
	}
	if h <= t.highest {
		t.keep(r)
	}
	return nil
}

// fit records which layouts cannot hold a record.
func (t *taker) fit(r *behaviour.Record) {
	for _, l := range t.layouts {
		if name := l.Name(); t.s.unfit[name] == nil {
			t.s.unfit[name] = l.Fits(t.job.Schema, r)
		}
	}
}

// keep keeps a record. If there are too many records, it removes the records of half of the users.
func (t *taker) keep(r *behaviour.Record) {
	k := *r
	k.User, k.ID = bytes.Clone(r.User), column.ID(t.file, r.ID)
	k.Values = make([][]byte, len(r.Values))
	for i, v := range r.Values {
		k.Values[i] = bytes.Clone(v)
	}
	t.s.kept = append(t.s.kept, k)
	if len(t.s.kept) > keptRecords {
		t.thin()
	}
}

// thin removes the records of half of the users, until at most keptRecords are left. If none would be
// left, it stops, and no more records are kept.
func (t *taker) thin() {
	for len(t.s.kept) > keptRecords {
		t.highest /= 2
		rest := slices.DeleteFunc(slices.Clone(t.s.kept), func(k behaviour.Record) bool { return xxhash.Sum64(k.User) > t.highest })
		if len(rest) == 0 {
			t.highest = 0
			return
		}
		t.s.kept = rest
	}
}

// Skip implements record.Sink.
func (t *taker) Skip(*record.Skipped) error { return nil }

// Reject implements record.Sink.
func (t *taker) Reject(*record.Reject) error {
	t.s.Bad++
	return nil
}

// finish estimates the numbers of records and users in all files.
func (t *taker) finish(inputs []job.Input) {
	s := t.s
	s.Days = max(len(t.days), 1)
	s.Records = t.records
	if t.size < s.Bytes {
		s.Whole = false
		s.Records *= float64(s.Bytes) / float64(max(t.size, 1))
	}
	s.Records = max(s.Records, float64(s.Sampled))
	s.Users = t.users()
	s.names = t.candidates()
}

// users estimates the number of users in all files. The number of missed users follows from the
// numbers of users with one and with two records in the sample, for sampling without replacement
// (Chao and Lin 2012). As with all such estimates, the result is more often too small than too large.
func (t *taker) users() float64 {
	var once, twice float64
	for _, n := range t.counts {
		switch n {
		case 1:
			once++
		case 2:
			twice++
		}
	}
	n, share := float64(t.s.Sampled), float64(t.s.Sampled)/t.s.Records
	seen := float64(len(t.counts))
	if share >= 1 || once == 0 || n < 2 {
		return seen
	}
	missed := once * once / (n/(n-1)*2*twice + share/(1-share)*once)
	return min(seen+missed, t.s.Records)
}

// widths lists the sizes of layouts that have a size, the smallest first.
var widths = map[string][]string{"fixed": {"fixed", "fixed/8", "fixed/10", "fixed/12", "fixed/15", "fixed/18"}}

// layouts returns the layouts that can be recommended, in all sizes.
func layouts() []layout.Layout {
	var out []layout.Layout
	for _, name := range layout.Names() {
		for _, sized := range sizesOf(name) {
			l, err := layout.ByName(sized)
			if err != nil {
				panic(err) // the name is registered
			}
			out = append(out, l)
		}
	}
	return out
}

func sizesOf(name string) []string {
	if sizes := widths[name]; sizes != nil {
		return sizes
	}
	return []string{name}
}

// candidates returns the layouts to compare, each in the smallest size that can hold all records. If
// no size can, it is the smallest size.
func (t *taker) candidates() []string {
	var out []string
	for _, name := range layout.Names() {
		sizes := sizesOf(name)
		i := slices.IndexFunc(sizes, func(n string) bool { return t.s.unfit[n] == nil })
		out = append(out, sizes[max(i, 0)])
	}
	return out
}
