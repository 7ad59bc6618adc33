package jobdraft

import (
	"strings"
	"testing"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
)

// TestEncodingsOfShortTexts guesses the encoding of a few lines of each language.
func TestEncodingsOfShortTexts(t *testing.T) {
	for _, c := range []struct {
		text string
		in   encoding.Encoding
		want string
	}{
		{"u1,西游记\n", simplifiedchinese.GBK, "gb18030"},
		{"u1,新闻\nu2,动物世界\n", simplifiedchinese.GBK, "gb18030"},
		{"用户编号,行为,时间\n", simplifiedchinese.GBK, "gb18030"},
		{"u1,看电视\nu2,鑫鑫向荣\n", simplifiedchinese.GBK, "gb18030"},
		{"u1,Привет мир\nu2,новости дня\nu3,погода на завтра\n", charmap.ISO8859_5, "iso-8859-5"},
		{"u1,これはニュースです\nu2,テレビ番組表\n", japanese.EUCJP, "euc-jp"},
		{"u1,これはニュースです\nu2,テレビ番組表\n", japanese.ShiftJIS, "shift_jis"},
		{"u1,안녕하세요 뉴스입니다\nu2,날씨를 봅니다\nu3,드라마 다시 보기\n", korean.EUCKR, "euc-kr"},
		{"u1,café crème\nu2,déjà vu à l'été\n", charmap.Windows1252, "windows-1252"},
		{"u1,Über den Wolken\nu2,Männer sind Schweine\nu3,Größe, Müll und schöne Grüße\nu4,Fürstenfeld\n", charmap.Windows1252, "windows-1252"},
		{"user_id,prénom,Amende €\nu1,Élodie,15\nu2,Irène,20\n", charmap.ISO8859_15, "iso-8859-15"},
		{"u1,Amende de 15 €\nu2,Amende de 20 €\n", charmap.ISO8859_15, "iso-8859-15"},
		{"user_id,prénom,Amende €\nu1,Élodie,15\nu2,Irène,20\n", charmap.Windows1252, "windows-1252"},
		{"user_id,prénom,“Amende” ¤\nu1,Élodie,15\nu2,Irène,20\n", charmap.Windows1252, "windows-1252"},
		{"u1,Über den Wolken\nu2,Männer sind Schweine\nu3,Größe, Müll und schöne Grüße\nu4,Fürstenfeld, Şımarık\n", charmap.Windows1254, "windows-1254"},
		{"u1,新聞聯播天氣預報節目表\nu2,動物世界電視劇頻道臺灣\n", traditionalchinese.Big5, "big5"},
	} {
		raw, err := c.in.NewEncoder().String(c.text)
		if err != nil {
			t.Fatal(err)
		}
		if got := encodingOf([]byte(raw)); got != c.want {
			t.Errorf("%q is taken for %s, want %s", c.text, got, c.want)
		}
	}
}

// TestFilesHaveEncodingsOfTheirOwn guesses the encodings of files that differ.
func TestFilesHaveEncodingsOfTheirOwn(t *testing.T) {
	gbk, err := simplifiedchinese.GBK.NewEncoder().String(strings.Repeat("u1,红楼梦\n", 30))
	if err != nil {
		t.Fatal(err)
	}
	broken := strings.Repeat("u1,plain\n", 200) + "u2,\xff\x80\xe9 x\n"
	texts := []string{gbk, strings.Repeat("u1,红楼梦\n", 30), "u1,plain\n", "u1,caf\xe9 cr\xe8me d\xe9j\xe0 vu\n", broken}
	var samples []*sample
	for _, text := range texts {
		samples = append(samples, &sample{raw: []byte(text), ended: true})
	}
	guessEncodings(samples)
	for i, want := range []string{"gb18030", "utf-8", "", "windows-1252", "utf-8"} {
		if got := samples[i].code(); got != want {
			t.Errorf("file %d is taken for %q, want %q", i, got, want)
		}
	}
}
