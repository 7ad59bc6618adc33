package record

import (
	"slices"
	"strings"
	"testing"
)

// TestMatch compares texts with lines of a file. Some begin in the same line.
func TestMatch(t *testing.T) {
	long := strings.Repeat("x", 3*firstRead)
	text := "user,time,title,seconds\r\na\r\n\"b\nc\",1\n" + long + "\nd\nlast"
	at := func(s string) int64 { return int64(strings.Index(text, s)) }
	r, err := Open(strings.NewReader(text), playFile("a.csv"), plays())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		offset int64
		line   int64
		texts  []string
		same   []bool
	}{
		{at("a\r\n"), 2, []string{"a", "", "ab", "b"}, []bool{true, false, false, false}},
		{at("\"b"), 3, []string{"\"b\nc\",1", "\"b\nc\",2", "\"b\nc\",12"}, []bool{true, false, false}},
		{at(long), 5, []string{long, long + "x"}, []bool{true, false}},
		{at("d\n"), 6, []string{"e"}, []bool{false}},
		{at("last") + 1, 0, []string{"ast"}, []bool{false}},
	} {
		var texts [][]byte
		for _, x := range c.texts {
			texts = append(texts, []byte(x))
		}
		line, same, err := r.Match(c.offset, texts)
		if err != nil || line != c.line || !slices.Equal(same, c.same) {
			t.Errorf("at %d: line %d, %v, %v; want line %d, %v", c.offset, line, same, err, c.line, c.same)
		}
	}
	for _, offset := range []int64{0, int64(len(text)), int64(len(text)) + 7} {
		if line, _, err := r.Match(offset, [][]byte{nil}); err != nil || line != 0 {
			t.Errorf("at %d: line %d, %v; want no line", offset, line, err)
		}
	}
}
