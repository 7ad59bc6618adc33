package notfound

import (
	"bytes"
	"fmt"

	"github.com/dustin/go-humanize"

	"usertrail/internal/format/manifest"
	"usertrail/internal/run/quantity"
	"usertrail/internal/store/dfs"
)

// A Count counts users of a list that were not found. Some kinds of IDs show that a program
// may have changed them.
type Count struct {
	Users  int64 `json:"users"`
	Blank  int64 `json:"blank,omitempty"`  // IDs that begin or end with white space
	Quoted int64 `json:"quoted,omitempty"` // IDs that begin or end with a quote
	Point  int64 `json:"point,omitempty"`  // IDs that are numbers and end in .0

	File *manifest.NamesFile `json:"-"` // that names them; nil if there is none
}

// Add adds o to m.
func (m *Count) Add(o *Count) {
	m.Users += o.Users
	m.Blank += o.Blank
	m.Quoted += o.Quoted
	m.Point += o.Point
}

// count counts the user with an ID.
func (m *Count) count(id []byte) {
	m.Users++
	switch number, point := bytes.CutSuffix(id, []byte(".0")); {
	case len(bytes.TrimSpace(id)) < len(id):
		m.Blank++
	case bytes.ContainsAny(id[:1], `"'`) || bytes.ContainsAny(id[len(id)-1:], `"'`):
		m.Quoted++
	case point && len(number) > 0 && len(bytes.Trim(number, "0123456789")) == 0:
		m.Point++
	}
}

// Notes returns sentences: how many of so many users were not found, which file in out names
// them, and which of their IDs a program may have changed. If out is empty, no file names them.
func (m *Count) Notes(users int64, out string) []string {
	if m.Users == 0 {
		return nil
	}
	were := "were"
	if m.Users == 1 {
		were = "was"
	}
	note := fmt.Sprintf("%s of the %s asked for %s not found", humanize.Comma(m.Users), quantity.Of(users, "user"), were)
	if out != "" && m.File != nil {
		note += "; " + dfs.Join(out, m.File.Name) + " names them"
	}
	notes := []string{note}
	for _, odd := range []struct {
		users int64
		what  string
	}{
		{m.Blank, "have a blank before or after the ID"}, {m.Quoted, "have quotes around the ID"},
		{m.Point, "have an ID that ends in .0, as programs write numbers: make the IDs texts before they are written"},
	} {
		if odd.users > 0 {
			notes = append(notes, fmt.Sprintf("%s of those who were not found %s", humanize.Comma(odd.users), odd.what))
		}
	}
	return notes
}
