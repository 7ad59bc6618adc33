package snapshot

import (
	"bytes"

	"usertrail/internal/cell"
)

// Deletes tell which cells of a raw scan are hidden by deletes. They are given all cells
// of a family, in the order of package cell.
type Deletes struct {
	sight sight
	row   []byte
}

// Hide says whether c is a Put that a delete hides.
func (d *Deletes) Hide(c *cell.Cell) (bool, error) {
	if !bytes.Equal(d.row, c.Row) {
		d.row = append(d.row[:0], c.Row...)
		d.sight.begin()
	}
	if c.Type != cell.Put {
		return false, d.sight.mark(c)
	}
	return d.sight.marked && d.sight.hides(c), nil
}
