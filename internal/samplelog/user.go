package samplelog

import (
	"math/bits"
	"strconv"
)

// maxUsers is how many IDs the smallest of the ID spaces has room for.
const maxUsers = 1_000_000_000

// A population is the users, ranked from the heaviest, 0, to the lightest.
type population struct {
	n   int
	key uint64
}

func newPopulation(seed uint64, n int) population {
	return population{n: n, key: mix(seed ^ 0x75736572)}
}

// draw returns the rank of someone who does kind. The square root of the
// heaviest's weight is the root of how many there are: of 200,000 users, the
// first has 1 record in 450 and the last quarter 1 in 8.
func (p population) draw(d *dice, kind int) int {
	rank := d.skewed(p.n)
	for range 64 { // in a tiny population there may be nobody
		if p.does(rank, kind) {
			break
		}
		rank = d.skewed(p.n)
	}
	return rank
}

// does says whether a user ever does kind.
func (p population) does(rank, kind int) bool {
	k := &kinds[kind]
	light := float64(rank) / float64(p.n)
	chance := k.most + (k.least-k.most)*light
	return unit(mix(p.key^uint64(rank)*uint64(len(kinds))+uint64(kind))) < chance
}

// appendID appends the ID of a user. Two ranks never have one ID: each form is
// made of a number that no other rank has, and no two forms look alike.
func (p population) appendID(dst []byte, rank int) []byte {
	const digits = 10_000_000_000
	n := (uint64(rank)*3_141_592_653 + p.key%digits) % digits
	switch form := mix(p.key^n) % 100; {
	case form < 50: // a customer's number
		return appendPadded(dst, n, 10)
	case form < 75: // a box's serial number
		dst = append(dst, "STB"...)
		dst = append(dst, "SHBJGZSZNJHZCDWH"[form%8*2:][:2]...)
		return appendPadded(dst, n, 10)
	case form < 90: // a box's network address
		return appendHex(dst, n*0x5deece66d%(1<<48), 12)
	case form < 97: // a name
		return strconv.AppendUint(append(dst, 'u'), n, 36)
	default: // an account with one of the operators
		dst = strconv.AppendUint(append(dst, "tv."...), n, 10)
		return append(dst, "@iptv"...)
	}
}

func appendPadded(dst []byte, n uint64, width int) []byte {
	dst = append(dst, "0000000000000000"[:width]...)
	for i := len(dst) - 1; n > 0; i-- {
		dst[i] = byte('0' + n%10)
		n /= 10
	}
	return dst
}

func appendHex(dst []byte, n uint64, width int) []byte {
	n = bits.RotateLeft64(n, 64-4*width)
	for range width {
		n = bits.RotateLeft64(n, 4)
		dst = append(dst, "0123456789abcdef"[n&15])
	}
	return dst
}
