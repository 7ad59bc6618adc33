package bulkload

import "io"

// A source remembers why its file could not be read on. That is a fault of where
// the file is stored, and ends the load unless unread knows better; what else goes wrong
// while a file is read is wrong with the file.
type source struct {
	r   io.Reader
	err error
}

// Read implements io.Reader.
func (s *source) Read(b []byte) (int, error) {
	n, err := s.r.Read(b)
	if err != nil && err != io.EOF {
		s.err = err
	}
	return n, err
}
