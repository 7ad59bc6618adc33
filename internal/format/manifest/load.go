package manifest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"usertrail/internal/behaviour"
	"usertrail/internal/run/outcome"
	"usertrail/internal/tally"
)

// A Load is the ledger of one load.
type Load struct {
	Version int    `json:"version"`
	Number  int    `json:"number"`
	Job     string `json:"job"`            // the digest of the job it was loaded by
	Plan    string `json:"plan,omitempty"` // the plan whose pieces became this load
	// Previous is the checksum of the ledger before this one. It is empty in the first ledger, and if an older version wrote one of them.
	Previous string  `json:"previous,omitempty"`
	Inputs   []Input `json:"inputs"`
	Days     []Day   `json:"days"` // sorted by date and behaviour
	// NoValue has the fields that the job read without a value. Ledgers of older versions, of replays and of rereads do not have it. After
	// an import, it may have days on which only some of the imported loads had no value.
	NoValue *NoValue `json:"no_value,omitempty"`
	// Regions are the regions of the table when it was loaded, in order and without a gap. If
	// it is empty, an older version made the load.
	Regions []Region `json:"regions,omitempty"`
	// Apart is set if the load read files again and took other records of the same behaviours and
	// dates: see File.Apart.
	Apart bool `json:"apart,omitempty"`
	// Replaced are the names of HFiles of earlier loads that the load replaced by its files, to add cells to
	// their records. Table then has the files that replace them.
	Replaced []string `json:"replaced,omitempty"`
	// LeftOut lists the files of Plan from which the load took no record.
	LeftOut []LeftOut `json:"left_out,omitempty"`
	// Texts has the Texts of the parts while the file is written or read.
	Texts TextList `json:"texts,omitempty"`
	// Table is the manifest that names the load, with only the files of this load and without
	// loads. The writer of a ledger sets it. It is nil in a ledger that was read: see Manifest.
	Table *Table `json:"table,omitempty"`

	encoded json.RawMessage // the Table of a ledger that was read
	schema  *schemaText     // of Table, if l shares it with other ledgers; encoded is nil then
}

// Manifest returns Table, also of a ledger that was read. It returns nil if an older version wrote the
// ledger, and after Sharing.Add.
//
// A load reads the ledgers of all nights and needs few of their tables, so they are decoded here.
func (l *Load) Manifest() (*Table, error) {
	if l.Table != nil || l.encoded == nil {
		return l.Table, nil
	}
	t := new(Table)
	err := json.Unmarshal(l.encoded, t)
	if err == nil {
		err = t.check()
	}
	if err != nil {
		return nil, fmt.Errorf("ledger of load %d: %w: %w", l.Number, damaged(l), err)
	}
	return t, nil
}

func (l *Load) version() int { return l.Version }

// A Day is the tally of the cells of one behaviour on one date in a load.
type Day struct {
	Date      behaviour.Date `json:"date"`
	Behaviour string         `json:"behaviour"`
	Records   int64          `json:"records"`
	Tally     tally.Tally    `json:"tally"`
}

// A Region is the tally of the cells of a load from row First up to the first row of the next
// Region.
type Region struct {
	First Key         `json:"first"`
	Tally tally.Tally `json:"tally,omitzero"`
}

// An Input is one delivered file.
type Input struct {
	Path string `json:"path"` // below the logs' root
	// Behaviour is the behaviour that the path names. It is empty if a column names the
	// behaviour.
	Behaviour string    `json:"behaviour,omitempty"`
	Number    uint32    `json:"number"` // in its records' column IDs
	Size      int64     `json:"size"`
	Modified  time.Time `json:"modified"`
	SHA256    string    `json:"sha256"` // of its bytes as delivered
	// Part is the requested part of the file; nil is the whole file.
	Part *Part `json:"part,omitempty"`
	// Dates are the dates that the file's records may have, by the date in its path; nil is any
	// date.
	Dates  *behaviour.Span `json:"dates,omitempty"`
	SameAs string          `json:"same_as,omitempty"` // the file of the same bytes that was loaded
	// CopyOf is a file of the same bytes whose path has another day or none, if all good records of this file are duplicates and
	// none is of the day in its path. Ledgers of older versions do not have it.
	CopyOf string `json:"copy_of,omitempty"`
	// Days are the days of the good records that the load requested, if the path of the file has no date. They are days of the
	// behaviours that the load read from the file. Days of replayed records name their behaviours. Ledgers of older versions do
	// not have them.
	Days []DaysOf `json:"days,omitzero"`
	// Outside are the dates of the records of Skips.OutsideDates. It is nil if the path has a date, if there are more than a ledger lists,
	// and in ledgers of older versions.
	Outside []behaviour.Span `json:"outside,omitempty"`
	// Offsets are the offsets of replayed records. If set, the load took only these records of
	// the file.
	Offsets []int64 `json:"offsets,omitzero"`
	// Texts has a checksum of the text of each record of Offsets. Ledgers of older versions do not have it.
	Texts TextSums `json:"texts,omitempty"`
	// Undated is set for replayed records of a file whose path has no date. Ledgers of older versions do not have it.
	Undated bool `json:"undated,omitempty"`
	// BadAt are the offsets of the quarantined records, see BadOffsets.
	BadAt Offsets `json:"bad_at,omitempty"`
	// Unmapped lists the commonest texts that name no behaviour of the job, each with its number
	// of records. Ledgers of older versions do not have it.
	Unmapped []TextCount `json:"unmapped,omitempty"`
	// TextsBy identifies how the job reads the texts that name behaviours. It is empty if the path
	// names the behaviour.
	TextsBy string `json:"texts_by,omitempty"`
	// NamesBy identifies the settings of TextsBy that determine which text a record has: all except those that only make
	// records bad. Ledgers of older versions do not have it.
	NamesBy string `json:"names_by,omitempty"`
	// UserBy identifies how the job reads users of these behaviours. It is set if some records had none.
	UserBy string `json:"user_by,omitempty"`
	// TimeBy identifies how the job reads times of these behaviours. It is set if the path has no date. Ledgers of
	// older versions have neither.
	TimeBy string `json:"time_by,omitempty"`
	// SkippedBy is the skip condition of the job of the load, if it held for some records of the file.
	SkippedBy string `json:"skipped_by,omitempty"`
	// CutBy identifies how that job cuts a record into columns. It is set if SkippedBy is.
	CutBy string `json:"cut_by,omitempty"`
	// StaysOut counts records that earlier loads of the file skipped and that the job of this load could not find
	// again, see View.Out.
	StaysOut map[Setting]int64 `json:"stays_out,omitempty"`
	// Unread has, for each behaviour, the fields of Table that the job of the load did not have. The
	// records have no value for them. Ledgers of older versions do not have it.
	Unread map[string][]string `json:"unread_fields,omitempty"`
	// Reread has, for each behaviour, the fields of Table whose values the load added to the records of Part that earlier
	// loads of the file had added. If it is set, the load added no record, and Offsets is empty.
	Reread map[string][]string `json:"reread_fields,omitempty"`
	// Missed is the number of records of the table that lack a value of Reread, and that the load did not read in the file. Another
	// reread may read them.
	Missed int64 `json:"reread_missed,omitempty"`
	// RereadNoValue has the fields of Reread without a value on some days of the file. They are unread on these days if a job reads them by
	// other settings. Ledgers of older versions do not have it.
	RereadNoValue *NoValue `json:"reread_no_value,omitempty"`
	// Older is the number of skipped records of days that were dropped before the load. In that
	// case Part begins after these days.
	Older int64 `json:"older,omitempty"`
	// Job is the digest of the job that was putting a file of Begun. Files in a ledger use the
	// ledger's own Job. Files of an older version have none.
	Job string `json:"job,omitempty"`
	// Reading describes what that job reads. It is set if the whole file was read and not in
	// pieces.
	Reading *Reading `json:"reading,omitempty"`
	Counts
}

// A Reading lists what the job of a load reads of delivered files. It shows whether a later job
// only reads more.
type Reading struct {
	Fields map[string][]string `json:"fields"`          // of each behaviour of the job
	Texts  []string            `json:"texts,omitempty"` // by which a column names behaviours
	Table  map[string][]string `json:"table"`           // the fields of the same behaviours in the table
}

// HasDays reports whether the load may have requested good records of some of these dates. The ledger has the days of
// these records only for a file whose path has no date.
func (in *Input) HasDays(dates behaviour.Span) bool {
	if in.Dates != nil || in.TimeBy == "" {
		return true
	}
	return slices.ContainsFunc(in.Days, func(of DaysOf) bool { return slices.ContainsFunc(of.Days, dates.Overlaps) })
}

// mostOutside is the largest number of spans in Input.Outside.
const mostOutside = 64

// OutsideOf returns spans for Input.Outside, or nil if there are too many. It sorts spans.
func OutsideOf(spans []behaviour.Span) []behaviour.Span {
	if spans = behaviour.Join(spans); len(spans) > mostOutside {
		return nil
	}
	return slices.Clone(spans) // the argument may have much more memory
}

// AllOlder reports whether every good record belonged to a dropped day.
func (in *Input) AllOlder() bool { return in.Older > 0 && in.Older+in.Quarantined == in.Read }

// Counts counts records by outcome.
type Counts struct {
	Read        int64 `json:"read"`
	Loaded      int64 `json:"loaded"`
	Quarantined int64 `json:"quarantined"`
	Duplicate   int64 `json:"duplicate"`
	Skipped     int64 `json:"skipped"`
	// Skips counts the skipped records by reason. Ledgers of older versions do not have it.
	Skips Skips `json:"skips,omitzero"`
}

// Skips counts skipped records by reason.
type Skips struct {
	Unknown      int64 `json:"unknown_behaviour,omitempty"` // their text names no behaviour of the job
	WithoutUser  int64 `json:"without_user,omitempty"`      // the job skips records without a user
	Condition    int64 `json:"skip_condition,omitempty"`    // the job's skip condition holds
	OutsideDates int64 `json:"outside_dates,omitempty"`     // of other dates than the load's
	OtherTypes   int64 `json:"other_types,omitempty"`       // of other behaviours than the load's
	LoadedBefore int64 `json:"loaded_before,omitempty"`     // of dates and behaviours that the file was loaded for
	DroppedDays  int64 `json:"dropped_days,omitempty"`      // of days that were dropped from the table
	// OutsideDays are the first and the last date of the records of OutsideDates, without records of 1970-01-01. Ledgers of
	// older versions do not have it.
	OutsideDays behaviour.Span `json:"outside_days,omitzero"`
}

// Outside returns the count of records of other dates than the load's, for a record of the date d.
func (s *Skips) Outside(d behaviour.Date) *int64 {
	s.addDays(behaviour.Span{From: d, To: d})
	return &s.OutsideDates
}

// addDays adds days to OutsideDays.
func (s *Skips) addDays(days behaviour.Span) {
	switch none := (behaviour.Span{}); {
	case s.OutsideDays == none:
		s.OutsideDays = days
	case days != none:
		s.OutsideDays.Add(days)
	}
}

// Sum returns the number of all skipped records.
func (s Skips) Sum() int64 {
	return s.Unknown + s.WithoutUser + s.Condition + s.OutsideDates + s.OtherTypes + s.LoadedBefore + s.DroppedDays
}

// Add adds o to s.
func (s *Skips) Add(o Skips) {
	s.Unknown += o.Unknown
	s.WithoutUser += o.WithoutUser
	s.Condition += o.Condition
	s.OutsideDates += o.OutsideDates
	s.OtherTypes += o.OtherTypes
	s.LoadedBefore += o.LoadedBefore
	s.DroppedDays += o.DroppedDays
	s.addDays(o.OutsideDays)
}

// String returns the reasons that have records, each with their number.
func (s Skips) String() string {
	var out []string
	for _, r := range []struct {
		records int64
		reason  string
	}{
		{s.Unknown, "of unknown behaviours"}, {s.WithoutUser, "without a user"}, {s.Condition, "by the skip condition"},
		{s.OutsideDates, "outside the dates"}, {s.OtherTypes, "of other types"}, {s.LoadedBefore, "loaded before"}, {s.DroppedDays, "of dropped days"},
	} {
		if r.records > 0 {
			out = append(out, humanize.Comma(r.records)+" "+r.reason)
		}
	}
	return strings.Join(out, ", ")
}

// Counted implements outcome.Result.
func (c Counts) Counted() outcome.Counts {
	return outcome.Counts{outcome.Read: float64(c.Read), outcome.Loaded: float64(c.Loaded), outcome.Quarantined: float64(c.Quarantined), outcome.Duplicate: float64(c.Duplicate), outcome.Skipped: float64(c.Skipped)}
}

// Add adds o to c.
func (c *Counts) Add(o Counts) {
	c.Read += o.Read
	c.Loaded += o.Loaded
	c.Quarantined += o.Quarantined
	c.Duplicate += o.Duplicate
	c.Skipped += o.Skipped
	c.Skips.Add(o.Skips)
}

// Check returns an error if the counts do not add up: every record that was read is loaded,
// quarantined, a duplicate or skipped, and every skipped record has one reason.
func (c Counts) Check() error {
	if c.Read != c.Loaded+c.Quarantined+c.Duplicate+c.Skipped {
		return fmt.Errorf("the conservation law does not hold: %d read, but %d loaded + %d quarantined + %d duplicate + %d skipped",
			c.Read, c.Loaded, c.Quarantined, c.Duplicate, c.Skipped)
	}
	if n := c.Skips.Sum(); n != c.Skipped {
		return fmt.Errorf("the conservation law does not hold: %d skipped, but the reasons of skipping have %d records", c.Skipped, n)
	}
	return nil
}

// A Loading names the load that is being made. It is written before the first file of a first
// load, and before the ledger of any other load. It is removed once the manifest has the load.
// If files of a load exist that neither a Loading nor the manifest names, no killed load left
// them.
//
// A Loading also records which load a plan became. It is kept as long as the files of the plan's pieces.
//
// A compact, drop or undrop writes a Loading with Replacing before it changes the list of retired files. The Loading is removed
// after the manifest was replaced.
type Loading struct {
	Version   int  `json:"version"`
	Load      int  `json:"load"` // number; 0 if no load is being made
	Replacing bool `json:"replacing,omitempty"`
}

// Explains reports whether a compact, drop or undrop that is under way or was killed explains a list of retired files that is newer than
// the manifest m: it wrote the list, and has not replaced m. A list of a later one shows that m is an older manifest.
func (l *Loading) Explains(list *Retired, m *Table) bool {
	return l.Replacing && list.Rewritten <= m.Rewritten+1
}

// LoadingName is the name of a Loading in the directory of its table.
const LoadingName = "loading.json"

func (l *Loading) version() int { return l.Version }

// Begun lists the files and rolls that may be in a live table without a ledger. A load was
// under way when this was written.
type Begun struct {
	Version int `json:"version"`
	// Inputs are delivered files whose records were being put. For each file, the path,
	// behaviour, number, size, time of change, digest, job and number of bad records are known.
	Inputs []Input  `json:"inputs"`
	Rolls  []Rolled `json:"rolls,omitempty"`
	Alone  bool     `json:"alone,omitempty"` // the value in Table, as it was before the first record
	// Lost are the paths of the Inputs that have some HFiles in the table and whose other
	// HFiles are gone.
	Lost []string `json:"lost,omitempty"`
	// Texts has the Texts of the parts while the file is written or read.
	Texts TextList `json:"texts,omitempty"`
	// Schema has the behaviours and fields of the records that are being put; nil is the schema
	// of Table.
	Schema *behaviour.Schema `json:"schema,omitempty"`
	// Layout is the layout of the records that are being put. Files of earlier releases do not have it.
	Layout string `json:"layout,omitempty"`
}

func (b *Begun) version() int { return b.Version }

// A Rolled is a roll of records that may be in a live table without a ledger.
type Rolled struct {
	File
	Inputs []uint32 `json:"inputs,omitempty"` // numbers of their delivered files
}

// Covered reports whether the rolls name all users that can have records of the inputs. A reread adds no record.
func (b *Begun) Covered() bool {
	for _, in := range b.Inputs {
		if in.Reread == nil && !slices.ContainsFunc(b.Rolls, func(r Rolled) bool { return slices.Contains(r.Inputs, in.Number) }) {
			return false
		}
	}
	return true
}
