package trailfile

import "sort"

// blockBytes is the size of a block of plain values, unless it has one larger value.
const blockBytes = 1 << 20

// keptBytes is the memory that a column keeps for the next row group, in bytes.
const keptBytes = 16 << 20

// A plain holds the values of a string column that has no dictionary. It keeps them in blocks, so
// that a column that grows is not copied: a copy would be in memory next to the column.
type plain struct {
	blocks []Bytes // as many as starts have values; the others have memory for more
	starts []int   // the number of the first value of each used block
	n      int     // number of values
}

// append adds a value.
func (p *plain) append(s []byte) {
	last := len(p.starts) - 1
	if last < 0 || !p.blocks[last].fits(len(s)) {
		last++
		if last == len(p.blocks) {
			p.blocks = append(p.blocks, Bytes{})
			if last > 0 { // small columns have one small block
				p.blocks[last].Data = make([]byte, 0, max(blockBytes, len(s)))
			}
		}
		p.starts = append(p.starts, p.n)
	}
	p.blocks[last].Append(s)
	p.n++
}

// fits reports whether n more bytes fit into a block.
func (s *Bytes) fits(n int) bool { return len(s.Data)+n <= max(blockBytes, cap(s.Data)) }

// each calls do with each block that has any of the values from up to to, and with the range of
// these values in the block.
func (p *plain) each(from, to int, do func(b *Bytes, from, to int)) {
	for i := sort.SearchInts(p.starts, from+1) - 1; from < to; i++ {
		b, start := &p.blocks[i], p.starts[i]
		end := min(to, start+b.len())
		do(b, from-start, end-start)
		from = end
	}
}

// encode appends the values from up to to, each after its length.
func (p *plain) encode(dst []byte, from, to int) []byte {
	p.each(from, to, func(b *Bytes, from, to int) { dst = b.appendPlain(dst, from, to) })
	return dst
}

// bounds returns the smallest and the largest of the values from up to to.
func (p *plain) bounds(from, to int) (lo, hi []byte) {
	first := true
	p.each(from, to, func(b *Bytes, from, to int) {
		l, h := b.bounds(from, to)
		if first {
			lo, hi, first = l, h, false
			return
		}
		lo, hi = widen(lo, hi, l)
		lo, hi = widen(lo, hi, h)
	})
	return lo, hi
}

// reset removes the values, and keeps at most keptBytes of memory.
func (p *plain) reset() {
	kept := 0
	for i := range p.blocks {
		if kept += cap(p.blocks[i].Data); kept > keptBytes {
			clear(p.blocks[i:])
			p.blocks = p.blocks[:i]
			break
		}
		p.blocks[i].reset()
	}
	p.starts, p.n = p.starts[:0], 0
}
