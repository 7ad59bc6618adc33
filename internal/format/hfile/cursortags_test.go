package hfile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
)

// slowTags compresses tags as the package comment describes, with plain loops.
type slowTags struct {
	tags []string
	used []int // time of the last use, by number
	now  int
}

func (s *slowTags) appendTags(b []byte, tags []string) []byte {
	for _, tag := range tags {
		s.now++
		number := slices.Index(s.tags, tag)
		if number >= 0 {
			s.used[number] = s.now
			b = binary.BigEndian.AppendUint16(b, uint16(number))
			continue
		}
		b = append(appendCI(append(b, newTag), len(tag)), tag...)
		switch {
		case len(s.tags) < 127:
			s.tags, s.used = append(s.tags, tag), append(s.used, s.now)
		default:
			number = slices.Index(s.used, slices.Min(s.used))
			s.tags[number], s.used[number] = tag, s.now
		}
	}
	return b
}

// TestCompressedTagsAreExpanded uses random tags that repeat, fewer and more than a
// dictionary holds.
func TestCompressedTagsAreExpanded(t *testing.T) {
	dice := rand.New(rand.NewPCG(5, 5))
	for _, different := range []int{1, 100, 127, 128, 140, 1000} {
		var slow slowTags
		var b []byte
		var want [][]byte
		for range 2000 {
			var tags []string
			var plain []byte
			for range 1 + dice.IntN(3) {
				n := dice.IntN(different)
				tag := string(append([]byte{8, byte(n >> 8), byte(n)}, make([]byte, n%9)...))
				tags = append(tags, tag)
				plain = append(binary.BigEndian.AppendUint16(plain, uint16(len(tag))), tag...)
			}
			b = slow.appendTags(b, tags)
			want = append(want, plain)
		}
		c := cursor{block: b}
		p := 0
		for i, tags := range want {
			if p = c.expandTags(p, len(tags)); p > len(b) || !bytes.Equal(c.cell.Tags, tags) {
				t.Fatalf("%d tags, cell %d: %x, want %x", different, i, c.cell.Tags, tags)
			}
		}
		if p != len(b) {
			t.Errorf("%d tags: %d of %d bytes are read", different, p, len(b))
		}
	}
}

func TestCompressedTagsThatDoNotAddUp(t *testing.T) {
	for what, b := range map[string][]byte{
		"nothing":        {},
		"half a number":  {0},
		"no such number": {0, 0},
		"it ends early":  {newTag, 9, 8, 1},
		"too long":       {newTag, 0xff, 0xff, 0xff, 0x7f, 8},
		"another length": {newTag, 3, 8, 1, 2},
	} {
		c := cursor{block: b}
		if p := c.expandTags(0, 4); p <= len(b) {
			t.Errorf("%s: read up to %d as %x", what, p, c.cell.Tags)
		}
	}
	if _, err := exercise(compressedTags(t)); !errors.Is(err, ErrCorrupt) {
		t.Errorf("a file that says that its tags are compressed: %v, want ErrCorrupt", err)
	}
}

// compressedTags returns a file whose tags do not have the form that its file info states.
func compressedTags(t *testing.T) []byte {
	cells := three()
	cells[1].Tags = []byte{0, 2, 8, 'x'}
	b := write(t, Options{Codec: Plain, Tags: true}, cells)
	name := []byte(infoTagsCompress)
	at := bytes.Index(b, name) + len(name) + 2
	b[at] = 0xff
	for block := range open(t, write(t, Options{Codec: Plain, Tags: true}, cells)).Blocks() {
		repair(b[block.Offset : block.Offset+int64(block.Size)])
	}
	return b
}
