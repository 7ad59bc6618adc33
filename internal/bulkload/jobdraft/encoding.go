package jobdraft

import (
	"bytes"
	"io"
	"slices"
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

// guessEncodings finds the encoding of each sample. Samples that are not UTF-8 share one
// encoding if it reads all of them, because a few lines do not show much.
func guessEncodings(samples []*sample) {
	var foreign []*sample
	var all []byte // their lines that are not plain ASCII
	for _, s := range samples {
		s.ascii = ascii(s.raw)
		if s.encoding = wide(s.raw); s.encoding != "" || s.ascii {
			continue
		}
		if high, fits := linesOf(s); !fits {
			foreign = append(foreign, s)
			all = append(all, high[:min(len(high), max(0, detectBytes-len(all)))]...)
		}
	}
	if len(foreign) == 0 {
		return
	}
	shared := encodingOf(all)
	for _, s := range foreign {
		high, _ := linesOf(s)
		if s.encoding = shared; !decodes(high, shared) {
			s.encoding = encodingOf(high)
		}
	}
}

// linesOf returns the lines of a sample with characters beyond ASCII. isUTF8 reports whether
// these lines are UTF-8, except for bad records: a few of these lines, or a few of all lines
// whose bytes are no Chinese text.
func linesOf(s *sample) (high []byte, isUTF8 bool) {
	invalid, lines, all := 0, 0, 0
	for line := range bytes.Lines(s.raw) {
		if all++; ascii(line) {
			continue
		}
		lines++
		if !utf8.Valid(line) && (s.ended || bytes.HasSuffix(line, []byte("\n"))) {
			invalid++
		}
		if len(high) < detectBytes {
			high = append(high, line...)
		}
	}
	return high, invalid*20 <= lines || invalid*100 <= all && chinese(high, "") == ""
}

// encodingOf returns the encoding of lines that are not UTF-8.
func encodingOf(high []byte) string {
	told := strings.ToLower(chardet.Detect(high).Encoding)
	if l, ok := larger[told]; ok {
		told = l
	}
	if told == "windows-1254" && !slices.ContainsFunc(high, turkish) {
		told = "windows-1252"
	}
	if name := chinese(high, told); name != "" {
		return name
	}
	for _, name := range append([]string{told}, fallbacks...) {
		if !decodes(high, name) {
			continue
		}
		if name == "windows-1252" && hasEuro(high) {
			return "iso-8859-15"
		}
		return name
	}
	return ""
}

// hasEuro reports whether lines have the byte of the euro sign in iso-8859-15. It is ¤ in windows-1252, which has other
// characters, such as its own euro sign, for bytes that are control characters in iso-8859-15.
func hasEuro(lines []byte) bool {
	return bytes.IndexByte(lines, 0xa4) >= 0 && !slices.ContainsFunc(lines, func(c byte) bool { return c >= 0x80 && c < 0xa0 })
}

// turkish reports whether windows-1254 has another character for a byte than windows-1252.
func turkish(c byte) bool { return strings.IndexByte("\x8e\x9e\xd0\xdd\xde\xf0\xfd\xfe", c) >= 0 }

// chinese returns gb18030 if nearly all characters of lines that are not ASCII are pairs of
// bytes as GB2312 has its ideographs. A detector mistakes short Chinese texts for texts of
// encodings with one byte for each character. told is the encoding that it detects. Japanese
// and Korean texts can have such pairs, too.
func chinese(lines []byte, told string) string {
	pairs, kana, beyond := 0, 0, 0
	for i := 0; i < len(lines); i++ {
		lead := lines[i]
		if lead < 0x80 {
			continue
		}
		i++
		if i == len(lines) {
			break
		}
		switch trail := lines[i]; {
		case trail < 0xa1 || trail == 0xff || lead < 0xa1 || lead > 0xf7:
			return ""
		case lead == 0xa4 || lead == 0xa5:
			kana++
		case lead > 0xc8:
			beyond++ // no hangul is here
		}
		pairs++
	}
	if pairs == 0 || kana*5 > pairs || told == "euc-kr" && beyond*20 < pairs || told == "big5" && decodes(lines, told) {
		return ""
	}
	return "gb18030"
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
