package jobdraft

import (
	"bytes"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/wlynxg/chardet"

	"usertrail/internal/format/record"
)

// detectBytes is the amount of text from which an encoding is detected.
const detectBytes = 64 << 10

// larger maps a detected encoding to an encoding that contains it.
var larger = map[string]string{
	"gb2312": "gb18030", "gbk": "gb18030", "hz-gb-2312": "gb18030", "cp949": "euc-kr", "cp932": "shift_jis", "iso-8859-1": "windows-1252",
	"iso-8859-9": "windows-1254", "ascii": "utf-8", "utf-8-sig": "utf-8", "utf-16": "utf-16le",
}

// fallbacks are tried if the detected encoding cannot be right.
var fallbacks = []string{"gb18030", "big5", "shift_jis", "euc-jp", "euc-kr", "windows-1252"}

// guessEncoding returns the encoding of the samples, empty for UTF-8, and whether it is
// unsure.
func guessEncoding(samples []*sample) (name string, unsure bool) {
	var high []byte // lines that are not plain ASCII
	invalid, lines := 0, 0
	for _, s := range samples {
		if name := wide(s.raw); name != "" {
			return name, false
		}
		for line := range bytes.Lines(s.raw) {
			lines++
			if ascii(line) {
				continue
			}
			if !utf8.Valid(line) && !(!s.whole && !bytes.HasSuffix(line, []byte("\n"))) {
				invalid++
			}
			if len(high) < detectBytes {
				high = append(high, line...)
			}
		}
	}
	if invalid*20 <= bytes.Count(high, []byte("\n")) || invalid == 0 {
		return "", invalid*100 > lines
	}
	told := strings.ToLower(chardet.Detect(high).Encoding)
	if l, ok := larger[told]; ok {
		told = l
	}
	for _, name := range append([]string{told}, fallbacks...) {
		if decodes(high, name) {
			return name, true
		}
	}
	return "", true
}

// wide detects UTF-16 by its byte order mark, or by zero bytes.
func wide(raw []byte) string {
	switch {
	case bytes.HasPrefix(raw, []byte("\xff\xfe\x00\x00")):
		return "utf-32"
	case bytes.HasPrefix(raw, []byte("\xff\xfe")), bytes.HasPrefix(raw, []byte("\xfe\xff")):
		return "utf-16"
	}
	var zeros [2]int
	n := min(len(raw), 4096)
	for i := range n {
		if raw[i] == 0 {
			zeros[i%2]++
		}
	}
	switch {
	case zeros[1] > n/8 && zeros[0] < zeros[1]/8:
		return "utf-16le"
	case zeros[0] > n/8 && zeros[1] < zeros[0]/8:
		return "utf-16be"
	}
	return ""
}

func ascii(text []byte) bool {
	for _, c := range text {
		if c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// decodes reports whether text is valid in an encoding.
func decodes(text []byte, name string) bool {
	if name == "" || name == "utf-8" || record.CheckEncoding(name) != nil {
		return false
	}
	r, err := record.Decode(bytes.NewReader(text), name)
	if err != nil {
		return false
	}
	out, err := io.ReadAll(r)
	return err == nil && bytes.Count(out, []byte("\uFFFD"))*200 <= len(out)
}
