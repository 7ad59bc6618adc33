package layout

import "usertrail/internal/trail"

// rowState is the part of a Decoder for rows that hold many records, column by column. An event is in
// the batch from its first cell on.
type rowState struct {
	batch *trail.Batch
	user  func(key []byte) (uint32, bool)

	row  []byte      // of the last cell
	skip bool        // the row's cells are not decoded
	ev   trail.Event // the common parts of the row's events
}

// Into implements Decoder.
func (s *rowState) Into(b *trail.Batch, user func(key []byte) (uint32, bool)) {
	s.batch, s.user = b, user
	s.row, s.skip = s.row[:0], true
}

// Flush implements Decoder. It only resets the state of the row, because the batch has all events.
func (s *rowState) Flush() error {
	s.row, s.skip = s.row[:0], true
	return nil
}
