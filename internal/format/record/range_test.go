package record

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// readRanges reads a text in ranges that begin near the given places, as many processes
// would. It also returns the number of ranges.
func readRanges(t testing.TB, text string, file File, f *Format, at []int, size int) (*list, int) {
	t.Helper()
	cuts := []int64{0}
	for _, n := range at {
		from, sure, err := f.Begins(strings.NewReader(text), int64(len(text)), int64(n))
		if err != nil {
			t.Fatal(err)
		}
		for _, step := range []int{1, 3, 64} {
			again, alike, err := f.begins(strings.NewReader(text), int64(len(text)), int64(n), step)
			if err != nil || alike != sure || sure && again != from {
				t.Fatalf("the record at or after %d begins at %d (%v), and at %d (%v, %v) if %d bytes are read at a time", n, from, sure, again, alike, err, step)
			}
		}
		if sure && from < int64(n) {
			t.Fatalf("the record at or after %d begins at %d", n, from)
		}
		if sure {
			cuts = append(cuts, from)
		}
	}
	cuts = append(cuts, int64(len(text)))
	slices.Sort(cuts)
	cuts = slices.Compact(cuts)
	all, lines := &list{format: f}, int64(0)
	for i := range len(cuts) - 1 {
		from, to := cuts[i], cuts[i+1]
		in, err := OpenRange(strings.NewReader(text), strings.NewReader(text[from:to]), file, f, from, to)
		if err != nil {
			t.Fatal(err)
		}
		p, err := NewParser(f, file, in.Header())
		if err != nil {
			t.Fatal(err)
		}
		for {
			c, err := in.Next(make([]byte, 0, size))
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			c.Line += lines
			if c.Long != nil {
				c.Long.Line += lines
			}
			if err := p.Parse(c, all); err != nil {
				t.Fatal(err)
			}
		}
		lines += in.Lines()
	}
	if want := int64(strings.Count(text, "\n")); lines != want {
		t.Errorf("the ranges have %d lines, the text %d", lines, want)
	}
	return all, len(cuts) - 1
}

// syntaxes returns formats that cover every way of cutting records.
func syntaxes() map[string]*Format {
	out := map[string]*Format{}
	for _, s := range []Syntax{CSV, TSV, Blanks, JSONL} {
		f := plays()
		f.Syntax, f.MaxLine = s, 128
		if s == TSV {
			f.Delimiter = ","
		}
		if s == Blanks {
			f.Kinds[0].Time.Column, f.Kinds[0].Fields = Column{Name: "$1"}, []Column{{Name: "$1"}, {Name: "$1"}}
			f.Kinds[0].User = Column{Name: "$1"}
		}
		out[string(s)] = f
	}
	return out
}

// TestATextCutAtEveryPlace cuts each text at every place, and at many places at once. Each record must
// appear once, with its offset and line in the whole text.
func TestATextCutAtEveryPlace(t *testing.T) {
	for name, text := range awkward {
		for syntax, f := range syntaxes() {
			t.Run(name+" as "+syntax, func(t *testing.T) {
				whole := read(t, text, playFile("a.csv"), f, len(text)+1)
				dice := rand.New(rand.NewPCG(1, uint64(len(text))))
				ranges := 0
				for n := 1; n < len(text); n++ {
					got, many := readRanges(t, text, playFile("a.csv"), f, []int{n}, 50)
					wantLines(t, got, whole.lines...)
					ranges += many - 1
					at := dice.Perm(len(text))[:min(len(text), 1+dice.IntN(20))]
					got, _ = readRanges(t, text, playFile("a.csv"), f, at, dice.IntN(200))
					if wantLines(t, got, whole.lines...); t.Failed() {
						t.Fatalf("cut about %d, or about %d", n, at)
					}
				}
				if f.Syntax != CSV && strings.Count(text, "\n") > 3 && !strings.HasPrefix(name, "long") && ranges < len(text)/2 {
					t.Errorf("of %d places only %d were cut", len(text), ranges)
				}
			})
		}
	}
}

// TestQuotesThatLeaveDoubt checks that a text is not cut where a place may be inside quotes.
// MaxLine bytes after such a place it is cut again.
func TestQuotesThatLeaveDoubt(t *testing.T) {
	f := plays()
	f.MaxLine = 128
	doubt := strings.Repeat("A,\"\n", 100) // every second line end is inside quotes, but which?
	plain := strings.Repeat("u1,2014-09-01 10:00:00,A,1\n", 20)
	cut := func(text string, at int) (int64, bool) {
		t.Helper()
		from, sure, err := f.Begins(strings.NewReader(text), int64(len(text)), int64(at))
		if err != nil {
			t.Fatal(err)
		}
		return from, sure
	}
	text := header + doubt + plain
	if from, sure := cut(text, len(header)+300); sure {
		t.Errorf("in doubt it was cut at %d", from)
	}
	if from, sure := cut(text, len(text)-70); !sure || from != int64(len(text)-54) {
		t.Errorf("cut at %d, %v; want the line that begins at %d", from, sure, len(text)-54)
	}
	if from, sure := cut(text, len(text)-1); !sure || from != int64(len(text)) {
		t.Errorf("the last line: %d, %v; want the end", from, sure)
	}
	if _, sure := cut(plain+strings.Repeat("A", 500)+"\n"+plain, len(plain)+100); sure {
		t.Error("a line of which no end is seen was cut")
	}
	multiline := header + strings.Repeat("u1,2014-09-01 10:00:00,\"A\nB, C\",1\n", 50)
	if from, sure := cut(multiline, 900); !sure || !strings.HasPrefix(multiline[from:], "u1,") {
		t.Errorf("records of two lines: %d, %v; want one's beginning", from, sure)
	}
}

func TestWhatIsNotCut(t *testing.T) {
	for path, encoding := range map[string]string{"a.csv": "", "b.csv": "UTF-8", "c.csv": "us-ascii"} {
		if why := (&Format{Encoding: encoding}).WhyWhole(path); why != "" {
			t.Errorf("%s in %q: %s; want it cut", path, encoding, why)
		}
	}
	for path, f := range map[string]Format{
		"a.csv.GZ": {}, "a.zst": {}, "a.csv.bz2": {}, "1.csv": {Encoding: "utf-16"}, "2.csv": {Encoding: "gbk"}, "3.csv": {Encoding: "latin1"},
		"4.csv": {Syntax: CSV, MaxLine: 1 << 30},
	} {
		if why := f.WhyWhole(path); why == "" {
			t.Errorf("%s in %q could be cut", path, f.Encoding)
		}
	}
}

// TestRangeOfADamagedFile checks that damage in the header or in the range is reported.
func TestRangeOfADamagedFile(t *testing.T) {
	text := awkward["plain"]
	if _, _, err := plays().Begins(strings.NewReader(text[:30]), int64(len(text)), 60); err == nil {
		t.Error("a file that is shorter than it was: no error")
	}
	_, err := OpenRange(failing{}, strings.NewReader(text[51:]), playFile("day/a.csv"), plays(), 51, int64(len(text)))
	if !errors.Is(err, errDisk) || !strings.Contains(err.Error(), "day/a.csv") {
		t.Errorf("damage in the header: %v, want the disk's error and the path", err)
	}
	r, err := OpenRange(strings.NewReader(text), failing{}, playFile("day/a.csv"), plays(), 51, int64(len(text)))
	if err == nil {
		_, err = r.Next(nil)
	}
	if !errors.Is(err, errDisk) || !strings.Contains(err.Error(), "day/a.csv") {
		t.Errorf("damage in the range: %v, want the disk's error and the path", err)
	}
}

func FuzzRanges(f *testing.F) {
	for _, text := range awkward {
		f.Add(text, uint8(0), uint16(20), uint16(70), uint8(50))
	}
	f.Fuzz(func(t *testing.T, text string, syntax uint8, a, b uint16, size uint8) {
		format := plays()
		format.Header, format.MaxLine = false, 40
		format.Syntax = []Syntax{CSV, TSV, Blanks, JSONL}[syntax%4]
		one := Column{Name: "$1"}
		if format.Syntax == JSONL {
			one.Name = "a"
		}
		format.Kinds = []Kind{{User: one, Time: Time{Column: one, Format: "epoch_s"}, Fields: []Column{one, one}}}
		whole, err := readAll(strings.NewReader(text), playFile("a.csv"), format, 64)
		if err != nil {
			t.Skip(err)
		}
		got, _ := readRanges(t, text, playFile("a.csv"), format, []int{int(a) % (len(text) + 1), int(b) % (len(text) + 1)}, int(size))
		if fmt.Sprint(got.lines) != fmt.Sprint(whole.lines) {
			t.Errorf("cut about %d and %d:\n%q\nwhole:\n%q", a, b, got.lines, whole.lines)
		}
	})
}
