package hfile

import (
	"encoding/binary"
	"slices"
)

const (
	// tagEntries is the number of tags in a block's dictionary.
	tagEntries = 127
	// newTag marks a tag that is not in the dictionary and follows in full.
	newTag = 0xff
)

// A tagDict holds the tags that a block remembers. When it is full, a new tag gets the number
// of the least recently used tag.
type tagDict struct {
	tags   [][]byte // by number, without their length
	recent []uint8  // numbers, most recently used first
}

func (d *tagDict) clear() { d.tags, d.recent = d.tags[:0], d.recent[:0] }

// add stores a tag. It ignores an empty tag.
func (d *tagDict) add(tag []byte) {
	switch n := len(d.tags); {
	case len(tag) == 0:
	case n < tagEntries:
		d.tags = append(d.tags, tag)
		d.recent = slices.Insert(d.recent, 0, uint8(n))
	default:
		oldest := d.recent[n-1]
		d.tags[oldest] = tag
		d.use(n - 1)
	}
}

// use makes the number at index i of recent the most recently used.
func (d *tagDict) use(i int) {
	number := d.recent[i]
	copy(d.recent[1:i+1], d.recent[:i])
	d.recent[0] = number
}

// get returns the tag with the given number.
func (d *tagDict) get(number int) ([]byte, bool) {
	if number >= len(d.tags) {
		return nil, false
	}
	d.use(slices.Index(d.recent, uint8(number)))
	return d.tags[number], true
}

// expandTags reads compressed tags at p and returns the position after them. Uncompressed, the
// tags have n bytes.
func (c *cursor) expandTags(p, n int) int {
	b := c.block
	c.tags = c.tags[:0]
	for len(c.tags) < n {
		if p+2 > len(b) {
			return beyond
		}
		var tag []byte
		if b[p] == newTag {
			var size int
			size, p = ci(b, p+1)
			if p > len(b) || size > len(b)-p || size > maxTags {
				return beyond
			}
			tag = b[p : p+size : p+size]
			p += size
			c.dict.add(tag)
		} else {
			var ok bool
			if tag, ok = c.dict.get(int(binary.BigEndian.Uint16(b[p:]))); !ok {
				return beyond
			}
			p += 2
		}
		c.tags = binary.BigEndian.AppendUint16(c.tags, uint16(len(tag)))
		c.tags = append(c.tags, tag...)
	}
	if len(c.tags) != n {
		return beyond
	}
	c.cell.Tags = c.tags[:n:n]
	return p
}
