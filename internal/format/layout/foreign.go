package layout

import (
	"errors"
	"fmt"
)

// ErrForeign is wrapped by a Decoder's errors about foreign cells: cells in a row, or in a
// column, that the layout makes of no record of the schema. The Decoder is as it was before
// the cell.
var ErrForeign = errors.New("foreign cell")

// ForeignCell makes err wrap ErrForeign, with its own text.
func ForeignCell(err error) error { return foreignCell{err} }

type foreignCell struct{ err error }

func (e foreignCell) Error() string        { return e.err.Error() }
func (e foreignCell) Unwrap() error        { return e.err }
func (e foreignCell) Is(target error) bool { return target == ErrForeign }

// Foreign counts foreign cells that a reader skipped.
type Foreign struct {
	Cells int64  `json:"cells"`
	First string `json:"first"` // the error of a Decoder about one of them
}

// Skip counts a foreign cell if err is about one, and returns nil. It returns any other
// error.
func (f *Foreign) Skip(err error) error {
	if err == nil || !errors.Is(err, ErrForeign) {
		return err
	}
	f.Add(Foreign{1, err.Error()})
	return nil
}

// Add adds what another reader skipped.
func (f *Foreign) Add(o Foreign) {
	if f.Cells == 0 {
		f.First = o.First
	}
	f.Cells += o.Cells
}

// Notes returns a sentence about the skipped cells, or nil if none was skipped.
func (f *Foreign) Notes() []string {
	if f.Cells == 0 {
		return nil
	}
	return []string{fmt.Sprintf("skipped %d foreign cells, which no load writes; one of them: %s", f.Cells, f.First)}
}
