package activity

import (
	"fmt"
	"iter"
	"math/bits"
	"slices"
)

// A Set is a set of kinds of behaviour, by their indexes in a schema. Two Sets with the same
// kinds are ==. The zero Set is empty.
//
// The first 64 kinds are one word, because nearly all schemas have fewer, and a decision about
// a user is then a few machine instructions.
type Set struct {
	low  uint64
	high string // bit i of byte j is kind 64+8j+i; it does not end in a zero byte
}

const (
	word = 64
	byt  = 8
)

// Of returns the set of the given kinds.
func Of(kinds ...int) Set {
	var s Set
	for _, k := range kinds {
		s.Add(k)
	}
	return s
}

// Word returns the set whose kinds are the bits of a word: bit i is kind i.
func Word(kinds uint64) Set { return Set{low: kinds} }

// Word returns the kinds from 0 to 63 as the bits of a word.
func (s Set) Word() uint64 { return s.low }

// First returns the set of the first n kinds of a schema.
func First(n int) Set {
	if n < word {
		return Set{low: 1<<n - 1}
	}
	high := make([]byte, 0, (n-word)/byt+1)
	for n -= word; n >= byt; n -= byt {
		high = append(high, 0xff)
	}
	if n > 0 {
		high = append(high, 1<<n-1)
	}
	return Set{low: 1<<word - 1, high: string(high)}
}

// Add adds a kind to s.
func (s *Set) Add(k int) {
	if k < word {
		s.low |= 1 << k
		return
	}
	s.addHigh(k - word)
}

// addHigh adds kind 64+k.
func (s *Set) addHigh(k int) {
	at, bit := k/byt, byte(1)<<(k%byt)
	if at < len(s.high) && s.high[at]&bit != 0 {
		return
	}
	high := make([]byte, max(len(s.high), at+1))
	copy(high, s.high)
	high[at] |= bit
	s.high = string(high)
}

// Has reports whether kind k is in s.
func (s Set) Has(k int) bool {
	if k < word {
		return s.low>>k&1 != 0
	}
	k -= word
	return k/byt < len(s.high) && s.high[k/byt]>>(k%byt)&1 != 0
}

// Empty reports whether s has no kind.
func (s Set) Empty() bool { return s.low == 0 && s.high == "" }

// Least returns the smallest kind in s, which is not empty.
func (s Set) Least() int {
	for k := range s.Kinds() {
		return k
	}
	panic("activity: the least kind of an empty set")
}

// Len returns the number of kinds in s.
func (s Set) Len() int {
	n := bits.OnesCount64(s.low)
	for i := range len(s.high) {
		n += bits.OnesCount8(s.high[i])
	}
	return n
}

// Kinds iterates over the kinds in ascending order.
func (s Set) Kinds() iter.Seq[int] {
	return func(yield func(int) bool) {
		for low := s.low; low != 0; low &= low - 1 {
			if !yield(bits.TrailingZeros64(low)) {
				return
			}
		}
		for i := range len(s.high) {
			for b := s.high[i]; b != 0; b &= b - 1 {
				if !yield(word + i*byt + bits.TrailingZeros8(b)) {
					return
				}
			}
		}
	}
}

// String lists the kinds of s.
func (s Set) String() string { return fmt.Sprint(slices.Collect(s.Kinds())) }

// And returns the kinds that are in both sets.
func (s Set) And(o Set) Set {
	if s.high == "" || o.high == "" {
		return Set{low: s.low & o.low}
	}
	return Set{s.low & o.low, combine(s.high, o.high, func(a, b byte) byte { return a & b })}
}

// Or returns the kinds that are in one set at least.
func (s Set) Or(o Set) Set {
	if o.high == "" || s.high == o.high {
		return Set{s.low | o.low, s.high}
	}
	return Set{s.low | o.low, combine(s.high, o.high, func(a, b byte) byte { return a | b })}
}

// Without returns the kinds of s that are not in o.
func (s Set) Without(o Set) Set {
	if s.high == "" || o.high == "" {
		return Set{s.low &^ o.low, s.high}
	}
	return Set{s.low &^ o.low, combine(s.high, o.high, func(a, b byte) byte { return a &^ b })}
}

// Meets reports whether the sets have a kind in common.
func (s Set) Meets(o Set) bool {
	if s.low&o.low != 0 {
		return true
	}
	for i := range min(len(s.high), len(o.high)) {
		if s.high[i]&o.high[i] != 0 {
			return true
		}
	}
	return false
}

// common returns the number of kinds that are in both sets.
func (s Set) common(o Set) int {
	n := bits.OnesCount64(s.low & o.low)
	for i := range min(len(s.high), len(o.high)) {
		n += bits.OnesCount8(s.high[i] & o.high[i])
	}
	return n
}

// combine applies an operation to the bytes of two sets. A missing byte is zero.
func combine(a, b string, operation func(a, b byte) byte) string {
	out := make([]byte, max(len(a), len(b)))
	used := 0
	for i := range out {
		var x, y byte
		if i < len(a) {
			x = a[i]
		}
		if i < len(b) {
			y = b[i]
		}
		if out[i] = operation(x, y); out[i] != 0 {
			used = i + 1
		}
	}
	return string(out[:used])
}
