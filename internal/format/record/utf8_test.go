package record

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
)

// inEncodings has a sentence in each encoding that logs of this language are in.
var inEncodings = []struct {
	name string
	enc  encoding.Encoding
	text string
}{
	{"windows-1252", charmap.Windows1252, "“Spaß” in Würzburg, à «Noël», ¡mañana! 5 €"},
	{"iso-8859-15", charmap.ISO8859_15, "Übergrößenträger, déjà vu, cœur, 5 €"},
	{"windows-1250", charmap.Windows1250, "Příliš žluťoučký kůň úpěl ďábelské ódy"},
	{"windows-1251", charmap.Windows1251, "Съешь же ещё этих мягких французских булок"},
	{"koi8-r", charmap.KOI8R, "Съешь же ещё этих мягких французских булок"},
	{"iso-8859-5", charmap.ISO8859_5, "Съешь же ещё этих мягких французских булок"},
	{"ibm866", charmap.CodePage866, "Съешь же ещё этих мягких французских булок"},
	{"windows-1253", charmap.Windows1253, "Ξεσκεπάζω την ψυχοφθόρα βδελυγμία"},
	{"windows-1254", charmap.Windows1254, "Pijamalı hasta yağız şoföre çabucak güvendi"},
	{"windows-1255", charmap.Windows1255, "דג סקרן שט בים מאוכזב ולפתע מצא חברה"},
	{"windows-1256", charmap.Windows1256, "صِف خَلقَ خَودِ كَمِثلِ الشَمسِ إِذ بَزَغَت"},
	{"windows-874", charmap.Windows874, "เป็นมนุษย์สุดประเสริฐเลิศคุณค่า"},
	{"macintosh", charmap.Macintosh, "Übergrößenträger, déjà vu, cœur"},
	{"gb18030", simplifiedchinese.GB18030, "演员的诞生，新闻联播，非诚勿扰"},
	{"big5", traditionalchinese.Big5, "新聞聯播，星光大道，康熙來了"},
	{"shift_jis", japanese.ShiftJIS, "いろはにほへと チリヌルヲ 我が世誰ぞ"},
	{"euc-jp", japanese.EUCJP, "いろはにほへと チリヌルヲ 我が世誰ぞ"},
	{"euc-kr", korean.EUCKR, "키스의 고유조건은 입술끼리 만나야"},
}

// TestUTF8ReadAsAnotherEncoding reads texts in their encoding, and the same texts in UTF-8 as if they were in this encoding.
func TestUTF8ReadAsAnotherEncoding(t *testing.T) {
	for _, c := range inEncodings {
		t.Run(c.name, func(t *testing.T) {
			var text strings.Builder
			for range 3000 { // the text is longer than what is read at once
				text.WriteString("plain," + c.text + ",text\n")
			}
			right, err := c.enc.NewEncoder().String(text.String())
			if err != nil {
				t.Fatal(err)
			}
			if got, err := decodedIn(c.name, strings.NewReader(right)); err != nil || got != text.String() {
				t.Errorf("%d bytes, %v", len(got), err)
			}
			late := strings.Repeat("plain\n", 20_000) + text.String()
			for _, wrong := range []string{text.String(), late} {
				for _, in := range []io.Reader{strings.NewReader(wrong), iotest.OneByteReader(strings.NewReader(wrong)), iotest.DataErrReader(strings.NewReader(wrong))} {
					if _, err := decodedIn(c.name, in); !errors.Is(err, ErrEncoding) || !strings.HasSuffix(err.Error(), ": the text looks like utf-8, and the job says "+c.name+": remove encoding under logs, or load the file with another job") {
						t.Errorf("the text in UTF-8: %v", err)
					}
				}
			}
		})
	}
}

// decodedIn returns the text of bytes in an encoding.
func decodedIn(name string, in io.Reader) (string, error) {
	in, err := notUTF8(in, name, "a.csv")
	if err != nil {
		return "", err
	}
	if in, err = Decode(in, name); err != nil {
		return "", err
	}
	text, err := io.ReadAll(in)
	return string(text), err
}

// TestEvidenceOfUTF8 checks how much evidence is required, and that it does not depend on how the bytes are read.
func TestEvidenceOfUTF8(t *testing.T) {
	for _, c := range []struct {
		name, text string
		isUTF8     bool
	}{
		{"windows-1252", "M\xfcller", false},
		{"windows-1252", "Spa\xdf\x93 Spa\xdf\x93", false}, // a sharp s before a quotation mark is a letter that windows-1252 does not have
		{"windows-1252", "CAF\xc9\xae CAF\xc9\x99", false},
		{"windows-1252", "Müller", false},
		{"windows-1252", "Müller und Schröder", true},
		{"windows-1252", "5 €", true},
		{"windows-1252", "M\xfcller, Schröder, Groß", false},
		{"windows-1252", "M\xfcller, Schröder, Groß, Bär, Übel", true}, // a record is in another encoding
		{"windows-1252", "Gro\xc3,1\nSchröder, Groß, Bär, Übel", true}, // a record is cut
		{"windows-1252", strings.Repeat("Schröder", 99) + "M\xfcller, Gro\xdf, Groß", false},
		{"windows-1252", strings.Repeat("Schröder", 98) + "Groß, Groß," + strings.Repeat("M\xfcller", 1000), true},
		{"windows-1252", strings.Repeat("Schröder", 1000), false},
		{"windows-1252", strings.Repeat("Schröder", 1000) + "Groß", true},
		{"windows-1252", strings.Repeat("Schröder", 1000) + "Gro\xdf, Größe", false}, // no more different characters than misfits
		{"windows-1252", strings.Repeat("Schröder", 1000) + "Gro\xc3,1\nGroß, Bär, Übel, Änderung", true},
		{"windows-1252", strings.Repeat("M\xfcller", 100) + strings.Repeat("Schröder, Groß, Bär, Übel", 1000), false}, // the first records are in the encoding
		{"gb18030", strings.Repeat("新\n", 1000) + "闻联播", true},
		{"windows-1252", "Schröder\xc3", false}, // the last character is not complete
		{"windows-1252", "新闻联播", false},
		{"windows-1252", "新闻联播非诚勿扰星光大道", true},
		{"windows-1252", "", false},
		{"gb18030", "新", false},
		{"gb18030", "新新新新", false},
		{"gb18030", "新闻", false},
		{"gb18030", "新闻联", true},
		{"gb18030", "àáèéê", false},
		{"gb18030", "àáèéêì", true},
		{"gb18030", "\U0001f600\U0001f601", false},
		{"gb18030", "\U0001f600\U0001f601\U0001f602\U0001f603\U0001f604\U0001f605\U0001f606\U0001f607", true},
		{"gb18030", "Müller, Köln, Café Müller", true},
		{"gb18030", "Müller, Köln", false},
		{"gb18030", strings.Repeat("Café\n", 1000), false},
		{"gb18030", strings.Repeat("Café\n", 1000) + "Müller, Köln", true},
		{"gb18030", "éöü", false},                          // no ASCII letters
		{"gb18030", "A\xc5\xae A\xc5\xa3 A\xc3\xbb", true}, // such texts of gb18030 are too rare
		{"gb18030", "A\xc5\xae A\xc5\xa3 A\xc3\xbb \xcc\xec", false},
		{"gb18030", "Gro\xc3,1\nSchröder, Groß, Bär, Übel", true}, // a record is cut
		{"big5", "acción, García, Núñez", true},
		{"euc-kr", "Müller, Größe", true},
		{"windows-1251", "Müller, Größe", true},
		{"windows-1251", "Müller, Köln", false},
		{"windows-1252", "мир", false},
		{"windows-1252", "мир, миф", true},
		{"macintosh", "да, нет", true},
		{"windows-1252", "да, нет, \xe9,", false},
		{"gb18030", "חדשות", false},
		{"gb18030", "חדשות, סרט", true},
		{"utf-16le", "新闻联播", false},
		{"utf-8", "新闻联播", false},
	} {
		for i, in := range []io.Reader{strings.NewReader(c.text), iotest.OneByteReader(strings.NewReader(c.text)), iotest.DataErrReader(strings.NewReader(c.text)), iotest.HalfReader(strings.NewReader(c.text))} {
			if _, err := decodedIn(c.name, in); errors.Is(err, ErrEncoding) != c.isUTF8 || !c.isUTF8 && err != nil {
				t.Errorf("%s: %.40q, reader %d: %v", c.name, c.text, i, err)
			}
		}
	}
}

// TestShortWordsAreNotUTF8 reads logs whose characters beyond ASCII are one word or a few. In their encoding, letters of these words have
// the bytes of a character of UTF-8.
func TestShortWordsAreNotUTF8(t *testing.T) {
	for name, words := range map[string]string{
		"windows-1250": "CZĘŚCI RÓŻNE PODRÓŻE NŮŽ SÍŤ NÔŽ KÔŠ", "iso-8859-2": "CZĘŚCI RÓŻNE PODRÓŻE NŮŽ SÍŤ NÔŽ KÔŠ", "ibm866": "чек рок",
		"windows-1251": "дії", "iso-8859-5": "ТВ ФМ", "windows-1252": "CAFÉ® CAFÉ™ Maß” Spaß“", "macintosh": "l’état l’île", "windows-874": "รก ยก เธอ",
		"gb18030": "学校 学习 联通 新型", "big5": "學校 新聞", "euc-kr": "뉴스 학교", "shift_jis": "ｶﾅ ｱﾆﾒ",
	} {
		e, err := lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, word := range append(strings.Fields(words), words) {
			right, err := e.NewEncoder().String(word)
			if err != nil {
				t.Fatalf("%s: %s: %v", name, word, err)
			}
			for _, times := range []int{1, 2000} {
				text := strings.Repeat("u1,"+right+"\n", times)
				if got, err := decodedIn(name, strings.NewReader(text)); err != nil || got != strings.Repeat("u1,"+word+"\n", times) {
					t.Errorf("%s: %d times %s: %v", name, times, word, err)
				}
			}
		}
	}
}

// TestAWordInEachRecordIsNotUTF8 reads records that all have one word, whose bytes in the encoding are UTF-8. Some records have other
// characters.
func TestAWordInEachRecordIsNotUTF8(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for i := range 300 {
		var text strings.Builder
		for range 2000 {
			text.WriteString("u,\xd0\xc2") // 新 of gb18030
			if random.IntN(3+i) == 0 {
				for range 1 + random.IntN(4) {
					text.Write([]byte{byte(0xb0 + random.IntN(0xf8-0xb0)), byte(0xa1 + random.IntN(0xff-0xa1))})
				}
			}
			text.WriteString("\n")
		}
		if _, err := decodedIn("gb18030", strings.NewReader(text.String())); err != nil {
			t.Fatalf("one of %d records has other characters: %v", 3+i, err)
		}
	}
}

// TestACutCharacterHidesNoUTF8 puts a record that is cut inside a character at each place of a text in UTF-8.
func TestACutCharacterHidesNoUTF8(t *testing.T) {
	for _, c := range inEncodings {
		var records []string
		for i := range 40 {
			records = append(records, fmt.Sprintf("u%d,%s\n", i, c.text))
		}
		for at := range records {
			for _, cut := range []string{"u,Gro\xc3\n", "u,\xe6\x96\n", "u,\xed\xa0\xbd\xed\xb8\x80\n"} {
				text := strings.Join(records[:at], "") + cut + strings.Join(records[at:], "")
				if _, err := decodedIn(c.name, strings.NewReader(text)); !errors.Is(err, ErrEncoding) {
					t.Fatalf("%s: %q before record %d: %v", c.name, cut, at, err)
				}
			}
		}
	}
}

// TestPairsOfGB2312AreNotUTF8 checks that random pairs of bytes of gb18030 are not mistaken for UTF-8, with and without ASCII letters next to
// them. A seventh of the pairs is UTF-8.
func TestPairsOfGB2312AreNotUTF8(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for i := range 100_000 {
		var b strings.Builder
		for range 1 + random.IntN(30) {
			if i%2 == 0 {
				b.WriteByte('A')
			}
			b.WriteByte(byte(0xb0 + random.IntN(0xf8-0xb0)))
			b.WriteByte(byte(0xa1 + random.IntN(0xff-0xa1)))
		}
		if _, err := decodedIn("gb18030", strings.NewReader(b.String())); err != nil {
			t.Fatalf("%q: %v", b.String(), err)
		}
	}
}
