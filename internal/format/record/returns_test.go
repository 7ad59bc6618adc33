package record

import (
	"errors"
	"strings"
	"testing"
)

// TestLinesThatEndInCarriageReturnsAloneAreRefused opens files with a header. Without the error, the whole file is the header.
func TestLinesThatEndInCarriageReturnsAloneAreRefused(t *testing.T) {
	const want = "the header does not fit the job: the lines end in carriage returns alone: convert the log, for example by tr '\\r' '\\n'"
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
		for _, f := range []Format{{Syntax: CSV, Header: true}, {Syntax: TSV, Header: true}, {Syntax: Blanks, Header: true}} {
			r, err := Open(strings.NewReader(text), File{Path: "a.csv"}, &f)
			if refused && (!errors.Is(err, ErrHeader) || !strings.Contains(err.Error(), want)) || !refused && err != nil {
				t.Errorf("%.20q of %s: %v, want an error: %t", text, f.Syntax, err, refused)
			}
			if err == nil {
				r.Close()
			}
		}
	}
	r, err := Open(strings.NewReader("u1,1\ru2,2\r"), File{Path: "a.csv"}, &Format{Syntax: CSV})
	if err != nil {
		t.Fatalf("without a header: %v", err)
	}
	r.Close()
}
