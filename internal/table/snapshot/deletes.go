package snapshot

import (
	"bytes"

	"usertrail/internal/cell"
)

// Deletes finds the cells of a raw scan that deletes hide. The caller passes all cells of
// a family to Hide, in the order of package cell.
type Deletes struct {
	visibility visibility
	row        []byte
}

// Hide reports whether c is a Put that a delete hides.
func (d *Deletes) Hide(c *cell.Cell) (bool, error) {
	if !bytes.Equal(d.row, c.Row) {
		d.row = append(d.row[:0], c.Row...)
		d.visibility.begin()
	}
	if c.Type != cell.Put {
		return false, d.visibility.mark(c)
	}
	return d.visibility.marked && d.visibility.hides(c), nil
}
