package rolls

import (
	"bytes"

	"github.com/dustin/go-humanize/english"

	"usertrail/internal/format/layout"
	"usertrail/internal/format/manifest"
	"usertrail/internal/format/roll"
	"usertrail/internal/table"
)

// Check returns an error that wraps table.ErrDamaged if r is not the roll of f, by size, numbers of
// users and records, dates, and first and last user. The entry of a roll that puts began has no number of
// records.
func Check(l layout.Layout, f *manifest.File, r *roll.Reader) error {
	m := r.Meta()
	if f.RollSize > 0 && m.Size != f.RollSize {
		return table.OtherSize(f.Roll, m.Size, f.RollSize)
	}
	if m.Users != f.Users || f.Records > 0 && m.Records != f.Records {
		return table.Damaged("%s is another roll: it has %s and %s, and %d and %d were written", f.Roll, english.Plural(int(m.Users), "user", ""), english.Plural(int(m.Records), "record", ""), f.Users, f.Records)
	}
	if !m.Span.Has(f.Span.From) || !m.Span.Has(f.Span.To) {
		return table.Damaged("%s is another roll: it has days of %s, and days of %s were written", f.Roll, m.Span, f.Span)
	}
	if !l.Traits().Together {
		return nil // the file's rows are not in the order of users
	}
	if first, last := userOf(l, f.First), userOf(l, f.Last); !bytes.Equal(m.First, first) || !bytes.Equal(m.Last, last) {
		return table.Damaged("%s is another roll: it has the users %q to %q, and %q to %q were written", f.Roll, m.First, m.Last, first, last)
	}
	return nil
}

// userOf returns the user key in a row. The entry of a roll alone has user keys instead of rows.
func userOf(l layout.Layout, row []byte) []byte {
	if key := l.UserKey(row); key != nil {
		return key
	}
	return row
}
