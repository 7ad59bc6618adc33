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
				delimiter := map[Syntax]string{CSV: ",", TSV: "\t", Blanks: " "}[f.Syntax]
				r, err := Open(strings.NewReader(strings.ReplaceAll(text, ",", delimiter)), File{Path: "a.csv"}, &f)
				if refused && (!errors.Is(err, ErrReturns) || !strings.Contains(err.Error(), want)) || !refused && err != nil {
					t.Errorf("%.20q of %s, header %t: %v, want an error: %t", text, f.Syntax, f.Header, err, refused)
				}
				if err == nil {
					r.Close()
				}
			}
		}
	}
}

// TestCarriageReturnsInALog opens logs of csv with line feeds in some places, and logs whose values have carriage returns.
func TestCarriageReturnsInALog(t *testing.T) {
	long := strings.Repeat("a line of a text\r", firstRead/10)
	for name, c := range map[string]struct {
		syntax  Syntax
		text    string
		header  bool // in a log with a header
		without bool // in a log without one
	}{
		"the last line ends in a line feed":       {CSV, "user,x\ru1,1\ru2,2\r\n", true, true},
		"a quoted value has a line feed":          {CSV, "u1,\"a\nb\",x\ru2,\"c\nd\",y\r", true, true},
		"a quoted value has both":                 {CSV, "u1,\"a\r\nb\",x\ru2,\"c\r\nd\",y\r", true, true},
		"many lines":                              {CSV, strings.Repeat("user1,value\r", firstRead), true, true},
		"many lines and a line feed":              {TSV, strings.Repeat("user1\tvalue\r", firstRead) + "\n", true, true},
		"one quoted value":                        {CSV, "u1,\"a text\rof \"\"two\"\"\rlines\"\r", false, false},
		"a long quoted value":                     {CSV, "u1,\"" + long + "\"\nu2,x\n", false, false},
		"a long value":                            {TSV, long + "\tu1\nx\tu2\n", true, false},
		"a value of the only record":              {TSV, "u1\t2014-09-01\tprogress 10%\rprogress 20%", true, false},
		"a value of the first of several records": {TSV, "u1\tprogress 10%\r\tx\nu2\tready\n", false, false},
		"one column":                              {TSV, "progress 10%\rprogress 20%\r", true, false},
		"words":                                   {Blanks, "u1 buy\ru2 view\r", true, true},
		"other numbers of words":                  {Blanks, "u1 buy\ru2 view a page\r", true, false},
	} {
		for header, refused := range map[bool]bool{true: c.header, false: c.without} {
			r, err := Open(strings.NewReader(c.text), File{Path: "a.csv"}, &Format{Syntax: c.syntax, Header: header})
			if errors.Is(err, ErrReturns) != refused || !refused && err != nil && !errors.Is(err, ErrHeader) {
				t.Errorf("%s, header %t: %v, want an error: %t", name, header, err, refused)
			}
			if err == nil {
				r.Close()
			}
		}
	}
}
