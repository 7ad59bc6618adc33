package record

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
)

// awkward holds texts in which the place of a cut could matter.
var awkward = map[string]string{
	"plain":         header + "u1,2014-09-01 10:00:00,A,1\nu2,2014-09-01 10:00:01,B,2\nu3,2014-09-01 10:00:02,C,3\n",
	"no last end":   header + "u1,2014-09-01 10:00:00,A,1\nu2,2014-09-01 10:00:01,B,2",
	"crlf":          "user,time,title,seconds\r\nu1,2014-09-01 10:00:00,A,1\r\n\r\nu2,2014-09-01 10:00:01,\"B\r\nb\",2\r\nu3,2014-09-01 10:00:02,C,3\r",
	"quoted":        header + "u1,2014-09-01 10:00:00,\"A\nB\"\"C\"\"\n\n\",1\n\"u2\",\"2014-09-01 10:00:01\",\"\"\"\",\"2\"\nu3,2014-09-01 10:00:02,\"\",\n",
	"mark":          mark + header + "u1,2014-09-01 10:00:00,A,1\n",
	"marks":         mark + header + mark + "u1,2014-09-01 10:00:00,A,1\n" + mark + mark + "\"u2\",2014-09-01 10:00:01,\"B\nb\",2\n" + mark + "\n" + mark + "u3,\"x\n" + mark,
	"marks, just":   header + mark + "u1,2014-09-01 10:00:00," + strings.Repeat("A", 100) + ",1\n" + mark + "u1,2014-09-01 10:00:00," + strings.Repeat("A", 101) + ",1\n",
	"empty lines":   "\n\n" + header + "\n\nu1,2014-09-01 10:00:00,A,1\n\n\nu2,2014-09-01 10:00:00,A,1\n\n",
	"left open":     header + "u1,2014-09-01 10:00:00,\"A,1\nu2,2014-09-01 10:00:01,B,2\nu3,2014-09-01 10:00:02,C,3\n",
	"open, closed":  header + "u1,2014-09-01 10:00:00,\"A,1\nu2,2014-09-01 10:00:01,\"B\",2\nu3,2014-09-01 10:00:02,C,3\n",
	"within":        header + "u1,2014-09-01 10:00:00,5\" disk,1\nu2,2014-09-01 10:00:01,\"B\" b,2\nu3,2014-09-01 10:00:02,C,3\n",
	"long":          header + "u1,2014-09-01 10:00:00," + strings.Repeat("A", 300) + ",1\nu2,2014-09-01 10:00:01,B,2\n",
	"long, last":    header + "u1,2014-09-01 10:00:00,A,1\nu2,2014-09-01 10:00:01," + strings.Repeat("A", 300),
	"long, quoted":  header + "u1,2014-09-01 10:00:00,\"" + strings.Repeat("A\n", 150) + "\",1\nu2,2014-09-01 10:00:01,B,2\n",
	"long and open": header + "u1,2014-09-01 10:00:00,\"" + strings.Repeat("A", 300) + "\nB\",1\nu2,2014-09-01 10:00:01,B,2\n",
	"just":          header + "u1,2014-09-01 10:00:00," + strings.Repeat("A", 103) + ",1\r\nu1,2014-09-01 10:00:00," + strings.Repeat("A", 104) + ",1\r\n",
	"just, quoted":  header + "u1,2014-09-01 10:00:00,\"" + strings.Repeat("A", 100) + "\n\",1\r\nu1,2014-09-01 10:00:00,\"" + strings.Repeat("A", 101) + "\n\",1\r\n",
	"just, last":    header + "u1,2014-09-01 10:00:00,A,1\nu1,2014-09-01 10:00:00,\"" + strings.Repeat("A", 102) + "\",1",
	"nothing":       "",
	"header only":   strings.TrimSpace(header),
}

// TestChunkSize reads each text whole and in chunks of every size, and also from a reader
// that returns one byte at a time. The records and rejects must be the same, with the same
// offsets and lines.
func TestChunkSize(t *testing.T) {
	for name, text := range awkward {
		t.Run(name, func(t *testing.T) {
			f := plays()
			f.MaxLine = 128
			whole := read(t, text, playFile("a.csv"), f, len(text)+1)
			for i, at := range whole.at {
				if raw := whole.raw[i]; !strings.HasPrefix(text[at:], raw) {
					t.Errorf("%s: the text at its offset is not the record", whole.lines[i])
				}
			}
			for size := 0; size <= len(text); size++ {
				got := read(t, text, playFile("a.csv"), f, size)
				if strings.Join(got.lines, "\n") != strings.Join(whole.lines, "\n") {
					t.Fatalf("chunks of %d:\n\t%s\nwhole:\n\t%s", size, strings.Join(got.lines, "\n\t"), strings.Join(whole.lines, "\n\t"))
				}
			}
			slow, err := readAll(slowly{bytes.NewReader([]byte(text))}, playFile("a.csv"), f, 50)
			if err != nil {
				t.Fatal(err)
			}
			wantLines(t, slow, whole.lines...)
		})
	}
}

// TestAwkward shows the result for texts with mistakes.
func TestAwkward(t *testing.T) {
	f := plays()
	f.MaxLine = 128
	for name, want := range map[string][]string{
		"crlf": {
			`keep 25: play "u1" 2014-09-01T10:00:00 2014-09-01 title="A" seconds="1"`,
			`keep 55: play "u2" 2014-09-01T10:00:01 2014-09-01 title="B\r\nb" seconds="2"`,
			`keep 88: play "u3" 2014-09-01T10:00:02 2014-09-01 title="C" seconds="3"`,
		},
		"quoted": {
			`keep 24: play "u1" 2014-09-01T10:00:00 2014-09-01 title="A\nB\"C\"\n\n" seconds="1"`,
			`keep 62: play "u2" 2014-09-01T10:00:01 2014-09-01 title="\"" seconds="2"`,
			`keep 98: play "u3" 2014-09-01T10:00:02 2014-09-01 title=null seconds=null`,
		},
		"marks": {
			`keep 27: play "u1" 2014-09-01T10:00:00 2014-09-01 title="A" seconds="1"`,
			`keep 57: play "u2" 2014-09-01T10:00:01 2014-09-01 title="B\nb" seconds="2"`,
			`reject 100 line 6: bad quote: a quote within a column, or not closed`,
		},
		"mark": {`keep 27: play "u1" 2014-09-01T10:00:00 2014-09-01 title="A" seconds="1"`},
		"left open": {
			`reject 24 line 2: bad quote: a quote within a column, or not closed`,
			`keep 52: play "u2" 2014-09-01T10:00:01 2014-09-01 title="B" seconds="2"`,
			`keep 79: play "u3" 2014-09-01T10:00:02 2014-09-01 title="C" seconds="3"`,
		},
		"open, closed": {
			`reject 24 line 2: bad quote: a quote within a column, or not closed`,
			`keep 52: play "u2" 2014-09-01T10:00:01 2014-09-01 title="B" seconds="2"`,
			`keep 81: play "u3" 2014-09-01T10:00:02 2014-09-01 title="C" seconds="3"`,
		},
		"within": {
			`reject 24 line 2: bad quote: a quote within a column, or not closed`,
			`reject 57 line 3: bad quote: a quote within a column, or not closed`,
			`keep 88: play "u3" 2014-09-01T10:00:02 2014-09-01 title="C" seconds="3"`,
		},
		"long": {
			`reject 24 line 2: too long: more than 128 bytes`,
			`keep 350: play "u2" 2014-09-01T10:00:01 2014-09-01 title="B" seconds="2"`,
		},
		"just": {
			fmt.Sprintf(`keep 24: play "u1" 2014-09-01T10:00:00 2014-09-01 title="%s" seconds="1"`, strings.Repeat("A", 103)),
			`reject 154 line 3: too long: more than 128 bytes`,
		},
		"nothing":     {},
		"header only": {},
	} {
		t.Run(name, func(t *testing.T) {
			wantLines(t, read(t, awkward[name], playFile("a.csv"), f, 64), want...)
		})
	}
}

// TestQuoteTooLong leaves a quote open for more lines than a record may have. Each line is
// a bad or a good record, and the record after them is complete.
func TestQuoteTooLong(t *testing.T) {
	f := plays()
	f.MaxLine = 128
	got := read(t, awkward["long, quoted"], playFile("a.csv"), f, 1<<20)
	if n := len(got.lines); n != 152 {
		t.Fatalf("%d records, want the 151 lines of the first and the one after", n)
	}
	for i, l := range got.lines[:151] {
		want := fmt.Sprintf("line %d: wrong width", i+2)
		if i == 0 || i == 150 {
			want = fmt.Sprintf("line %d: bad quote", i+2)
		}
		if !strings.Contains(l, want) {
			t.Errorf("got %q, want %q", l, want)
		}
	}
	if !strings.Contains(got.lines[151], `"u2"`) {
		t.Errorf("got %q, want the record of u2", got.lines[151])
	}
}

// TestARecordMustFitIntoMemory reads records that have as many bytes as a Reader holds, and larger
// records. The result must not depend on the size of the chunks.
func TestARecordMustFitIntoMemory(t *testing.T) {
	const held, most = 100_000, 500_000
	title := strings.Repeat("A", held-25)
	lines := strings.Repeat("A\n", held/2)
	for _, c := range []struct {
		name, last string
		large      bool
		records    int
	}{
		{"fits", "u1,2014-09-01 10:00:00," + title + ",1\r\n", false, 2},
		{"fits, and is the last", "u1,2014-09-01 10:00:00," + title + ",1", false, 2},
		{"larger", "u1,2014-09-01 10:00:00,AA" + title + ",1\nu2,2014-09-01 10:00:00,A,1\n", true, 1},
		{"several lines", "u1,2014-09-01 10:00:00,\"" + lines + "\",1\n", true, 1},
		{"a quote that stays open", "u1,2014-09-01 10:00:00,\"" + lines + lines, true, 1},
		{"too long as well", strings.Repeat("A", most+1) + "\n", true, 1},
	} {
		f := plays()
		f.Held, f.MaxLine = held, most
		text := "user,time,title,seconds\nu0,2014-09-01 10:00:00,A,1\n" + c.last
		for _, size := range []int{0, 1, firstRead, held - 1, held, held + 1, 2 * held, most, 2 * most} {
			got, err := readAll(strings.NewReader(text), playFile("day/a.csv"), f, size)
			if len(got.lines) != c.records || errors.Is(err, ErrLarge) != c.large {
				t.Fatalf("%s, chunks of %d: %d records, want %d; %v", c.name, size, len(got.lines), c.records, err)
			}
			if c.large && (!strings.Contains(err.Error(), "day/a.csv: record at byte 51: ") || !strings.Contains(err.Error(), fmt.Sprintf("more than %d bytes", held))) {
				t.Errorf("%s, chunks of %d: %v, want the file, the record and the limit", c.name, size, err)
			}
		}
	}
	f := plays()
	f.Held, f.MaxLine = held, most
	text := "user,time,title,seconds\nu0,2014-09-01 10:00:00,A,1\nu1,2014-09-01 10:00:00,AA" + title + ",1\n"
	r, err := OpenRange(strings.NewReader(text), strings.NewReader(text), playFile("a.csv"), f, 0, int64(len(text)))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if c, err := r.Next(make([]byte, 0, held)); err != nil || c.Line != 2 || bytes.Count(c.Data, newline) != 1 {
		t.Errorf("a range: %.100q, %v, want the record before the large one", c.Data, err)
	}
	if _, err := r.Next(make([]byte, 0, held)); !errors.Is(err, ErrLarge) {
		t.Errorf("a range: %v, want ErrLarge", err)
	}
	_, err = Open(strings.NewReader(strings.Repeat("a,", held)+"\n"), playFile("a.csv"), f)
	if !errors.Is(err, ErrLarge) || !errors.Is(err, ErrLargeHeader) || !strings.Contains(err.Error(), "a.csv: header in line 1") {
		t.Errorf("a large header: %v, want ErrLargeHeader", err)
	}
}

// TestAHeaderMustFitIntoMemory opens files with as many columns as fit, and with one more.
func TestAHeaderMustFitIntoMemory(t *testing.T) {
	for _, c := range []struct {
		syntax    Syntax
		delimiter string
	}{{CSV, ","}, {CSV, "||"}, {TSV, "\t"}, {Blanks, " "}} {
		f := plays()
		f.Syntax, f.Columns = c.syntax, 4
		if c.syntax == CSV {
			f.Delimiter = c.delimiter
		}
		header := strings.Join([]string{"user", "time", "title", "seconds"}, c.delimiter)
		for text, large := range map[string]bool{header + "\n": false, header + c.delimiter + "more\n": true} {
			r, err := Open(strings.NewReader(text), playFile("a.csv"), f)
			if err == nil {
				r.Close()
			}
			if errors.Is(err, ErrLargeHeader) != large || !large && err != nil || large && !strings.Contains(err.Error(), "a.csv: header in line 1: too large for the memory: it has 5 columns, and 4 fit") {
				t.Errorf("%s: %q: %v", c.syntax, text, err)
			}
		}
	}
}

// TestARecordThatIsTooLongIsWhole reads lines that are longer than a record may be, and shorter than
// MaxRaw, from the beginning and the end of a file that is larger than the first read.
func TestARecordThatIsTooLongIsWhole(t *testing.T) {
	f := plays()
	f.MaxLine = 100
	for _, held := range []int{0, 1 << 20} {
		f.Held = held
		long := strings.Repeat("A", 3000)
		text := header + long + "\n" + strings.Repeat("u1,2014-09-01 10:00:00,A,1\n", firstRead/20) + long + "\n"
		got := read(t, text, playFile("a.csv"), f, 1<<20)
		for i, at := range []int{0, len(got.raw) - 1} {
			if got.raw[at] != long {
				t.Errorf("held %d, line %d: a text of %d bytes, want all %d", held, i, len(got.raw[at]), len(long))
			}
		}
	}
}

// TestDamage reads a file whose reader fails. The whole records before the failure must be
// returned first. The error must name the file and wrap its cause.
func TestDamage(t *testing.T) {
	text := awkward["plain"]
	for _, size := range []int{0, 30, 1 << 20} {
		r := io.MultiReader(strings.NewReader(text[:len(text)-5]), failing{})
		got, err := readAll(r, playFile("day/a.csv"), plays(), size)
		if !errors.Is(err, errDisk) || !strings.Contains(err.Error(), "day/a.csv") {
			t.Errorf("chunks of %d: got %v, want the disk's error and the path", size, err)
		}
		if len(got.lines) != 2 {
			t.Errorf("chunks of %d: got %d records before the damage, want 2", size, len(got.lines))
		}
	}
	_, err := readAll(failing{}, playFile("day/a.csv"), plays(), 10)
	if !errors.Is(err, errDisk) || !strings.Contains(err.Error(), "day/a.csv") {
		t.Errorf("damage in the header: got %v, want the disk's error and the path", err)
	}
}

var errDisk = errors.New("disk gone")

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, errDisk }

// TestHeaderTooLong checks that a file whose first line is too long for a header is an error.
func TestHeaderTooLong(t *testing.T) {
	f := plays()
	f.MaxLine = 100
	for _, text := range []string{strings.Repeat("a,", 1000), strings.Repeat("a,", 1000) + "\n", "\"" + strings.Repeat("a\n", 1000)} {
		_, err := Open(slowly{bytes.NewReader([]byte(text))}, playFile("a.csv"), f)
		if err == nil || !strings.Contains(err.Error(), "a.csv: header in line 1") {
			t.Errorf("%.10q: got %v, want an error about the header of a.csv", text, err)
		}
	}
}
