package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
)

// A digest is the sum of the hashes of the lines of results. The hash of a line includes the
// number of the query and, if the order counts, the number of the line.
type digest struct {
	copy io.Writer // gets all lines, with the number of the query as "query"; nil is no copy

	query   uint64
	ordered bool
	nth     uint64 // line of the query
	lines   int64
	sum     [2]uint64
	rest    []byte // of a line that is not whole
	scratch []byte
	err     error
}

// begin begins the result of a query.
func (d *digest) begin(query int, ordered bool) {
	d.query, d.ordered, d.nth = uint64(query), ordered, 0
}

// Write implements io.Writer.
func (d *digest) Write(p []byte) (int, error) {
	d.rest = append(d.rest, p...)
	from := 0
	for {
		n := bytes.IndexByte(d.rest[from:], '\n')
		if n < 0 {
			break
		}
		d.add(d.rest[from : from+n])
		from += n + 1
	}
	d.rest = append(d.rest[:0], d.rest[from:]...)
	return len(p), d.err
}

func (d *digest) add(line []byte) {
	d.lines++
	if d.ordered {
		d.nth++
	}
	d.scratch = binary.BigEndian.AppendUint64(d.scratch[:0], d.query)
	d.scratch = append(binary.BigEndian.AppendUint64(d.scratch, d.nth), line...)
	h := sha256.Sum256(d.scratch)
	for i := range d.sum {
		d.sum[i] += binary.BigEndian.Uint64(h[8*i:])
	}
	if d.copy != nil && d.err == nil {
		_, d.err = fmt.Fprintf(d.copy, "{\"query\":%d,%s\n", d.query, line[1:])
	}
}

// end returns the error of a copy, or an error if the last line has no end.
func (d *digest) end() error {
	if d.err == nil && len(d.rest) > 0 {
		return fmt.Errorf("the result ends in the middle of a line: %q", d.rest)
	}
	return d.err
}

func (d *digest) String() string { return fmt.Sprintf("%016x%016x", d.sum[0], d.sum[1]) }
