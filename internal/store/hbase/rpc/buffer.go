package rpc

import (
	"math/bits"
	"sync"

	"usertrail/internal/run/invariants"
)

// A buffer holds a frame's bytes. It is reused after release.
type buffer struct {
	b []byte
}

// Buffers of 2^minClass to 2^maxClass bytes are reused. A smaller buffer is made larger. A
// larger one is left to the garbage collector.
const (
	minClass = 12
	maxClass = 24
)

// pools hold buffers by the logarithm of their capacity.
var pools [maxClass + 1]sync.Pool

// newBuffer returns a buffer of n bytes with arbitrary content.
func newBuffer(n int) *buffer {
	class := max(minClass, bits.Len(uint(max(n, 1)-1)))
	if class > maxClass {
		return &buffer{b: make([]byte, n)}
	}
	if f, ok := pools[class].Get().(*buffer); ok {
		f.b = f.b[:n]
		return f
	}
	return &buffer{b: make([]byte, n, 1<<class)}
}

// release returns the buffer to its pool. The caller must have no other reference to it.
func (f *buffer) release() {
	invariants.Mangle(f.b)
	if class := bits.Len(uint(cap(f.b))) - 1; class >= minClass && class <= maxClass {
		pools[class].Put(f)
	}
}
