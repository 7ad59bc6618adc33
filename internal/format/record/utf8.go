package record

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/simplifiedchinese"
)

// ErrEncoding is wrapped if a file is evidently not in the encoding of the format.
var ErrEncoding = errors.New("the encoding does not fit the job")

// The evidence of UTF-8 is the number of bytes after the first one of each different character beyond ASCII. In an encoding, other
// letters can have these bytes. They are seldom bytes of a character that the encoding has, too, as the characters of its texts are in UTF-8.
const (
	// charmapEvidence is enough of characters that an encoding with one byte for each character has.
	charmapEvidence = 2
	// pairsEvidence is enough of characters that another encoding has.
	pairsEvidence = 6
	// anyEvidence is enough of any characters.
	anyEvidence = 24
	// latinEvidence is enough different letters of Latin with an accent in a word with ASCII letters, as in Müller. Few words of Chinese
	// or Korean have an ASCII letter next to them, and nearly all texts in them have bytes that are no UTF-8.
	latinEvidence = 3
	// charmapLetters is enough different letters of one other alphabet, if all characters are UTF-8 and the encoding has one byte for each
	// character. In such an encoding, a letter of Cyrillic is a sign after one of two certain letters.
	charmapLetters = 4
	// pairsLetters is enough for other encodings. Pinyin orders the characters of GBK, so related words can have several from С to п.
	pairsLetters = 6
	// manyCharacters is the number of characters beyond ASCII after which the rest of a text is not examined if they are no UTF-8.
	manyCharacters = 100
	// perMisfit is the number of these characters of which one may be no UTF-8, because a record may be cut.
	perMisfit = 5
)

// notUTF8 returns a reader of the same bytes, which the caller decodes from the encoding of this name. path is the path of the file.
// notUTF8 or the reader returns an error that wraps ErrEncoding if the bytes are UTF-8. Every byte has a meaning in most other encodings,
// so the texts would be wrong without an error. For UTF-16 and UTF-32, only the byte order mark of UTF-8 is an error: a text in UTF-8 has no
// columns there.
func notUTF8(in io.Reader, name, path string) (io.Reader, error) {
	e, err := lookup(name)
	if err != nil || e == nil {
		return in, err
	}
	b := bufio.NewReader(in)
	begin, _ := b.Peek(mostMagic)
	if err := checkEnding(begin, path); err != nil {
		return nil, err
	}
	if strings.HasPrefix(string(begin), mark) { // the decoder meets the error
		return nil, isUTF8("the file begins with the byte order mark of utf-8", name)
	}
	if strings.HasPrefix(strings.ToLower(name), "utf") {
		return b, nil
	}
	d := &utf8Detector{in: b, name: name}
	d.has, d.enough = charactersOf(e)
	d.enoughLetters = pairsLetters
	if _, ok := e.(*charmap.Charmap); ok {
		d.enoughLetters = charmapLetters
	}
	return d, nil
}

// charactersOf returns a function that reports whether e has a character, and the evidence of such characters for which a text is not in
// e. For GB18030, which has all characters, these are the characters of GBK.
func charactersOf(e encoding.Encoding) (has func(rune) bool, enough int) {
	if m, ok := e.(*charmap.Charmap); ok {
		return func(c rune) bool {
			_, ok := m.EncodeRune(c)
			return ok
		}, charmapEvidence
	}
	if e == simplifiedchinese.GB18030 {
		e = simplifiedchinese.GBK
	}
	return func(c rune) bool {
		_, err := e.NewEncoder().String(string(c))
		return err == nil
	}, pairsEvidence
}

// isUTF8 returns the error of a file that is in UTF-8. name is the encoding of the job.
func isUTF8(why, name string) error {
	return fmt.Errorf("%w: %s, and the job says %s: remove encoding under logs, or load the file with another job", ErrEncoding, why, name)
}

// A utf8Detector reads bytes and looks for UTF-8. A text is in UTF-8 if nearly all its characters beyond ASCII are, and if there is enough
// evidence. If it has many characters, nearly all different ones must be UTF-8, too: one of them may be in each record.
type utf8Detector struct {
	in     io.Reader
	name   string // of the encoding of the job
	enough int    // evidence of characters of the encoding
	has    func(rune) bool

	enoughLetters int // different ones of one alphabet

	begun      []byte   // a character that is not complete
	characters int      // beyond ASCII; a run of bytes that are no UTF-8 counts as one
	misfits    int      // such runs
	inMisfit   bool     // the last byte was part of one
	over       bool     // the rest of the text is not examined
	seen       []rune   // different characters
	unseen     []string // different beginnings of such runs
	evidence   int      // of the characters of the encoding
	all        int      // evidence
	letters    [len(alphabets)]int
	before     byte   // ASCII before the next character; 0 if there is none
	accented   rune   // the character before, if it is a letter of Latin; otherwise 0
	latin      []rune // different ones in words with ASCII letters
	err        error
}

// alphabets are the letters that usual texts have of alphabets with two bytes in UTF-8.
var alphabets = [...][2]rune{{'Ѐ', 'џ'}, {'Ά', 'ώ'}, {'א', 'ת'}, {'ء', 'ي'}}

// Read implements io.Reader.
func (d *utf8Detector) Read(b []byte) (int, error) {
	if d.err != nil {
		return 0, d.err
	}
	n, err := d.in.Read(b)
	for text := b[:n]; !d.over && len(text) > 0; {
		text = d.take(text)
		d.over = d.characters >= manyCharacters && (d.found() || !d.mostly() || len(d.unseen) > manyCharacters)
	}
	if (err == io.EOF || d.over) && d.found() {
		d.err = isUTF8("the text looks like utf-8", d.name)
		return 0, d.err
	}
	return n, err
}

// mostly reports whether nearly all examined characters are UTF-8.
func (d *utf8Detector) mostly() bool { return d.misfits*perMisfit <= d.characters }

// found reports whether the examined characters are evidence of UTF-8.
func (d *utf8Detector) found() bool {
	if d.misfits == 0 && slices.Max(d.letters[:]) >= d.enoughLetters {
		return true
	}
	return (d.evidence >= d.enough || d.all >= anyEvidence || len(d.latin) >= latinEvidence) && d.mostly() &&
		(d.characters <= manyCharacters || len(d.unseen)*perMisfit <= len(d.seen))
}

// take examines the beginning of text, and returns the rest.
func (d *utf8Detector) take(text []byte) []byte {
	if len(d.begun) == 0 {
		n := asciiBytes(text)
		d.inMisfit = d.inMisfit && n == 0
		if n > 0 {
			d.word(d.accented, text[0])
			d.accented, d.before = 0, text[n-1]
		}
		if text = text[n:]; len(text) == 0 {
			return nil
		}
	}
	d.begun = append(d.begun, text[0])
	if !utf8.FullRune(d.begun) {
		return text[1:]
	}
	c, size := utf8.DecodeRune(d.begun)
	if size == 1 {
		return d.misfit(text)
	}
	d.begun = d.begun[:0]
	d.inMisfit = false
	d.characters++
	if !slices.Contains(d.seen, c) {
		d.seen = append(d.seen, c)
		d.all += size - 1
		if d.has(c) {
			d.evidence += size - 1
		}
		for i, a := range alphabets {
			if a[0] <= c && c <= a[1] {
				d.letters[i]++
			}
		}
	}
	d.accented = 0
	if 'À' <= c && c <= 'ž' && unicode.IsLetter(c) {
		d.accented = c
	}
	d.word(d.accented, d.before)
	d.before = 0
	return text[1:]
}

// word counts a letter of Latin if next, the byte before or after it, is an ASCII letter. accented may be 0.
func (d *utf8Detector) word(accented rune, next byte) {
	if next |= ' '; accented != 0 && 'a' <= next && next <= 'z' && !slices.Contains(d.latin, accented) {
		d.latin = append(d.latin, accented)
	}
}

// misfit counts the bytes that begun as no UTF-8. It returns the text after them: the last byte of begun is examined again, because it may
// begin a character.
func (d *utf8Detector) misfit(text []byte) []byte {
	if !d.inMisfit {
		d.characters++
		d.misfits++
		if begun := string(d.begun); !slices.Contains(d.unseen, begun) {
			d.unseen = append(d.unseen, begun)
		}
	}
	d.inMisfit = true
	d.accented, d.before = 0, 0
	if len(d.begun) == 1 {
		text = text[1:]
	}
	d.begun = d.begun[:0]
	return text
}

// asciiBytes returns the number of bytes with which text begins that are ASCII.
func asciiBytes(text []byte) int {
	for i, c := range text {
		if c >= utf8.RuneSelf {
			return i
		}
	}
	return len(text)
}
