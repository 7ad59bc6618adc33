package load

import "io"

// A source remembers the error that stopped the reading of its file. This error is a fault of
// the storage, and ends the load unless unread finds that it concerns this file alone. Any other
// error while a file is read is a fault of the file.
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
