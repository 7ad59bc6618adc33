package hbasetest

import (
	"bytes"
	"cmp"
	"slices"
	"time"

	"usertrail/internal/cell"
	"usertrail/internal/store/hbase/wire"
)

// A scanner is a scan of one region that is under way. It reads the cells that existed
// when it was opened.
type scanner struct {
	region []byte // complete name
	meta   bool
	rows   [][]*cell.Cell
	at     int  // its current row, and
	within int  // number of returned cells of the row
	unsure bool // the previous row was returned as if it continued
	seq    uint64

	size    int // bytes of a response; 0 is no limit
	cursors bool
	until   time.Time // of its lease
}

// lease returns how long a scanner lives between calls.
func (c *Cluster) lease() time.Duration { return cmp.Or(c.cfg.Lease, time.Minute) }

// scan executes a "Scan".
func (x *execution) scan(f fields) (param, block []byte, e *wire.ServerError) {
	specifier, err := f.sub(1)
	if err != nil {
		return nil, nil, malformed(err)
	}
	opening := f.has(1)
	if opening {
		if e := x.refused(specifier); e != nil {
			return nil, nil, e
		}
	}
	x.c.mu.Lock()
	defer x.c.mu.Unlock()
	var s *scanner
	id := f.number(3)
	if opening {
		if s, e = x.openScanner(specifier, f); e != nil {
			return nil, nil, e
		}
		x.c.scanID++
		id = x.c.scanID
		x.s.scanners[id] = s
	} else if s, e = x.nextOf(id, f); e != nil {
		return nil, nil, e
	}

	s.until = time.Now().Add(x.c.lease())
	var m message
	m.number(2, id)
	m.number(4, uint64(x.c.lease().Milliseconds()))
	m.number(11, 1)
	rows := 1
	if f.has(4) {
		rows = int(f.number(4))
	}
	if f.number(10) != 0 { // renew
		rows = 0
	}
	block, over := x.results(s, f, rows, &m)
	if f.number(5) != 0 || over || s.at == len(s.rows) {
		delete(x.s.scanners, id)
	}
	return m, block, nil
}

// openScanner reads an opening call. The cluster is locked.
func (x *execution) openScanner(specifier, f fields) (*scanner, *wire.ServerError) {
	t, r, e := x.region(specifier)
	if e != nil {
		return nil, e
	}
	scan, err := f.sub(2)
	if err != nil {
		return nil, malformed(err)
	}
	q, e := parseQuery(scan, true)
	if e != nil {
		return nil, e
	}
	s := &scanner{region: specifier.bytes(2), size: int(scan.number(10)), cursors: scan.number(24) != 0}
	s.meta = string(s.region) == wire.MetaRegion
	want := span{start: scan.bytes(3), stop: scan.bytes(4), includeStop: scan.number(22) != 0, compare: bytes.Compare}
	want.excludeStart = scan.has(21) && scan.number(21) == 0
	if s.meta {
		want.compare = compareMeta
	}
	reversed := scan.number(15) != 0
	if reversed {
		want.start, want.stop = want.stop, want.start
		want.excludeStart, want.includeStop = !want.includeStop, !want.excludeStart
	}
	for row := range rowsOf(t.cells) {
		if key := row[0].Row; !r.holds(key) || !want.holds(key) {
			continue
		}
		if row = q.of(row); len(row) > 0 {
			s.rows = append(s.rows, row)
		}
	}
	if reversed {
		slices.Reverse(s.rows)
	}
	return s, nil
}

// rowsOf cuts cells into rows.
func rowsOf(cells []*cell.Cell) func(yield func([]*cell.Cell) bool) {
	return func(yield func([]*cell.Cell) bool) {
		for len(cells) > 0 {
			n := 1
			for n < len(cells) && bytes.Equal(cells[n].Row, cells[0].Row) {
				n++
			}
			if !yield(cells[:n:n]) {
				return
			}
			cells = cells[n:]
		}
	}
}

// nextOf finds the scanner of a later call and checks the call's sequence number. The cluster
// is locked.
func (x *execution) nextOf(id uint64, f fields) (*scanner, *wire.ServerError) {
	s := x.s.scanners[id]
	if s != nil && time.Now().After(s.until) {
		delete(x.s.scanners, id)
		s = nil
	}
	if s == nil {
		e := exception("UnknownScannerException", "Unknown scanner '%d'. This can happen due to any of the following reasons", id)
		e.DoNotRetry = true
		return nil, e
	}
	if !s.meta {
		var specifier fields
		specifier = append(specifier, field{num: 2, b: s.region})
		if _, _, e := x.region(specifier); e != nil {
			delete(x.s.scanners, id)
			return nil, e
		}
	}
	if f.has(6) {
		if n := f.number(6); n != s.seq {
			e := exception("exceptions.OutOfOrderScannerNextException", "Expected nextCallSeq: %d But the nextCallSeq got from client: %d", s.seq, n)
			e.DoNotRetry = true
			return nil, e
		}
		s.seq++
	}
	return s, nil
}

// results returns the cell block of at most most Results of s, and describes the Results
// in m. over reports that the call wants no more rows. The cluster is locked.
func (x *execution) results(s *scanner, f fields, most int, m *message) (block []byte, over bool) {
	partials, heartbeats := f.number(7) != 0, f.number(7) != 0 && f.number(8) != 0
	limit := int(f.number(11))
	if most > 0 {
		x.c.scans++
	}
	if heartbeats && most > 0 && x.c.cfg.HeartbeatEvery > 0 && x.c.scans%x.c.cfg.HeartbeatEvery == 0 && s.at < len(s.rows) {
		m.bool(9, true)
		if s.cursors {
			var cursor message
			cursor.bytes(1, s.rows[s.at][0].Row)
			m.bytes(12, cursor)
		}
		most = 0
	}
	whole := 0
	for n := 0; n < most && s.at < len(s.rows) && (limit == 0 || whole < limit); n++ {
		if full := func(size int) bool { return size > 0 && len(block) >= size }; full(s.size) || full(x.c.cfg.MaxResponse) {
			break
		}
		if s.unsure {
			s.unsure = false
			if whole++; whole == limit {
				break
			}
		}
		row := s.rows[s.at][s.within:]
		partial := partials && x.c.cfg.PartialCells > 0 && len(row) > x.c.cfg.PartialCells
		if partial {
			row = row[:x.c.cfg.PartialCells]
			s.within += len(row)
		} else {
			s.at++
			s.within = 0
			partial = partials && x.c.cfg.UnsureParts && len(row) == x.c.cfg.PartialCells
			if s.unsure = partial; !partial {
				whole++
			}
		}
		m.number(1, uint64(len(row)))
		m.bool(7, partial)
		for _, c := range row {
			block = wire.AppendCell(block, c)
		}
	}
	over = limit > 0 && whole == limit
	m.bool(3, !over)
	m.bool(8, s.at < len(s.rows))
	return block, over
}
