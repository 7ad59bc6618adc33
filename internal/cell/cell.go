// Package cell defines an HBase cell and the order of cells. Layouts, shuffle, HFiles and
// tables exchange cells.
package cell

import (
	"bytes"
	"cmp"
	"fmt"
)

// A Type is the type of a cell: a put or a kind of delete. The codes are HBase's
// KeyValue.Type.
type Type uint8

// The types that a store file can hold.
const (
	Put                 Type = 4
	Delete              Type = 8
	DeleteFamilyVersion Type = 10
	DeleteColumn        Type = 12
	DeleteFamily        Type = 14
)

// A Cell is one version of one column of one row. The comment of the function that returns a
// Cell states how long its bytes are valid.
type Cell struct {
	Row       []byte // 1..32767 bytes
	Family    []byte // at most 127 bytes
	Qualifier []byte
	Time      int64 // milliseconds since 1970-01-01 UTC
	Type      Type
	Value     []byte
	Tags      []byte // in the form of the file, usually none
	MVCC      uint64 // HBase's write number; 0 in bulk files. It does not order cells.
}

// Compare orders cells as HBase does: by row, family and qualifier, ascending as
// bytes, then by time, the newest first, then by type, the larger first.
func Compare(a, b *Cell) int {
	if c := bytes.Compare(a.Row, b.Row); c != 0 {
		return c
	}
	if c := bytes.Compare(a.Family, b.Family); c != 0 {
		return c
	}
	if c := bytes.Compare(a.Qualifier, b.Qualifier); c != 0 {
		return c
	}
	if c := cmp.Compare(b.Time, a.Time); c != 0 {
		return c
	}
	return cmp.Compare(b.Type, a.Type)
}

// Clone returns a copy that shares no bytes with c.
func (c *Cell) Clone() *Cell {
	d := *c
	d.Row = bytes.Clone(c.Row)
	d.Family = bytes.Clone(c.Family)
	d.Qualifier = bytes.Clone(c.Qualifier)
	d.Value = bytes.Clone(c.Value)
	d.Tags = bytes.Clone(c.Tags)
	return &d
}

func (c *Cell) String() string {
	return fmt.Sprintf("%q/%s:%q/%d/%s=%q", c.Row, c.Family, c.Qualifier, c.Time, c.Type, c.Value)
}

func (t Type) String() string {
	switch t {
	case Put:
		return "Put"
	case Delete:
		return "Delete"
	case DeleteFamilyVersion:
		return "DeleteFamilyVersion"
	case DeleteColumn:
		return "DeleteColumn"
	case DeleteFamily:
		return "DeleteFamily"
	}
	return fmt.Sprintf("Type(%d)", uint8(t))
}
