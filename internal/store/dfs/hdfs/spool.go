package hdfs

import (
	"bytes"
	"io"
	"os"
)

// inMemory is the number of bytes of a file that are kept before a local file is made for it.
// Manifests and marks never need a local file.
const inMemory = 256 << 10

// A spool holds the bytes of a file until they are on HDFS.
type spool struct {
	buf  []byte   // the end of the written bytes
	file *os.File // the bytes before buf; nil if there are none
	size int64
	temp string // directory of file; os.TempDir
	err  error  // error of the first failed Write; bytes are missing after it
}

func (s *spool) Write(b []byte) (int, error) {
	if s.err == nil {
		s.err = s.add(b)
	}
	if s.err != nil {
		return 0, s.err
	}
	s.size += int64(len(b))
	return len(b), nil
}

func (s *spool) add(b []byte) error {
	if len(s.buf)+len(b) > inMemory {
		if err := s.flush(); err != nil {
			return err
		}
	}
	if len(b) >= inMemory {
		_, err := s.file.Write(b)
		return err
	}
	s.buf = append(s.buf, b...)
	return nil
}

// flush moves the bytes in memory to the file.
func (s *spool) flush() error {
	if s.file == nil {
		f, err := os.CreateTemp(s.temp, "usertrail-*.tmp")
		if err != nil {
			return err
		}
		s.file = f
		// A file without a name disappears with the process. If the system keeps the name of
		// an open file, close removes it.
		os.Remove(f.Name())
	}
	_, err := s.file.Write(s.buf)
	s.buf = s.buf[:0]
	return err
}

// reader returns a reader of all bytes that were written.
func (s *spool) reader() io.Reader {
	if s.file == nil {
		return bytes.NewReader(s.buf)
	}
	return io.MultiReader(io.NewSectionReader(s.file, 0, s.size-int64(len(s.buf))), bytes.NewReader(s.buf))
}

func (s *spool) close() {
	if s.file != nil {
		s.file.Close()
		os.Remove(s.file.Name())
	}
	s.buf, s.file = nil, nil
}
