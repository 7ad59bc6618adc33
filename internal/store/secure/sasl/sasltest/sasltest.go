// Package sasltest is the server's side of package sasl, for tests.
package sasltest

import (
	"errors"
	"fmt"

	"usertrail/internal/store/secure/gss/gsstest"
	"usertrail/internal/store/secure/sasl"
)

// A Server is the server's side of one GSSAPI exchange.
type Server struct {
	Service *gsstest.Service
	Offers  []sasl.Protection
	Reply   gsstest.Reply
	Largest uint32 // that it accepts; 10000h if 0

	context *gsstest.Context
	step    int
	chosen  sasl.Protection
}

// Next returns the challenge to a token of the client. done reports that the client has spoken last.
func (s *Server) Next(token []byte) (challenge []byte, done bool, err error) {
	s.step++
	switch s.step {
	case 1:
		s.context, challenge, err = s.Service.Accept(token, s.Reply)
		return challenge, false, err
	case 2:
		if len(token) != 0 {
			return nil, false, fmt.Errorf("% x instead of an empty token", token)
		}
		largest := s.Largest
		if largest == 0 {
			largest = 0x10000
		}
		layers := []byte{0, byte(largest >> 16), byte(largest >> 8), byte(largest)}
		for _, p := range s.Offers {
			layers[0] |= 1 << (p - 1)
		}
		return s.context.Wrap(false, layers, 0, 0), false, nil
	}
	b, sealed, err := s.context.Unwrap(token)
	if err != nil || sealed || len(b) != 4 {
		return nil, false, fmt.Errorf("choice % x, sealed %v: %w", b, sealed, errors.Join(err, errors.New("is none")))
	}
	for _, p := range s.Offers {
		if b[0] == 1<<(p-1) {
			s.chosen = p
			return nil, true, nil
		}
	}
	return nil, false, fmt.Errorf("choice % x was not offered", b)
}

// Client returns who the client is: user@REALM.
func (s *Server) Client() string { return s.context.Client }

// Protection returns what the client chose.
func (s *Server) Protection() sasl.Protection { return s.chosen }

// Context returns the context of the exchange.
func (s *Server) Context() *gsstest.Context { return s.context }

// Wrap returns a token with data.
func (s *Server) Wrap(data []byte) []byte {
	return s.context.Wrap(s.chosen == sasl.Privacy, data, 0, 0)
}

// Unwrap opens a token of the client, which must have the protection that was chosen.
func (s *Server) Unwrap(token []byte) ([]byte, error) {
	data, sealed, err := s.context.Unwrap(token)
	if err == nil && sealed != (s.chosen == sasl.Privacy) {
		err = errors.New("the token has another protection")
	}
	return data, err
}
