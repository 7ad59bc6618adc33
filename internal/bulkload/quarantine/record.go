// Package quarantine reads and writes the files of bad records. There is one file for each
// delivered file that has bad records, with one JSON object on each line. Lines are in order of the
// records' offsets. The user corrects the raw text of a line, and runs bulkload replay with the
// file.
package quarantine

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"
	"unicode/utf8"

	"usertrail/internal/format/record"
)

// A Record is a line of a quarantine file.
type Record struct {
	Path   string        `json:"path"` // of the delivered file, below the logs' root
	Line   int64         `json:"line"`
	Offset int64         `json:"offset"`
	Reason record.Reason `json:"reason"`
	Raw    string        `json:"raw"`
	Base64 string        `json:"raw_base64,omitempty"` // if the text is not UTF-8; Raw is then empty
	Cut    bool          `json:"cut,omitempty"`        // Raw has only the beginning of the record
	Detail string        `json:"detail"`
	// SHA256 is the digest of the delivered file. A later file of the same name may have
	// another digest. Old releases wrote lines without a digest.
	SHA256  string `json:"sha256,omitempty"`
	Mark    string `json:"mark,omitempty"`     // of the place
	RawMark string `json:"raw_mark,omitempty"` // of Raw and Base64
}

// byteOrderMark is the byte order mark of UTF-8, with which some editors begin a file.
var byteOrderMark = []byte("\ufeff")

// Place decodes a line whose text is not used.
func (b *Record) Place(line []byte) error {
	return json.Unmarshal(bytes.TrimPrefix(line, byteOrderMark), b)
}

// Decode decodes a line. The text may be anything that a person has written. Package json would replace bytes that are not UTF-8,
// and halves of surrogate pairs, by U+FFFD without an error: Decode returns an error.
func (b *Record) Decode(line []byte) error {
	if !utf8.Valid(line) {
		return errors.New("it is not UTF-8: save the file in the encoding UTF-8")
	}
	if err := b.Place(line); err != nil || !strings.Contains(b.Raw, "\ufffd") {
		return err
	}
	var written struct{ Raw json.RawMessage }
	if err := json.Unmarshal(bytes.TrimPrefix(line, byteOrderMark), &written); err != nil {
		return err
	}
	text := strings.ToLower(strings.ReplaceAll(string(written.Raw), `\\`, "")) // without backslashes that are text
	if strings.Count(b.Raw, "\ufffd") > strings.Count(text, "\ufffd")+strings.Count(text, `\ufffd`) {
		return errors.New(`raw has half of a surrogate pair, such as \ud83d without \ude00: write the character itself`)
	}
	return nil
}

// NewRecord returns the line of a bad record of the delivered file at path, without the digest and the marks.
func NewRecord(path string, r *record.Reject) Record {
	b := Record{Path: path, Line: r.Line, Offset: r.Offset, Reason: r.Reason, Detail: r.Err.Error(), Cut: r.Cut}
	if utf8.Valid(r.Raw) {
		b.Raw = string(r.Raw)
	} else {
		b.Base64 = base64.StdEncoding.EncodeToString(r.Raw)
	}
	return b
}

// sameRecord reports whether both lines are of the same record.
func (b *Record) sameRecord(o *Record) bool { return b.Path == o.Path && b.Offset == o.Offset }

// replacedBy reports whether o, a new line of the same record, has the text of b. If b is cut, it has only the beginning of the text.
func (b *Record) replacedBy(o Record) bool {
	old, err := b.Text()
	text, textErr := o.Text()
	if err != nil || textErr != nil {
		return false
	}
	return bytes.Equal(old, text) && (b.Cut || !o.Cut) || b.Cut && bytes.HasPrefix(text, old)
}

// Text returns the raw text of the record. If the line has Raw and Base64, the user has written a text into Raw in
// place of the bytes.
func (b *Record) Text() ([]byte, error) {
	if b.Base64 == "" || b.Raw != "" {
		return []byte(b.Raw), nil
	}
	return base64.StdEncoding.DecodeString(b.Base64)
}
