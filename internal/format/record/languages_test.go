package record

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
)

// languages has usual words of languages. All of them have characters beyond ASCII.
var languages = map[string]string{
	"German":     "Müller Größe Straße Köln Äpfel Österreich für über schön München Mädchen Fußball natürlich können Übung Grüße Bär zwölf Tür Gemüse",
	"French":     "été élève français où déjà Noël garçon théâtre hôtel forêt âge île l’état l’île d’être cœur sœur après très là",
	"Spanish":    "García Núñez acción también José Ángel mañana niño corazón música español día aquí años después canción pingüino Málaga número él",
	"Portuguese": "São não coração ação amanhã você português último irmã avó três informação à canções ônibus região música João também você",
	"Turkish":    "İstanbul ışık şeker çocuk güzel öğretmen ağaç kırmızı yağmur Türkiye müzik şarkı üç dört haberler dünya bölüm çarşı köşk sağlık",
	"Polish":     "część różne podróże łódź źródło święto życie książka mąż dziękuję wiadomości śnieg pięć ćwiczenie główny państwo zażółć gęś",
	"Czech":      "příliš žluťoučký kůň nůž síť čeština hudba televizní zprávy dům děti tři přítel muž řeka škola štěstí pátek čtvrtek",
	"Hungarian":  "űrhajó őrült műsor könyv idő szép város új híradó gyerek ötödik zöld hétfő szünet kérdés játék",
	"Romanian":   "știri țară întrebare mâine fără sâmbătă România după între învățător își așa",
	"Russian":    "Привет мир труд новости фильм чек рок ток да нет кино спорт музыка всё ещё Россия ТВ ФМ дом шоу шаг тип дети погода",
	"Ukrainian":  "дії надії їжа Україна її новини історія ґанок кіно є ім’я рік сім’я музика спорт діти",
	"Greek":      "ειδήσεις ταινία μουσική ψυχή Αθήνα Ελλάδα ώρα ήλιος Ώρα ΕΡΤ καλημέρα παιδί κόσμος γάτα",
	"Hebrew":     "חדשות סרט מוזיקה שלום ילדים ספורט טלוויזיה תוכנית ישראל בוקר ערב לילה",
	"Arabic":     "أخبار فيلم موسيقى رياضة أطفال برنامج مسلسل صباح مساء السلام قناة كرة",
	"Thai":       "ข่าว ภาพยนตร์ เพลง กีฬา เด็ก รายการ ละคร สวัสดี ไทย เช้า รก ยก เธอ",
	"Chinese":    "学校 学习 联通 新型 新闻联播 非诚勿扰 演员的诞生 天气预报 小品 校讯通 女牛 没么 卡拉OK K歌 T恤 A股 QQ群 VIP卡 电视剧 电影 体育 音乐 少儿 财经 为未 小写 谢谢 住宅 转专",
	"Taiwanese":  "學校 新聞 新聞聯播 星光大道 康熙來了 天氣預報 電視劇 電影 體育 音樂 羅 讀 聽 卡拉OK K歌 T恤 變 觀",
	"Japanese":   "ニュース 映画 音楽 スポーツ 天気予報 子供 ドラマ ｶﾅ ｱﾆﾒ ﾃﾚﾋﾞ ﾅｲﾄ カラオケ Tシャツ 東京 いろは 学校",
	"Korean":     "뉴스 학교 영화 음악 스포츠 드라마 날씨 어린이 카드 치타 크 코 친 SK카드 A타입 B형 서울 첫 천",
}

var encodingNames = strings.Fields("windows-1250 windows-1251 windows-1252 windows-1253 windows-1254 windows-1255 windows-1256 windows-1257 windows-1258 windows-874 " +
	"iso-8859-1 iso-8859-2 iso-8859-3 iso-8859-4 iso-8859-5 iso-8859-6 iso-8859-7 iso-8859-8 iso-8859-10 iso-8859-13 iso-8859-14 iso-8859-15 iso-8859-16 " +
	"koi8-r koi8-u ibm866 ibm437 ibm850 ibm852 ibm855 macintosh x-mac-cyrillic gb18030 gbk big5 euc-kr euc-jp shift_jis")

// records returns records with one or two of the words.
func records(random *rand.Rand, words []string, n int) string {
	var text strings.Builder
	for range n {
		text.WriteString("u1,2014-09-01 10:00:00,")
		for range 1 + random.IntN(2) {
			text.WriteString(words[random.IntN(len(words))] + " ")
		}
		text.WriteString("\n")
	}
	return text.String()
}

// cases returns the words in lower case, in capitals and as they are.
func cases(words string) [][]string {
	return [][]string{strings.Fields(words), strings.Fields(strings.ToUpper(words)), strings.Fields(strings.ToLower(words))}
}

// TestWordsInTheirEncodingAreNotUTF8 reads logs with a few different words, in each encoding that has their characters.
func TestWordsInTheirEncodingAreNotUTF8(t *testing.T) {
	for _, name := range encodingNames {
		e, err := lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		for language, text := range languages {
			random := rand.New(rand.NewPCG(1, 2))
			for _, all := range cases(text) {
				var words []string
				for _, word := range all {
					if coded, err := e.NewEncoder().String(word); err == nil {
						words = append(words, coded)
					}
				}
				for i := range 15 {
					if len(words) == 0 {
						break
					}
					random.Shuffle(len(words), func(i, j int) { words[i], words[j] = words[j], words[i] })
					some := words[:1+i%len(words)]
					if _, err := decodedIn(name, strings.NewReader(records(random, some, 150))); err != nil {
						plain, _ := e.NewDecoder().String(strings.Join(some, " "))
						t.Errorf("%s in %s: %s: %v", language, name, plain, err)
					}
				}
			}
		}
	}
}

// TestWordsInUTF8AreNoticed reads a hundred records in UTF-8 by each encoding.
func TestWordsInUTF8AreNoticed(t *testing.T) {
	for _, name := range encodingNames {
		for language, text := range languages {
			random := rand.New(rand.NewPCG(1, 2))
			for _, words := range cases(text) {
				in := records(random, words, 100)
				if _, err := decodedIn(name, strings.NewReader(in)); !errors.Is(err, ErrEncoding) {
					t.Errorf("%s by %s: %v", language, name, err)
				}
			}
		}
	}
}
