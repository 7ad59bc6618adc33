package hbasetest

import (
	"bytes"
	"cmp"
	"errors"
	"math"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"

	"usertrail/internal/cell"
	"usertrail/internal/store/hbase/wire"
)

// region finds the region of a RegionSpecifier on the execution's server. The
// cluster is locked.
func (x *execution) region(specifier fields) (*table, *region, *wire.ServerError) {
	name := string(specifier.bytes(2))
	if name == wire.MetaRegion && x.s.index == 0 {
		return x.c.meta(), &region{info: wire.RegionInfo{Table: wire.TableName{Namespace: "hbase", Qualifier: "meta"}}, server: x.s}, nil
	}
	for _, t := range x.c.tables {
		for _, r := range t.regions {
			if r.name != name {
				continue
			}
			switch {
			case r.server == x.s && t.state == wire.TableEnabled:
				return t, r, nil
			case r.server != nil && r.server != x.s && x.c.cfg.SayMoved:
				return nil, nil, x.c.moved(r.server)
			}
		}
	}
	return nil, nil, NotServing(name)
}

// refused calls the region's hook, without the lock.
func (x *execution) refused(specifier fields) *wire.ServerError {
	if x.hooks.Region == nil {
		return nil
	}
	return x.hooks.Region(x.call, string(specifier.bytes(2)))
}

func (r *region) holds(row []byte) bool {
	return bytes.Compare(row, r.info.Start) >= 0 && (len(r.info.End) == 0 || bytes.Compare(row, r.info.End) < 0)
}

// A query selects cells of a row for a Get or a Scan.
type query struct {
	columns  map[string][][]byte // by family; nil is all
	filter   filter
	from, to int64
	versions int
	limit    int // number of cells of a family
	offset   int
}

// parseQuery reads the fields that Get and Scan share. Their numbers differ.
func parseQuery(f fields, scan bool) (*query, *wire.ServerError) {
	var column, filter, times, versions, limit, offset protowire.Number = 2, 4, 5, 6, 8, 9
	if scan {
		column, filter, times, versions, limit, offset = 1, 5, 6, 7, 11, 12
	}
	q := &query{
		to:       math.MaxInt64,
		versions: max(1, int(f.number(versions))),
		limit:    cmp.Or(int(f.number(limit)), math.MaxInt),
		offset:   int(f.number(offset)),
	}
	for _, b := range f.all(column) {
		c, err := fieldsOf(b)
		if err != nil {
			return nil, malformed(err)
		}
		if q.columns == nil {
			q.columns = map[string][][]byte{}
		}
		q.columns[string(c.bytes(1))] = c.all(2)
	}
	r, err := f.sub(times)
	if err != nil {
		return nil, malformed(err)
	}
	q.from = int64(r.number(1))
	if r.has(2) {
		q.to = int64(r.number(2))
	}
	if b := f.bytes(filter); b != nil {
		var e *wire.ServerError
		if q.filter, e = parseFilter(b); e != nil {
			return nil, e
		}
	}
	return q, nil
}

// of returns the wanted cells of one row.
func (q *query) of(row []*cell.Cell) []*cell.Cell {
	var out []*cell.Cell
	version := 0
	for i, c := range row {
		if i == 0 || !bytes.Equal(c.Family, row[i-1].Family) || !bytes.Equal(c.Qualifier, row[i-1].Qualifier) {
			version = 0
		}
		if !q.wants(c) || c.Time < q.from || c.Time >= q.to {
			continue
		}
		if version++; version > q.versions {
			continue
		}
		out = append(out, c)
	}
	if q.filter != nil {
		out = q.filter(out)
	}
	return q.some(out)
}

// some returns the cells of each family that are within the limits.
func (q *query) some(row []*cell.Cell) []*cell.Cell {
	var out []*cell.Cell
	n := 0
	for i, c := range row {
		if i > 0 && !bytes.Equal(c.Family, row[i-1].Family) {
			n = 0
		}
		if n++; n > q.offset && n-q.offset <= q.limit {
			out = append(out, c)
		}
	}
	return out
}

func (q *query) wants(c *cell.Cell) bool {
	if q.columns == nil {
		return true
	}
	qualifiers, ok := q.columns[string(c.Family)]
	return ok && (len(qualifiers) == 0 || slices.ContainsFunc(qualifiers, func(b []byte) bool { return bytes.Equal(b, c.Qualifier) }))
}

// row returns the cells of one row.
func (t *table) row(key []byte) []*cell.Cell {
	i, _ := slices.BinarySearchFunc(t.cells, key, func(c *cell.Cell, key []byte) int {
		return cmp.Or(bytes.Compare(c.Row, key), 1)
	})
	j := i
	for j < len(t.cells) && bytes.Equal(t.cells[j].Row, key) {
		j++
	}
	return t.cells[i:j]
}

// get executes a "Get".
func (x *execution) get(f fields) (param, block []byte, e *wire.ServerError) {
	specifier, err := f.sub(1)
	if err != nil {
		return nil, nil, malformed(err)
	}
	get, err := f.sub(2)
	if err != nil {
		return nil, nil, malformed(err)
	}
	if e := x.refused(specifier); e != nil {
		return nil, nil, e
	}
	x.c.mu.Lock()
	defer x.c.mu.Unlock()
	t, r, e := x.region(specifier)
	if e != nil {
		return nil, nil, e
	}
	result, block, e := x.getRow(t, r, get, nil)
	if e != nil {
		return nil, nil, e
	}
	var m message
	m.bytes(1, result)
	return m, block, nil
}

// getRow executes a Get and appends its cells to block. The cluster is locked.
func (x *execution) getRow(t *table, r *region, get fields, block []byte) (result, longer []byte, e *wire.ServerError) {
	row := get.bytes(1)
	if !r.holds(row) {
		return nil, block, exception("regionserver.WrongRegionException", "Requested row out of range for Get on HRegion %s", r.name)
	}
	q, e := parseQuery(get, false)
	if e != nil {
		return nil, block, e
	}
	x.c.counts.RowGets[string(row)]++
	found := q.of(t.row(row))
	var m message
	if get.number(10) != 0 {
		m.number(2, 0)
		m.bool(3, len(found) > 0)
	} else {
		m.number(2, uint64(len(found)))
		for _, c := range found {
			block = wire.AppendCell(block, c)
		}
	}
	return m, block, nil
}

// multi executes a "Multi".
func (x *execution) multi(f fields, request []byte) (param, block []byte, e *wire.ServerError) {
	var m message
	for _, b := range f.all(1) {
		ra, err := fieldsOf(b)
		if err != nil {
			return nil, nil, malformed(err)
		}
		var result message
		result, block, request, e = x.regionAction(ra, block, request)
		if e != nil {
			return nil, nil, e
		}
		m.bytes(1, result)
	}
	if len(request) > 0 {
		return nil, nil, exception("DoNotRetryIOException", "%d bytes of cells too many", len(request))
	}
	return m, block, nil
}

// An action is one action of a Multi.
type action struct {
	index uint64
	get   fields // nil for a Put
	put   fields
	cells []*cell.Cell
}

// regionAction executes a region's part of a Multi: first the Gets, then the Puts in order of
// their rows.
func (x *execution) regionAction(ra fields, block, request []byte) (result message, longer, rest []byte, e *wire.ServerError) {
	actions, rest, e := parseActions(ra, request)
	if e != nil {
		return nil, nil, nil, e
	}
	specifier, err := ra.sub(1)
	if err != nil {
		return nil, nil, nil, malformed(err)
	}
	x.call.Actions = len(actions)
	if e := x.refused(specifier); e != nil {
		result.bytes(2, pair(e))
		return result, block, rest, nil
	}
	refused := make([]*wire.ServerError, len(actions))
	for i, a := range actions {
		if x.hooks.Action != nil {
			refused[i] = x.hooks.Action(x.call, a.row())
		}
	}

	x.c.mu.Lock()
	defer x.c.mu.Unlock()
	t, r, e := x.region(specifier)
	if e != nil {
		result.bytes(2, pair(e))
		return result, block, rest, nil
	}
	for i, a := range actions {
		var one message
		e := refused[i]
		if e == nil && x.c.cfg.MaxResponse > 0 && len(block) > x.c.cfg.MaxResponse {
			e = exception("MultiActionResultTooLarge", "Max size exceeded CellSize: %d", len(block))
		}
		if e == nil {
			if a.get != nil {
				one, block, e = x.getRow(t, r, a.get, block)
			} else {
				e = x.putRow(t, r, a)
			}
		}
		var roe message
		roe.number(1, a.index)
		if e != nil {
			roe.bytes(3, pair(e))
		} else {
			roe.bytes(2, one)
		}
		result.bytes(1, roe)
	}
	return result, block, rest, nil
}

func (a *action) row() []byte {
	if a.get != nil {
		return a.get.bytes(1)
	}
	return a.put.bytes(1)
}

var errNoIndex = errors.New("an action has no index")

// parseActions reads a region's actions, with the Puts' cells, in the order of their
// execution.
func parseActions(ra fields, request []byte) ([]action, []byte, *wire.ServerError) {
	var gets, puts []action
	for _, b := range ra.all(3) {
		f, err := fieldsOf(b)
		if err != nil {
			return nil, nil, malformed(err)
		}
		if !f.has(1) {
			return nil, nil, malformed(errNoIndex)
		}
		a := action{index: f.number(1)}
		if f.has(3) {
			if a.get, err = f.sub(3); err != nil {
				return nil, nil, malformed(err)
			}
			gets = append(gets, a)
			continue
		}
		if a.put, err = f.sub(2); err != nil {
			return nil, nil, malformed(err)
		}
		var cells wire.Cells
		if cells, request, err = wire.TakeCells(request, int(a.put.number(8))); err != nil {
			return nil, nil, malformed(err)
		}
		var c cell.Cell
		for cells.Next(&c) {
			a.cells = append(a.cells, c.Clone())
		}
		if cells.Err() != nil {
			return nil, nil, malformed(cells.Err())
		}
		puts = append(puts, a)
	}
	slices.SortStableFunc(puts, func(a, b action) int { return bytes.Compare(a.row(), b.row()) })
	return append(gets, puts...), request, nil
}

// putRow executes a Put. The cluster is locked.
func (x *execution) putRow(t *table, r *region, a action) *wire.ServerError {
	row := a.row()
	if !r.holds(row) {
		return exception("exceptions.FailedSanityCheckException", "Requested row out of range for row %q on %s", row, r.name)
	}
	if a.put.number(2) != 2 {
		return exception("DoNotRetryIOException", "mutation of type %d", a.put.number(2))
	}
	for _, c := range a.cells {
		if !bytes.Equal(c.Row, row) {
			return exception("client.WrongRowIOException", "The row in %s doesn't match the original one %q", c, row)
		}
		if !slices.Contains(t.families, string(c.Family)) {
			return exception("regionserver.NoSuchColumnFamilyException", "Column family %s does not exist in region %s", c.Family, r.name)
		}
	}
	for _, c := range a.cells {
		t.put(c)
	}
	x.c.counts.RowPuts[string(row)]++
	return nil
}

// pair encodes an exception in the form of a Multi's response.
func pair(e *wire.ServerError) []byte {
	var m message
	m.string(1, e.Class)
	m.string(2, trace(e))
	return m
}
