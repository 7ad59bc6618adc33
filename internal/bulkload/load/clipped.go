package load

import (
	"bytes"
	"context"
	"fmt"

	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/quarantine"
	"usertrail/internal/format/manifest"
	"usertrail/internal/format/record"
	"usertrail/internal/store/dfs"
)

// A quarantine file has only the beginning of a record that was too long. Its replay reads the
// record from the delivered file.

// A clip says whether a text of a quarantine file is the beginning of its record.
type clip byte

const (
	entire  clip = iota // the text is all of its record
	clipped             // its line says that it is cut
	unsure              // its line was written before lines said it
)

func clipOf(r *quarantine.Record, raw []byte) clip {
	switch {
	case r.Cut:
		return clipped
	case r.Reason == record.TooLong && len(raw) == record.MaxRaw:
		return unsure
	}
	return entire
}

// wholeTexts completes the texts of an input's records, which come by offset.
type wholeTexts struct {
	*batch
	ctx    context.Context
	in     *input
	file   dfs.File // the delivered file; nil before a text was cut
	reader *record.Reader
}

func (w *wholeTexts) close() {
	if w.file != nil {
		_ = w.reader.Close()
		_ = w.file.Close() // it was only read
	}
}

// of returns the texts of one record, all of them whole. If someone has written a whole one,
// the cut ones are duplicates.
func (w *wholeTexts) of(texts []correction) ([]correction, error) {
	var out []correction
	var cut *correction
	for i := range texts {
		if texts[i].clip == entire {
			out = append(out, texts[i])
		} else if cut == nil {
			cut = &texts[i]
		}
	}
	if cut == nil || w.in.replayedBefore(cut.offset) {
		return texts, nil
	}
	if len(out) == 0 {
		text, err := w.text(cut)
		if err != nil {
			return nil, err
		}
		out = append(out, *cut)
		out[0].raw = text
	}
	n := int64(len(texts) - len(out))
	w.in.mu.Lock()
	w.in.counts.Add(manifest.Counts{Read: n, Duplicate: n})
	w.in.mu.Unlock()
	return out, nil
}

// text reads the whole text that begins with x.
func (w *wholeTexts) text(x *correction) ([]byte, error) {
	if err := w.open(); err != nil {
		return nil, w.refuse(x, err)
	}
	longest, held := w.job.Format.Longest(), w.in.replay.from.most
	most := max(min(longest, held), len(x.raw))
	text, err := w.reader.LineAt(x.offset, most)
	if err != nil {
		return nil, w.refuse(x, err)
	}
	switch {
	case !bytes.HasPrefix(text, x.raw) && x.clip == unsure: // it is a correction of as many bytes
		return x.raw, nil
	case !bytes.HasPrefix(text, x.raw):
		return nil, fmt.Errorf("%w: %s, line %d: its raw text is marked as cut and was changed: write the whole corrected record into raw and remove \"cut\":true, or restore the text", bulkload.ErrRequest, w.in.Rel, x.line)
	case len(text) > most && longest > held:
		return nil, w.in.replay.from.tooManyTexts(x.line)
	}
	return text, nil
}

// open opens the delivered file, once.
func (w *wholeTexts) open() error {
	if w.file != nil {
		return nil
	}
	path, err := w.delivered(w.ctx, w.in)
	if err == nil {
		w.file, w.reader, err = w.openDelivered(w.ctx, w.in, path)
	}
	return err
}

func (w *wholeTexts) refuse(x *correction, err error) error {
	return fmt.Errorf("%s, line %d: its raw text is only the beginning of the record, and the delivered file does not give the rest: %w: put the file back as it was loaded; or write the whole record into raw and remove \"cut\":true", w.in.Rel, x.line, err)
}
