package output

import (
	"context"
	"errors"
	"fmt"
	"syscall"

	"usertrail/internal/extract/query"
	"usertrail/internal/format/trailfile/textfile"
	"usertrail/internal/run/exit"
	"usertrail/internal/store/dfs"
)

// ErrGone is wrapped if the reader of a stream has stopped.
var ErrGone = exit.New(exit.Gone, "the reader of the answer has gone")

// A Stream is a Sink that writes the parts as they come. Only one Writer may use it, so that the
// parts are in order and no part is held. A stream cannot be resumed.
type Stream struct {
	Records
	Query *query.Query
	begun bool
}

// Create begins a part. The header of csv is before the first part.
func (s *Stream) Create(context.Context, string) (dfs.Pending, error) {
	if !s.begun && s.Query.Output.Format == query.CSV {
		if _, err := s.Write(textfile.Header(s.Query.Schema)); err != nil {
			return nil, err
		}
	}
	s.begun = true
	return s, nil
}

// Write writes to the stream.
func (s *Stream) Write(b []byte) (int, error) {
	n, err := s.Query.Output.Stream.Write(b)
	if errors.Is(err, syscall.EPIPE) {
		return n, fmt.Errorf("%w: %w", ErrGone, err)
	}
	return n, err
}

// Commit and Abort do nothing: everything written has already reached the stream.
func (s *Stream) Commit() error { return nil }
func (s *Stream) Abort()        {}

// Done implements Sink.
func (s *Stream) Done(_ context.Context, r Record) error {
	r.Files = nil
	s.Add(r)
	return nil
}
