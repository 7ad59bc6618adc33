package wire

import (
	"fmt"
	"math"
)

// ReadType is the way in which a scan reads store files.
type ReadType uint8

// The read types.
const (
	ReadDefault ReadType = 0
	ReadStream  ReadType = 1
	ReadPread   ReadType = 2
)

// A Scan selects rows and their cells. The zero Scan selects the newest
// version of all columns in the region, without caching blocks on the server.
type Scan struct {
	Columns       []Column // none is all
	Start         []byte   // empty is the region's first row; the upper end if Reversed
	Stop          []byte   // empty is behind the region's last row
	ExcludeStart  bool
	IncludeStop   bool
	Reversed      bool
	Filter        Filter // nil is none
	Time          TimeRange
	MaxVersions   uint32 // 0 is 1
	CacheBlocks   bool
	BatchSize     uint32 // cells of one Result; 0 is no limit
	MaxResultSize uint64 // bytes of one response; 0 is the server's limit
	StoreLimit    uint32 // cells of one family and row; 0 is no limit
	StoreOffset   uint32
	AllowPartial  bool
	MVCCReadPoint uint64 // of an earlier response, 0 is now
	ReadType      ReadType
	Raw           bool // also deletes, and what they hide
	NeedCursor    bool // heartbeats have in Cursor the row that they have reached
}

func (s *Scan) append(dst []byte) []byte {
	dst = appendColumns(dst, 1, s.Columns)
	if s.Raw {
		dst = appendPairs(dst, 2, map[string]string{"_raw_": "\xff"}) // Java's Bytes.toBytes(true)
	}
	dst = appendBytes(dst, 3, s.Start)
	dst = appendBytes(dst, 4, s.Stop)
	dst = appendFilter(dst, 5, s.Filter)
	dst = appendTimeRange(dst, 6, s.Time)
	dst = appendNonzero(dst, 7, uint64(s.MaxVersions))
	dst = appendBool(dst, 8, s.CacheBlocks)
	dst = appendNonzero(dst, 9, uint64(s.BatchSize))
	dst = appendNonzero(dst, 10, s.MaxResultSize)
	dst = appendNonzero(dst, 11, uint64(s.StoreLimit))
	dst = appendNonzero(dst, 12, uint64(s.StoreOffset))
	if s.Reversed {
		dst = appendBool(dst, 15, true)
	}
	if s.AllowPartial {
		dst = appendBool(dst, 18, true)
	}
	dst = appendNonzero(dst, 20, s.MVCCReadPoint)
	dst = appendBool(dst, 21, !s.ExcludeStart)
	dst = appendBool(dst, 22, s.IncludeStop)
	dst = appendNonzero(dst, 23, uint64(s.ReadType))
	if s.NeedCursor {
		dst = appendBool(dst, 24, true)
	}
	return dst
}

// A ScanRequest is the parameter of "Scan". Region and Scan make it the opening
// call; without Region it continues the scanner ScannerID.
//
//	open      Region, Scan, Rows
//	one-shot  Region, Scan, Rows, Close: no lease, no sequence, safe to repeat
//	next      ScannerID, Rows, NextCallSeq 0, 1, 2 ...; never sent twice
//	renew     ScannerID, Renew
//	close     ScannerID, Close
type ScanRequest struct {
	Region      []byte // complete name
	Scan        *Scan
	ScannerID   uint64
	NextCallSeq uint64
	Rows        uint32 // most Results in the response; 0 is none
	Limit       uint32 // rows still wanted, which the server does not remember; 0 is no limit
	Partials    bool   // Results may be parts of rows
	Heartbeats  bool   // responses may come before there is something; needs Partials
	Close       bool
	Renew       bool
}

// Append appends the message. Every call that reads rows from an open scanner has a
// sequence number; calls that renew or close the scanner have none.
func (r *ScanRequest) Append(dst []byte) []byte {
	next := false
	if r.Region != nil {
		dst = appendRegion(dst, 1, r.Region)
		var at int
		dst, at = begin(dst, 2)
		dst = r.Scan.append(dst)
		dst = end(dst, at)
	} else {
		dst = appendUint(dst, 3, r.ScannerID)
		next = !r.Renew && !r.Close
	}
	dst = appendUint(dst, 4, uint64(r.Rows))
	if r.Close {
		dst = appendBool(dst, 5, true)
	}
	if next {
		dst = appendUint(dst, 6, r.NextCallSeq)
	}
	dst = appendBool(dst, 7, r.Partials)
	dst = appendBool(dst, 8, r.Heartbeats && r.Partials)
	if r.Renew {
		dst = appendBool(dst, 10, true)
	}
	return appendNonzero(dst, 11, uint64(r.Limit))
}

// A ScanResponse is the response to a "Scan". Its i-th Result is the next
// CellsPerResult[i] cells of the cell block; TakeCells cuts them off.
type ScanResponse struct {
	CellsPerResult []uint32
	Partial        []bool // the row continues in a later Result; missing is false
	ScannerID      uint64
	TTL            uint32 // lease in ms, in the opening response
	Heartbeat      bool
	MVCCReadPoint  uint64
	Cursor         []byte // a row that has been reached, aliases the message; nil if the server does not send it

	// The client reads them in this order. A field that the server does not send is true.
	MoreResults  bool // false: the whole scan is over
	MoreInRegion bool // false: the region is done and its scanner closed
}

// Decode decodes a message and uses r's slices again.
func (r *ScanResponse) Decode(param []byte) error {
	*r = ScanResponse{CellsPerResult: r.CellsPerResult[:0], Partial: r.Partial[:0], MoreResults: true, MoreInRegion: true}
	d := decoder{rest: param}
	for d.next() {
		switch d.num {
		case 1:
			d.numbers(func(v uint64) {
				if v > math.MaxInt32 {
					d.refuse("count of %d cells", v)
				}
				r.CellsPerResult = append(r.CellsPerResult, uint32(v))
			})
		case 2:
			d.uint64(&r.ScannerID)
		case 3:
			d.bool(&r.MoreResults)
		case 4:
			d.uint32(&r.TTL)
		case 5:
			d.refuse("cells outside the cell block, which was asked for")
		case 7:
			d.numbers(func(v uint64) { r.Partial = append(r.Partial, v != 0) })
		case 8:
			d.bool(&r.MoreInRegion)
		case 9:
			d.bool(&r.Heartbeat)
		case 11:
			d.uint64(&r.MVCCReadPoint)
		case 12:
			d.message(func(b []byte) error {
				d := decoder{rest: b}
				for d.next() {
					if d.num == 1 {
						d.bytes(&r.Cursor)
					}
				}
				return d.done("Cursor")
			})
		}
	}
	if err := d.done("ScanResponse"); err != nil {
		return err
	}
	if len(r.Partial) > len(r.CellsPerResult) {
		return fmt.Errorf("ScanResponse: %w: %d flags for %d results", ErrMalformed, len(r.Partial), len(r.CellsPerResult))
	}
	return nil
}

// IsPartial reports whether the row of Result i continues in a later Result.
func (r *ScanResponse) IsPartial(i int) bool { return i < len(r.Partial) && r.Partial[i] }
