// Package invariants holds checks that cost too much for production and are on
// in tests: under the race detector, and with -tags invariants.
//
// Enabled is a constant, so that what stands behind "if invariants.Enabled" is
// not even compiled into a production binary.
package invariants

// Mangle overwrites b in builds with invariants. Whoever hands out bytes that
// are valid only until the next call mangles them in that call, so that a
// caller who kept them finds nonsense in the first test and not the first loss.
func Mangle(b []byte) {
	if Enabled {
		for i := range b {
			b[i] = 0xcc
		}
	}
}
