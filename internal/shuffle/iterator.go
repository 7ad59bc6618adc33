package shuffle

// An Iterator hands out the records of one part in order. It is used by one
// goroutine and must be closed.
type Iterator struct {
	sorter  *Sorter
	tree    tree
	buffer  []byte // of the runs being read
	started bool
	closed  bool
	err     error
}

func (it *Iterator) addSegments(segments []*segment) {
	share(it.buffer, segments)
	for _, s := range segments {
		it.tree.cursors = append(it.tree.cursors, cursor{seg: s})
	}
}

// Next moves to the next record. It returns false at the end, and if a run
// cannot be read: Err tells.
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
	return it.err == nil && !it.tree.cursors[it.tree.winner].done
}

// Row is the row of the record.
func (it *Iterator) Row() []byte { return it.tree.cursors[it.tree.winner].rec.row }

// Seq is the number of the record.
func (it *Iterator) Seq() uint64 { return it.tree.cursors[it.tree.winner].rec.seq }

// Payload is the payload of the record.
func (it *Iterator) Payload() []byte { return it.tree.cursors[it.tree.winner].rec.payload }

// Err is why Next returned false, or nil at the end of the part.
func (it *Iterator) Err() error { return it.err }

// Close gives the buffers back. Closing twice does nothing.
func (it *Iterator) Close() error {
	if it.closed {
		return nil
	}
	it.closed = true
	it.sorter.checkIn(it.buffer)
	it.tree, it.buffer = tree{}, nil
	return nil
}
