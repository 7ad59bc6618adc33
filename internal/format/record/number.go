package record

import "bytes"

// maxExponent is the largest exponent that is written out. It is beyond the range of int64
// and of every time.
const maxExponent = 40

// plainNumber writes out a JSON number's exponent and removes a fraction of zeros. The result
// may share memory with n.
func plainNumber(n []byte) []byte {
	if e := bytes.IndexAny(n, "eE"); e >= 0 {
		return withoutExponent(n, e)
	}
	dot := bytes.IndexByte(n, '.')
	if dot < 0 {
		return n
	}
	if len(bytes.TrimRight(n[dot+1:], "0")) == 0 {
		return n[:dot]
	}
	return n
}

// withoutExponent moves the dot of n, whose exponent begins at e.
func withoutExponent(n []byte, e int) []byte {
	exponent, negative := 0, false
	for _, c := range n[e+1:] {
		switch {
		case c == '-':
			negative = true
		case c != '+':
			exponent = min(exponent*10+int(c-'0'), maxExponent+1)
		}
	}
	if exponent > maxExponent {
		return n
	}
	if negative {
		exponent = -exponent
	}
	var sign []byte
	digits := n[:e]
	if digits[0] == '-' {
		sign, digits = []byte("-"), digits[1:]
	}
	whole, fraction, _ := bytes.Cut(digits, []byte("."))
	all := bytes.Join([][]byte{whole, fraction}, nil)
	point := len(whole) + exponent
	if point < 1 {
		all = append(bytes.Repeat([]byte("0"), 1-point), all...)
		point = 1
	}
	if point > len(all) {
		all = append(all, bytes.Repeat([]byte("0"), point-len(all))...)
	}
	whole = bytes.TrimLeft(all[:point], "0")
	if len(whole) == 0 {
		whole = []byte("0")
	}
	fraction = bytes.TrimRight(all[point:], "0")
	out := append(bytes.Clone(sign), whole...)
	if len(fraction) > 0 {
		out = append(append(out, '.'), fraction...)
	}
	return out
}
