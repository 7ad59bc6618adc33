package record

import (
	"strings"
	"testing"
)

func TestLineAt(t *testing.T) {
	long := strings.Repeat("x", 3*firstRead)
	text := "user,time,title,seconds\r\na\r\n" + long + "\nb\nlast"
	at := func(s string) int64 { return int64(strings.Index(text, s)) }
	open := func() *Reader {
		r, err := Open(strings.NewReader(text), playFile("a.csv"), plays())
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	r := open()
	for _, c := range []struct {
		offset int64
		most   int
		want   string
	}{
		{at("a\r\n"), 10, "a"}, {at(long), len(long), long}, {at("b\n"), 1, "b"}, {at("last"), 4, "last"},
	} {
		got, err := r.LineAt(c.offset, c.most)
		if err != nil || string(got) != c.want {
			t.Errorf("the line at %d is %.20q of %d bytes, %v; want %.20q of %d", c.offset, got, len(got), err, c.want, len(c.want))
		}
	}
	if got, err := open().LineAt(at(long), 100); err != nil || len(got) != 101 {
		t.Errorf("%d bytes of a line that is too long, %v; want one more than 100", len(got), err)
	}
	for _, offset := range []int64{0, int64(len(text)), int64(len(text)) + 7} {
		if got, err := open().LineAt(offset, 10); err == nil {
			t.Errorf("the line at %d is %q, want an error", offset, got)
		}
	}
}
