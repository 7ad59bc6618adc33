package hbase

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"usertrail/internal/cell"
	"usertrail/internal/run/ratelimit"
	"usertrail/internal/store/hbase/rpc"
	"usertrail/internal/store/hbase/wire"
)

// A Scan requests the rows from Start to before Stop. An empty Start or Stop is no
// bound.
type Scan struct {
	Start, Stop []byte
	Columns     []wire.Column // none is all
	Filter      wire.Filter   // nil is none; not one that counts rows over regions
	Time        wire.TimeRange
	MaxVersions uint32 // 0 is 1
	Limit       int    // rows; 0 is all of them
	StoreLimit  uint32 // most cells of one family of a row, from the first matching cell; 0 is all
	Raw         bool   // also deletes and the cells that they hide
	CacheBlocks bool
	ReadType    wire.ReadType
	ResultBytes int // of one response; 2 MiB
}

const (
	defaultResultBytes = 2 << 20

	// resultRows is the most Results of one response: their bytes bound it first.
	resultRows = 1 << 30

	// ahead is the number of responses that wait for processing. One more response is
	// being processed and one more is under way.
	ahead = 1

	// closeTimeout bounds the time to close a scanner that is not needed any more.
	// If the client does not close it, its lease ends it.
	closeTimeout = 2 * time.Second
)

// Scan calls emit for every cell of the rows in order. It emits each cell once, even
// if regions split or move or if servers end. A cell is valid until emit returns. Scan
// fetches the next response while emit runs. A row that is larger than ResultBytes
// arrives in several responses. If its region moved in between, the parts of the row are
// of different times.
func (c *Client) Scan(ctx context.Context, tableName string, s Scan, emit func(*cell.Cell) error) error {
	ctx, done, err := c.begin(ctx)
	if err != nil {
		return err
	}
	defer done()
	if len(s.Stop) > 0 && bytes.Compare(s.Start, s.Stop) >= 0 {
		return nil
	}
	if s.ResultBytes <= 0 {
		s.ResultBytes = defaultResultBytes
	}
	share := c.cfg.Limiter.Share()
	s.ResultBytes = within(s.ResultBytes, share.Bytes)
	sc := &scanning{
		t: c.table(tableName), emit: emit,
		scan: wire.Scan{
			Columns: s.Columns, Filter: s.Filter, Time: s.Time, MaxVersions: s.MaxVersions, StoreLimit: s.StoreLimit, Raw: s.Raw,
			CacheBlocks: s.CacheBlocks, ReadType: s.ReadType, MaxResultSize: uint64(s.ResultBytes), NeedCursor: true,
		},
		stop:       s.Stop,
		limit:      s.Limit,
		skips:      len(s.Columns) == 1 && s.StoreLimit == 0 && !s.Raw,
		rows:       within(resultRows, share.Gets),
		at:         position{row: bytes.Clone(s.Start)},
		retryState: retryState{what: fmt.Sprintf("scan from %q", s.Start), table: tableName},
	}
	for {
		over, err := sc.stretch(ctx)
		if err != nil || over {
			return err
		}
	}
}

// A position is the place at which a scan continues: at row, or after it if exclude
// is set.
type position struct {
	row     []byte
	exclude bool
	last    *cell.Cell // the last emitted cell of an unfinished row; cells up to it are skipped
}

// A scanning is one call of Scan. The caller's goroutine processes the pages. For each
// stretch without a restart a fetcher runs in another goroutine.
type scanning struct {
	t     *table
	scan  wire.Scan
	stop  []byte
	limit int  // rows of the whole scan; 0 is none
	rows  int  // most Results of one response
	skips bool // a filter can skip the first cells of a row
	emit  func(*cell.Cell) error

	at         position
	begun      int    // rows with emitted cells, counted only if there is a limit
	row        []byte // the last of them
	retryState retryState
	resp       wire.ScanResponse
	c          cell.Cell
}

// A page is a response on its way from the fetcher.
type page struct {
	resp  *rpc.Response
	end   []byte // of the range that the scan reads in the page's region
	err   error  // the error that ended the fetcher, in place of a response
	final bool   // err ends the scan too

	region *region
	server *server
	took   time.Duration // duration of the call
	held   time.Duration // duration of the attempts that the server refused
}

// stretch reads from the scan's position until its end, or until the scan must
// restart from its new position. This is the restart rule.
func (sc *scanning) stretch(ctx context.Context) (over bool, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	pages := make(chan page, ahead)
	gone := make(chan struct{})
	f := &fetcher{t: sc.t, scan: sc.scan, stop: sc.stop, limit: sc.left(), rows: uint32(sc.rows), pages: pages}
	f.scan.Start, f.scan.ExcludeStart = sc.at.row, sc.at.exclude
	rest := sc.restOfRow(f)
	sc.t.c.wg.Go(func() {
		defer close(gone)
		defer close(pages)
		f.run(ctx)
	})
	defer func() {
		cancel(nil)
		for p := range pages {
			if p.resp != nil {
				p.resp.Release()
			}
		}
		<-gone
	}()
	for p := range pages {
		if p.err != nil {
			if p.final {
				return false, p.err
			}
			return false, sc.recover(ctx, p)
		}
		again, err := sc.take(p)
		if err != nil {
			return false, err
		}
		if again != nil {
			return false, sc.recover(ctx, page{err: again, region: p.region, server: p.server, took: p.took})
		}
		if sc.limit > 0 && sc.left() == 0 {
			return true, nil
		}
	}
	if err := context.Cause(ctx); err != nil {
		return false, err
	}
	if rest != nil {
		sc.at = position{row: rest}
		done := sc.limit > 0 && sc.left() == 0
		return done || len(sc.stop) > 0 && bytes.Compare(rest, sc.stop) >= 0, nil
	}
	return true, nil
}

// restOfRow makes f read only the unfinished row, from its last emitted cell, and
// returns the row after it. If there is no unfinished row, or if no filter can skip the
// emitted cells, it returns nil, and f reads from the beginning of the row.
func (sc *scanning) restOfRow(f *fetcher) []byte {
	last := sc.at.last
	if last == nil || !sc.skips {
		return nil
	}
	f.scan.Filter = wire.ColumnRange(last.Qualifier, nil)
	if sc.scan.Filter != nil {
		f.scan.Filter = wire.AllOf(f.scan.Filter, sc.scan.Filter)
	}
	f.stop = append(bytes.Clone(last.Row), 0)
	return f.stop
}

// recover applies the remedy for the failure that ended a stretch, and pauses.
func (sc *scanning) recover(ctx context.Context, p page) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	if p.region != nil {
		sc.retryState.region, sc.retryState.server = p.region.String(), p.server.addr
	}
	sc.retryState.what = fmt.Sprintf("scan from %q", sc.at.row)
	return sc.t.recover(ctx, &sc.retryState, p.region, p.server, p.took, p.err)
}

// left returns the number of rows that are still wanted. The unfinished row counts. If
// there is no limit, left returns 0.
func (sc *scanning) left() int {
	switch {
	case sc.limit == 0:
		return 0
	case sc.at.last != nil:
		return sc.limit - sc.begun + 1
	}
	return sc.limit - sc.begun
}

// admit counts the row of the current cell if there is a limit. It reports whether the
// row is wanted.
func (sc *scanning) admit() bool {
	if sc.limit == 0 || sc.begun > 0 && bytes.Equal(sc.c.Row, sc.row) {
		return true
	}
	if sc.begun == sc.limit {
		return false
	}
	sc.begun++
	sc.row = append(sc.row[:0], sc.c.Row...)
	return true
}

// take calls emit for a page's cells and sets the new position. If the response does not
// decode or its cell block has the wrong size, take emits no cell and returns the
// reason in again.
func (sc *scanning) take(p page) (again, err error) {
	defer p.resp.Release()
	if err := sc.resp.Decode(p.resp.Param); err != nil {
		return err, nil
	}
	before := sc.at
	if again := checkBlock(p.resp.Cells, sc.resp.CellsPerResult); again != nil {
		return again, nil
	}
	block := p.resp.Cells
	var cells wire.Cells
	final := len(sc.resp.CellsPerResult) - 1 // the last result that has cells
	for final >= 0 && sc.resp.CellsPerResult[final] == 0 {
		final--
	}
	for i, n := range sc.resp.CellsPerResult {
		if cells, block, err = wire.TakeCells(block, int(n)); err != nil {
			return nil, err
		}
		for cells.Next(&sc.c) {
			if sc.at.last != nil && sc.skip() {
				continue
			}
			if !sc.admit() {
				sc.at = position{row: bytes.Clone(sc.c.Row)}
				return nil, nil
			}
			if err := sc.emit(&sc.c); err != nil {
				return nil, err
			}
		}
		if err := cells.Err(); err != nil {
			return nil, fmt.Errorf("hbase: scan from %q: %w", sc.at.row, err)
		}
		if i == final {
			sc.pass(sc.resp.IsPartial(i))
		}
	}
	if cursor := sc.resp.Cursor; cursor != nil && bytes.Compare(cursor, sc.at.row) > 0 {
		sc.at = position{row: bytes.Clone(cursor)}
	}
	if !sc.resp.MoreInRegion && len(p.end) > 0 {
		sc.at = position{row: p.end}
	}
	sc.retryState.spent += p.held
	if before.before(&sc.at) {
		sc.retryState = retryState{table: sc.retryState.table}
	}
	return nil, nil
}

// before reports whether q is further than p. Repeated cells do not change a position.
func (p *position) before(q *position) bool {
	switch c := bytes.Compare(p.row, q.row); {
	case c != 0:
		return c < 0
	case p.exclude || q.exclude:
		return !p.exclude
	case q.last == nil:
		return false
	}
	return p.last == nil || cell.Compare(p.last, q.last) < 0
}

// pass sets the position after the current cell, which was the last of its response.
func (sc *scanning) pass(partial bool) {
	at := position{row: bytes.Clone(sc.c.Row), exclude: true}
	if partial {
		at.exclude, at.last = false, later(sc.at.last, &sc.c)
	}
	sc.at = at
}

// skip reports whether the current cell was emitted before a restart.
func (sc *scanning) skip() bool {
	last := sc.at.last
	if !bytes.Equal(sc.c.Row, last.Row) {
		sc.at.last = nil
		return false
	}
	return cell.Compare(&sc.c, last) <= 0
}

// later returns the later cell of c and last. last is the last emitted cell and may be
// nil.
func later(last, c *cell.Cell) *cell.Cell {
	if last != nil && bytes.Equal(last.Row, c.Row) && cell.Compare(last, c) >= 0 {
		return last
	}
	return &cell.Cell{Row: bytes.Clone(c.Row), Family: bytes.Clone(c.Family), Qualifier: bytes.Clone(c.Qualifier), Time: c.Time, Type: c.Type}
}

// checkBlock checks that a block has as many cells as the response counts.
func checkBlock(block []byte, counts []uint32) error {
	n := 0
	for _, k := range counts {
		n += int(k)
	}
	_, rest, err := wire.TakeCells(block, n)
	if err == nil && len(rest) > 0 {
		err = fmt.Errorf("ScanResponse: %w: %d bytes of cells belong to no result", wire.ErrMalformed, len(rest))
	}
	return err
}

// A fetcher fetches one page after the other, across the ends of regions. It stops at
// the first failure.
type fetcher struct {
	t     *table
	scan  wire.Scan
	stop  []byte
	limit int // rows that are still wanted, or a few more; 0 means no limit
	rows  uint32
	pages chan<- page

	region *region
	server *server
	open   bool
	id     uint64
	seq    uint64
	lease  time.Duration // of the scanner, between calls
	resp   wire.ScanResponse
}

// run sends pages until the scan is over or has failed. The page with the failure is
// the last one.
func (f *fetcher) run(ctx context.Context) {
	for over := false; !over; {
		p := f.next(ctx)
		if p.err == nil {
			p.end = f.scan.Stop
			over = f.advance()
		} else {
			over = true
		}
		if !f.hand(ctx, p) {
			over = true
		}
	}
	if f.open {
		f.close()
	}
}

// hand waits until the caller receives p, and meanwhile renews the scanner's lease. It
// reports whether the caller received p before ctx ended.
func (f *fetcher) hand(ctx context.Context, p page) bool {
	tick := time.NewTicker(max(f.lease/3, minBackoff))
	defer tick.Stop()
	for {
		select {
		case f.pages <- p:
			return true
		case <-tick.C:
			if f.open {
				f.renew(ctx)
			}
		case <-ctx.Done():
			if p.resp != nil {
				p.resp.Release()
			}
			return false
		}
	}
}

// renew notifies the server that the scanner is still in use. If renew fails, the next call
// fails too and handles the failure.
func (f *fetcher) renew(ctx context.Context) {
	q := request{method: "Scan", param: &wire.ScanRequest{ScannerID: f.id, Renew: true}, first: true}
	if resp, _, err := f.server.call(ctx, q); err == nil {
		resp.Release()
	}
}

// next makes the next call. If the server refuses to execute it for now, for example
// because of a quota, next repeats it on the same scanner with the same number: the
// scanner keeps its position.
func (f *fetcher) next(ctx context.Context) page {
	e := retryState{what: fmt.Sprintf("scan from %q", f.scan.Start), table: f.t.name}
	for {
		resp, took, err := f.call(ctx)
		p := page{resp: resp, err: err, region: f.region, server: f.server, took: took, held: e.spent}
		if err == nil || !f.open || context.Cause(ctx) != nil {
			return p
		}
		v := judge(err)
		if v.remedy != ease {
			return p
		}
		e.region, e.server = f.region.String(), f.server.addr
		wait, err := e.after(f.t.c, took, v)
		if err == nil {
			err = f.pause(ctx, &e, wait)
		}
		if err != nil {
			p.err, p.final = err, true
			return p
		}
	}
}

// pause waits before a repeated call, and meanwhile renews the scanner's lease.
func (f *fetcher) pause(ctx context.Context, e *retryState, wait time.Duration) error {
	for tick := max(f.lease/3, minBackoff); wait > 0; wait -= tick {
		if err := e.sleep(ctx, f.t.c, min(wait, tick)); err != nil {
			return err
		}
		if wait > tick {
			f.renew(ctx)
		}
	}
	return nil
}

// call makes one call to the open scanner. If no scanner is open, it opens one on the
// region of scan.Start.
func (f *fetcher) call(ctx context.Context) (resp *rpc.Response, took time.Duration, err error) {
	if !f.open {
		f.region, f.server = nil, nil
		began := time.Now()
		r, err := f.t.locate(ctx, f.scan.Start)
		if err != nil {
			return nil, time.Since(began), err
		}
		f.region, f.server = r, f.t.c.server(r.Server, wire.ClientService)
	}
	param := &wire.ScanRequest{Rows: f.rows, Limit: uint32(min(f.limit, resultRows)), Partials: true, Heartbeats: true}
	if f.open {
		param.ScannerID, param.NextCallSeq = f.id, f.seq
	} else {
		f.clip()
		param.Region, param.Scan = f.region.Name, &f.scan
	}
	if err := f.t.c.cfg.Limiter.Wait(ctx, ratelimit.Amount{}); err != nil {
		return nil, 0, err
	}
	resp, fl, err := f.server.call(ctx, request{method: "Scan", param: param})
	if err != nil {
		f.forget(err)
		return nil, fl.took, err
	}
	bytes := len(resp.Param) + len(resp.Cells)
	if err := f.resp.Decode(resp.Param); err != nil {
		resp.Release()
		return nil, fl.took, err
	}
	f.t.c.cfg.Limiter.Owe(ratelimit.Amount{Gets: int64(len(f.resp.CellsPerResult)), Bytes: int64(bytes)})
	f.count()
	if len(resp.Cells) > 0 {
		f.server.succeeded(scanPages, fl, bytes)
	} else { // a heartbeat or an empty response: its duration is not comparable
		f.server.window.grow()
	}
	if f.open {
		f.seq++
	} else {
		f.open, f.id, f.seq = true, f.resp.ScannerID, 0
		f.lease = time.Duration(f.resp.TTL) * time.Millisecond
	}
	return resp, fl.took, nil
}

// count counts a response's cells, and subtracts the rows that are certainly whole from
// the limit. The limit does not fall below 1, because 0 means no limit.
func (f *fetcher) count() {
	cells := int64(0)
	for i, n := range f.resp.CellsPerResult {
		cells += int64(n)
		if f.limit > 1 && n > 0 && !f.resp.IsPartial(i) {
			f.limit--
		}
	}
	f.t.c.came.Add(cells)
}

// clip makes the scan end with its region: servers end a scan there without a message.
func (f *fetcher) clip() {
	f.scan.Stop = f.stop
	if end := f.region.End; len(end) > 0 && (len(f.stop) == 0 || bytes.Compare(end, f.stop) < 0) {
		f.scan.Stop = end
	}
}

// advance moves to the next region if the current region is done. It reports whether
// the scan is over.
func (f *fetcher) advance() (over bool) {
	switch {
	case !f.resp.MoreResults:
		f.open = false
		return true
	case f.resp.MoreInRegion:
		return false
	}
	f.open = false
	end := f.region.End
	if len(end) == 0 || len(f.stop) > 0 && bytes.Compare(end, f.stop) >= 0 {
		return true
	}
	f.scan.Start, f.scan.ExcludeStart = end, false
	return false
}

// forget drops a scanner that the server does not have any more. After any other
// failure the server may still have the scanner, and the fetcher closes it.
func (f *fetcher) forget(err error) {
	e, ok := errors.AsType[*rpc.ServerError](err)
	if !ok {
		return
	}
	switch e.Name() {
	case "UnknownScannerException", "ScannerResetException", "NotServingRegionException", "RegionMovedException":
		f.open = false
	}
}

// close closes the scanner if there is a connection. It ignores failures.
func (f *fetcher) close() {
	id, s := f.id, f.server
	s.c.wg.Go(func() {
		ctx, cancel := context.WithTimeout(s.c.life, closeTimeout)
		defer cancel()
		s.mu.Lock()
		conn := s.conn
		s.mu.Unlock()
		if conn == nil || s.window.enter(ctx, true) != nil {
			return // the scanner ended with its connection or will end with its lease
		}
		defer s.window.leave()
		if resp, err := conn.Call(ctx, "Scan", &wire.ScanRequest{ScannerID: id, Close: true}, nil); err == nil {
			resp.Release()
		}
	})
}
