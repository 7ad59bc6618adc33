package samplelog

import (
	"math/bits"
	"math/rand/v2"
)

// dice are the chance in one file. They must not differ between releases, so
// only the generator is the library's, and it promises its numbers.
type dice struct {
	rand.PCG
}

func newDice(seed, stream uint64) *dice {
	return &dice{*rand.NewPCG(mix(seed), mix(stream))}
}

// below returns one of 0 to n-1.
func (d *dice) below(n int) int {
	hi, _ := bits.Mul64(d.Uint64(), uint64(n))
	return int(hi)
}

// skewed returns one of 0 to n-1, the small ones more often.
func (d *dice) skewed(n int) int {
	u := d.unit()
	return int(u * u * float64(n))
}

// unit returns a number of at least 0 and less than 1.
func (d *dice) unit() float64 { return unit(d.Uint64()) }

// chance is true with probability p.
func (d *dice) chance(p float64) bool { return d.unit() < p }

func unit(x uint64) float64 { return float64(x>>11) / (1 << 53) }

// mix scatters x, as splitmix64 ends.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
