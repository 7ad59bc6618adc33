package record

import (
	"maps"
	"regexp"
	"slices"
	"time"

	"usertrail/internal/behaviour"
	"usertrail/internal/format/rule"
)

// A Syntax is the way in which a line is cut into columns.
type Syntax string

// The syntaxes of delivered files.
const (
	CSV    Syntax = "csv"    // RFC 4180, quoted newlines included; any delimiter
	TSV    Syntax = "tsv"    // tabs, no quoting
	JSONL  Syntax = "jsonl"  // one JSON object per line; a.b names a member of a member
	Blanks Syntax = "blanks" // runs of blanks and tabs, no quoting
)

// A Format describes how delivered files are written, and how a line becomes a record of a
// behaviour. The zero value of a field means its default.
type Format struct {
	Schema    *behaviour.Schema
	Zone      *time.Location // the zone of Schema.Zone
	Syntax    Syntax
	Delimiter string   // csv and tsv; "," and tab
	Header    bool     // the first line names the columns
	Names     []string // names of the columns; if the file has a header, they replace its names
	Encoding  string   // a name that golang.org/x/text knows; UTF-8
	MaxLine   int      // bytes of one record; 1 MiB
	Held      int      // bytes of one record that a Reader holds in memory; no limit besides MaxLine
	Columns   int      // columns of a header that a Reader holds in memory; no limit
	Window    int64    // the largest window of a zstd file in bytes; MaxWindow
	Nulls     []string // texts that mean null; except in jsonl, the empty text means null as well
	Slack     int      // days that a record's date may differ from the date of its path

	// The column that names the behaviour, if the path does not, and the kind that each of
	// its texts means.
	KindColumn *Column
	KindOf     map[string]int
	// Other is the kind of records whose text is not in KindOf. If it is nil, they are skipped.
	Other *int

	Kinds []Kind // how a line becomes a behaviour of each of Schema.Kinds
	// Optional is set if a file may lack the columns of fields. The fields are then null.
	Optional bool

	Skip *rule.Rule // records for which it holds are skipped; nil skips none
	// Marks are at most 64 conditions. They skip no records. Parser.Marks returns the
	// conditions that hold.
	Marks []*rule.Rule
}

// Texts returns the texts that name a kind, in alphabetical order.
func (f *Format) Texts() []string { return slices.Sorted(maps.Keys(f.KindOf)) }

// A Kind names the columns of a line that hold the parts of one kind of behaviour.
type Kind struct {
	User Column
	// SkipEmpty skips records without a user. They are bad otherwise.
	SkipEmpty bool
	Time      Time
	Fields    []Column // one for each field of the schema's kind
}

// A Column names a column of a line. With Pattern it is a piece of the column: the pattern's
// first group, or the whole match if the pattern has no group. "$line" is the whole line, and
// "$1", "$2", … are columns by number.
type Column struct {
	Name    string
	Pattern *regexp.Regexp
	Format  string         // of a timestamp or date field, as in Time
	Zone    *time.Location // of a timestamp or date field, as in Time
}

// A Time describes how a time is written.
type Time struct {
	Column
	// Format is a Go layout, a strftime format, or one of epoch_s, epoch_ms, epoch_us and
	// rfc3339. If it is empty, the time is 2006-01-02 15:04:05 with or without fraction, T
	// and offset, or the date alone.
	Format string
	Zone   *time.Location // used if the text has no zone; Format.Zone
	Year   int            // used if the text has no year; 0 uses the path's year

	// Earliest and Latest are the bounds of plausible times, both included. A zero Latest is no
	// bound. A zero Earliest is no bound either, except for an epoch, which then begins with
	// EpochBegins.
	Earliest, Latest time.Time
}

// EpochBegins is the earliest time that a number since 1970 means, if Time.Earliest does not
// allow earlier times. Smaller numbers are flags and durations, and seconds that are read as
// milliseconds.
var EpochBegins = time.Date(1990, 1, 1, 0, 0, 0, 0, time.UTC)

// A File describes a delivered file before it is opened.
type File struct {
	Path string          // its ending determines the compression: .gz, .zst, .bz2
	Date *behaviour.Date // the date in its path, nil if it has none
	Kind int             // the kind in its path, or -1 if a column has it
}
