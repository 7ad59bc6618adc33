package record

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"usertrail/internal/behaviour"
)

type countSink struct{ kept, skipped, bad int }

func (c *countSink) Keep(*behaviour.Record) error { c.kept++; return nil }
func (c *countSink) Skip(*Skipped) error          { c.skipped++; return nil }
func (c *countSink) Reject(*Reject) error         { c.bad++; return nil }

// TestASecondHeaderInAnotherOrderEndsParse has two headers in a file. The same header again is a bad record.
func TestASecondHeaderInAnotherOrderEndsParse(t *testing.T) {
	const header = "user,time,title,seconds"
	for _, c := range []struct{ second, want string }{
		{"title,time,user,seconds", "the second header at line 3, byte 31 has the columns in another order: split the log there"},
		{`"title",time,"user","seconds"`, "line 3, byte 31"},
		{"seconds,title,time,user", "line 3, byte 31"},
		{header, ""}, {"title,time,user,minutes", ""}, {"title,time,user,user", ""}, {"user,time,title", ""}, {"title,time,user,seconds,x", ""},
	} {
		f := plays()
		p, err := NewParser(f, playFile("day/a.csv"), strings.Split(header, ","))
		if err != nil {
			t.Fatal(err)
		}
		s := &countSink{}
		text := "u1,2014-09-01 10:00:00,news,60\n"
		data := text + c.second + "\n" + text
		chunk := Chunk{Data: []byte(data), Line: 2}
		if err := p.Parse(chunk, s); err != nil {
			t.Errorf("%s: %v, though the parser does not look for headers", c.second, err)
		}
		p.FindHeaders(strings.Split(header, ","), true)
		*s = countSink{}
		err = p.Parse(chunk, s)
		if c.want == "" && (err != nil || s.kept != 2 || s.bad != 1) {
			t.Errorf("%s: %v, %+v; want a bad record", c.second, err, *s)
		}
		if c.want != "" && (!errors.As(err, new(*SecondHeader)) || !errors.Is(err, ErrHeader) || !strings.Contains(fmt.Sprint(err), c.want)) {
			t.Errorf("%s: %v, want %s", c.second, err, c.want)
		}
	}
}
