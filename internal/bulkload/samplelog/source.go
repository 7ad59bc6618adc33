package samplelog

import (
	"math/bits"
	"math/rand/v2"
)

// A source is the source of random numbers of one file. Its numbers must not change between releases.
// Only the generator is therefore from the library, which guarantees its numbers.
type source struct {
	rand.PCG
}

func newSource(seed, stream uint64) *source {
	return &source{*rand.NewPCG(mix(seed), mix(stream))}
}

// below returns a number from 0 to n-1.
func (d *source) below(n int) int {
	hi, _ := bits.Mul64(d.Uint64(), uint64(n))
	return int(hi)
}

// skewed returns a number from 0 to n-1. Small numbers are more frequent.
func (d *source) skewed(n int) int {
	u := d.unit()
	return int(u * u * float64(n))
}

// unit returns a number of at least 0 and less than 1.
func (d *source) unit() float64 { return unit(d.Uint64()) }

// chance returns true with probability p.
func (d *source) chance(p float64) bool { return d.unit() < p }

func unit(x uint64) float64 { return float64(x>>11) / (1 << 53) }

// mix scatters x with the last steps of splitmix64.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
