package output

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"syscall"

	"golang.org/x/sync/errgroup"

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

// A Stream writes all parts as one file, in order, as they come. It cannot be resumed.
//
// Several workers make parts at once. A worker writes its part when all parts before it are written.
// Until then it holds heldBytes of the part. Parquet has one worker, because the end of the file has
// the offsets of all row groups.
type Stream struct {
	Records
	Query  *query.Query
	file   joined // writes the end
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

// A divided file is a joined file, of which each of several writers writes some parts.
type divided interface {
	joined
	Reset(w io.Writer)    // begins the first part
	Continue(w io.Writer) // begins another part
}

// WriteParts writes parts with a number of workers. Each reports its progress to a worker that at
// returns. WriteParts does not end the file.
func (s *Stream) WriteParts(ctx context.Context, sizes memory.Sizes, parts <-chan *Part, workers int, at func() *progress.Worker) (err error) {
	s.buffer = bufio.NewWriterSize(reader{s.Query.Output.Stream}, bufferBytes)
	if s.file, err = s.open(sizes); err != nil {
		return err
	}
	if _, ok := s.file.(divided); !ok {
		w := s.writer(sizes, &streamed{joined: s.file})
		return each(s.Query, parts, at(), func(p *Part) error { return w.Write(ctx, s, p) })
	}
	g, ctx := errgroup.WithContext(ctx)
	for range workers {
		g.Go(func() error { return s.work(ctx, sizes, parts, at()) })
	}
	return g.Wait()
}

// work is one of several workers.
func (s *Stream) work(ctx context.Context, sizes memory.Sizes, parts <-chan *Part, at *progress.Worker) error {
	file, err := s.open(sizes)
	if err != nil {
		return err
	}
	part, to := &streamed{joined: file}, &turn{Stream: s, ctx: ctx}
	w := s.writer(sizes, part)
	return each(s.Query, parts, at, func(p *Part) error {
		part.first = p.before == nil
		to.begin(p)
		return w.Write(ctx, to, p)
	})
}

// writer returns a writer of parts.
func (s *Stream) writer(sizes memory.Sizes, part *streamed) *Writer {
	w := NewWriter(s.Query, sizes)
	w.file = part
	return w
}

// End ends the file, after all parts. Without it a reader of Parquet or Arrow finds no end.
func (s *Stream) End() error {
	if file, ok := s.file.(divided); ok {
		file.Continue(s.buffer)
	}
	if _, err := s.file.Close(); err != nil {
		return err
	}
	return s.buffer.Flush()
}

// open begins the file.
func (s *Stream) open(sizes memory.Sizes) (joined, error) {
	switch s.Query.Output.Format {
	case query.Arrow:
		return arrowfile.NewStream(s.buffer, s.Query.Schema)
	case query.Parquet:
		o := groupsOf(sizes)
		o.Parts = true
		return trailfile.NewWriter(s.buffer, s.Query.Schema, o)
	}
	return textfile.NewWriter(s.buffer, s.Query.Schema, textOf(&s.Query.Output))
}

// A streamed part is a fileWriter of one part of a joined file.
type streamed struct {
	joined
	first bool // it is the first part
}

func (s *streamed) Close() (trailfile.Meta, error) { return trailfile.Meta{}, s.Break() }

// Reset begins a part on w.
func (s *streamed) Reset(w io.Writer) {
	file, ok := s.joined.(divided)
	switch {
	case !ok: // it goes on where the part before it ended
	case s.first:
		file.Reset(w)
	default:
		file.Continue(w)
	}
}

// Create begins a part.
func (s *Stream) Create(context.Context, string) (dfs.Pending, error) { return s, nil }

// Write implements dfs.Pending.
func (s *Stream) Write(b []byte) (int, error) { return s.buffer.Write(b) }

// Commit sends a part to the reader.
func (s *Stream) Commit() error { return s.buffer.Flush() }

// Abort does nothing. The reader may have bytes of the part.
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
