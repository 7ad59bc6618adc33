package record

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/encoding/unicode/utf32"
)

// manyPlays returns a log of n records that compresses as well as real logs.
func manyPlays(n int) string {
	var b strings.Builder
	b.WriteString(header)
	for i := range n {
		fmt.Fprintf(&b, "u%d,2014-09-01 %02d:%02d:%02d,演员的诞生 %d,%d\n", i*7919%1000, i/3600%24, i/60%60, i%60, i%97, i%5000)
	}
	return b.String()
}

// compressed returns text in the compression that a path's ending names; gz has many members.
func compressed(t testing.TB, ending, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	switch ending {
	case "":
		b.WriteString(text)
	case ".gz":
		third := len(text) / 3
		for _, s := range []string{text[:third], text[third : 2*third], "", text[2*third:]} {
			writeAll(t, gzip.NewWriter(&b), s)
		}
	case ".zst":
		w, err := zstd.NewWriter(&b)
		if err != nil {
			t.Fatal(err)
		}
		writeAll(t, w, text)
	case ".bz2":
		data, err := os.ReadFile(filepath.Join("testdata", "plays.csv.bz2"))
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	return b.Bytes()
}

func writeAll(t testing.TB, w io.WriteCloser, s string) {
	t.Helper()
	if _, err := io.WriteString(w, s); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

// bz2Plays is the number of plays in testdata/plays.csv.bz2. The file is manyPlays(bz2Plays),
// compressed by bzip2 in two streams.
const bz2Plays = 400

// TestCompressed reads one log in every compression.
func TestCompressed(t *testing.T) {
	text := manyPlays(bz2Plays)
	want := read(t, text, playFile("a.csv"), plays(), 1<<20)
	if len(want.lines) != bz2Plays || !strings.HasPrefix(want.lines[0], "keep") {
		t.Fatalf("%d records, first %s", len(want.lines), want.lines[0])
	}
	for _, ending := range []string{".gz", ".GZ", ".zst", ".bz2"} {
		data := compressed(t, strings.ToLower(ending), text)
		for _, size := range []int{0, 1000, 1 << 20} {
			got, err := readAll(bytes.NewReader(data), playFile("a.csv"+ending), plays(), size)
			if err != nil {
				t.Fatalf("%s: %v", ending, err)
			}
			wantLines(t, got, want.lines...)
		}
	}
}

// TestCutShort truncates a compressed log at every tenth byte. The error must report this and
// name the file. A cut between two whole gzip members cannot be detected, so the log has only
// one member.
func TestCutShort(t *testing.T) {
	text := manyPlays(bz2Plays)
	for _, ending := range []string{".gz", ".zst", ".bz2"} {
		data := compressed(t, ending, text)
		if ending == ".gz" {
			var b bytes.Buffer
			writeAll(t, gzip.NewWriter(&b), text)
			data = b.Bytes()
		}
		if len(data) < 1000 {
			t.Fatalf("%s: only %d bytes", ending, len(data))
		}
		for n := 0; n < len(data); n += 10 {
			_, err := readAll(bytes.NewReader(data[:n]), playFile("day/a.csv"+ending), plays(), 1<<16)
			if !errors.Is(err, io.ErrUnexpectedEOF) || !errors.Is(err, ErrCompressed) || !strings.Contains(err.Error(), "day/a.csv"+ending) {
				t.Errorf("%d of %d bytes of %s: got %v, want an unexpected end of day/a.csv%s", n, len(data), ending, err, ending)
			}
		}
	}
}

// TestDamagedCompression checks that garbage after the end and a changed byte are errors.
func TestDamagedCompression(t *testing.T) {
	text := manyPlays(bz2Plays)
	for _, ending := range []string{".gz", ".zst", ".bz2"} {
		data := compressed(t, ending, text)
		changed := bytes.Clone(data)
		changed[len(changed)-6] ^= 0x10
		for name, bad := range map[string][]byte{
			"garbage":   append(bytes.Clone(data), "some garbage after the end"...),
			"a little":  append(bytes.Clone(data), "xy"...),
			"changed":   changed,
			"no header": []byte("user,time,title,seconds\n"),
		} {
			if _, err := readAll(bytes.NewReader(bad), playFile("a.csv"+ending), plays(), 1<<16); err == nil {
				t.Errorf("%s, %s: no error", ending, name)
			}
		}
	}
}

// TestEncodings reads one log in every encoding. The offsets are offsets in its UTF-8 text.
func TestEncodings(t *testing.T) {
	text := header + "用户一,2014-09-01 10:00:00,\"演员,诞生\",1\nu2,2014-09-01 10:00:01,東京,2\n"
	want := read(t, text, playFile("a.csv"), plays(), 1<<20)
	for name, e := range map[string]encoding.Encoding{
		"gb18030":   simplifiedchinese.GB18030,
		"GBK":       simplifiedchinese.GBK,
		"Big5":      traditionalchinese.Big5,
		"shift_jis": japanese.ShiftJIS,
		"euc-jp":    japanese.EUCJP,
		"utf-16":    unicode.UTF16(unicode.BigEndian, unicode.UseBOM),
		"UTF-16LE":  unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM),
		"utf-16be":  unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM),
		"utf_16":    unicode.UTF16(unicode.LittleEndian, unicode.UseBOM),
		"utf-32":    utf32.UTF32(utf32.BigEndian, utf32.UseBOM),
		"utf-8":     encoding.Nop,
	} {
		text, want := text, want
		if name != "gb18030" && !strings.HasPrefix(strings.ToLower(name), "utf") {
			text = header + "中文,2014-09-01 10:00:00,\"東京,東京\",1\n"
			want = read(t, text, playFile("a.csv"), plays(), 1<<20)
		}
		data, err := e.NewEncoder().String(text)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		f := plays()
		f.Encoding = name
		for _, size := range []int{0, 17, 1 << 20} {
			got, err := readAll(strings.NewReader(data), playFile("a.csv"), f, size)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			wantLines(t, got, want.lines...)
		}
		_, err = readAll(strings.NewReader(mark+text), playFile("a.csv"), f, 17)
		if name != "utf-8" && !errors.Is(err, ErrEncoding) || name == "utf-8" && err != nil {
			t.Errorf("%s, after the mark of utf-8: %v", name, err)
		}
	}
}

// TestNotInEncoding checks that lines with bytes that are not valid in the encoding are
// bad records.
func TestNotInEncoding(t *testing.T) {
	gb, err := simplifiedchinese.GB18030.NewEncoder().String("演员")
	if err != nil {
		t.Fatal(err)
	}
	for name, bad := range map[string]string{"gb18030": "\xff", "": "\xff"} {
		f := plays()
		f.Encoding = name
		title := "演员"
		if name != "" {
			title = gb
		}
		text := header + "u1,2014-09-01,a" + bad + "b,1\nu2,2014-09-01," + title + ",2\n"
		got, err := readAll(strings.NewReader(text), playFile("a.csv"), f, 1<<10)
		if err != nil {
			t.Fatal(err)
		}
		if len(got.lines) != 2 || !strings.Contains(got.lines[0], "line 2: not UTF-8") || !strings.Contains(got.lines[1], `title="演员"`) {
			t.Errorf("encoding %q: %q", name, got.lines)
		}
	}
}

func TestCheckEncoding(t *testing.T) {
	for name, good := range map[string]bool{
		"": true, "utf-8": true, "UTF8": true, "gb18030": true, "gb2312": true, "utf-16": true, "iso-8859-1": true, "windows-1251": true, "IBM850": true,
		"klingon": false, "replacement": false, "iso-2022-kr": false,
	} {
		if err := CheckEncoding(name); (err == nil) != good {
			t.Errorf("%q: got %v, want good %v", name, err, good)
		}
	}
}
