package arrowfile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	flatbuffers "github.com/google/flatbuffers/go"
)

// The library trusts the lengths in a file. It allocates memory for every item of a list
// and for every byte of a decompressed buffer before it reads them. The checks here run
// first and compare each length with the bytes in the file.

// errLength is returned for a length that the file cannot have.
var errLength = errors.New("damaged file")

// These are the largest numbers of bytes that one byte of a compressed buffer can expand to.
// A zstd block that repeats one byte takes 4 bytes for 128 KiB. A sequence of LZ4 returns 255
// bytes for one.
const (
	mostZstd = 128 << 10 / 4
	mostLZ4  = 255
	slack    = 128 << 10 // bytes that the end of a frame may add to that
)

// maxDepth bounds the nesting of fields. The library reads 64 levels at most.
const maxDepth = 64

// Slots of tables in Arrow's File.fbs, Schema.fbs and Message.fbs.
const (
	footerSchema, footerDictionaries, footerBatches, footerMetadata = 1, 2, 3, 4

	schemaFields, schemaMetadata, schemaFeatures = 1, 2, 3

	fieldKind, fieldType, fieldChildren, fieldMetadata = 2, 3, 5, 6

	unionKind, unionTypeIDs = 14, 1

	messageHeaderKind, messageHeader, messageMetadata = 1, 2, 4
	dictionaryHeader, batchHeader                     = 2, 3

	dictionaryData = 1

	batchNodes, batchBuffers, batchCompression, batchVariadic = 1, 2, 3, 4

	compressionCodec = 0
)

// Sizes of the items of lists, in bytes.
const (
	blockSize  = 24 // offset, length of the metadata, padding, length of the body
	nodeSize   = 16
	bufferSize = 16
	offsetSize = 4 // of a table
)

// A block holds the place of a message and its body.
type block struct{ offset, meta, body int64 }

// A footer holds the parts of a file that Open checks.
type footer struct {
	r       io.ReaderAt
	size    int64
	batches []block
}

// readFooter checks the lengths in the footer of the size bytes in r, and the lengths of the
// dictionaries, which the library reads when it opens a file. The library itself reports a
// file without a footer or without the magic.
func readFooter(r io.ReaderAt, size int64) (*footer, error) {
	f := &footer{r: r, size: size}
	var end [4 + len(Magic)]byte
	most := size - int64(len(end)+len(Magic))
	if most <= 0 {
		return f, nil
	}
	if err := readAt(r, end[:], size-int64(len(end))); err != nil {
		return nil, err
	}
	length := int64(binary.LittleEndian.Uint32(end[:]))
	if string(end[4:]) != Magic || length == 0 || length > most {
		return f, nil
	}
	buf := make([]byte, length)
	if err := readAt(r, buf, size-int64(len(end))-length); err != nil {
		return nil, err
	}
	t := root(buf)
	if schema := table(t, footerSchema); schema != nil {
		c := counter{left: len(buf)}
		if err := c.schema(schema); err != nil {
			return nil, err
		}
	}
	if _, _, err := vector(t, footerMetadata, offsetSize); err != nil {
		return nil, err
	}
	dictionaries, err := blocks(t, footerDictionaries)
	if err != nil {
		return nil, err
	}
	for _, b := range dictionaries {
		if err := f.check(b); err != nil {
			return nil, err
		}
	}
	f.batches, err = blocks(t, footerBatches)
	return f, err
}

// A counter limits the number of fields in a schema. In a damaged schema several fields may
// have the same children.
type counter struct{ left int }

func (c *counter) schema(t *flatbuffers.Table) error {
	if _, _, err := vector(t, schemaMetadata, offsetSize); err != nil {
		return err
	}
	if _, _, err := vector(t, schemaFeatures, 8); err != nil {
		return err
	}
	return c.fields(t, schemaFields, maxDepth)
}

// fields checks the fields in a slot of t, and the fields below them.
func (c *counter) fields(t *flatbuffers.Table, slot, depth int) error {
	at, n, err := vector(t, slot, offsetSize)
	if err != nil {
		return err
	}
	if c.left -= n; c.left < 0 || n > 0 && depth == 0 {
		return fmt.Errorf("%w: fields are nested too deeply", errLength)
	}
	for i := range n {
		f := &flatbuffers.Table{Bytes: t.Bytes, Pos: t.Indirect(flatbuffers.UOffsetT(at + i*offsetSize))}
		if _, _, err := vector(f, fieldMetadata, offsetSize); err != nil {
			return err
		}
		if f.GetByteSlot(vtable(fieldKind), 0) == unionKind {
			if u := table(f, fieldType); u != nil {
				if _, _, err := vector(u, unionTypeIDs, 4); err != nil {
					return err
				}
			}
		}
		if err := c.fields(f, fieldChildren, depth-1); err != nil {
			return err
		}
	}
	return nil
}

// batch checks record batch i.
func (f *footer) batch(i int) error {
	if i >= len(f.batches) {
		return nil
	}
	return f.check(f.batches[i])
}

// check checks the lengths in a message, and the lengths in its body.
func (f *footer) check(b block) error {
	if b.offset < 0 || b.meta < 8 || b.body < 0 || b.offset > f.size || b.meta > f.size-b.offset || b.body > f.size-b.offset-b.meta {
		return fmt.Errorf("%w: a message of %d and %d bytes at offset %d, in a file of %d", errLength, b.meta, b.body, b.offset, f.size)
	}
	buf := make([]byte, b.meta)
	if err := readAt(f.r, buf, b.offset); err != nil {
		return err
	}
	prefix := 4 // the length of the message
	if binary.LittleEndian.Uint32(buf) == 1<<32-1 {
		prefix = 8
	}
	t := root(buf[prefix:])
	if _, _, err := vector(t, messageMetadata, offsetSize); err != nil {
		return err
	}
	header := table(t, messageHeader)
	if header == nil {
		return nil
	}
	switch t.GetByteSlot(vtable(messageHeaderKind), 0) {
	case dictionaryHeader:
		if header = table(header, dictionaryData); header == nil {
			return nil
		}
		return f.checkBatch(header, b)
	case batchHeader:
		return f.checkBatch(header, b)
	}
	return nil
}

func (f *footer) checkBatch(t *flatbuffers.Table, b block) error {
	if _, _, err := vector(t, batchNodes, nodeSize); err != nil {
		return err
	}
	at, n, err := vector(t, batchBuffers, bufferSize)
	if err != nil {
		return err
	}
	counts, m, err := vector(t, batchVariadic, 8)
	if err != nil {
		return err
	}
	for i := range m {
		if c := t.GetInt64(flatbuffers.UOffsetT(counts + 8*i)); c < 0 || c > int64(n) {
			return fmt.Errorf("%w: a column of %d buffers, in a batch of %d", errLength, c, n)
		}
	}
	compression := table(t, batchCompression)
	if compression == nil {
		return nil
	}
	most := int64(mostLZ4)
	if compression.GetInt8Slot(vtable(compressionCodec), 0) != 0 {
		most = mostZstd
	}
	for i := range n {
		p := flatbuffers.UOffsetT(at + i*bufferSize)
		if err := f.checkBuffer(t.GetInt64(p), t.GetInt64(p+8), b, most); err != nil {
			return err
		}
	}
	return nil
}

// checkBuffer checks the uncompressed length that a compressed buffer claims. The claim is in
// the first 8 bytes of the buffer, which is length bytes at offset in b's body. One byte can
// expand to most bytes.
func (f *footer) checkBuffer(offset, length int64, b block, most int64) error {
	if length == 0 {
		return nil
	}
	if offset < 0 || length < 8 || offset > b.body || length > b.body-offset {
		return fmt.Errorf("%w: a buffer of %d bytes at offset %d, in a batch of %d", errLength, length, offset, b.body)
	}
	var first [8]byte
	if err := readAt(f.r, first[:], b.offset+b.meta+offset); err != nil {
		return err
	}
	raw := int64(binary.LittleEndian.Uint64(first[:]))
	if raw < -1 || raw > (length-8)*most+slack {
		return fmt.Errorf("%w: %d bytes that say they are %d, compressed", errLength, length-8, raw)
	}
	return nil
}

// blocks returns the blocks in a slot of t.
func blocks(t *flatbuffers.Table, slot int) ([]block, error) {
	at, n, err := vector(t, slot, blockSize)
	if err != nil {
		return nil, err
	}
	out := make([]block, n)
	for i := range out {
		p := flatbuffers.UOffsetT(at + i*blockSize)
		out[i] = block{t.GetInt64(p), int64(t.GetInt32(p + 8)), t.GetInt64(p + 16)}
	}
	return out, nil
}

// root returns the table at the beginning of buf.
func root(buf []byte) *flatbuffers.Table {
	return &flatbuffers.Table{Bytes: buf, Pos: flatbuffers.GetUOffsetT(buf)}
}

// table returns the table in a slot of t, nil if there is none.
func table(t *flatbuffers.Table, slot int) *flatbuffers.Table {
	o := t.Offset(vtable(slot))
	if o == 0 {
		return nil
	}
	return &flatbuffers.Table{Bytes: t.Bytes, Pos: t.Indirect(flatbuffers.UOffsetT(o) + t.Pos)}
}

// vector returns the start of the vector in a slot of t, and its number of items. Each item
// has size bytes.
func vector(t *flatbuffers.Table, slot, size int) (at, n int, err error) {
	o := t.Offset(vtable(slot))
	if o == 0 {
		return 0, 0, nil
	}
	at, n = int(t.Vector(flatbuffers.UOffsetT(o))), t.VectorLen(flatbuffers.UOffsetT(o))
	if left := len(t.Bytes) - at; n > max(left, 0)/size {
		return 0, 0, fmt.Errorf("%w: a list of %d, with %d bytes left", errLength, n, left)
	}
	return at, n, nil
}

// vtable returns the offset of a slot in a table's vtable.
func vtable(slot int) flatbuffers.VOffsetT { return flatbuffers.VOffsetT(4 + 2*slot) }

func readAt(r io.ReaderAt, b []byte, offset int64) error {
	if n, err := r.ReadAt(b, offset); n < len(b) {
		return fmt.Errorf("read %d bytes at offset %d: %w", len(b), offset, err)
	}
	return nil
}
