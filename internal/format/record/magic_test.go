package record

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// TestCompressedFilesNeedTheirEnding opens compressed files whose names have no ending of the compression.
func TestCompressedFilesNeedTheirEnding(t *testing.T) {
	const text = "user,time,title,seconds\nu1,2014-09-01 10:00:00,x,1\n"
	var gz, zst bytes.Buffer
	z, err := zstd.NewWriter(&zst)
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range []io.WriteCloser{gzip.NewWriter(&gz), z} {
		if _, err := io.WriteString(w, text); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ path, text, want string }{
		{"day/a.csv", gz.String(), "the file is gzip: call it a.csv.gz, and let logs.path in the job match this name"},
		{"day/a.csv", zst.String(), "the file is zstd: call it a.csv.zst, "},
		{"day/a.csv", "BZh11AY&SY\xd4\x00", "the file is bzip2: call it a.csv.bz2, "},
		{"day/a.csv", "\xfd7zXZ\x00\x00\x04", "the file is xz, which is not decompressed: unpack it, or "},
		{"day/a.csv", "PK\x03\x04\x14\x00", "the file is zip, which is not decompressed: unpack it, or "},
		{"day/a.csv.gz", gz.String(), ""},
		{"day/a.csv", text, ""},
		{"day/a.csv", "BZh", ""},
		{"day/a.csv", "BZh9 is a column\n", ""},
		{"day/a.csv", "PK", ""},
	} {
		for _, encoding := range []string{"", "gb18030"} {
			for _, syntax := range []Syntax{CSV, JSONL} {
				f := plays()
				f.Encoding, f.Syntax = encoding, syntax
				r, err := Open(strings.NewReader(c.text), playFile(c.path), f)
				if err == nil {
					r.Close()
				}
				if c.want == "" && err != nil || c.want != "" && (!errors.Is(err, ErrEnding) || !strings.Contains(err.Error(), c.want)) {
					t.Errorf("%s in %q, %q, %s: %v, want %q", c.path, encoding, c.text[:min(len(c.text), 12)], syntax, err, c.want)
				}
			}
		}
	}
}
