package hbasetest

import (
	"os"
	"path/filepath"

	"usertrail/internal/cell"
	"usertrail/internal/format/hfile"
)

// A Folder is a directory in which an HBase in memory stores its files. It loads HFiles from any path
// of the machine.
type Folder string

// Root implements Disk.
func (d Folder) Root() string { return string(d) }

// Cells implements Disk.
func (d Folder) Cells(path string) ([]*cell.Cell, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	r, err := hfile.Open(f, info.Size())
	if err != nil {
		return nil, err
	}
	var out []*cell.Cell
	err = r.Verify(func(c *cell.Cell) error { out = append(out, c.Clone()); return nil })
	return out, err
}

// Move implements Disk.
func (d Folder) Move(from, to string) error {
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	return os.Rename(from, to)
}
