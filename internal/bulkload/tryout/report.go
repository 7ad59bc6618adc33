package tryout

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"

	"usertrail/internal/behaviour"
	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/delivered"
	"usertrail/internal/bulkload/peek"
	"usertrail/internal/format/job"
	"usertrail/internal/format/manifest"
	"usertrail/internal/format/record"
	"usertrail/internal/run/visible"
)

// A Verdict is the expected result of a load for a file, judged by its sample.
type Verdict string

// The verdicts, the best first.
const (
	Loads     Verdict = "loads"
	Uncertain Verdict = "uncertain" // the sample has more bad records than max_bad allows, or more skipped ones than max_skipped, but it is small
	Skips     Verdict = "skipped"   // all of the behaviour's records are skipped
	Refused   Verdict = "refused"   // the file has more bad or skipped records than the job allows, or too few records
)

// verdicts are in order.
var verdicts = []Verdict{Loads, Skips, Uncertain, Refused}

// A Report describes a sample of delivered files.
type Report struct {
	Files      int         `json:"files"`   // that were read
	Whole      int         `json:"whole"`   // of them, those that were parsed to the end
	Bytes      int64       `json:"bytes"`   // of text
	Records    int64       `json:"records"` // good, bad and skipped
	Good       int64       `json:"good"`    // that a load would keep
	Bad        int64       `json:"bad"`
	Skipped    int64       `json:"skipped"`
	Behaviours []Behaviour `json:"behaviours"`
	// Unknown are the commonest texts that name no behaviour of the job.
	Unknown []Text `json:"unknown,omitempty"`
	// Beginnings are the reasons why only the beginning of a file was parsed.
	Beginnings []Text `json:"beginnings,omitempty"`

	// Failed are files that a load would leave out. It has at most 100 of them.
	Failed []bulkload.Failed `json:"failed,omitempty"`

	// SkipColumns shows which columns of logs.skip the records have.
	SkipColumns record.SkipColumns `json:"-"`

	// Results has the result of each file, in the order of the files.
	Results []FileResult `json:"-"`
}

// A Behaviour counts the records of a behaviour.
type Behaviour struct {
	Name    string   `json:"name"` // empty for records whose behaviour is not known
	Records int64    `json:"records"`
	Good    int64    `json:"good"`
	Bad     int64    `json:"bad"`
	Skipped int64    `json:"skipped"`
	MaxBad  string   `json:"max_bad"`
	Verdict Verdict  `json:"verdict"` // the worst of the files with its records
	Reasons []Reason `json:"reasons,omitempty"`
	// NoValue lists the fields of whose columns no good record has a value, see bulkload.NoValues.
	NoValue []string `json:"fields_without_value,omitempty"`

	Files int `json:"-"` // with its records
	Worst int `json:"-"` // of Files, those with the verdict

	valued []bool // by field: whether a good record has a value
}

// A Reason is why records are bad or skipped.
type Reason struct {
	Reason  string `json:"reason"`
	Bad     bool   `json:"bad"` // otherwise the records are skipped
	Records int64  `json:"records"`
	Example        // the first of them
}

// An Example is a bad or skipped record.
type Example struct {
	Path   string `json:"path"`
	Line   int64  `json:"line,omitempty"` // 0 if the file was not read from its beginning up to it
	Offset int64  `json:"offset"`         // in the file's text
	Detail string `json:"detail,omitempty"`
	Text   string `json:"text,omitempty"` // its beginning

	file int // place of the file in the sample
}

// Place returns the file and the line, or the offset.
func (e *Example) Place() string {
	if e.Line == 0 {
		return fmt.Sprintf("%s at byte %d", e.Path, e.Offset)
	}
	return fmt.Sprintf("%s:%d", e.Path, e.Line)
}

// comes reports whether e was read before o.
func (e *Example) comes(o *Example) bool {
	return cmp.Or(cmp.Compare(e.file, o.file), cmp.Compare(e.Offset, o.Offset)) < 0
}

// A Text is a text with the number of its records or files.
type Text struct {
	Text  string `json:"text"`
	Count int64  `json:"count"`
}

// A FileResult is the result of one file.
type FileResult struct {
	Path      string
	Kind      int // that the path names, or -1
	Good      int64
	Bad       int64
	Skipped   int64
	NotAsked  int64          // the skipped records of other dates or behaviours than the load's
	Dropped   int64          // the skipped records of days that were dropped from the table
	Dates     behaviour.Span // of the good records, also of those in NotAsked and Dropped; behaviour.NoDays if there are none
	BadOfKind int64          // bad records whose behaviour is known
	Unknown   int64          // of Skipped, those whose text names no behaviour of the job
	peek.Extent
	Verdict Verdict // Loads if it is empty
	Unread  error   // that ended the reading
	Unfit   error   // of the first record that the layout cannot hold; it wraps bulkload.ErrRequest
	Key     string  // of the job that decides about the commonest reason, if Refused is about records of this reason
	Refused error   // for which a load would refuse the file; it wraps bulkload.ErrTooBad
}

// Read returns the number of records that were read.
func (r *FileResult) Read() int64 { return r.Good + r.Bad + r.Skipped }

// SameCause reports whether two refused files are refused because of the same key of the job. The type of a field is a
// key of one behaviour.
func (r *FileResult) SameCause(o *FileResult) bool {
	return r.Key == o.Key && (r.Kind == o.Kind || r.Key != Key(string(record.WrongType)))
}

// ofSample follows a number of records in a message.
func (r *FileResult) ofSample() string {
	if r.Whole {
		return ""
	}
	return " in a sample of it"
}

// BadReasons returns the reasons of the bad records of all behaviours, in the order of record.Reasons.
func (r *Report) BadReasons() []Reason {
	return badReasons(func(yield func(*Behaviour) bool) {
		for i := range r.Behaviours {
			if !yield(&r.Behaviours[i]) {
				return
			}
		}
	})
}

func badReasons(kinds iter.Seq[*Behaviour]) []Reason {
	var out []Reason
	for _, name := range record.Reasons {
		sum := Reason{Reason: string(name), Bad: true}
		for b := range kinds {
			i := slices.IndexFunc(b.Reasons, func(r Reason) bool { return r.Bad && r.Reason == string(name) })
			if i < 0 {
				continue
			}
			if r := b.Reasons[i]; sum.Records == 0 || r.comes(&sum.Example) {
				sum.Example = r.Example
			}
			sum.Records += b.Reasons[i].Records
		}
		if sum.Records > 0 {
			out = append(out, sum)
		}
	}
	return out
}

// note counts a record with its reason. Notes come in the order of the records.
func (b *Behaviour) note(r Reason) {
	r.Records = max(r.Records, 1)
	i := slices.IndexFunc(b.Reasons, func(o Reason) bool { return o.Reason == r.Reason && o.Bad == r.Bad })
	if i < 0 {
		b.Reasons = append(b.Reasons, r)
		return
	}
	b.Reasons[i].Records += r.Records
}

// keep counts a good record.
func (b *Behaviour) keep(r *behaviour.Record) {
	b.Records++
	b.Good++
	if b.valued == nil {
		b.valued = make([]bool, len(r.Values))
	}
	for i, v := range r.Values {
		b.valued[i] = b.valued[i] || v != nil
	}
}

// without returns the fields of which no good record has a value.
func (b *Behaviour) without(j *job.Job) (out []string) {
	kind, _ := j.Schema.Kind(b.Name)
	for i, some := range b.valued {
		if !some {
			out = append(out, j.Schema.Kinds[kind].Fields[i].Name)
		}
	}
	return out
}

// add adds the counts of another file, which has a place in the sample and a verdict.
func (b *Behaviour) add(o *Behaviour, file int, v Verdict) {
	b.Records += o.Records
	b.Good += o.Good
	b.Bad += o.Bad
	b.Skipped += o.Skipped
	if b.valued == nil {
		b.valued = o.valued
	} else {
		for i, some := range o.valued {
			b.valued[i] = b.valued[i] || some
		}
	}
	for _, r := range o.Reasons {
		r.file = file
		b.note(r)
	}
	b.Files++
	if slices.Index(verdicts, v) > slices.Index(verdicts, b.Verdict) {
		b.Verdict, b.Worst = v, 0
	}
	if v == b.Verdict {
		b.Worst++
	}
}

// byRecords orders reasons by their numbers of records, the commonest first.
func byRecords(a, b Reason) int { return cmp.Compare(b.Records, a.Records) }

// Limits of a report: the texts and the failed files that it lists, and the reasons of a file in a message.
const (
	shownTexts = 5
	mostFailed = 100
	shown      = 3
)

// text lists the commonest reasons, each with its first record.
func text(reasons []Reason) string {
	var out []string
	for _, r := range reasons[:min(len(reasons), shown)] {
		at := fmt.Sprintf("line %d", r.Line)
		if r.Line == 0 {
			at = fmt.Sprintf("byte %d", r.Offset)
		}
		out = append(out, fmt.Sprintf("%d %s (%s: %s)", r.Records, r.Reason, at, visible.Text(r.Detail)))
	}
	return strings.Join(out, ", ")
}

// Key returns the keys of the job that decide about a reason of bad records.
func Key(reason string) string {
	switch record.Reason(reason) {
	case record.TooLong:
		return "max_line"
	case record.BadQuote, record.BadJSON:
		return "format"
	case record.NotUTF8:
		return "encoding"
	case record.WrongWidth:
		return "delimiter, names or header"
	case record.BadSkip:
		return "skip"
	case record.NoKind:
		return "the column of behaviour"
	case record.NoUser, record.UserTooLong:
		return "user"
	case record.NoTime:
		return "the column of time"
	case record.BadTime:
		return "the format of time"
	case record.Implausible:
		return "the format of time, earliest or latest"
	case record.OutsideDay:
		return "zone or slack"
	case record.WrongType:
		return "the type of the field, or nulls"
	}
	return ""
}

// A builder adds the counters of files to a report.
type builder struct {
	mu      sync.Mutex
	next    int              // the first file whose counter was not added
	waiting map[int]*counter // counters of later files

	job    *job.Job
	report *Report
	kinds  map[int]*Behaviour
	others manifest.Unmapped
	begins map[string]int64
}

func newBuilder(j *job.Job, r *Report) *builder {
	return &builder{job: j, report: r, waiting: map[int]*counter{}, kinds: map[int]*Behaviour{}, begins: map[string]int64{}}
}

// put adds the counter of a file, when the counters of all files before it are added. There may be thousands of files, so a counter
// does not wait for the end.
func (b *builder) put(file int, c *counter) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.waiting[file] = c
	for c := b.waiting[b.next]; c != nil; c = b.waiting[b.next] {
		delete(b.waiting, b.next)
		b.next++
		b.add(c)
	}
}

func (b *builder) add(c *counter) {
	r, of := b.report, c.result
	of.Verdict = cmp.Or(of.Verdict, Loads)
	r.Files++
	if of.Whole {
		r.Whole++
	} else if of.Beginning != "" {
		b.begins[of.Beginning]++
	}
	r.Bytes += of.Bytes
	r.SkipColumns.Merge(&of.Extent.Skip)
	r.Records += of.Read()
	r.Good += of.Good
	r.Bad += of.Bad
	r.Skipped += of.Skipped
	r.Results = append(r.Results, of)
	if err := cmp.Or(delivered.Unfit(of.Unread), of.Unfit, of.Refused); err != nil && len(r.Failed) < mostFailed {
		r.Failed = append(r.Failed, bulkload.Failed{Path: of.Path, Error: err.Error()})
	}
	for _, kind := range slices.Sorted(maps.Keys(c.kinds)) {
		if b.kinds[kind] == nil {
			b.kinds[kind] = &Behaviour{MaxBad: b.job.MaxBad.String(), Verdict: Loads}
			if kind >= 0 {
				b.kinds[kind].Name = b.job.Schema.Kinds[kind].Name
			}
		}
		b.kinds[kind].add(c.kinds[kind], r.Files, of.Verdict)
	}
	b.others.Merge(&c.others)
}

// finish lists the behaviours in the order of their IDs, and then the records of no known behaviour. It
// sorts the reasons of each behaviour, the commonest first.
func (b *builder) finish() {
	kinds := slices.Sorted(maps.Keys(b.kinds))
	if len(kinds) > 0 && kinds[0] < 0 {
		kinds = append(kinds[1:], kinds[0])
	}
	b.report.Behaviours = []Behaviour{}
	b.setNoValue()
	for _, kind := range kinds {
		if of := b.kinds[kind]; of.Verdict == Loads && of.Skipped == of.Records {
			of.Verdict = Skips
		}
		slices.SortStableFunc(b.kinds[kind].Reasons, byRecords)
		b.report.Behaviours = append(b.report.Behaviours, *b.kinds[kind])
	}
	for _, c := range b.others.List(shownTexts) {
		b.report.Unknown = append(b.report.Unknown, Text{c.Text, c.Records})
	}
	b.report.Beginnings = most(b.begins)
}

// setNoValue sets the fields without a value.
func (b *builder) setNoValue() {
	without := map[string][]string{}
	for _, of := range b.kinds {
		if of.Good > 0 {
			without[of.Name] = of.without(b.job)
		}
	}
	for name, fields := range bulkload.NewNoValues(b.job).Of(without) {
		kind, _ := b.job.Schema.Kind(name)
		b.kinds[kind].NoValue = fields
	}
}

// most returns the texts with the highest numbers.
func most(texts map[string]int64) []Text {
	var out []Text
	for text, n := range texts {
		out = append(out, Text{text, n})
	}
	slices.SortFunc(out, func(a, b Text) int { return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Text, b.Text)) })
	return out[:min(len(out), shownTexts)]
}
