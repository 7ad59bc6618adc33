package pieces

import (
	"context"
	"errors"
	"fmt"
	iofs "io/fs"

	"usertrail/internal/behaviour"
	"usertrail/internal/format/manifest"
	"usertrail/internal/table/catalog"
)

// overDrop returns the reason why a report is no longer valid, because days were dropped after the piece was done, or
// because a drop was undone. It returns "" if the report is valid. first is the first day that was not dropped.
func overDrop(first *behaviour.Date, of *Piece, r *manifest.Report) string {
	for _, f := range r.Files {
		if f.Span.From.Before(first) {
			return fmt.Sprintf("days before %s were dropped", first)
		}
	}
	if dropUndone(first, of, r) {
		return "days that it skipped, because they were dropped, are in the table again"
	}
	return ""
}

// dropUndone reports whether a piece skipped days of a drop that has been undone: the piece began
// at a later day than it would begin now.
func dropUndone(first *behaviour.Date, of *Piece, r *manifest.Report) bool {
	from := behaviour.MinDate
	if first != nil {
		from = *first
	}
	for i := range r.Inputs {
		in, asked, begins := &r.Inputs[i], of.Inputs[i].Part, from
		if asked != nil && asked.Span != nil {
			begins = max(begins, asked.Span.From)
		}
		if in.Older > 0 && in.Part != nil && in.Part.Span != nil && in.Part.Span.From > begins {
			return true
		}
	}
	return false
}

// overDrop is overDrop for the manifest of the table. If the report is not of the piece, only a commit says so.
func (w *worker) overDrop(ctx context.Context, r *manifest.Report) (string, error) {
	if !fits(w.piece, r) {
		return "", nil
	}
	m, err := catalog.ReadTable(ctx, w.with.FS, w.with.Store.Catalog())
	if errors.Is(err, iofs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	return overDrop(m.DroppedBefore, w.piece, r), nil
}
