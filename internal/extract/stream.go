package extract

import (
	"context"
	"errors"
	"fmt"
	"syscall"

	"usertrail/internal/format/manifest"
	"usertrail/internal/format/trailfile/textfile"
	"usertrail/internal/run/exit"
	"usertrail/internal/store/dfs"
)

// ErrGone is wrapped if the reader of a stream has stopped.
var ErrGone = exit.New(exit.Gone, "the reader of the answer has gone")

// An outlet is where the parts of an answer go.
type outlet interface {
	// writers is how many parts may be written at once, where that many could.
	writers(workers int) int
	// last is the last part that an earlier run finished with all before it.
	last() partRecord
	// count is how many those are.
	count() int
	// create begins a file of a part.
	create(ctx context.Context, name string) (dfs.Pending, error)
	// done records that a part is whole.
	done(ctx context.Context, r partRecord) error
	// all are the parts, in order, once they are done.
	all() []partRecord
	// whole says whether this is all of an answer, and not a piece.
	whole() bool
	// lost counts the users of a list who were not found, and writes their names if it
	// can.
	lost(ctx context.Context, q *question) (missed, error)
	// publish ends the answer.
	publish(ctx context.Context, m *manifest.Extract, overwrite bool) error
	// close lets go of what is held.
	close()
}

// openOutlet opens where an answer goes, one that is cut as a plan says.
func openOutlet(ctx context.Context, c *Config, q *question, plan string) (outlet, error) {
	if q.output.Stream != nil {
		return &stream{q: q}, nil
	}
	return openStaging(ctx, c, q, plan)
}

// A stream is an outlet that writes the parts as they come, one at a time. Therefore they
// are in order, and none is held. A stream cannot be resumed.
type stream struct {
	finished
	q     *question
	begun bool
}

func (s *stream) writers(int) int { return 1 }
func (s *stream) whole() bool     { return true }

// create begins a part. The header of csv comes before the first.
func (s *stream) create(context.Context, string) (dfs.Pending, error) {
	if !s.begun && s.q.output.Format == CSV {
		if _, err := s.Write(textfile.Header(s.q.schema)); err != nil {
			return nil, err
		}
	}
	s.begun = true
	return s, nil
}

func (s *stream) Write(b []byte) (int, error) {
	n, err := s.q.output.Stream.Write(b)
	if errors.Is(err, syscall.EPIPE) {
		return n, fmt.Errorf("%w: %w", ErrGone, err)
	}
	return n, err
}

// Commit and Abort do nothing: everything written has already reached the stream.
func (s *stream) Commit() error { return nil }
func (s *stream) Abort()        {}

func (s *stream) done(_ context.Context, r partRecord) error {
	r.Files = nil
	s.add(r)
	return nil
}

func (s *stream) lost(_ context.Context, q *question) (m missed, err error) {
	err = q.search.each(q.info.Layout, func(id []byte) error {
		m.count(id)
		return nil
	})
	return m, err
}

func (s *stream) publish(context.Context, *manifest.Extract, bool) error { return nil }
func (s *stream) close()                                                 {}
