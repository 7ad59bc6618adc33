package hfile

import "encoding/binary"

const (
	// maxLevels is the largest number of levels of an index that HBase writes.
	maxLevels = 16

	entryLen  = 8 + 4     // offset and size
	midKeyLen = 8 + 4 + 4 // at the end of a root that has leaves
)

// entries holds the entries of one index block, or of a whole level.
type entries struct {
	offset []int64
	size   []int32
	keys   []byte // all keys, one after the other
	ends   []int  // of each key in keys
}

func (e *entries) len() int { return len(e.offset) }

func (e *entries) key(i int) []byte {
	if i == 0 {
		return e.keys[:e.ends[0]]
	}
	return e.keys[e.ends[i-1]:e.ends[i]]
}

func (e *entries) add(offset int64, size int, key []byte) {
	e.offset = append(e.offset, offset)
	e.size = append(e.size, int32(size))
	e.keys = append(e.keys, key...)
	e.ends = append(e.ends, len(e.keys))
}

func (e *entries) reset() {
	*e = entries{e.offset[:0], e.size[:0], e.keys[:0], e.ends[:0]}
}

// nodeSize returns the size of the entries in the format of leaves.
func (e *entries) nodeSize() int { return 4 + 4*(e.len()+1) + e.len()*entryLen + len(e.keys) }

// rootSize returns the size of the entries in the format of roots.
func (e *entries) rootSize() int {
	n := e.len()*entryLen + len(e.keys)
	for i := range e.len() {
		n += vintLen(int64(len(e.key(i))))
	}
	return n
}

// appendNode appends the entries in the format of leaves.
func (e *entries) appendNode(b []byte) []byte {
	b = binary.BigEndian.AppendUint32(b, uint32(e.len()))
	b = binary.BigEndian.AppendUint32(b, 0)
	for i, end := range e.ends {
		b = binary.BigEndian.AppendUint32(b, uint32(end+(i+1)*entryLen))
	}
	for i := range e.len() {
		b = append(e.appendPlace(b, i), e.key(i)...)
	}
	return b
}

// appendRoot appends the entries in the format of roots.
func (e *entries) appendRoot(b []byte) []byte {
	for i := range e.len() {
		b = appendVint(e.appendPlace(b, i), int64(len(e.key(i))))
		b = append(b, e.key(i)...)
	}
	return b
}

func (e *entries) appendPlace(b []byte, i int) []byte {
	b = binary.BigEndian.AppendUint64(b, uint64(e.offset[i]))
	return binary.BigEndian.AppendUint32(b, uint32(e.size[i]))
}

// An indexWriter writes the data index. It writes a leaf between data blocks when the leaf
// is full, and the higher levels at the end.
type indexWriter struct {
	out        *output
	chunk      int // bytes of a block
	minEntries int // of an intermediate block

	leaf    entries
	root    entries // one for each leaf
	indexed []int64 // number of data blocks up to and including each leaf
	blocks  int64
	levels  int
	bytes   int64 // uncompressed, of all its blocks
	buf     []byte
}

func newIndexWriter(out *output, opt Options) indexWriter {
	return indexWriter{out: out, chunk: opt.IndexChunk, minEntries: opt.indexMinEntries}
}

// add adds the entry of a data block and writes the leaf if it is full.
func (x *indexWriter) add(offset int64, size int, key []byte) error {
	x.leaf.add(offset, size, key)
	x.blocks++
	if x.leaf.nodeSize() < x.chunk {
		return nil
	}
	return x.writeLeaf()
}

func (x *indexWriter) writeLeaf() error {
	if err := x.writeNode(LeafIndex, &x.leaf, &x.root); err != nil {
		return err
	}
	x.indexed = append(x.indexed, x.blocks)
	return nil
}

// writeNode writes e as a block, adds its entry to above, and empties it.
func (x *indexWriter) writeNode(kind BlockType, e, above *entries) error {
	at := x.out.offset()
	x.buf = e.appendNode(x.buf[:0])
	size, err := x.out.block(kind, x.buf)
	if err != nil {
		return err
	}
	x.bytes += int64(len(x.buf))
	above.add(at, size, e.key(0))
	e.reset()
	return nil
}

// finishLeaves writes the last leaf. If the index has no leaf yet, its entries become the
// root.
func (x *indexWriter) finishLeaves() error {
	if x.root.len() == 0 {
		x.levels = 1
		x.root = x.leaf
		return nil
	}
	x.levels = 2
	if x.leaf.len() == 0 {
		return nil
	}
	return x.writeLeaf()
}

// appendMidKey appends the place of the entry in the middle of the leaves.
func (x *indexWriter) appendMidKey(b []byte) []byte {
	middle := (x.blocks - 1) / 2
	leaf, before := 0, int64(0)
	for x.indexed[leaf] <= middle {
		before = x.indexed[leaf]
		leaf++
	}
	b = binary.BigEndian.AppendUint64(b, uint64(x.root.offset[leaf]))
	b = binary.BigEndian.AppendUint32(b, uint32(x.root.size[leaf]))
	return binary.BigEndian.AppendUint32(b, uint32(middle-before))
}

// writeRoot writes intermediate blocks until the level above them fits in a root, and then
// writes the root.
func (x *indexWriter) writeRoot() error {
	var middle []byte
	if x.levels > 1 {
		middle = x.appendMidKey(nil)
	}
	for x.root.rootSize() > x.chunk && x.root.len() > x.minEntries && x.levels < maxLevels {
		if err := x.addLevel(); err != nil {
			return err
		}
	}
	x.buf = append(x.root.appendRoot(x.buf[:0]), middle...)
	x.bytes += int64(len(x.buf))
	_, err := x.out.block(RootIndex, x.buf)
	return err
}

// addLevel cuts the root into intermediate blocks and makes a new root of their entries. As
// in HBase, the least number of entries is compared with the number of the entry in the
// level, not in the block.
func (x *indexWriter) addLevel() error {
	var node, above entries
	size := 0
	for i := range x.root.len() {
		key := x.root.key(i)
		node.add(x.root.offset[i], int(x.root.size[i]), key)
		size += entryLen + vintLen(int64(len(key))) + len(key)
		if i >= x.minEntries && size >= x.chunk {
			if err := x.writeNode(IntermediateIndex, &node, &above); err != nil {
				return err
			}
			size = 0
		}
	}
	if node.len() > 0 {
		if err := x.writeNode(IntermediateIndex, &node, &above); err != nil {
			return err
		}
	}
	x.root = above
	x.levels++
	return nil
}
