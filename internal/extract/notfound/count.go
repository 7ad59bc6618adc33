package notfound

import (
	"bytes"
	"fmt"
	"regexp"
	"unicode"

	"github.com/dustin/go-humanize"
	"github.com/dustin/go-humanize/english"

	"usertrail/internal/behaviour"
	"usertrail/internal/format/manifest"
	"usertrail/internal/run/quantity"
	"usertrail/internal/store/dfs"
)

// A Count counts users of a list that were not found. Some kinds of IDs show that a program
// may have changed them.
type Count struct {
	Users      int64 `json:"users"`
	Blank      int64 `json:"blank,omitempty"`      // IDs that begin or end with white space
	Lines      int64 `json:"lines,omitempty"`      // IDs that have a line end in them
	Quoted     int64 `json:"quoted,omitempty"`     // IDs that begin or end with a quote
	Point      int64 `json:"point,omitempty"`      // IDs that are numbers and end in .0 or in an exponent
	Hidden     int64 `json:"hidden,omitempty"`     // IDs with a no-break space or an invisible character in them
	Decomposed int64 `json:"decomposed,omitempty"` // IDs that are not in Unicode's composed form
	Listed     int64 `json:"listed,omitempty"`     // IDs that may be several IDs or columns: they have a comma, semicolon, tab or | in them

	File *manifest.NamesFile `json:"-"` // that names them; nil if there is none
}

// Add adds o to m.
func (m *Count) Add(o *Count) {
	m.Users += o.Users
	m.Blank += o.Blank
	m.Lines += o.Lines
	m.Quoted += o.Quoted
	m.Point += o.Point
	m.Hidden += o.Hidden
	m.Decomposed += o.Decomposed
	m.Listed += o.Listed
}

// ofProgram matches IDs that are numbers as programs write them: 17.0, 9.007199254741E+15.
var ofProgram = regexp.MustCompile(`^[0-9]+(\.0|(\.[0-9]+)?[eE]\+?[0-9]+)$`)

// count counts the user with an ID.
func (m *Count) count(id []byte) {
	m.Users++
	switch {
	case bytes.ContainsAny(bytes.TrimSpace(id), "\r\n"):
		m.Lines++
	case len(bytes.TrimSpace(id)) < len(id):
		m.Blank++
	case bytes.ContainsAny(id[:1], `"'`) || bytes.ContainsAny(id[len(id)-1:], `"'`):
		m.Quoted++
	case ofProgram.Match(id):
		m.Point++
	case bytes.ContainsFunc(id, hidden):
		m.Hidden++
	case !behaviour.Composed(id):
		m.Decomposed++
	case bytes.ContainsAny(id, ",;\t|"):
		m.Listed++
	}
}

// hidden reports whether r is a no-break space, or an invisible character such as U+200E.
func hidden(r rune) bool {
	return r == '\u00a0' || r == '\u2007' || r == '\u202f' || unicode.Is(unicode.Cf, r)
}

// Notes returns sentences: how many of the users were not found, which file in out has their
// IDs, and how many of these IDs a program may have changed. If out is empty, no file has the IDs.
func (m *Count) Notes(users int64, out string) []string {
	if m.Users == 0 {
		return nil
	}
	were := english.PluralWord(int(m.Users), "was", "were")
	note := fmt.Sprintf("%s of %s of the list %s not found", humanize.Comma(m.Users), quantity.Of(users, "user"), were)
	if out != "" && m.File != nil {
		note += ": " + dfs.Join(out, m.File.Name) + " has the IDs"
	}
	notes := []string{note}
	for _, odd := range []struct {
		users     int64
		one, more string
		step      string
	}{
		{m.Blank, "begins or ends with a blank", "begin or end with a blank", "remove the blanks from the list"},
		{m.Lines, "has a line end in it", "have a line end in them", "a quote of the list may be missing, or its lines end in carriage returns: correct the list"},
		{m.Quoted, "has quotes around it", "have quotes around them", "remove the quotes, and an = before them, from the list"},
		{m.Point, "ends in .0 or in an exponent, as programs write numbers", "end in .0 or in an exponent, as programs write numbers", "write the IDs as texts"},
		{m.Hidden, "has a no-break space or an invisible character in it", "have a no-break space or an invisible character in them", "write a space for a no-break space, and remove the other characters"},
		{m.Decomposed, "is in the decomposed form of Unicode, as macOS writes names", "are in the decomposed form of Unicode, as macOS writes names", "write the list in the composed form, for example by uconv -x any-nfc, unless the table has such IDs"},
		{m.Listed, "has a comma, semicolon, tab or | in it", "have a comma, semicolon, tab or | in them", "write one ID on each line, or name the column of the list, as in --users NAME.csv:COLUMN"},
	} {
		if odd.users > 0 {
			notes = append(notes, fmt.Sprintf("%s of the IDs that were not found %s: %s", humanize.Comma(odd.users), english.PluralWord(int(odd.users), odd.one, odd.more), odd.step))
		}
	}
	return notes
}
