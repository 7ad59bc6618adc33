package hfile

import (
	"bytes"
	"encoding/binary"
	"math"
	"testing"

	"usertrail/internal/cell"
)

// FuzzReader reads arbitrary bytes as a file, through every entry point. It corrects the
// checksums of blocks first, because the reader would reject nearly every change otherwise.
func FuzzReader(f *testing.F) {
	for _, codec := range []Codec{Plain, Snappy, LZ4, GZ, ZSTD} {
		for _, encoding := range allEncodings {
			b, _ := smallFile(f, codec, encoding)
			f.Add(squeeze(b))
		}
	}
	tagged := madeUp(1, 20)
	f.Add(squeeze(write(f, Options{Codec: Plain, Encoding: Diff, Tags: true, MVCC: true, Bloom: RowColBloom}, tagged)))
	f.Add(squeeze(write(f, Options{}, nil)))
	f.Fuzz(func(t *testing.T, b []byte) {
		b = unsqueeze(b)
		repairAll(b)
		cells, err := exercise(b)
		if err != nil {
			return
		}
		r := open(t, b)
		if int64(len(cells)) != r.Cells() {
			t.Fatalf("%d cells of %d, and no error", len(cells), r.Cells())
		}
		for i := 1; i < len(cells); i++ {
			if cell.Compare(&cells[i-1], &cells[i]) > 0 {
				t.Fatalf("cell %d is out of order, and no error", i)
			}
		}
		for i := range cells {
			if err := seek(r.Iterator(IterOptions{}), cells[i].Row, cells, 3); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// squeeze removes the zeros of a trailer, on which a fuzzer would waste its time.
func squeeze(b []byte) []byte {
	at := len(b) - trailerLen
	trailer := bytes.TrimRight(b[at:len(b)-4], "\x00")
	return append(bytes.Clone(b[:at+len(trailer)]), binary.BigEndian.AppendUint16(nil, uint16(len(trailer)))...)
}

func unsqueeze(b []byte) []byte {
	if len(b) < 2 {
		return b
	}
	n := int(binary.BigEndian.Uint16(b[len(b)-2:]))
	b = b[:len(b)-2]
	if n > len(b) || n > trailerLen-4 {
		return b
	}
	at := len(b) - n
	b = append(bytes.Clone(b), make([]byte, trailerLen-n)...)
	binary.BigEndian.PutUint32(b[at+versionAt:], version)
	return b
}

// repairAll corrects the checksums of all blocks that it can reach.
func repairAll(b []byte) {
	for len(b) > trailerLen+headerLen {
		h, err := parseHeader(b)
		if err != nil || h.size() > len(b) {
			return
		}
		if h.checksum == checksumCRC32C {
			appendChecksums(b[:h.stored], b[:h.stored], h.perChecksum)
		}
		b = b[h.size():]
	}
}

// FuzzRoundTrip makes cells from bytes, and a file of the cells with every encoding.
func FuzzRoundTrip(f *testing.F) {
	f.Add([]byte("a row, a qualifier, and whatever else there is"), uint8(0))
	f.Add(bytes.Repeat([]byte{3, 'r', 1, 'q', 0}, 40), uint8(0xff))
	f.Add(bytes.Repeat([]byte{255, 0, 1, 2}, 300), uint8(3))
	// Times that decrease by growing steps to below zero, each row with one value.
	f.Add([]byte("\x04\x01a\x54\x01b\xa4\x01c\xf4\x03def\xfc\x05abcde\x01\x01s\x05\x02vv\x04\x02xy\x05\x02vw"), uint8(2))
	// Rows and qualifiers whose lengths and ends differ.
	f.Add(append([]byte("\x02\x03abc\x02\x01d\x00\x02rr\x02\x01a\x01"), bytes.Repeat([]byte{0xfe}, 255)...), uint8(0xc1))
	f.Fuzz(func(t *testing.T, b []byte, bits uint8) {
		opt := Options{
			Codec:     allCodecs[int(bits)%len(allCodecs)],
			BlockSize: 1 + int(bits)*4,
			Tags:      bits&1 != 0, MVCC: bits&2 != 0, ShortIndexKeys: bits&4 != 0,
			IndexChunk: 100, indexMinEntries: 2,
			Bloom: allBlooms[bits>>6], BloomPrefix: 2,
		}
		cells := cellsOf(b)
		want := without(cells, opt)
		for _, opt.Encoding = range allEncodings {
			r := open(t, write(t, opt, cells))
			got, err := scan(r, IterOptions{ReadAhead: int(bits) * 100})
			if err != nil {
				t.Fatal(err)
			}
			if err := sameCells(got, want); err != nil {
				t.Fatalf("%s: %v", opt.Encoding, err)
			}
			if err := r.Verify(nil); err != nil {
				t.Fatalf("%s: %v", opt.Encoding, err)
			}
		}
		for _, tl := range []tail{{mvcc: true}, {tags: true, mvcc: true}} {
			for _, encoding := range allEncodings {
				if len(cells) == 0 {
					break // a block is never empty
				}
				fast, slow := encodeAll(newEncoder(encoding, tl), cells), encodeAll(&slowEncoder{encoding: encoding, tail: tl}, cells)
				if !bytes.Equal(fast, slow) {
					t.Fatalf("%s: encoded as %x, want %x", encoding, fast, slow)
				}
			}
		}
	})
}

// cellsOf reads bytes as ascending cells. Each piece of b changes a part of the previous cell
// so that it sorts later, or starts a new row after it.
func cellsOf(b []byte) []cell.Cell {
	var cells []cell.Cell
	c := cell.Cell{Row: []byte("r"), Family: []byte("f"), Time: math.MaxInt64, Type: cell.DeleteFamily}
	for len(b) >= 3 && len(cells) < 200 {
		op, n := b[0], min(int(b[1]), len(b)-2)
		text := b[2 : 2+n]
		b = b[2+n:]
		switch op % 8 {
		case 0:
			c.Row = append(bytes.Clone(c.Row), append(text, 0)...)
			c.Row = c.Row[:min(len(c.Row), maxRow)]
			c.Qualifier = nil
		case 1:
			c.Row = append(bytes.Repeat([]byte{0xff}, len(cells)), text...)
			c.Row = append([]byte("s"), c.Row...)
			c.Qualifier = nil
		case 2, 3:
			c.Qualifier = append(bytes.Clone(c.Qualifier), append(text, 1)...)
		case 4:
			c.Time -= int64(n) << (op >> 3)
		case 5:
			c.Value = text
		case 6:
			c.MVCC = uint64(n) << (op >> 2)
		case 7:
			c.Tags = text
			c.Type = cell.Put
		}
		if len(cells) > 0 && cell.Compare(&cells[len(cells)-1], &c) > 0 {
			c = *cells[len(cells)-1].Clone()
			continue
		}
		cells = append(cells, *c.Clone())
	}
	return cells
}
