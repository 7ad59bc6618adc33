package output

import (
	"io"

	"usertrail/internal/extract/memory"
	"usertrail/internal/extract/query"
	"usertrail/internal/format/trailfile"
	"usertrail/internal/format/trailfile/arrowfile"
	"usertrail/internal/format/trailfile/textfile"
)

// A fileWriter writes files of one schema, one after the other.
type fileWriter interface {
	Write(b *trailfile.Batch) error
	Close() (trailfile.Meta, error)
	Reset(w io.Writer)
}

// newFile begins the first file. All files of a stream are one file, which has one header
// at its beginning.
func newFile(w io.Writer, o *query.Output, s trailfile.Schema, sizes memory.Sizes) (fileWriter, error) {
	switch o.Format {
	case query.CSV:
		return textfile.NewWriter(w, s, textfile.CSV, o.Stream == nil)
	case query.JSONL:
		return textfile.NewWriter(w, s, textfile.JSON, false)
	case query.Arrow:
		return arrowfile.NewWriter(w, s)
	}
	// A part is one row group, unless one of its users has very many events.
	return trailfile.NewWriter(w, s, trailfile.Options{GroupRows: int(sizes.PartEvents) * 3 / 2, GroupBytes: 2 * sizes.PartBytes})
}
