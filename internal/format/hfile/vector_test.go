package hfile

import (
	"bytes"
	"encoding/hex"
	"strings"
	"testing"

	"usertrail/internal/cell"
)

// three returns the cells of the known blocks and of the known file.
func three() []cell.Cell {
	put := func(row, qualifier string, time int64, value string) cell.Cell {
		return cell.Cell{Row: []byte(row), Family: []byte("c"), Qualifier: []byte(qualifier), Time: time, Type: cell.Put, Value: []byte(value)}
	}
	return []cell.Cell{put("row1", "q1", 1000, "v1"), put("row1", "q2", 1000, "v1"), put("row2", "q1", 999, "v2")}
}

func unhex(t *testing.T, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// encoded holds the payloads of three from HBase's own encoders.
var encoded = []struct {
	encoding Encoding
	tags     bool
	payload  string
}{
	{NoEncoding, false, "00000013000000020004726f77310163713100000000000003e80476310000000013000000020004726f77310163713200000000000003e80476310000000013000000020004726f77320163713100000000000003e704763200"},
	{Prefix, false, "00020000005a1302000004726f77310163713100000000000003e8047631000a02093200000000000003e8047631000e0205320163713100000000000003e704763200"},
	{Diff, false, "00030000005a0163101302000004726f77317131e803047631000f0932007631000f0532713101763200"},
	{FastDiff, false, "00040000005a001302000004726f77310163713100000000000003e8047631007f0932e8003f05327131e7763200"},
	{RowIndex, false, "000700000013000000020004726f77310163713100000000000003e80476310000000013000000020004726f77310163713200000000000003e80476310000000013000000020004726f77320163713100000000000003e70476320000000002000000000000003c0000005a"},
	{FastDiff, true, "000400000060001302000004726f77310163713100000000000003e804763100007f0932e800003f05327131e776320000"},
}

func TestKnownBlocks(t *testing.T) {
	for _, v := range encoded {
		want := unhex(t, v.payload)
		slow := &slowEncoder{encoding: v.encoding, tail: tail{tags: v.tags, mvcc: true}}
		for _, e := range []cellEncoder{slow, newEncoder(v.encoding, slow.tail)} {
			if got := encodeAll(e, three()); !bytes.Equal(got, want) {
				t.Errorf("%T %s:\n got %x\nwant %x", e, v.encoding, got, want)
			}
		}
		got, err := decodeAll(layout{encoding: v.encoding, tail: slow.tail}, want)
		if err != nil {
			t.Fatalf("%s: %v", v.encoding, err)
		}
		if err := sameCells(got, three()); err != nil {
			t.Errorf("%s: %v", v.encoding, err)
		}
	}
}

// encodeAll encodes cells, which are in order, in one block.
func encodeAll(e cellEncoder, cells []cell.Cell) []byte {
	w := Writer{enc: e, opt: Options{BlockSize: maxBlockSize, MVCC: true, Tags: true}}
	e.reset()
	for i := range cells {
		if err := w.Add(&cells[i]); err != nil {
			panic(err)
		}
	}
	return e.payload()
}

func decodeAll(l layout, payload []byte) ([]cell.Cell, error) {
	cur := cursor{layout: l}
	kind := EncodedBlock
	if l.encoding == NoEncoding {
		kind = DataBlock
	}
	if err := cur.open(kind, payload); err != nil {
		return nil, err
	}
	var cells []cell.Cell
	for cur.next() {
		cells = append(cells, *cur.cell.Clone())
	}
	return cells, cur.err
}

// knownFile is a file of three, as HBase writes it.
const knownFile = `
44415441424c4b2a0000005e0000005affffffffffffffff02000040000000007b 00000013000000020004726f77310163713100000000000003e80476310000000013000000020004726f77310163713200000000000003e80476310000000013000000020004726f77320163713100000000000003e704763200 251bd543
494458524f4f54320000002400000020ffffffffffffffff020000400000000041 00000000000000000000007f130004726f77310163713100000000000003e804 85da84a8
494458524f4f54320000000400000000000000000000007f020000400000000021 e3f670f8
46494c45494e4632000000c6000000c2ffffffffffffffff0200004000000000e3 50425546bc010a190a114b45595f56414c55455f56455253494f4e1204000000010a1f0a134d41585f4d454d53544f52455f54535f4b4559120800000000000000000a190a116866696c652e4156475f4b45595f4c454e1204000000130a1b0a136866696c652e4156475f56414c55455f4c454e1204000000020a200a146866696c652e4352454154455f54494d455f5453120800000000000000000a240a0d6866696c652e4c4153544b455912130004726f77320163713100000000000003e704 9488a5eb
545241424c4b2224 47 08e901107f182020ff222801300038034001480050005a2d6f72672e6170616368652e6861646f6f702e68626173652e4b657956616c7565244b56436f6d70617261746f726002`

func TestKnownFile(t *testing.T) {
	want := make([]byte, 4560)
	copy(want, unhex(t, strings.ReplaceAll(knownFile, "\n", "")))
	copy(want[4556:], unhex(t, "03000003"))
	got, meta := writeMeta(t, Options{Codec: Plain, Encoding: NoEncoding, unmarked: true}, three())
	if !bytes.Equal(got, want) {
		t.Errorf("got\n%x\nwant\n%x", got, want)
	}
	if meta.Cells != 3 || meta.Blocks != 1 || meta.Size != 4560 || string(meta.FirstRow) != "row1" || string(meta.LastRow) != "row2" {
		t.Errorf("meta %+v", meta)
	}
}

func TestKnownVints(t *testing.T) {
	for _, v := range []struct {
		n   int64
		hex string
	}{
		{0, "00"}, {127, "7f"}, {128, "8f80"}, {255, "8fff"}, {256, "8e0100"}, {65535, "8effff"},
		{-1, "ff"}, {-112, "90"}, {-113, "8770"}, {1700000000000, "8a018bcfe56800"},
	} {
		want := unhex(t, v.hex)
		if got := appendVint(nil, v.n); !bytes.Equal(got, want) {
			t.Errorf("vint of %d is %x, want %x", v.n, got, want)
		}
		if vintLen(v.n) != len(want) {
			t.Errorf("length of vint %d is %d, want %d", v.n, vintLen(v.n), len(want))
		}
		if n, p := vint(want, 0); n != v.n || p != len(want) {
			t.Errorf("vint %x is %d with %d bytes, want %d", want, n, p, v.n)
		}
		if _, p := vint(want[:len(want)-1], 0); p != beyond {
			t.Errorf("vint %x cut short ends at %d", want, p)
		}
	}
}

func TestKnownHashes(t *testing.T) {
	for _, v := range []struct {
		key    string
		h1, h2 uint32
	}{
		{"row1", 0x09444512, 0xa1be7502},
		{"row2", 0x9cce6686, 0x3faa4600},
		{"abc", 0x13577c9b, 0xf369e600},
		{"\xff\xfe\xfd", 0xe3203b2b, 0xdab8e3be},
		{"2024-01-01|user-000001", 0x02fb0a5f, 0x8abee177},
	} {
		if h1, h2 := bloomHashes([]byte(v.key)); h1 != v.h1 || h2 != v.h2 {
			t.Errorf("hashes of %q are %08x %08x, want %08x %08x", v.key, h1, h2, v.h1, v.h2)
		}
	}
	rowcol := appendRowCol(nil, []byte("row1"), []byte("q1"))
	if want := unhex(t, "0004726f77310071317fffffffffffffffff"); !bytes.Equal(rowcol, want) {
		t.Errorf("ROWCOL key %x, want %x", rowcol, want)
	}
	if h1, _ := bloomHashes(rowcol); h1 != 0x0ceef137 {
		t.Errorf("hash of the ROWCOL key is %08x", h1)
	}
}

func TestKnownBits(t *testing.T) {
	for key, want := range map[string][]uint64{
		"row1": {274, 492, 790, 1000, 742, 540, 226},
		"row2": {378, 890, 646, 134, 378, 890, 646},
	} {
		h1, h2 := bloomHashes([]byte(key))
		for i, bit := range want {
			if got := bloomBit(h1, h2, i, 1024); got != bit {
				t.Errorf("bit %d of %s is %d, want %d", i, key, got, bit)
			}
		}
	}
}

func TestKnownBloomSizes(t *testing.T) {
	for _, v := range []struct {
		typ    BloomType
		hashes int
		keys   int64
	}{{RowBloom, 7, 109306}, {RowColBloom, 8, 95069}} {
		if hashes, keys := bloomSize(bloomChunkBytes, bloomRate(v.typ)); hashes != v.hashes || keys != v.keys {
			t.Errorf("%s: %d hashes and %d keys, want %d and %d", v.typ, hashes, keys, v.hashes, v.keys)
		}
	}
}

// TestKnownFilter folds a chunk of 128 KiB to the four bytes that HBase has for two rows.
func TestKnownFilter(t *testing.T) {
	b := write(t, Options{Codec: Plain, Bloom: RowBloom}, three())
	for block, err := range open(t, b).Blocks() {
		if err != nil {
			t.Fatal(err)
		}
		switch block.Type {
		case BloomChunk:
			if !bytes.Equal(block.Payload, unhex(t, "44114414")) {
				t.Errorf("chunk %x", block.Payload)
			}
		case BloomMeta:
			want := unhex(t, "00000003 0000000000000004 00000007 00000001 0000000000000002 0000000000000003 00000001 00")
			if !bytes.HasPrefix(block.Payload, want) {
				t.Errorf("meta %x, want %x…", block.Payload, want)
			}
		}
	}
}
