package sasl

import (
	"encoding/binary"
	"fmt"

	"usertrail/internal/store/secure/gss"
)

// mostSent is the number of bytes that a token protects, whatever the server accepts beyond it.
const mostSent = 64 << 10

// GSSAPI authenticates a client by a Kerberos ticket.
type GSSAPI struct {
	policy  Policy
	ticket  *gss.Ticket
	context *gss.Context
	step    int
	chosen  Protection
	most    int
}

// NewGSSAPI returns the mechanism for the service of a ticket.
func NewGSSAPI(t *gss.Ticket, p Policy) *GSSAPI { return &GSSAPI{ticket: t, policy: p} }

// Name implements Mechanism.
func (g *GSSAPI) Name() string { return "GSSAPI" }

// Start implements Mechanism.
func (g *GSSAPI) Start() ([]byte, error) {
	var token []byte
	var err error
	g.context, token, err = gss.Initiate(g.ticket)
	return token, err
}

// Next implements Mechanism.
func (g *GSSAPI) Next(token []byte) ([]byte, error) {
	g.step++
	switch {
	case g.context == nil || g.step > 2:
		return nil, fmt.Errorf("%w: a token that no step expects", ErrProtocol)
	case g.step == 1:
		return nil, g.context.Establish(token)
	}
	return g.choose(token)
}

// choose returns the response to the server's layers.
func (g *GSSAPI) choose(token []byte) ([]byte, error) {
	b, err := g.context.Unwrap(token, false)
	if err != nil {
		return nil, fmt.Errorf("protections that the server offers: %w", err)
	}
	if len(b) != 4 {
		return nil, fmt.Errorf("%w: its protections have %d bytes instead of 4", ErrProtocol, len(b))
	}
	var offered []Protection
	for p := Authentication; p <= Privacy; p++ {
		if b[0]&layer(p) != 0 {
			offered = append(offered, p)
		}
	}
	if g.chosen, err = g.policy.Choose(offered); err != nil {
		return nil, err
	}
	g.most = int(binary.BigEndian.Uint32(b) & 0xffffff)
	response := [4]byte{layer(g.chosen)}
	if g.chosen != Authentication {
		response = [4]byte{layer(g.chosen), 0xff, 0xff, 0xff}
	}
	return g.context.Wrap(nil, false, response[:]), nil
}

// layer returns the bit of a protection.
func layer(p Protection) byte { return 1 << (p - 1) }

// Done implements Mechanism.
func (g *GSSAPI) Done() bool { return g.chosen != 0 }

// LastWord implements Mechanism.
func (g *GSSAPI) LastWord() bool { return true }

// Protection implements Mechanism.
func (g *GSSAPI) Protection() Protection { return g.chosen }

// Layer implements Mechanism.
func (g *GSSAPI) Layer() Layer {
	if g.chosen <= Authentication {
		return nil
	}
	l := &gssLayer{context: g.context, seal: g.chosen == Privacy, most: mostSent}
	if n := g.most - g.context.Overhead(); n > 0 {
		l.most = min(l.most, n)
	}
	return l
}

type gssLayer struct {
	context *gss.Context
	seal    bool
	most    int
}

func (l *gssLayer) Wrap(dst []byte, parts ...[]byte) []byte {
	return l.context.Wrap(dst, l.seal, parts...)
}
func (l *gssLayer) Unwrap(token []byte) ([]byte, error) { return l.context.Unwrap(token, l.seal) }
func (l *gssLayer) Most() int                           { return l.most }

// Least returns the length of an empty signed token with SHA-1.
func (l *gssLayer) Least() int { return 28 }
