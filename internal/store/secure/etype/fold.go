package etype

// fold returns the n-fold of b in n bytes (RFC 3961, section 5.1). Copies of b, each rotated by
// 13 bits to the right more than the one before it, fill a number of bytes that both lengths divide. Parts of
// n bytes are then added with the carry of ones' complement.
func fold(b []byte, n int) []byte {
	total := len(b) * n / gcd(len(b), n)
	sum := make([]int, n)
	for i := range total {
		sum[i%n] += int(rotated(b, 13*(i/len(b)), i%len(b)))
	}
	carry := 0
	for again := true; again; again = carry > 0 {
		for i := n - 1; i >= 0; i-- {
			carry += sum[i]
			sum[i] = carry & 0xff
			carry >>= 8
		}
	}
	out := make([]byte, n)
	for i, s := range sum {
		out[i] = byte(s)
	}
	return out
}

// rotated returns the byte at position at of b rotated to the right by a number of bits.
func rotated(b []byte, bits, at int) byte {
	bits %= 8 * len(b)
	first := (8*at - bits + 8*len(b)) % (8 * len(b)) // bit of b that becomes the first of the byte
	high := b[first/8]
	low := b[(first/8+1)%len(b)]
	return high<<(first%8) | low>>(8-first%8)
}

func gcd(a, b int) int {
	for b > 0 {
		a, b = b, a%b
	}
	return a
}
