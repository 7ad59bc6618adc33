package inspect

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"usertrail/internal/format/trailfile"
	"usertrail/internal/format/trailfile/arrowfile"
	"usertrail/internal/format/trailfile/textfile"
	"usertrail/internal/store/dfs"
)

// The bytes that files begin or end with.
const (
	hfileTrailer    = "TRABLK\"$" // at hfileTrailerLen before the end
	hfileTrailerLen = 4096
	rollEnd         = "UTROLL" // two bytes of version follow
	rollEndLen      = 8
	parquetMagic    = "PAR1" // at both ends
	csvStart        = trailfile.UserColumn + ","
	jsonlStart      = `{"` + trailfile.UserColumn + `":`
)

// hfileStarts are the blocks that an HFile can begin with. They identify an HFile whose
// trailer is missing.
var hfileStarts = []string{"DATABLK*", "DATABLKE"}

// detect returns the kind of a file by its bytes. A file that begins as one kind and does not
// end so is still of this kind. The reader of the kind reports the problem.
func detect(f dfs.File) (Kind, error) {
	head, err := bytesAt(f, 0, 16)
	if err != nil {
		return "", err
	}
	ends, err := endsAsHFile(f)
	if err != nil {
		return "", err
	}
	tail, err := bytesAt(f, max(f.Size()-rollEndLen, 0), rollEndLen)
	if err != nil {
		return "", err
	}
	switch {
	case len(head) == 0:
		return "", fmt.Errorf("%w: an empty file", ErrUnknown)
	case ends || startsWithAny(head, hfileStarts):
		return KindHFile, nil
	case bytes.HasPrefix(tail, []byte(rollEnd)):
		return KindRoll, nil
	case bytes.HasPrefix(head, []byte(parquetMagic)), bytes.HasPrefix(head, []byte(arrowfile.Magic)):
		return KindTrailPart, nil
	}
	if text, ok := textFormat(head); ok && isTrails(f, text) {
		return KindTrailPart, nil
	}
	if b := bytes.TrimLeft(head, " \t\r\n"); len(b) > 0 && b[0] == '{' {
		return detectJSON(f)
	}
	return "", unknown(head)
}

func endsAsHFile(f dfs.File) (bool, error) {
	if f.Size() < hfileTrailerLen {
		return false, nil
	}
	b, err := bytesAt(f, f.Size()-hfileTrailerLen, len(hfileTrailer))
	return string(b) == hfileTrailer, err
}

// textFormat returns the format of a text file of trails that begins with head.
func textFormat(head []byte) (textfile.Format, bool) {
	switch {
	case bytes.HasPrefix(bytes.TrimPrefix(head, []byte(textfile.Mark)), []byte(csvStart)):
		return textfile.CSV, true
	case bytes.HasPrefix(head, []byte(jsonlStart)):
		return textfile.JSON, true
	}
	return "", false
}

// isTrails reports whether a text file has the columns of trails. Delivered logs may also
// begin with the user.
func isTrails(f dfs.File, format textfile.Format) bool {
	t, err := textfile.Open(f, f.Size(), format)
	if err != nil {
		return false
	}
	_, ok := trailfile.ShapeOf(t.Columns())
	return ok
}

// bytesAt reads n bytes, or fewer at the end of the file.
func bytesAt(f dfs.File, off int64, n int) ([]byte, error) {
	b := make([]byte, n)
	n, err := f.ReadAt(b, off)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	if err != nil {
		return nil, fmt.Errorf("read at %d: %w", off, err)
	}
	return b[:n], nil
}

func startsWithAny(b []byte, starts []string) bool {
	for _, s := range starts {
		if bytes.HasPrefix(b, []byte(s)) {
			return true
		}
	}
	return false
}

// unknown returns an error that suggests what the file may be. Users often try logs first.
func unknown(head []byte) error {
	for _, m := range []struct{ magic, name string }{
		{"\x1f\x8b", "gzip"}, {"\x28\xb5\x2f\xfd", "zstd"}, {"BZh", "bzip2"}, {"PK\x03\x04", "zip"},
	} {
		if bytes.HasPrefix(head, []byte(m.magic)) {
			return fmt.Errorf("%w: a file compressed by %s; known are %s", ErrUnknown, m.name, known)
		}
	}
	return fmt.Errorf("%w: a file that begins with %q; known are %s", ErrUnknown, head, known)
}

// jsonKinds lists keys that together occur only in the object of one kind.
var jsonKinds = []struct {
	kind Kind
	keys []string
}{
	{KindTable, []string{"version", "layout", "schema"}},
	{KindExtract, []string{"version", "question"}},
	{KindLedger, []string{"version", "number", "inputs"}},
	{KindQuarantine, []string{"path", "line", "offset", "reason"}},
}

// jsonLimit is the number of bytes of a JSON file that are read to determine its kind. The
// files of this program have the keys long before it.
const jsonLimit = 4 << 20

// detectJSON returns the kind of a JSON file by the keys of its first object. It reads no
// more than necessary.
func detectJSON(f dfs.File) (Kind, error) {
	d := json.NewDecoder(io.NewSectionReader(f, 0, min(f.Size(), jsonLimit)))
	seen := map[string]bool{}
	err := eachKey(d, func(key string) bool {
		seen[key] = true
		return kindOf(seen) == ""
	})
	if kind := kindOf(seen); kind != "" {
		return kind, nil
	}
	var bad *json.SyntaxError
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF) || errors.As(err, &bad):
		return "", fmt.Errorf("%w: begins like JSON, but is damaged at byte %d: %w", ErrUnknown, d.InputOffset(), err)
	case err != nil:
		return "", err
	}
	return "", fmt.Errorf("%w: JSON of an unknown kind; known are %s", ErrUnknown, known)
}

func kindOf(seen map[string]bool) Kind {
next:
	for _, k := range jsonKinds {
		for _, key := range k.keys {
			if !seen[key] {
				continue next
			}
		}
		return k.kind
	}
	return ""
}

// eachKey calls f with each key of the next object of d, until f returns false. It skips
// values token by token.
func eachKey(d *json.Decoder, f func(key string) bool) error {
	if _, err := d.Token(); err != nil { // the object's opening brace
		return err
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return err
		}
		name, ok := key.(string)
		if !ok || !f(name) {
			return nil
		}
		if err := skipValue(d); err != nil {
			return err
		}
	}
	_, err := d.Token()
	return notEOF(err)
}

// skipValue skips one value.
func skipValue(d *json.Decoder) error {
	for depth := 0; ; {
		t, err := d.Token()
		if err != nil {
			return notEOF(err)
		}
		switch t {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
		if depth <= 0 {
			return nil
		}
	}
}

// notEOF turns an end of the file inside a value into an unexpected end.
func notEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
