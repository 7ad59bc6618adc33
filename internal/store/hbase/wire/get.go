package wire

import (
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
)

// A Column is a family, or some columns of it.
type Column struct {
	Family     []byte
	Qualifiers [][]byte // none is the whole family
}

func appendColumns(dst []byte, num protowire.Number, columns []Column) []byte {
	for _, c := range columns {
		var at int
		dst, at = begin(dst, num)
		dst = appendBytes(dst, 1, c.Family)
		for _, q := range c.Qualifiers {
			dst = appendBytes(dst, 2, q)
		}
		dst = end(dst, at)
	}
	return dst
}

// A TimeRange is a range of timestamps in ms, from From up to, but not including, To. The
// zero TimeRange is all times; To 0 is no end.
type TimeRange struct {
	From, To int64
}

func appendTimeRange(dst []byte, num protowire.Number, r TimeRange) []byte {
	if r == (TimeRange{}) {
		return dst
	}
	dst, at := begin(dst, num)
	dst = appendUint(dst, 1, uint64(r.From))
	dst = appendNonzero(dst, 2, uint64(r.To))
	return end(dst, at)
}

// A Get selects cells of a row. The zero Get selects the newest version of
// all columns, without caching blocks on the server.
type Get struct {
	Columns       []Column // none is all
	Filter        Filter   // nil is none
	Time          TimeRange
	MaxVersions   uint32 // 0 is 1
	CacheBlocks   bool
	StoreLimit    uint32 // cells of one family; 0 is no limit
	StoreOffset   uint32
	ExistenceOnly bool
}

// GetFields is an encoded Get without its row.
type GetFields []byte

// Fields encodes g, once for all its rows.
func (g *Get) Fields() GetFields {
	dst := appendColumns(nil, 2, g.Columns)
	dst = appendFilter(dst, 4, g.Filter)
	dst = appendTimeRange(dst, 5, g.Time)
	dst = appendNonzero(dst, 6, uint64(g.MaxVersions))
	dst = appendBool(dst, 7, g.CacheBlocks)
	dst = appendNonzero(dst, 8, uint64(g.StoreLimit))
	dst = appendNonzero(dst, 9, uint64(g.StoreOffset))
	if g.ExistenceOnly {
		dst = appendBool(dst, 10, true)
	}
	return dst
}

func appendGet(dst []byte, num protowire.Number, row []byte, fields GetFields) []byte {
	dst, at := begin(dst, num)
	dst = appendBytes(dst, 1, row)
	dst = append(dst, fields...)
	return end(dst, at)
}

// appendRegion appends a RegionSpecifier. Servers read every specifier as a complete name,
// whatever its type is.
func appendRegion(dst []byte, num protowire.Number, name []byte) []byte {
	dst, at := begin(dst, num)
	dst = appendUint(dst, 1, 1)
	dst = appendBytes(dst, 2, name)
	return end(dst, at)
}

// A GetRequest is the parameter of "Get".
type GetRequest struct {
	Region []byte // complete name
	Row    []byte
	Fields GetFields
}

// Append appends the message.
func (r *GetRequest) Append(dst []byte) []byte {
	dst = appendRegion(dst, 1, r.Region)
	return appendGet(dst, 2, r.Row, r.Fields)
}

// A Result has the cells of one row.
type Result struct {
	Cells   Cells
	Exists  bool // for an existence-only Get
	Partial bool
}

// A result is a Result whose cells are still in the block.
type result struct {
	cells           int
	exists, partial bool
}

func (r *result) decode(b []byte) error {
	d := decoder{rest: b}
	for d.next() {
		switch d.num {
		case 1:
			d.refuse("cells outside the cell block, which was asked for")
		case 2:
			d.count(&r.cells)
		case 3:
			d.bool(&r.exists)
		case 5:
			d.bool(&r.partial)
		}
	}
	return d.done("Result")
}

// take cuts r's cells off the block.
func (r result) take(block []byte) (Result, []byte, error) {
	cells, rest, err := TakeCells(block, r.cells)
	return Result{Cells: cells, Exists: r.exists, Partial: r.partial}, rest, err
}

// DecodeGet decodes the response to a "Get": the message and the cell block.
func DecodeGet(param, block []byte) (Result, error) {
	var r result
	d := decoder{rest: param}
	for d.next() {
		if d.num == 1 {
			d.message(r.decode)
		}
	}
	if err := d.done("GetResponse"); err != nil {
		return Result{}, err
	}
	return r.takeAll(block, "GetResponse")
}

// takeAll cuts r's cells off a block that has no other cells.
func (r result) takeAll(block []byte, name string) (Result, error) {
	res, rest, err := r.take(block)
	if err == nil && len(rest) > 0 {
		err = fmt.Errorf("%w: %d bytes of cells left over", ErrMalformed, len(rest))
	}
	if err != nil {
		return Result{}, fmt.Errorf("%s: %w", name, err)
	}
	return res, nil
}
