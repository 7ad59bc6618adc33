package trailfile

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// TestPlainIsBytesInBlocks compares plain values with the same values in one piece: small ones, and
// some that are larger than a block. It uses their memory twice.
func TestPlainIsBytesInBlocks(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var p plain
	for range 2 {
		var all Bytes
		for n := range 4000 {
			v := bytes.Repeat([]byte{byte(r.Uint32())}, r.IntN(1500))
			if n%900 == 500 {
				v = bytes.Repeat(v, 2000)
			}
			p.append(v)
			all.Append(v)
		}
		if p.n != all.len() || len(p.starts) < 4 {
			t.Fatalf("%d values in %d blocks, want %d in several", p.n, len(p.starts), all.len())
		}
		for range 200 {
			from := r.IntN(p.n)
			to := from + 1 + r.IntN(min(p.n-from, 1<<r.IntN(12)))
			if !bytes.Equal(p.encode(nil, from, to), all.appendPlain(nil, from, to)) {
				t.Fatalf("the values %d to %d differ", from, to)
			}
			lo, hi := p.bounds(from, to)
			if l, h := all.bounds(from, to); !bytes.Equal(lo, l) || !bytes.Equal(hi, h) {
				t.Fatalf("the bounds of %d to %d differ", from, to)
			}
		}
		p.reset()
		kept := 0
		for _, b := range p.blocks {
			kept += cap(b.Data)
		}
		if p.n > 0 || kept > keptBytes {
			t.Errorf("after reset there are %d values, and memory of %d bytes", p.n, kept)
		}
	}
}
