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

// newFile begins the first file.
func newFile(w io.Writer, o *query.Output, s trailfile.Schema, sizes memory.Sizes) (fileWriter, error) {
	switch o.Format {
	case query.Arrow:
		return arrowfile.NewWriter(w, s)
	case query.Parquet:
		return trailfile.NewWriter(w, s, groupsOf(sizes))
	}
	return textfile.NewWriter(w, s, textOf(o))
}

// textOf returns the format of a result in text.
func textOf(o *query.Output) textfile.Format {
	switch {
	case o.Format == query.JSONL:
		return textfile.JSON
	case o.Excel:
		return textfile.Excel
	}
	return textfile.CSV
}

// groupsOf returns the options of Parquet. A part is one row group, unless one of its users has
// very many events or it has very many values.
func groupsOf(sizes memory.Sizes) trailfile.Options {
	return trailfile.Options{GroupRows: int(sizes.PartEvents) * 3 / 2, GroupBytes: 2 * sizes.PartBytes, GroupMemory: 4 * sizes.PartBytes}
}
