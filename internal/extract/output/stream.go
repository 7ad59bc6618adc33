package output

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"syscall"

	"usertrail/internal/extract/memory"
	"usertrail/internal/extract/query"
	"usertrail/internal/format/trailfile"
	"usertrail/internal/format/trailfile/arrowfile"
	"usertrail/internal/format/trailfile/textfile"
	"usertrail/internal/run/exit"
	"usertrail/internal/run/progress"
	"usertrail/internal/store/dfs"
)

// ErrGone is wrapped if the reader of a stream has stopped.
var ErrGone = exit.New(exit.Gone, "the reader of the result has gone")

// A Stream is a Sink that writes all parts as one file, as they come. It has one writer, so that
// the parts are in order and no part is held. A stream cannot be resumed.
type Stream struct {
	Records
	Query  *query.Query
	file   joined
	buffer *bufio.Writer
}

// bufferBytes is how much is written to a pipe at once: as much as a pipe of Linux holds.
const bufferBytes = 64 << 10

// A joined file has all parts of a stream.
type joined interface {
	Write(b *trailfile.Batch) error
	Break() error // ends a part
	Close() (trailfile.Meta, error)
}

// A streamed part is a fileWriter of one part of a joined file.
type streamed struct{ joined }

func (s streamed) Close() (trailfile.Meta, error) { return trailfile.Meta{}, s.Break() }
func (s streamed) Reset(io.Writer)                {}

// WriteParts writes parts, one after the other, and reports its progress to at. It does not end
// the file.
func (s *Stream) WriteParts(ctx context.Context, sizes memory.Sizes, parts <-chan *Part, at *progress.Worker) (err error) {
	s.buffer = bufio.NewWriterSize(reader{s.Query.Output.Stream}, bufferBytes)
	w := NewWriter(s.Query, sizes)
	if s.file, err = s.open(w.schema, sizes); err != nil {
		return err
	}
	w.file = streamed{s.file}
	return each(s.Query, parts, at, func(p *Part) error { return w.Write(ctx, s, p) })
}

// End ends the file, after all parts. Without it a reader of Parquet or Arrow finds no end.
func (s *Stream) End() error {
	if _, err := s.file.Close(); err != nil {
		return err
	}
	return s.buffer.Flush()
}

// open begins the file.
func (s *Stream) open(schema trailfile.Schema, sizes memory.Sizes) (joined, error) {
	switch s.Query.Output.Format {
	case query.Arrow:
		return arrowfile.NewStream(s, schema)
	case query.Parquet:
		o := groupsOf(sizes)
		o.Parts = true
		return trailfile.NewWriter(s, schema, o)
	}
	return textfile.NewWriter(s, schema, textOf(&s.Query.Output))
}

// Create begins a part.
func (s *Stream) Create(context.Context, string) (dfs.Pending, error) { return s, nil }

// Write implements dfs.Pending.
func (s *Stream) Write(b []byte) (int, error) { return s.buffer.Write(b) }

// Commit sends a part to the reader.
func (s *Stream) Commit() error { return s.buffer.Flush() }

// Abort does nothing. The reader has the bytes already.
func (s *Stream) Abort() {}

// A reader reads the stream, and reports when it stops.
type reader struct{ io.Writer }

func (r reader) Write(b []byte) (int, error) {
	n, err := r.Writer.Write(b)
	if errors.Is(err, syscall.EPIPE) {
		return n, fmt.Errorf("%w: %w", ErrGone, err)
	}
	return n, err
}

// Done implements Sink.
func (s *Stream) Done(_ context.Context, r Record) error {
	r.Files = nil
	s.Add(r)
	return nil
}
