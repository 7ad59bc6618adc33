package hfile_test

import (
	"bytes"
	"encoding/binary"
	"iter"
	"os"
	"slices"
	"testing"

	"usertrail/internal/format/hfile"
)

// sameAsTheirs compares the two files block by block.
func (p *filePair) sameAsTheirs(t *testing.T) {
	b, err := os.ReadFile(p.theirs)
	if err != nil {
		t.Fatal(err)
	}
	ours, theirs := open(t, p.ours), open(t, b)
	if theirs.Trailer().Levels != 3 {
		t.Errorf("HBase's index has %d levels", theirs.Trailer().Levels)
	}
	if p.attributes["COMPRESSION"] == "NONE" {
		p.sameBytes(t, ours, theirs, b)
	} else {
		sameShape(t, ours, theirs)
	}
	p.sameInfo(t, ours, theirs)
	if err := theirs.Verify(nil); err != nil {
		t.Errorf("HBase's file: %v", err)
	}
}

// sameBytes compares all blocks except file info, and the trailers' statements about them.
func (p *filePair) sameBytes(t *testing.T, ours, theirs *hfile.Reader, b []byte) {
	next, stop := iter.Pull2(theirs.Blocks())
	defer stop()
	infos := int64(0) // number of bytes by which ours is longer
	for mine, err := range ours.Blocks() {
		other, err2, ok := next()
		if err != nil || err2 != nil || !ok || mine.Type != other.Type {
			t.Fatalf("%s at %d, HBase has %s at %d: %v, %v", mine.Type, mine.Offset, other.Type, other.Offset, err, err2)
		}
		if mine.Type == hfile.FileInfo {
			infos = int64(mine.Uncompressed - other.Uncompressed)
			continue
		}
		x, y := p.ours[mine.Offset:][:mine.Size], b[other.Offset:][:other.Size]
		if !bytes.Equal(x, y) {
			t.Fatalf("%s at %d:\n got %x\nwant %x", mine.Type, mine.Offset, x, y)
		}
	}
	if other, err, ok := next(); ok {
		t.Errorf("HBase has another block, %s at %d: %v", other.Type, other.Offset, err)
	}
	got, want := ours.Trailer(), theirs.Trailer()
	got.UncompressedBytes -= infos
	if got != want {
		t.Errorf("trailer %+v, want %+v", got, want)
	}
}

// sameShape compares the blocks of files whose codecs store the same payload in different
// bytes. It compares the order of the blocks, their kinds, and the payloads except for
// offsets and sizes in the file.
func sameShape(t *testing.T, ours, theirs *hfile.Reader) {
	next, stop := iter.Pull2(theirs.Blocks())
	defer stop()
	for mine, err := range ours.Blocks() {
		other, err2, ok := next()
		if err != nil || err2 != nil || !ok || mine.Type != other.Type {
			t.Fatalf("%s at %d, HBase has %s at %d: %v, %v", mine.Type, mine.Offset, other.Type, other.Offset, err, err2)
		}
		if mine.Type == hfile.FileInfo {
			continue
		}
		x, y := withoutPlaces(ours, &mine), withoutPlaces(theirs, &other)
		if !bytes.Equal(x, y) || (mine.Previous < 0) != (other.Previous < 0) {
			t.Fatalf("%s at %d, previous at %d:\n got %x\nwant %x, previous at %d", mine.Type, mine.Offset, mine.Previous, x, y, other.Previous)
		}
	}
	if other, err, ok := next(); ok {
		t.Errorf("HBase has another block, %s at %d: %v", other.Type, other.Offset, err)
	}
	a, b := ours.Trailer(), theirs.Trailer()
	if a.Cells != b.Cells || a.Levels != b.Levels || a.RootEntries != b.RootEntries || a.IndexBytes != b.IndexBytes || ours.Codec() != theirs.Codec() {
		t.Errorf("trailer %+v and codec %s, want %+v and %s", a, ours.Codec(), b, theirs.Codec())
	}
}

// withoutPlaces returns the payload of a block with zeros in place of the offsets and sizes
// of other blocks.
func withoutPlaces(r *hfile.Reader, b *hfile.Block) []byte {
	const place = 8 + 4 // offset and size
	p := bytes.Clone(b.Payload)
	root := func(at, entries int) int {
		for range entries {
			clear(p[at : at+place])
			n, size := vint(p[at+place:])
			at += place + size + n
		}
		return at
	}
	switch b.Type {
	case hfile.LeafIndex, hfile.IntermediateIndex:
		n := int(binary.BigEndian.Uint32(p))
		table := 4 + 4*(n+1)
		for i := range n {
			at := table + int(binary.BigEndian.Uint32(p[4+4*i:]))
			clear(p[at : at+place])
		}
	case hfile.RootIndex:
		if b.Offset == r.Trailer().LoadOnOpen {
			middle := root(0, r.Trailer().RootEntries)
			clear(p[middle : middle+place])
		}
	case hfile.BloomMeta:
		const fixed = 40
		n, size := vint(p[fixed:])
		root(fixed+size+n, int(binary.BigEndian.Uint32(p[fixed-4:])))
	}
	return p
}

// vint reads one of Hadoop's variable integers, which must not be negative, and returns its
// length.
func vint(b []byte) (n, size int) {
	first := int(int8(b[0]))
	if first >= 0 {
		return first, 1
	}
	size = -112 - first
	for _, x := range b[1 : 1+size] {
		n = n<<8 | int(x)
	}
	return n, 1 + size
}

// sameInfo compares the file info of both files, except for entries that a bulk file may
// omit. TIMERANGE has two forms, and servers read both.
func (p *filePair) sameInfo(t *testing.T, ours, theirs *hfile.Reader) {
	leftOut := []string{"TIMERANGE", "HISTORICAL", "hfile.KEY_OF_BIGGEST_CELL", "hfile.LEN_OF_BIGGEST_CELL"}
	for name, want := range theirs.Info() {
		if got, ok := ours.Info()[name]; !slices.Contains(leftOut, name) && (!ok || !bytes.Equal(got, want)) {
			t.Errorf("file info: %s is %x, want %x", name, got, want)
		}
	}
}
