package rpc

import (
	"math/bits"
	"sync"

	"usertrail/internal/run/invariants"
)

// A buffer is a frame's bytes, used again after release.
type buffer struct {
	b []byte
}

// Buffers of 2^minClass to 2^maxClass bytes are kept; smaller ones are made
// larger, and larger ones are left to the garbage collector.
const (
	minClass = 12
	maxClass = 24
)

// pools hold buffers by the logarithm of their capacity.
var pools [maxClass + 1]sync.Pool

// newBuffer returns a buffer of n bytes, whatever they are.
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

// release gives the buffer back. The caller has no other reference to it.
func (f *buffer) release() {
	invariants.Mangle(f.b)
	if class := bits.Len(uint(cap(f.b))) - 1; class >= minClass && class <= maxClass {
		pools[class].Put(f)
	}
}
