// Package invariants holds checks that are too expensive for production. They are on in
// tests: under the race detector, and with -tags invariants.
//
// Enabled is a constant, so the code after "if invariants.Enabled" is not compiled into a
// production binary.
package invariants

// Mangle overwrites b in builds with invariants. A function whose result is valid only until
// its next call mangles the previous result in that call. A caller that kept the bytes then
// fails in a test and not in production.
func Mangle(b []byte) {
	if Enabled {
		for i := range b {
			b[i] = 0xcc
		}
	}
}
