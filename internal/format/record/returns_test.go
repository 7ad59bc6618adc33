package record

import (
	"errors"
	"strings"
	"testing"
)

// TestLinesThatEndInCarriageReturnsAloneAreRefused opens files with a header and without one. Without the error, the
// whole file is the header, or one record.
func TestLinesThatEndInCarriageReturnsAloneAreRefused(t *testing.T) {
	const want = "the lines end in carriage returns alone: convert the log, for example by tr '\\r' '\\n'"
	for text, refused := range map[string]bool{
		"user,x\ru1,1\r": true,
		"user,x\ru1,1":   true,
		"\ufeffuser,x\r" + strings.Repeat("u1,1\r", 1<<20): true,
		"user,x\r":              false, // the line end may be written later
		"user,x\r\nu1,1\r":      false,
		"user,x\nu\r1,1\n":      false,
		"user,\"x\ry\"\nu1,1\n": false,
		"":                      false,
	} {
		for _, f := range []Format{{Syntax: CSV}, {Syntax: TSV}, {Syntax: Blanks}} {
			for _, f.Header = range []bool{false, true} {
				r, err := Open(strings.NewReader(text), File{Path: "a.csv"}, &f)
				if refused && (!errors.Is(err, ErrReturns) || !strings.Contains(err.Error(), want)) || !refused && err != nil {
					t.Errorf("%.20q of %s, header %t: %v, want an error: %t", text, f.Syntax, f.Header, err, refused)
				}
				if err == nil {
					r.Close()
				}
			}
		}
	}
	r, err := Open(strings.NewReader("u1,\"a text\rof \"\"two\"\"\rlines\"\r"), File{Path: "a.csv"}, &Format{Syntax: CSV})
	if err != nil {
		t.Fatalf("one record, with carriage returns in a quoted value: %v", err)
	}
	r.Close()
}
