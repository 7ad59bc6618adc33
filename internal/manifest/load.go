package manifest

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"usertrail/internal/behaviour"
	"usertrail/internal/tally"
)

// A Load is the ledger of one load.
type Load struct {
	Version int     `json:"version"`
	Number  int     `json:"number"`
	Job     string  `json:"job"`            // the digest of the job it was loaded by
	Plan    string  `json:"plan,omitempty"` // whose pieces it was made of
	Inputs  []Input `json:"inputs"`
	Days    []Day   `json:"days"` // by date and behaviour
	// Regions are those of the table when it was loaded, in order and without a
	// gap. A load that tells none was made before loads told them.
	Regions []Region `json:"regions,omitempty"`
	// LeftOut are the files of Plan of which nothing was loaded.
	LeftOut []LeftOut `json:"left_out,omitempty"`
	// Table is the manifest that names the load, with the files of this load alone and
	// without loads; nil if an older version wrote the ledger.
	Table *Table `json:"table,omitempty"`
}

func (l *Load) version() int { return l.Version }

// A Day is the tally of the cells that a load gave one behaviour on one date.
type Day struct {
	Date      behaviour.Date `json:"date"`
	Behaviour string         `json:"behaviour"`
	Records   int64          `json:"records"`
	Tally     tally.Tally    `json:"tally"`
}

// A Region is the tally of the cells that a load gave the rows from First on, up to
// the next one's.
type Region struct {
	First Key         `json:"first"`
	Tally tally.Tally `json:"tally,omitzero"`
}

// An Input is one delivered file.
type Input struct {
	Path string `json:"path"` // below the logs' root
	// Behaviour is the one that its path names, empty where a column does.
	Behaviour string    `json:"behaviour,omitempty"`
	Number    uint32    `json:"number"` // in its records' column IDs
	Size      int64     `json:"size"`
	Modified  time.Time `json:"modified"`
	SHA256    string    `json:"sha256"` // of its bytes as delivered
	// What of the file the load was asked for; nil is all of it.
	Part *Part `json:"part,omitempty"`
	// Dates are those that its records may have, by the date in its path; nil is any.
	Dates  *behaviour.Span `json:"dates,omitempty"`
	SameAs string          `json:"same_as,omitempty"` // the file of the same bytes that was loaded
	// Offsets are those of replayed records: of the file, only they were loaded.
	Offsets []int64 `json:"offsets,omitzero"`
	// BadAt are the offsets of the quarantined records, see BadOffsets.
	BadAt Offsets `json:"bad_at,omitempty"`
	// Older are those of the skipped records that are of days which were dropped before the load.
	// Part begins after these days then.
	Older int64 `json:"older,omitempty"`
	// Job is the digest of the job by which a file of Begun was being put. A ledger has
	// its own, and a file of an older program none.
	Job string `json:"job,omitempty"`
	// Reading is what that job reads, of a file of which all was read and none in pieces.
	Reading *Reading `json:"reading,omitempty"`
	Counts
}

// A Reading is what the job of a load reads of delivered files, so that it can be said of a
// later job whether it only reads more.
type Reading struct {
	Fields map[string][]string `json:"fields"`          // of each behaviour of the job
	Texts  []string            `json:"texts,omitempty"` // by which a column names behaviours
	Table  map[string][]string `json:"table"`           // the fields of the same behaviours in the table
}

// AllOlder says whether every good record was of a day that had been dropped.
func (in *Input) AllOlder() bool { return in.Older > 0 && in.Older+in.Quarantined == in.Read }

// Has says whether in, a file of a load, has all that was to be loaded of a delivered file.
func (in *Input) Has(of *Input) bool { return in.hasSome(of) && in.Part.Covers(of.Part) }

// hasSome says whether in, a file of a load, has a part of a delivered file.
func (in *Input) hasSome(of *Input) bool {
	return in.Path == of.Path && in.SHA256 == of.SHA256 && in.SameAs == "" && in.Offsets == nil
}

// Held says whether the loads together have all that was to be loaded of a delivered file.
func Held(loads []*Load, of *Input) bool {
	var parts []*Part
	for _, l := range loads {
		for i := range l.Inputs {
			if in := &l.Inputs[i]; in.hasSome(of) {
				parts = append(parts, in.Part)
			}
		}
	}
	return Covered(parts, of.Part)
}

// Covered says whether all of p belongs to the parts together.
func Covered(parts []*Part, p *Part) bool {
	if slices.ContainsFunc(parts, func(o *Part) bool { return o.Covers(p) }) {
		return true
	}
	if p == nil {
		return false
	}
	return !slices.ContainsFunc(p.Behaviours, func(kind string) bool {
		var spans []behaviour.Span
		for _, o := range parts {
			if slices.Contains(o.Behaviours, kind) {
				spans = append(spans, o.dates())
			}
		}
		return !together(spans, p.dates())
	})
}

// dates is the span of p.
func (p *Part) dates() behaviour.Span {
	if p.Span == nil {
		return behaviour.Span{From: behaviour.MinDate, To: behaviour.MaxDate}
	}
	return *p.Span
}

// together says whether each date of a span is in one of the spans. It sorts them.
func together(spans []behaviour.Span, of behaviour.Span) bool {
	slices.SortFunc(spans, func(a, b behaviour.Span) int { return cmp.Compare(a.From, b.From) })
	next := of.From
	for _, s := range spans {
		if s.From <= next && s.To >= next {
			next = s.To + 1
		}
	}
	return next > of.To
}

// A Part is a span of dates and some behaviours of a file that holds more.
type Part struct {
	Span       *behaviour.Span `json:"span,omitempty"` // nil is every date
	Behaviours []string        `json:"behaviours"`
}

// Has says whether a record of a date and behaviour belongs to p; every record
// belongs to the nil Part.
func (p *Part) Has(d behaviour.Date, behaviour string) bool {
	return p == nil || (p.Span == nil || p.Span.Has(d)) && slices.Contains(p.Behaviours, behaviour)
}

// Covers says whether all of o belongs to p.
func (p *Part) Covers(o *Part) bool {
	switch {
	case p == nil:
		return true
	case o == nil:
		return false
	case p.Span != nil && (o.Span == nil || o.Span.From < p.Span.From || o.Span.To > p.Span.To):
		return false
	}
	for _, b := range o.Behaviours {
		if !slices.Contains(p.Behaviours, b) {
			return false
		}
	}
	return true
}

// Counts are what became of records.
type Counts struct {
	Read        int64 `json:"read"`
	Loaded      int64 `json:"loaded"`
	Quarantined int64 `json:"quarantined"`
	Duplicate   int64 `json:"duplicate"`
	Skipped     int64 `json:"skipped"`
}

// Add adds o to c.
func (c *Counts) Add(o Counts) {
	c.Read += o.Read
	c.Loaded += o.Loaded
	c.Quarantined += o.Quarantined
	c.Duplicate += o.Duplicate
	c.Skipped += o.Skipped
}

// Check is the conservation law: every record that was read is loaded,
// quarantined, a duplicate or skipped.
func (c Counts) Check() error {
	if c.Read != c.Loaded+c.Quarantined+c.Duplicate+c.Skipped {
		return fmt.Errorf("the conservation law does not hold: %d read, but %d loaded + %d quarantined + %d duplicate + %d skipped",
			c.Read, c.Loaded, c.Quarantined, c.Duplicate, c.Skipped)
	}
	return nil
}

// A Loading is the load that is being made. It is written before the first file of a first
// load, and before the ledger of any other, and removed once the manifest has the load. What
// is there of another load, and in no manifest, was not left by a killed one.
type Loading struct {
	Version int `json:"version"`
	Load    int `json:"load"` // number
}

func (l *Loading) version() int { return l.Version }

// Begun is what may be in a live table without a ledger: a load was under way when
// this was written.
type Begun struct {
	Version int `json:"version"`
	// Inputs are delivered files whose records were being put. Of each, the path,
	// behaviour, number, size, time of change, digest, job, and how many records are bad
	// are known.
	Inputs []Input  `json:"inputs"`
	Rolls  []Rolled `json:"rolls,omitempty"`
	Alone  bool     `json:"alone,omitempty"` // that of Table, as it was before the first record
	// Lost are the paths of Inputs of which some HFiles are in the table, and others are gone.
	Lost []string `json:"lost,omitempty"`
	// Schema has the behaviours and fields by which records are being put; nil is
	// those of Table.
	Schema *behaviour.Schema `json:"schema,omitempty"`
}

func (b *Begun) version() int { return b.Version }

// A Rolled is a roll of records that may be in a live table without a ledger.
type Rolled struct {
	File
	Inputs []uint32 `json:"inputs,omitempty"` // numbers of the delivered files they are of
}

// Covered says whether the rolls name all who can have records of the inputs.
func (b *Begun) Covered() bool {
	for _, in := range b.Inputs {
		if !slices.ContainsFunc(b.Rolls, func(r Rolled) bool { return slices.Contains(r.Inputs, in.Number) }) {
			return false
		}
	}
	return true
}
