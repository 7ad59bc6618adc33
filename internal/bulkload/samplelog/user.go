package samplelog

import (
	"math/bits"
	"strconv"
)

// maxUsers is the number of IDs in the smallest ID space.
const maxUsers = 1_000_000_000

// Users that are numbers have eight digits.
const (
	firstNumber = 10_000_000
	numbers     = 90_000_000
)

// A population is the set of users, ranked from the heaviest, 0, to the lightest.
type population struct {
	n       int
	key     uint64
	numeric bool
}

func newPopulation(c Config) population {
	return population{n: c.Users, key: mix(c.Seed ^ 0x75736572), numeric: c.Numeric}
}

// A round has one record of each user, in its own order.
type round struct {
	number      int64
	step, start uint64
}

// in returns the rank of the user of record i of all logs, if users are alike. r remembers
// the current round.
func (p population) in(r *round, i int64) int {
	n := uint64(p.n)
	if number := i / int64(n); r.step == 0 || number != r.number {
		d := newSource(p.key, uint64(number))
		*r = round{number: number, start: d.Uint64() % n, step: 1 + d.Uint64()%n}
		for divisor(r.step, n) != 1 {
			r.step++
		}
	}
	return int((uint64(i)%n*r.step + r.start) % n)
}

// divisor returns the greatest common divisor of a and b.
func divisor(a, b uint64) uint64 {
	for b > 0 {
		a, b = b, a%b
	}
	return a
}

// draw returns the rank of a user who has kind. The square root of the heaviest's weight is
// the square root of the number of users: of 200,000 users, the first has 1 record in 450 and
// the last quarter 1 in 8.
func (p population) draw(d *source, kind int) int {
	rank := d.skewed(p.n)
	for range 64 { // a tiny population may have no such user
		if p.does(rank, kind) {
			break
		}
		rank = d.skewed(p.n)
	}
	return rank
}

// does reports whether a user ever has kind.
func (p population) does(rank, kind int) bool {
	k := &kinds[kind]
	light := float64(rank) / float64(p.n)
	chance := k.most + (k.least-k.most)*light
	return unit(mix(p.key^uint64(rank)*uint64(len(kinds))+uint64(kind))) < chance
}

// appendID appends the ID of a user. Two ranks never have the same ID: each form is made from
// a number that no other rank has, and the forms differ from each other.
func (p population) appendID(dst []byte, rank int) []byte {
	if p.numeric {
		return strconv.AppendUint(dst, firstNumber+(uint64(rank)*31_415_927+p.key%numbers)%numbers, 10)
	}
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
