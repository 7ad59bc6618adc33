package record

import (
	"fmt"
	"math"
	"strings"
	"time"
	"unicode/utf8"
)

// delimiter returns the text between two columns; jsonl and blanks have none.
func (f *Format) delimiter() ([]byte, error) {
	if f.Syntax != CSV && f.Syntax != TSV {
		return nil, CheckSyntax(f.Syntax, f.Delimiter)
	}
	d := f.Delimiter
	switch {
	case d == "" && f.Syntax == CSV:
		d = ","
	case d == "":
		d = "\t"
	}
	return []byte(d), CheckSyntax(f.Syntax, d)
}

// CheckSyntax returns an error for an unknown syntax, or for a delimiter that it cannot have.
func CheckSyntax(s Syntax, delimiter string) error {
	switch s {
	case CSV, TSV:
	case JSONL, Blanks:
		if delimiter != "" {
			return fmt.Errorf("%s has no delimiter", s)
		}
		return nil
	default:
		return fmt.Errorf("unknown format %q: it is csv, tsv, jsonl or blanks", s)
	}
	if strings.ContainsAny(delimiter, "\r\n") || s == CSV && strings.Contains(delimiter, `"`) || !utf8.ValidString(delimiter) {
		return fmt.Errorf("delimiter %q: a line end, a quote or half a character cannot be one", delimiter)
	}
	return nil
}

func (f *Format) cutter(delimiter []byte) cutter {
	return cutter{quotes: f.Syntax == CSV, delimiter: delimiter, maxLine: f.maxLine()}
}

// Longest returns the limit for the bytes of one record, without its line end.
func (f *Format) Longest() int { return f.maxLine() }

func (f *Format) maxLine() int {
	if f.MaxLine <= 0 {
		return DefaultMaxLine
	}
	return f.MaxLine
}

// held returns the limit for the bytes of a record in memory, with its line end. If maxLine is the
// smaller limit, nothing else limits the memory.
func (f *Format) held() int {
	if f.Held <= 0 || f.Held >= f.maxLine() {
		return math.MaxInt
	}
	return f.Held + len("\r\n")
}

// mostOfFields returns the limit for the bytes of the fields of a record. Fields may have the same column.
func (f *Format) mostOfFields() int {
	if f.Held <= 0 || f.Held > math.MaxInt/2 {
		return math.MaxInt
	}
	return 2 * f.Held
}

// zone returns the zone of dates.
func (f *Format) zone() *time.Location {
	if f.Zone == nil {
		return time.UTC
	}
	return f.Zone
}
