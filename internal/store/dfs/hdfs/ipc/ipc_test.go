package ipc

import (
	"bytes"
	"errors"
	"io"
	"net"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"usertrail/internal/store/secure/etype"
	"usertrail/internal/store/secure/gss"
	"usertrail/internal/store/secure/gss/gsstest"
	"usertrail/internal/store/secure/sasl"
	"usertrail/internal/store/secure/sasl/sasltest"
)

// A nameNode is one connection of a NameNode with Kerberos.
type nameNode struct {
	net.Conn
	sasl   *sasltest.Server
	offers []Auth
}

// responsePacket returns a packet of the server.
func responsePacket(call int32, body []byte) []byte {
	head := number(nil, responseCall, uint64(uint32(call)))
	return join(number(head, responseStatus, 0), body)
}

func saslBody(s state, token []byte, offers ...Auth) []byte {
	b := number(nil, saslState, uint64(s))
	if token != nil {
		b = octets(b, saslToken, token)
	}
	for _, a := range offers {
		var auth []byte
		for i, v := range []string{a.Method, a.Mechanism, a.Protocol, a.Server} {
			auth = octets(auth, protowire.Number(i+1), []byte(v))
		}
		if a.Challenge != nil {
			auth = octets(auth, authChallenge, a.Challenge)
		}
		b = octets(b, saslAuths, auth)
	}
	return b
}

// request reads a packet of the client, and returns its messages without the header.
func (s *nameNode) request() ([][]byte, error) {
	b, err := readPacket(s.Conn, maxHandshake)
	if err != nil {
		return nil, err
	}
	var all [][]byte
	for len(b) > 0 {
		m, n := protowire.ConsumeBytes(b)
		if n < 0 {
			return nil, protowire.ParseError(n)
		}
		all, b = append(all, m), b[n:]
	}
	return all[1:], nil
}

// saslMessage reads a message RpcSaslProto of the client.
func (s *nameNode) saslMessage() (message, error) {
	all, err := s.request()
	if err != nil {
		return message{}, err
	}
	return parsePacket(responsePacket(saslCall, all[0])[lengthLen:])
}

// serve makes the exchange, and echoes packets.
func (s *nameNode) serve() error {
	first := make([]byte, headerLen)
	if _, err := io.ReadFull(s.Conn, first); err != nil || !bytes.Equal(first, hello) {
		return errors.Join(err, errors.New("no greeting"))
	}
	m, err := s.saslMessage()
	if err != nil || m.state != negotiate {
		return errors.Join(err, errors.New("no NEGOTIATE"))
	}
	if _, err := s.Write(responsePacket(saslCall, saslBody(negotiate, nil, s.offers...))); err != nil {
		return err
	}
	for {
		if m, err = s.saslMessage(); err != nil {
			return err
		}
		token, done, err := s.sasl.Next(m.token)
		if err != nil {
			return err
		}
		out := saslBody(challenge, token)
		if done {
			out = saslBody(success, nil)
		}
		if _, err := s.Write(responsePacket(saslCall, out)); err != nil {
			return err
		}
		if done {
			return s.echo()
		}
	}
}

// echo sends back what the client sends.
func (s *nameNode) echo() error {
	for {
		if s.sasl.Protection() == sasl.Authentication {
			b, err := readPacket(s.Conn, maxHandshake)
			if err != nil {
				return err
			}
			if _, err := s.Write(append([]byte{0, 0, byte(len(b) >> 8), byte(len(b))}, b...)); err != nil {
				return err
			}
			continue
		}
		m, err := s.saslMessage()
		if err != nil {
			return err
		}
		if m.state != wrap {
			return errors.New("a packet that is not wrapped")
		}
		data, err := s.sasl.Unwrap(bytes.Clone(m.token))
		if err != nil {
			return err
		}
		if _, err := s.Write(responsePacket(saslCall, saslBody(wrap, s.sasl.Wrap(data)))); err != nil {
			return err
		}
	}
}

var kerberosOffer = Auth{Method: "KERBEROS", Mechanism: "GSSAPI", Protocol: "nn", Server: "host.test"}

// secure connects a client to a NameNode.
func secure(t *testing.T, s sasltest.Server, p sasl.Policy, serve func(*nameNode) error) (*Conn, error) {
	t.Helper()
	s.Service = gsstest.NewService(t, "nn/host.test", etype.AES256SHA1)
	ticket := s.Service.Ticket(t, "alice")
	a, b := net.Pipe()
	t.Cleanup(func() { a.Close() })
	go func() {
		_ = serve(&nameNode{Conn: b, sasl: &s, offers: []Auth{{Method: "TOKEN", Mechanism: "DIGEST-MD5", Server: "default", Challenge: []byte("x")}, kerberosOffer}})
		b.Close()
	}()
	return Secure(a, func(offers []Auth) (Auth, sasl.Mechanism, error) {
		o, ok := Offered(offers, "KERBEROS")
		if !ok || o.Principal() != "nn/host.test" || len(offers) != 2 || string(offers[0].Challenge) != "x" {
			t.Errorf("the offers are %+v", offers)
		}
		return o, sasl.NewGSSAPI(ticket, p), nil
	})
}

func TestPacketsTravelInEachProtection(t *testing.T) {
	for p := sasl.Authentication; p <= sasl.Privacy; p++ {
		c, err := secure(t, sasltest.Server{Offers: []sasl.Protection{p}}, sasl.Policy{Listed: []sasl.Protection{p}}, (*nameNode).serve)
		if err != nil {
			t.Fatalf("%v: %v", p, err)
		}
		if c.Protection() != p {
			t.Errorf("the protection is %v, want %v", c.Protection(), p)
		}
		// The library greets, in pieces or together with its first packet.
		packet := append([]byte{0, 0, 0x1f, 0x40}, bytes.Repeat([]byte("x"), 8000)...)
		for _, b := range [][]byte{[]byte("hrpc"), append([]byte("\x09\x00\x00"), packet...), packet} {
			if n, err := c.Write(b); n != len(b) || err != nil {
				t.Fatalf("%v: wrote %d of %d bytes, %v", p, n, len(b), err)
			}
			if len(b) < len(packet) {
				continue
			}
			got := make([]byte, len(packet))
			if _, err := io.ReadFull(c, got); err != nil || !bytes.Equal(got, packet) {
				t.Errorf("%v: the response is % x, %v", p, got[:8], err)
			}
		}
	}
}

func TestNameNodesThatDoNotFitAreRefused(t *testing.T) {
	all := []sasl.Protection{sasl.Authentication, sasl.Integrity, sasl.Privacy}
	first := func(out []byte) func(*nameNode) error {
		return func(s *nameNode) error {
			if _, err := io.ReadFull(s.Conn, make([]byte, headerLen)); err != nil {
				return err
			}
			if _, err := s.saslMessage(); err != nil {
				return err
			}
			_, err := s.Write(out)
			return err
		}
	}
	exception := octets(octets(number(number(nil, responseCall, uint64(uint32(0xffffffdf))), responseStatus, 2), responseClass, []byte("org.apache.hadoop.ipc.X")), responseText, []byte("no"))
	for name, c := range map[string]struct {
		serve  func(*nameNode) error
		server sasltest.Server
		is     error
		says   string
	}{
		"no authentication": {first(responsePacket(saslCall, saslBody(success, nil))), sasltest.Server{}, ErrSimple, ""},
		"another state":     {first(responsePacket(saslCall, saslBody(challenge, nil))), sasltest.Server{}, sasl.ErrProtocol, "state 3"},
		"another call":      {first(responsePacket(5, saslBody(negotiate, nil))), sasltest.Server{}, sasl.ErrProtocol, "call 5"},
		"an exception":      {first(join(exception)), sasltest.Server{}, nil, "org.apache.hadoop.ipc.X: no"},
		"a long packet":     {first([]byte{0x7f, 0, 0, 0}), sasltest.Server{}, sasl.ErrProtocol, "packet of"},
		"nothing":           {first(nil), sasltest.Server{}, io.EOF, ""},
		"too weak":          {(*nameNode).serve, sasltest.Server{Offers: all[:2]}, sasl.ErrWeak, ""},
		"an impostor":       {(*nameNode).serve, sasltest.Server{Offers: all, Reply: gsstest.Reply{OtherKey: true}}, gss.ErrServer, ""},
		"early success": {func(s *nameNode) error {
			if err := first(responsePacket(saslCall, saslBody(negotiate, nil, s.offers...)))(s); err != nil {
				return err
			}
			if _, err := s.saslMessage(); err != nil {
				return err
			}
			_, err := s.Write(responsePacket(saslCall, saslBody(success, nil)))
			return err
		}, sasltest.Server{}, sasl.ErrProtocol, "ended the exchange early"},
	} {
		_, err := secure(t, c.server, sasl.Policy{Listed: all[2:]}, c.serve)
		if err == nil || c.is != nil && !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v; want %v and %q", name, err, c.is, c.says)
		}
	}
}

// TestABarePacketIsRefused has a NameNode that leaves out the protection.
func TestABarePacketIsRefused(t *testing.T) {
	c, err := secure(t, sasltest.Server{Offers: []sasl.Protection{sasl.Integrity}}, sasl.Policy{Listed: []sasl.Protection{sasl.Integrity}}, func(s *nameNode) error {
		return s.serveBare()
	})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if n, err := c.Read(make([]byte, 10)); !errors.Is(err, sasl.ErrProtocol) {
			t.Errorf("%d bytes, %v; want ErrProtocol", n, err)
		}
	}
}

// serveBare makes the exchange, and then responds without protection.
func (s *nameNode) serveBare() error {
	if _, err := io.ReadFull(s.Conn, make([]byte, headerLen)); err != nil {
		return err
	}
	if _, err := s.saslMessage(); err != nil {
		return err
	}
	out := saslBody(negotiate, nil, s.offers...)
	for done := false; ; {
		if _, err := s.Write(responsePacket(saslCall, out)); err != nil || done {
			_, err = s.Write(responsePacket(saslCall, saslBody(success, nil)))
			return err
		}
		m, err := s.saslMessage()
		if err != nil {
			return err
		}
		var token []byte
		if token, done, err = s.sasl.Next(m.token); err != nil {
			return err
		}
		if out = saslBody(challenge, token); done {
			out = saslBody(success, nil)
		}
	}
}

// FuzzNameNode reads packets of servers that are not known yet.
func FuzzNameNode(f *testing.F) {
	f.Add(responsePacket(saslCall, saslBody(negotiate, nil, kerberosOffer)))
	f.Add(append(responsePacket(saslCall, saslBody(negotiate, nil, kerberosOffer)), responsePacket(saslCall, saslBody(challenge, []byte("token")))...))
	service := gsstest.NewService(f, "nn/host.test", etype.AES256SHA1)
	ticket := service.Ticket(f, "alice")
	f.Fuzz(func(t *testing.T, said []byte) {
		a, b := net.Pipe()
		defer a.Close()
		go func() {
			go func() { _, _ = io.Copy(io.Discard, b) }()
			_, _ = b.Write(said)
			b.Close()
		}()
		if _, err := Secure(a, func(offers []Auth) (Auth, sasl.Mechanism, error) {
			if len(offers) == 0 {
				return Auth{}, nil, ErrSimple
			}
			return offers[0], sasl.NewGSSAPI(ticket, sasl.Policy{}), nil
		}); err == nil {
			t.Errorf("% x secures a connection", said)
		}
	})
}
