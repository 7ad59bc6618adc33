package load

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"slices"

	"usertrail/internal/store/dfs"
)

// A quarantine file replaces an earlier file of the same name. It keeps the earlier lines
// whose records can still be missing from the table: no later load reads those records.

// A keeps reports whether a line of an earlier quarantine file stays.
type keeps func(old *badRecord) bool

// keepsOfLoad keeps lines of other paths. If covered, a load has brought records of the same
// path before; its lines stay if they are of the same bytes.
func keepsOfLoad(path, sha string, covered bool) keeps {
	return func(old *badRecord) bool {
		return old.Path != path || covered && sha != "" && old.SHA256 == sha
	}
}

// keepsOfReplay keeps lines of other paths, and lines of the same bytes whose records were
// not replayed.
func keepsOfReplay(in *input) keeps {
	return func(old *badRecord) bool {
		_, replayed := slices.BinarySearch(in.replay.offsets, old.Offset)
		return old.Path != in.Rel || old.SHA256 == in.sha && !replayed && !in.replayedBefore(old.Offset)
	}
}

// A badWriter writes a quarantine file. Lines that it keeps of the earlier file come in the
// order of their offsets among the lines that are added.
type badWriter struct {
	name  string
	to    dfs.Pending
	w     *bufio.Writer
	keeps keeps
	from  dfs.File // the earlier file; nil is none
	r     *bufio.Reader
	next  []byte // line of from that is kept; nil is none
	old   badRecord
}

// replaceBad begins the quarantine file called name. Without keeps, nothing of an earlier
// file stays. The caller must call end.
func replaceBad(ctx context.Context, fs dfs.FS, name string, keeps keeps) (*badWriter, error) {
	w := &badWriter{name: name, keeps: keeps}
	if keeps != nil {
		from, err := fs.Open(ctx, name)
		if err != nil && !errors.Is(err, iofs.ErrNotExist) {
			return nil, err
		}
		if err == nil {
			w.from, w.r = from, bufio.NewReader(from)
		}
	}
	var err error
	if w.to, err = fs.Create(ctx, name); err == nil {
		w.w = bufio.NewWriter(w.to)
		err = w.advance()
	}
	if err != nil {
		w.end()
		return nil, err
	}
	return w, nil
}

// end releases what w holds. Without commit, the earlier file stays.
func (w *badWriter) end() {
	if w.from != nil {
		_ = w.from.Close() // it was only read
	}
	if w.to != nil {
		w.to.Abort()
	}
}

// advance reads on to the next line that is kept. A line that is damaged stays.
func (w *badWriter) advance() error {
	for w.next = nil; w.r != nil && w.next == nil; {
		line, err := w.r.ReadBytes('\n')
		if err != nil && err != io.EOF {
			return fmt.Errorf("read %s: %w", w.name, err)
		}
		if err == io.EOF {
			w.r = nil
		}
		if len(line) <= 1 {
			continue
		}
		if line[len(line)-1] != '\n' {
			line = append(line, '\n')
		}
		w.old = badRecord{}
		if json.Unmarshal(line, &w.old) != nil || w.keeps(&w.old) {
			w.next = line
		}
	}
	return nil
}

// add writes a line, after the kept lines that come before it. A kept line of the same record
// stays only if it has another text: someone has corrected it.
func (w *badWriter) add(line []byte) error {
	if w.next != nil {
		var b badRecord
		if err := json.Unmarshal(line, &b); err != nil {
			return err
		}
		for w.next != nil && (w.old.Path != b.Path || w.old.Offset <= b.Offset) {
			same := w.old.Path == b.Path && w.old.Offset == b.Offset && w.old.Raw == b.Raw && w.old.Base64 == b.Base64
			if err := w.keep(!same); err != nil {
				return err
			}
		}
	}
	_, err := w.w.Write(line)
	return err
}

// keep writes the kept line, if it stays, and reads the one after it.
func (w *badWriter) keep(stays bool) error {
	if stays {
		if _, err := w.w.Write(w.next); err != nil {
			return err
		}
	}
	return w.advance()
}

// commit makes the file visible.
func (w *badWriter) commit() error {
	for w.next != nil {
		if err := w.keep(true); err != nil {
			return err
		}
	}
	if err := w.w.Flush(); err != nil {
		return err
	}
	return w.to.Commit()
}
