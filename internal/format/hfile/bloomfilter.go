package hfile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"sort"
	"sync/atomic"
)

// A bloomFilter looks keys up in a file's Bloom chunks. It reads a chunk when a key first needs
// it.
type bloomFilter struct {
	r      *Reader
	typ    BloomType
	prefix int
	hashes int
	keys   int64
	chunks []bloomRef
}

// A bloomRef holds the place of a chunk and its first key. The chunk covers the keys from
// first to the first key of the next chunk.
type bloomRef struct {
	offset int64
	size   int
	first  []byte
	bits   atomic.Pointer[[]byte]
}

// bloomFixed is the length of the fields before the comparator's name.
const bloomFixed = 4 + 8 + 4 + 4 + 8 + 8 + 4

// maxHashes is more hashes than any filter uses.
const maxHashes = 1 << 10

// parseBloom reads the payload of a Bloom filter's meta. It keeps no reference
// to b.
func parseBloom(r *Reader, b []byte) (*bloomFilter, error) {
	if len(b) < bloomFixed {
		return nil, fmt.Errorf("a Bloom filter's meta of %d bytes", len(b))
	}
	version, hashes := binary.BigEndian.Uint32(b), binary.BigEndian.Uint32(b[12:])
	if hash := binary.BigEndian.Uint32(b[16:]); version != bloomVersion || hash != bloomMurmur {
		return nil, fmt.Errorf("a Bloom filter of version %d with hash %d: %w", version, hash, ErrUnsupported)
	}
	if hashes < 1 || hashes > maxHashes {
		return nil, fmt.Errorf("a Bloom filter of %d hashes", hashes)
	}
	f := &bloomFilter{r: r, hashes: int(hashes), keys: int64(binary.BigEndian.Uint64(b[20:]))}
	count := int(binary.BigEndian.Uint32(b[36:]))
	n, p := vint(b, bloomFixed)
	if p > len(b) || n < 0 || n > int64(len(b)-p) {
		return nil, errors.New("a Bloom filter's comparator ends early")
	}
	b = bytes.Clone(b[p+int(n):])
	if count < 1 || count > len(b)/(entryLen+1) {
		return nil, fmt.Errorf("a Bloom filter of %d chunks in %d bytes", count, len(b))
	}
	f.chunks = make([]bloomRef, count)
	for i := range f.chunks {
		c := &f.chunks[i]
		var err error
		if c.offset, c.size, c.first, b, err = rootEntry(b); err != nil {
			return nil, fmt.Errorf("Bloom chunk %d: %w", i, err)
		}
	}
	return f, nil
}

// describe reads the kind of the filter's keys from file info.
func (f *bloomFilter) describe(info map[string][]byte, at int64) error {
	f.typ = BloomType(info[infoBloomType])
	switch f.typ {
	case RowBloom, RowColBloom:
	case PrefixBloom:
		v := info[infoBloomParam]
		if len(v) != 4 || int32(binary.BigEndian.Uint32(v)) < 1 {
			return corrupt(at, "file info: Bloom prefix of %x", v)
		}
		f.prefix = int(binary.BigEndian.Uint32(v))
	default:
		return fmt.Errorf("hfile: Bloom filter %.64q: %w", f.typ, ErrUnsupported)
	}
	return nil
}

func (f *bloomFilter) mayContain(row []byte) (bool, error) {
	switch f.typ {
	case RowBloom:
		return f.has(row)
	case PrefixBloom:
		return f.has(row[:min(len(row), f.prefix)])
	}
	return true, nil
}

// has looks for a key in the chunk that covers it.
func (f *bloomFilter) has(key []byte) (bool, error) {
	compare := bytes.Compare
	if f.typ == RowColBloom {
		compare = compareKeys
	}
	i := sort.Search(len(f.chunks), func(i int) bool { return compare(f.chunks[i].first, key) > 0 }) - 1
	if i < 0 {
		return false, nil
	}
	bits, err := f.load(&f.chunks[i])
	if err != nil {
		return false, err
	}
	return bloomHas(bits, key, f.hashes), nil
}

// load returns a chunk's bits. Two goroutines may both read a chunk; either result is valid.
func (f *bloomFilter) load(c *bloomRef) ([]byte, error) {
	if bits := c.bits.Load(); bits != nil {
		return *bits, nil
	}
	fetch := fetcher{r: f.r.r, end: f.r.size - trailerLen, dec: decompressor{codec: f.r.trailer.Codec}}
	h, bits, err := fetch.block(nil, c.offset, c.size, false)
	if err != nil {
		return nil, err
	}
	if h.kind != BloomChunk || len(bits) == 0 {
		return nil, corrupt(c.offset, "a %s of %d bytes where the Bloom filter has a chunk", h.kind, len(bits))
	}
	c.bits.Store(&bits)
	return bits, nil
}
