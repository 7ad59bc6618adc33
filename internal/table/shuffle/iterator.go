package shuffle

import "usertrail/internal/run/invariants"

// An Iterator returns the records of one part in order. Only one goroutine may use it, and the
// caller must close it.
type Iterator struct {
	sorter  *Sorter
	tree    tree
	runs    []*segment
	buffer  []byte // of the runs
	out     []byte // where invariants are on: a copy of the record, to be mangled
	started bool
	closed  bool
	err     error
}

// Next moves to the next record. It returns false at the end of the part, or if a run cannot be read.
// Then Err returns the error.
func (it *Iterator) Next() bool {
	if it.err != nil || it.closed || len(it.tree.cursors) == 0 {
		return false
	}
	if !it.started {
		it.started = true
		it.err = it.tree.start()
	} else if !it.tree.cursors[it.tree.winner].done {
		it.err = it.tree.next()
	}
	if it.err != nil || it.tree.cursors[it.tree.winner].done {
		return false
	}
	if invariants.Enabled {
		it.handOutCopy()
	}
	return true
}

// handOutCopy replaces the record by a copy that overwrites the copy of the record before.
// A caller that kept slices of that record then reads wrong bytes, which tests notice.
func (it *Iterator) handOutCopy() {
	invariants.Mangle(it.out)
	r := &it.tree.cursors[it.tree.winner].rec
	it.out = append(append(make([]byte, 0, len(r.row)+len(r.payload)), r.row...), r.payload...)
	r.row, r.payload = it.out[:len(r.row)], it.out[len(r.row):]
}

// Row returns the row of the record.
func (it *Iterator) Row() []byte { return it.tree.cursors[it.tree.winner].rec.row }

// Seq returns the number of the record.
func (it *Iterator) Seq() uint64 { return it.tree.cursors[it.tree.winner].rec.seq }

// Payload returns the payload of the record.
func (it *Iterator) Payload() []byte { return it.tree.cursors[it.tree.winner].rec.payload }

// Err returns the error that ended the iteration, or nil at the end of the part.
func (it *Iterator) Err() error { return it.err }

// Close releases the buffers. A second Close does nothing.
func (it *Iterator) Close() error {
	if it.closed {
		return nil
	}
	it.closed = true
	err := closeAll(it.runs)
	it.sorter.checkIn(it.buffer)
	it.tree, it.runs, it.buffer = tree{}, nil, nil
	return err
}
