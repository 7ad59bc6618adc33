package quarantine

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"log/slog"
	"slices"

	"usertrail/internal/store/dfs"
)

// A quarantine file replaces an earlier file of the same name. It keeps the earlier lines
// whose records can still be missing from the table: no later load reads those records. Other earlier lines
// that the user may have corrected go to the file of a keeper.

// A Keeps decides whether a line of an earlier quarantine file stays.
type Keeps func(old *Record) Stay

// A Stay is the decision whether a line of an earlier quarantine file stays.
type Stay int

// The values of Stay.
const (
	Goes        Stay = iota
	IfCorrected      // it stays if a new line of the same record has another text: the user has corrected it
	Stays            // it stays, except if a new line of the same record has the same text
)

// KeepsOfLoad keeps lines of other paths, and lines with the same digest that the user has corrected. If covered is set, a
// load has added records of the same path before; all lines with the same digest stay.
func KeepsOfLoad(path, sha string, covered bool) Keeps {
	return func(old *Record) Stay {
		switch {
		case old.Path != path:
			return Stays
		case sha == "" || old.SHA256 != sha:
			return Goes
		case covered:
			return Stays
		}
		return IfCorrected
	}
}

// A writer writes a quarantine file. It puts the lines that stay of the earlier file among the
// added lines, in order of their offsets.
type writer struct {
	name  string
	to    dfs.Pending
	w     *bufio.Writer
	keeps Keeps
	from  dfs.File // the earlier file; nil if there is none
	r     *bufio.Reader
	next  []byte // line of from that may stay; nil after the last
	old   Record
	stay  Stay // of next
	kept  *keeper
	texts []Record // the added lines of the current record
	lines [][]byte // the same
}

// newWriter begins the quarantine file called name. If keeps is nil, nothing of an earlier file
// stays, and it is not read. The caller must call end.
func newWriter(ctx context.Context, fs dfs.FS, log *slog.Logger, name string, keeps Keeps) (*writer, error) {
	w := &writer{name: name, keeps: keeps, kept: newKeeper(ctx, fs, log, name)}
	if keeps != nil {
		from, err := open(ctx, fs, name)
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
		return nil, inPlace(ctx, fs, name, err)
	}
	return w, nil
}

// end releases the files. Without commit, the earlier file stays.
func (w *writer) end() {
	if w.from != nil {
		_ = w.from.Close() // it was only read
	}
	if w.to != nil {
		w.to.Abort()
	}
	w.kept.end()
}

// advance reads to the next line that may stay. A damaged line stays.
func (w *writer) advance() error {
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
		w.old, w.stay = Record{}, Stays
		if w.old.Place(line) == nil {
			w.stay = w.keeps(&w.old)
		}
		if w.stay != Goes {
			w.next = line
		} else if err := w.kept.add(line, &w.old); err != nil {
			return err
		}
	}
	return nil
}

// add adds a line. The lines of one record come one after the other, and are written when the next record comes.
func (w *writer) add(line []byte) error {
	if w.next == nil && w.texts == nil {
		_, err := w.w.Write(line)
		return err
	}
	var b Record
	if err := b.Place(line); err != nil {
		return err
	}
	if w.texts != nil && !w.texts[0].sameRecord(&b) {
		if err := w.flush(); err != nil {
			return err
		}
	}
	w.texts, w.lines = append(w.texts, b), append(w.lines, line)
	return nil
}

// flush writes the lines of the current record, after the earlier lines that come before them. An earlier line of the same record
// stays only if none of them has its text: the user has corrected it.
func (w *writer) flush() error {
	for w.texts != nil && w.next != nil && (w.old.Path != w.texts[0].Path || w.old.Offset <= w.texts[0].Offset) {
		of := w.old.sameRecord(&w.texts[0])
		var err error
		if of && slices.ContainsFunc(w.texts, w.old.replacedBy) {
			err = w.advance()
		} else {
			err = w.pass(of || w.stay == Stays)
		}
		if err != nil {
			return err
		}
	}
	for _, line := range w.lines {
		if _, err := w.w.Write(line); err != nil {
			return err
		}
	}
	w.texts, w.lines = nil, nil
	return nil
}

// pass writes the current earlier line if it stays, and otherwise passes it to the keeper. It then reads the next one.
func (w *writer) pass(stays bool) error {
	var err error
	if stays {
		_, err = w.w.Write(w.next)
	} else {
		err = w.kept.add(w.next, &w.old)
	}
	if err != nil {
		return err
	}
	return w.advance()
}

// commit makes the file visible.
func (w *writer) commit() error {
	if err := w.flush(); err != nil {
		return err
	}
	for w.next != nil {
		if err := w.pass(w.stay == Stays); err != nil {
			return err
		}
	}
	if err := w.w.Flush(); err != nil {
		return err
	}
	if err := w.kept.commit(); err != nil {
		return err
	}
	return w.to.Commit()
}
