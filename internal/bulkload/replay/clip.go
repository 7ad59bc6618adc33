package replay

import (
	"bytes"
	"context"
	"fmt"

	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/batch"
	"usertrail/internal/bulkload/quarantine"
	"usertrail/internal/format/record"
	"usertrail/internal/store/dfs"
)

// A quarantine file has only the beginning of a record that was too long. Its replay reads the
// record from the delivered file.

// A clip is the relation of a text in a quarantine file to its record.
type clip byte

const (
	entire  clip = iota // the text is all of its record
	clipped             // the text is the beginning of its record: its line is marked as cut
	unsure              // an old release wrote the line, which has no such mark
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

// wholeTexts completes the texts of a file's records. The records come in order of their offsets.
type wholeTexts struct {
	ctx    context.Context
	file   *file
	in     dfs.File // the delivered file; nil before the first text that needs it
	reader *record.Reader
	gone   error // why it cannot be opened
}

func (w *wholeTexts) close() {
	if w.in != nil {
		_ = w.reader.Close()
		_ = w.in.Close() // it was only read
	}
}

// of returns the texts of one record, all of them whole. If the user has written a whole text,
// the cut ones are duplicates.
func (w *wholeTexts) of(texts []correction) (batch.Texts, error) {
	var out []correction
	var cut *correction
	for i := range texts {
		if texts[i].clip == entire {
			out = append(out, texts[i])
		} else if cut == nil {
			cut = &texts[i]
		}
	}
	if cut != nil && len(out) == 0 {
		text, err := w.text(cut)
		if err != nil {
			return batch.Texts{}, err
		}
		out = append(out, *cut)
		out[0].raw = text
	}
	all := batch.Texts{Repeated: int64(len(texts) - len(out))}
	for _, x := range out {
		all.Chunks = append(all.Chunks, record.Chunk{Data: append(x.raw, '\n'), Offset: x.offset, Line: x.line})
		all.Lines = append(all.Lines, x.at)
	}
	return all, nil
}

// text reads the whole text that begins with x.
func (w *wholeTexts) text(x *correction) ([]byte, error) {
	if err := w.open(); err != nil {
		return nil, w.refuse(x, err)
	}
	longest, held := w.file.job.Format.Longest(), w.file.from.most
	most := max(min(longest, held), len(x.raw))
	text, err := w.reader.LineAt(x.offset, most)
	if err != nil {
		return nil, w.refuse(x, err)
	}
	switch {
	case !bytes.HasPrefix(text, x.raw) && x.clip == unsure: // it is a correction of as many bytes
		return x.raw, nil
	case !bytes.HasPrefix(text, x.raw):
		return nil, fmt.Errorf("%w: %s: the raw text is marked as cut and was changed: write the whole corrected record into raw and remove \"cut\":true, or restore the text", bulkload.ErrRequest, w.file.from.place(x))
	case len(text) > most && longest > held:
		return nil, w.file.from.tooManyTexts(x)
	}
	return text, nil
}

// open opens the delivered file, once.
func (w *wholeTexts) open() error {
	if w.in != nil || w.gone != nil {
		return w.gone
	}
	path, err := w.file.delivered(w.ctx)
	if err == nil {
		w.in, w.reader, err = w.file.open(w.ctx, path)
	}
	w.gone = err
	return err
}

func (w *wholeTexts) refuse(x *correction, err error) error {
	return fmt.Errorf("%s: the raw text is only the beginning of the record, and %s does not give the rest: %w: put the file back as it was loaded; or write the whole record into raw and remove \"cut\":true", w.file.from.place(x), w.file.Rel, err)
}
