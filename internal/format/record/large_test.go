package record

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"usertrail/internal/behaviour"
)

// TestFieldsOfOneColumn parses records of which two fields have the same column, or a member of it. The fields are
// then larger than the record. The parser ends at the first record whose fields have more than twice Held bytes.
func TestFieldsOfOneColumn(t *testing.T) {
	for _, c := range []struct {
		syntax Syntax
		second string // column of the second field
		line   string
	}{
		{CSV, "title", "u1,2014-09-01 10:00:00,%s,\n"},
		{JSONL, "title", `{"user":"u1","time":"2014-09-01 10:00:00","title":"%s"}` + "\n"},
		{JSONL, "title.x", `{"user":"u1","time":"2014-09-01 10:00:00","title":{"x":"%s"}}` + "\n"},
	} {
		for size, large := range map[int]bool{900: false, 1100: true} {
			f := plays()
			f.Syntax, f.Held = c.syntax, 1000
			f.Kinds[0].Fields[1].Name = c.second
			f.Schema.Kinds[0].Fields[1].Type = behaviour.String
			p, err := NewParser(f, playFile("a"), []string{"user", "time", "title", "seconds"})
			if err != nil {
				t.Fatal(err)
			}
			text, n := fmt.Sprintf(c.line, strings.Repeat("x", size)), &counter{}
			err = p.Parse(Chunk{Data: []byte(text + text), Offset: 1000, Line: 1}, n)
			if large && (!errors.Is(err, ErrLarge) || !strings.Contains(err.Error(), "a: record at byte 1000: ") || n.kept > 0) {
				t.Errorf("%s, %s of %d bytes: %v, %d records; want ErrLarge at the first record", c.syntax, c.second, size, err, n.kept)
			}
			if !large && (err != nil || n.kept != 2) {
				t.Errorf("%s, %s of %d bytes: %v, %d records; want both", c.syntax, c.second, size, err, n.kept)
			}
		}
	}
}

// TestManyColumnsInAMessage opens a file of very many columns that lacks the column of a field. The error does not list all of them.
func TestManyColumnsInAMessage(t *testing.T) {
	header := []string{"user", "time", "title", strings.Repeat("long", 1000)}
	for i := range 5000 {
		header = append(header, fmt.Sprint("c", i))
	}
	_, err := NewParser(plays(), playFile("a"), header)
	if !errors.Is(err, ErrHeader) || !strings.Contains(err.Error(), `"c95", and 4904 more`) || len(err.Error()) > 2000 {
		t.Errorf("%v; want the first 100 columns", err)
	}
}
