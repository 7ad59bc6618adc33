package hfile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"testing"

	"usertrail/internal/cell"
)

// exercise reads a file through every entry point, and returns its cells.
func exercise(b []byte) ([]cell.Cell, error) {
	r, err := Open(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		return nil, err
	}
	cells, err := scan(r, IterOptions{ReadAhead: 1 << 16})
	if err != nil {
		return nil, err
	}
	it := r.Iterator(IterOptions{})
	for _, row := range [][]byte{r.LastRow(), r.FirstRow(), []byte("r"), []byte("rb")} {
		it.SeekGE(row)
		it.SeekColumn(row, []byte("fam"), []byte("q"))
		if _, err := r.MayContain(row); err != nil {
			return nil, err
		}
	}
	if it.Err() != nil {
		return nil, it.Err()
	}
	for _, err := range r.Blocks() {
		if err != nil {
			return nil, err
		}
	}
	return cells, r.Verify(nil)
}

func smallFile(t testing.TB, codec Codec, encoding Encoding) ([]byte, []cell.Cell) {
	cells := bloomRows(60)
	opt := Options{
		Codec: codec, Encoding: encoding, Bloom: RowBloom, ShortIndexKeys: true,
		BlockSize: 500, IndexChunk: 150, indexMinEntries: 2,
	}
	return write(t, opt, cells), cells
}

// TestEveryFlippedByteIsSeen flips each byte of a file. A reader must then not return a cell
// that was not written.
func TestEveryFlippedByteIsSeen(t *testing.T) {
	for _, codec := range []Codec{Plain, Snappy} {
		b, want := smallFile(t, codec, FastDiff)
		harmless := 0
		for i := range b {
			b[i] ^= 0x55
			got, err := exercise(b)
			b[i] ^= 0x55
			if err == nil {
				harmless++
				if err := sameCells(got, want); err != nil {
					t.Fatalf("%s: byte %d of %d flipped, no error: %v", codec, i, len(b), err)
				}
				if at := int64(i) - int64(len(b)-trailerLen); at < 0 {
					t.Errorf("%s: byte %d is part of a block, and its change was not detected", codec, i)
				}
				continue
			}
			if !errors.Is(err, ErrCorrupt) && !errors.Is(err, ErrUnsupported) {
				t.Fatalf("%s: byte %d: %v", codec, i, err)
			}
		}
		t.Logf("%s: %d of %d bytes change no cell", codec, harmless, len(b))
	}
}

// TestFlippedBytesUnderGoodChecksums flips every other byte of blocks and corrects their
// checksums. The cells may then be wrong, but the reader must not panic.
func TestFlippedBytesUnderGoodChecksums(t *testing.T) {
	for i, codec := range []Codec{Plain, Snappy, LZ4, GZ, ZSTD} {
		for j, encoding := range allEncodings {
			if i > 0 && i != j {
				continue // each codec with one encoding, and each encoding with one codec
			}
			b, _ := smallFile(t, codec, encoding)
			seen := 0
			var blocks []Block
			for block, err := range open(t, b).Blocks() {
				if err != nil {
					t.Fatal(err)
				}
				blocks = append(blocks, block)
			}
			for _, block := range blocks {
				whole := b[block.Offset : block.Offset+int64(block.Size)]
				old := bytes.Clone(whole)
				for i := 0; i < headerLen+block.Stored; i += 2 {
					whole[i] ^= byte(1 + i%255)
					repair(whole)
					if _, err := exercise(b); err != nil {
						seen++
					}
					copy(whole, old)
				}
			}
			if seen == 0 {
				t.Errorf("%s %s: no change was seen", codec, encoding)
			}
		}
	}
}

// repair corrects the checksums of a block.
func repair(block []byte) {
	stored := int(binary.BigEndian.Uint32(block[29:]))
	if stored >= headerLen && stored+checksumBytes(stored, bytesPerChecksum) == len(block) {
		appendChecksums(block[:stored], block[:stored], bytesPerChecksum)
	}
}

func TestEveryCutIsSeen(t *testing.T) {
	b, _ := smallFile(t, Snappy, FastDiff)
	for n := range b {
		if _, err := exercise(b[:n]); !errors.Is(err, ErrCorrupt) && !errors.Is(err, ErrUnsupported) {
			t.Fatalf("cut to %d bytes: %v", n, err)
		}
	}
}

// TestErrorsSayWhere checks that an error names the offset of the damaged block.
func TestErrorsSayWhere(t *testing.T) {
	b, cells := smallFile(t, Snappy, FastDiff)
	var at int64
	for block := range open(t, b).Blocks() {
		if block.Type.data() && block.Offset > 0 {
			at = block.Offset
			break
		}
	}
	b[at+40] ^= 1
	_, err := scan(open(t, b), IterOptions{})
	if want := fmt.Sprintf("hfile: offset %d: corrupt file: checksum of bytes 0 to", at); err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("got %v, want %s…", err, want)
	}
	it := open(t, b).Iterator(IterOptions{})
	if !it.First() || it.Err() != nil {
		t.Errorf("the first block is whole, but First says %v", it.Err())
	}
	for it.Next() {
	}
	if it.Err() == nil || it.SeekGE(cells[0].Row) || it.First() || it.Next() {
		t.Errorf("an iterator continues after an error: %v", it.Err())
	}
}

// TestVerifyHoldsTheFileAgainstItself changes what one part of a file states about another
// part, and corrects the checksums.
func TestVerifyHoldsTheFileAgainstItself(t *testing.T) {
	b, _ := smallFile(t, Plain, NoEncoding)
	for want, change := range map[string]func(block Block, whole []byte) bool{
		"previous data block": func(block Block, whole []byte) bool {
			whole[23] ^= 1
			return block.Type.data() && block.Offset > 0
		},
		"out of order": func(block Block, whole []byte) bool {
			second := headerLen + 43 + 8 + 2
			copy(whole[second:], "user0000000")
			return block.Type.data() && block.Offset > 0
		},
		"the Bloom filter does not have": func(block Block, whole []byte) bool {
			clear(whole[headerLen : len(whole)-4])
			return block.Type == BloomChunk
		},
		"the index has one": func(block Block, whole []byte) bool {
			at := headerLen + 4 + 4*int(1+binary.BigEndian.Uint32(whole[headerLen:]))
			whole[at+7] ^= 1
			return block.Type == LeafIndex
		},
		"the last key is": func(block Block, whole []byte) bool {
			i := bytes.LastIndex(whole, []byte("user0000059"))
			if i < 0 {
				return false
			}
			whole[i+10] = '8'
			return block.Type == FileInfo && i > 0
		},
	} {
		changed := bytes.Clone(b)
		for block, err := range open(t, b).Blocks() {
			if err != nil {
				t.Fatal(err)
			}
			whole := bytes.Clone(b[block.Offset : block.Offset+int64(block.Size)])
			if len(whole) < headerLen+30 && block.Type != BloomChunk {
				continue
			}
			if change(block, whole) {
				repair(whole)
				copy(changed[block.Offset:], whole)
				break
			}
		}
		if err := open(t, changed).Verify(nil); !errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func TestVerifyStopsAtTheCallersError(t *testing.T) {
	b, _ := smallFile(t, Snappy, FastDiff)
	n, stop := 0, errors.New("enough")
	err := open(t, b).Verify(func(*cell.Cell) error {
		if n++; n == 7 {
			return stop
		}
		return nil
	})
	if err != stop || n != 7 {
		t.Errorf("%d cells, then %v", n, err)
	}
}

func TestUnsupportedFilesSaySo(t *testing.T) {
	for want, b := range map[string][]byte{
		"codec LZO":                withTrailer(t, func(x *Trailer) { x.codec = 0 }),
		"codec BROTLI":             withTrailer(t, func(x *Trailer) { x.codec = 8 }),
		"MetaCellComparator":       withTrailer(t, func(x *Trailer) { x.Comparator = "org.apache.hadoop.hbase.MetaCellComparator" }),
		`encoding "PREFIX_TREE"`:   withInfo(t, infoEncoding, "PREFIX_TREE"),
		`index encoding "X"`:       withInfo(t, infoIndexEncoding, "X"),
		"the file is encrypted":    encrypted(t),
		"version 2.0":              withVersion(t, 2),
		`Bloom filter "ROWSUFFIX"`: withInfo(t, infoBloomType, "ROWSUFFIX"),
	} {
		if _, err := exercise(b); !errors.Is(err, ErrUnsupported) || errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// TestAVersionOfNoHFileIsDamage checks that a version beyond lastMajor is reported as
// corruption, and not as an unsupported release.
func TestAVersionOfNoHFileIsDamage(t *testing.T) {
	b := withVersion(t, 3)
	copy(b[len(b)-4:], []byte{3, 'A', 0, 3})
	if _, err := exercise(b); !errors.Is(err, ErrCorrupt) || errors.Is(err, ErrUnsupported) {
		t.Errorf("got %v, want a corrupt file", err)
	}
}

func withTrailer(t *testing.T, change func(*Trailer)) []byte {
	b := write(t, Options{}, three())
	x := open(t, b).Trailer()
	change(&x)
	return appendTrailer(b[:len(b)-trailerLen], &x)
}

// withInfo makes a file with one entry of file info changed.
func withInfo(t *testing.T, name, value string) []byte {
	var buf bytes.Buffer
	w, err := NewWriter(&buf, Options{Bloom: RowBloom})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range three() {
		if err := w.Add(&c); err != nil {
			t.Fatal(err)
		}
	}
	w.opt.Info = map[string][]byte{name: []byte(value)}
	switch name {
	case infoEncoding:
		w.opt.Encoding = Encoding(value)
	case infoBloomType:
		w.bloom.typ = BloomType(value)
	}
	if _, err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func encrypted(t *testing.T) []byte {
	b := write(t, Options{}, three())
	trailer := b[len(b)-trailerLen:]
	n := int(trailer[8])
	copy(trailer[9+n:], []byte{13<<3 | 2, 1, 'k'})
	trailer[8] += 3
	return b
}

func withVersion(t *testing.T, major byte) []byte {
	b := write(t, Options{}, three())
	copy(b[len(b)-4:], []byte{0, 0, 0, major})
	return b
}
