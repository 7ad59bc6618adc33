package quarantine

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"

	"usertrail/internal/store/dfs"
)

// Copy copies the quarantine file called from to the name to. keeps says which lines of an earlier
// file stay.
func Copy(ctx context.Context, fs dfs.FS, from, to string, keeps Keeps) error {
	return rewrite(ctx, fs, from, to, keeps, func(line []byte) []byte { return line })
}

// rewrite copies a quarantine file, and changes each line. change may overwrite its argument.
func rewrite(ctx context.Context, fs dfs.FS, from, to string, keeps Keeps, change func(line []byte) []byte) error {
	f, err := fs.Open(ctx, from)
	if err != nil {
		return err
	}
	defer f.Close()
	w, err := newWriter(ctx, fs, to, keeps)
	if err != nil {
		return err
	}
	defer w.end()
	for r := bufio.NewReader(f); ; {
		line, err := r.ReadBytes('\n')
		if err == io.EOF {
			return w.commit()
		}
		if err == nil {
			err = w.add(change(line))
		}
		if err != nil {
			return err
		}
	}
}

// A Range is a file with the bad records of a range of a delivered file. The range counts its
// lines from 1.
type Range struct {
	Name   string
	Before int64 // lines of the delivered file before the range
}

// Join writes the bad records of a delivered file that was read in ranges as the file called to.
// sha is the digest of the delivered file. keeps says which lines of an earlier file stay.
func Join(ctx context.Context, fs dfs.FS, ranges []Range, to, sha string, keeps Keeps) error {
	w, err := newWriter(ctx, fs, to, keeps)
	if err != nil {
		return err
	}
	defer w.end()
	for _, r := range ranges {
		if err := w.addRange(ctx, fs, r, sha); err != nil {
			return err
		}
	}
	return w.commit()
}

// A rawRecord is a Record. Line and SHA256 can be changed, and all other bytes of the line stay.
type rawRecord struct {
	Path   json.RawMessage `json:"path"`
	Line   int64           `json:"line"`
	Offset json.RawMessage `json:"offset"`
	Reason json.RawMessage `json:"reason"`
	Raw    json.RawMessage `json:"raw"`
	Base64 json.RawMessage `json:"raw_base64,omitempty"`
	Cut    json.RawMessage `json:"cut,omitempty"`
	Detail json.RawMessage `json:"detail"`
	SHA256 string          `json:"sha256,omitempty"`
}

// addRange adds the lines of a range.
func (w *writer) addRange(ctx context.Context, fs dfs.FS, from Range, sha string) error {
	f, err := fs.Open(ctx, from.Name)
	if err != nil {
		return err
	}
	defer f.Close()
	for d := json.NewDecoder(f); ; {
		var b rawRecord
		if err := d.Decode(&b); err == io.EOF {
			return nil
		} else if err != nil {
			return fmt.Errorf("%s: %w", from.Name, err)
		}
		b.Line += from.Before
		b.SHA256 = sha
		line, err := json.Marshal(&b)
		if err != nil {
			return err
		}
		if err := w.add(append(line, '\n')); err != nil {
			return err
		}
	}
}
