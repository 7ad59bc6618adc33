package quarantine

import (
	"encoding/json"
	"fmt"

	"github.com/cespare/xxhash/v2"
)

// A line has two marks, each of 16 hexadecimal digits. Mark is a checksum of the place: the path, line and offset of the record, and the
// digest of the delivered file. A replay loads the record to this place, so nobody may change it. RawMark is a checksum of the raw
// text, which the user corrects. Lines of old releases have no marks.

// seal sets the digest of the delivered file and the marks.
func (b *Record) seal(sha string) {
	b.SHA256 = sha
	b.Mark, b.RawMark = b.placeMark(), b.rawMark()
}

// Moved reports whether the path, line, offset or digest was changed after the line was written.
func (b *Record) Moved() bool { return (b.Mark != "" || b.RawMark != "") && b.Mark != b.placeMark() }

// Corrected reports whether the user may have corrected the raw text. It is true for a line without marks.
func (b *Record) Corrected() bool { return b.RawMark != b.rawMark() }

func (b *Record) placeMark() string {
	return mark(b.Path, fmt.Sprint(b.Line), fmt.Sprint(b.Offset), b.SHA256)
}

func (b *Record) rawMark() string { return mark(b.Raw, b.Base64) }

// mark returns the XXH64 of texts, each of which ends in a zero byte.
func mark(texts ...string) string {
	h := xxhash.New()
	for _, t := range texts {
		_, _ = h.WriteString(t + "\x00") // it never fails
	}
	return fmt.Sprintf("%016x", h.Sum64())
}

// sealed returns a line that has no digest with the digest sha and the marks. It adds before to the number of the line.
func sealed(line []byte, before int64, sha string) ([]byte, error) {
	var b Record
	if err := json.Unmarshal(line, &b); err != nil {
		return nil, err
	}
	b.Line += before
	b.seal(sha)
	out, err := json.Marshal(&b)
	return append(out, '\n'), err
}
