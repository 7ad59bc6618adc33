// Package sasl implements the client's side of the two SASL mechanisms that Hadoop's servers
// use: GSSAPI with Kerberos (RFC 4752) and DIGEST-MD5 (RFC 2831). It also implements the
// protection of the bytes that follow. How the tokens of a mechanism travel is the business of
// each protocol.
//
// # GSSAPI
//
//	client  token of package gss          server  its response
//	client  (empty)                       server  signed(layers, 1 byte | largest token, 3 bytes)
//	client  signed(layer | largest token)
//
// Layers are bits: 1 authentication, 2 integrity, 4 privacy. The server's list is signed, so
// that nobody can remove a layer from it.
//
// # DIGEST-MD5
//
//	server  realm="…",nonce="…",qop="auth,auth-int,auth-conf",cipher="3des,rc4,…",algorithm=md5-sess,charset=utf-8
//	client  username="…",realm="…",nonce="…",nc=00000001,cnonce="…",digest-uri="…",response=…,qop=…,cipher=…,…
//	server  rspauth=…
//
// Nothing signs the server's list. Therefore the response covers the chosen qop and both sides
// compute keys from it, and a Policy has the least protection that the client accepts.
//
//	signed  text | HMAC-MD5(Ki, number | text), 10 bytes | 0001 | number, 4 bytes
//	sealed  cipher(Kc, text | padding | HMAC-MD5(…), 10 bytes) | 0001 | number
package sasl

import (
	"errors"
	"fmt"
	"strings"
)

// A Protection is the level at which bytes are protected after authentication. A higher one is stronger.
type Protection int

// The protections, by the names that Hadoop's configuration has for them.
const (
	Authentication Protection = iota + 1 // nothing
	Integrity                            // signed: changes are noticed
	Privacy                              // sealed: nobody can read them
)

var protections = []string{Authentication: "authentication", Integrity: "integrity", Privacy: "privacy"}

// String returns the name of the protection.
func (p Protection) String() string {
	if p >= Authentication && p <= Privacy {
		return protections[p]
	}
	return fmt.Sprintf("protection %d", int(p))
}

// ParseProtection parses the name of a protection.
func ParseProtection(s string) (Protection, error) {
	for p := Authentication; p <= Privacy; p++ {
		if strings.EqualFold(s, protections[p]) {
			return p, nil
		}
	}
	return 0, fmt.Errorf("%q is not authentication, integrity or privacy", s)
}

var (
	// ErrWeak is wrapped if a server offers less protection than the client accepts.
	ErrWeak = errors.New("the server offers less protection than is required")
	// ErrProtocol is wrapped if a server does not follow the mechanism.
	ErrProtocol = errors.New("the server does not follow SASL")
	// ErrPassword is wrapped if a server did not prove that it knows the token's password.
	ErrPassword = errors.New("the server did not prove that it knows the token")
)

// A Policy determines the protections that a client accepts. The zero Policy accepts
// authentication.
type Policy struct {
	Listed []Protection // what the configuration lists
	Least  Protection   // whatever is listed, no less than this
	Why    string       // what requires the least, for messages
}

// listed returns the protections that are listed and are not below the least.
func (p Policy) listed() map[Protection]bool {
	all := map[Protection]bool{}
	for _, l := range p.Listed {
		all[max(l, p.Least)] = true
	}
	if len(all) == 0 {
		all[max(Authentication, p.Least)] = true
	}
	return all
}

// Choose returns the strongest protection that is both offered and listed. If no listed one is
// offered, it returns the weakest stronger one.
func (p Policy) Choose(offered []Protection) (Protection, error) {
	listed := p.listed()
	least, best, next := Privacy, Protection(0), Protection(0)
	for l := range listed {
		least = min(least, l)
	}
	for _, o := range offered {
		if listed[o] {
			best = max(best, o)
		}
		if o > least && (next == 0 || o < next) {
			next = o
		}
	}
	switch {
	case best != 0:
		return best, nil
	case next != 0:
		return next, nil
	}
	return 0, fmt.Errorf("%w: it offers %s, and %s is required%s", ErrWeak, names(offered), least, p.why())
}

func (p Policy) why() string {
	if p.Why == "" {
		return ""
	}
	return " by " + p.Why
}

// names lists protections.
func names(all []Protection) string {
	if len(all) == 0 {
		return "none"
	}
	var out []string
	for _, p := range all {
		out = append(out, p.String())
	}
	return strings.Join(out, ", ")
}

// A Mechanism is the client's side of one exchange.
type Mechanism interface {
	// Name returns the name of the mechanism in SASL.
	Name() string
	// Start returns the first token of the client. It is empty if the server speaks first.
	Start() ([]byte, error)
	// Next returns the response to a token of the server. The response may be empty. After Done it must not be
	// called.
	Next(token []byte) ([]byte, error)
	// Done reports whether the exchange has ended, and the server has proved who it is. The
	// last response of Next must still be sent if LastWord returns true.
	Done() bool
	// LastWord reports whether the client sends the last message.
	LastWord() bool
	// Layer returns how bytes are protected after the exchange. It is nil if they are not.
	Layer() Layer
	// Protection returns the protection that was agreed.
	Protection() Protection
}

// A Layer protects the bytes of one connection, in both directions. One goroutine may call Wrap
// while another calls Unwrap.
type Layer interface {
	// Wrap appends a token with the parts of bytes to dst. Tokens must be sent in order.
	Wrap(dst []byte, parts ...[]byte) []byte
	// Unwrap opens a token in place.
	Unwrap(token []byte) ([]byte, error)
	// Most returns the number of bytes that one token may protect.
	Most() int
	// Least returns the number of bytes of the shortest token.
	Least() int
}
