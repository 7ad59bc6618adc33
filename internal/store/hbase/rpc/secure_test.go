package rpc_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"usertrail/internal/store/hbase/rpc"
	"usertrail/internal/store/hbase/wire"
	"usertrail/internal/store/secure/etype"
	"usertrail/internal/store/secure/gss"
	"usertrail/internal/store/secure/gss/gsstest"
	"usertrail/internal/store/secure/sasl"
	"usertrail/internal/store/secure/sasl/sasltest"
)

// A kerberized server is one connection of a server with Kerberos.
type kerberized struct {
	net.Conn
	sasl *sasltest.Server
	in   []byte // unwrapped and not read yet
}

// read reads n bytes of the client.
func (k *kerberized) read(n int) ([]byte, error) {
	if k.sasl.Protection() <= sasl.Authentication {
		b := make([]byte, n)
		_, err := io.ReadFull(k, b)
		return b, err
	}
	for len(k.in) < n {
		token, err := readPart(k)
		if err != nil {
			return nil, err
		}
		data, err := k.sasl.Unwrap(token)
		if err != nil {
			return nil, err
		}
		k.in = append(k.in, data...)
	}
	b := k.in[:n]
	k.in = k.in[n:]
	return b, nil
}

// write sends bytes to the client.
func (k *kerberized) write(b []byte) error {
	if k.sasl.Protection() > sasl.Authentication {
		b = part(k.sasl.Wrap(b))
	}
	_, err := k.Write(b)
	return err
}

// part returns b behind its length.
func part(b []byte) []byte { return append(binary.BigEndian.AppendUint32(nil, uint32(len(b))), b...) }

func readPart(in io.Reader) ([]byte, error) {
	var n [4]byte
	if _, err := io.ReadFull(in, n[:]); err != nil {
		return nil, err
	}
	b := make([]byte, binary.BigEndian.Uint32(n[:]))
	_, err := io.ReadFull(in, b)
	return b, err
}

// exchange is the server's side of the handshake.
func (k *kerberized) exchange() error {
	var magic [6]byte
	if _, err := io.ReadFull(k, magic[:]); err != nil || string(magic[:]) != "HBas\x00\x51" {
		return fmt.Errorf("the client begins with % x, %w", magic, err)
	}
	for {
		token, err := readPart(k)
		if err != nil {
			return err
		}
		challenge, done, err := k.sasl.Next(token)
		if err != nil || done {
			return err
		}
		if _, err := k.Write(append(make([]byte, 4), part(challenge)...)); err != nil {
			return err
		}
	}
}

// respond sends an empty message for each call, until the client has gone.
func (k *kerberized) respond() error {
	n, err := k.read(4)
	if err != nil {
		return err
	}
	header, err := k.read(int(binary.BigEndian.Uint32(n)))
	if err != nil {
		return err
	}
	if strings.Contains(string(header), "alice") {
		return errors.New("the header names the user")
	}
	for {
		n, err := k.read(4)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		call, err := k.read(int(binary.BigEndian.Uint32(n)))
		if err != nil {
			return err
		}
		id := call[2] // varint header length, 08, ID below 128
		if err := k.write([]byte{0, 0, 0, 4, 2, 8, id, 0}); err != nil {
			return err
		}
	}
}

var refused = append(append([]byte{0, 0, 0, 1}, part([]byte("javax.security.sasl.SaslException"))...), part([]byte("GSS initiate failed"))...)

// kerberizedServer serves connections by handle, and returns the address and a client's options.
func kerberizedServer(t *testing.T, s sasltest.Server, p sasl.Policy, handle func(*kerberized) error) (string, rpc.Options) {
	t.Helper()
	s.Service = gsstest.NewService(t, "hbase/rs1.test", etype.AES256SHA1)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			nc, err := l.Accept()
			if err != nil {
				return
			}
			server := s
			if err := handle(&kerberized{Conn: nc, sasl: &server}); err != nil {
				t.Errorf("the server: %v", err)
			}
			nc.Close()
		}
	}()
	t.Cleanup(func() { l.Close(); <-done })
	service := s.Service
	return l.Addr().String(), rpc.Options{Auth: func(context.Context) (rpc.Auth, error) {
		return rpc.Auth{Method: wire.Kerberos, Mechanism: sasl.NewGSSAPI(service.Ticket(t, "alice"), p)}, nil
	}}
}

func honest(k *kerberized) error {
	if err := k.exchange(); err != nil {
		return err
	}
	return k.respond()
}

func TestCallsTravelInEachProtection(t *testing.T) {
	for p := sasl.Authentication; p <= sasl.Privacy; p++ {
		addr, o := kerberizedServer(t, sasltest.Server{Offers: []sasl.Protection{p}}, sasl.Policy{Listed: []sasl.Protection{p}}, honest)
		c, err := rpc.Dial(t.Context(), addr, wire.ClientService, "", o)
		if err != nil {
			t.Fatalf("%v: %v", p, err)
		}
		for _, n := range []int{0, 10, 200_000} {
			r, err := c.Call(t.Context(), "Get", wire.Raw(make([]byte, n)), nil)
			if err != nil {
				t.Fatalf("%v, %d bytes: %v", p, n, err)
			}
			r.Release()
		}
		c.Close()
	}
}

func TestWhatAServerRefusesIsSaid(t *testing.T) {
	say := func(after int, b []byte) func(*kerberized) error {
		return func(k *kerberized) error {
			if after == 0 {
				if err := k.exchange(); err != nil {
					return err
				}
			} else if _, err := io.ReadFull(k, make([]byte, after)); err != nil {
				return err
			}
			_, err := k.Write(b)
			return errors.Join(err, drain(k))
		}
	}
	all := []sasl.Protection{sasl.Authentication, sasl.Integrity, sasl.Privacy}
	for name, c := range map[string]struct {
		handle func(*kerberized) error
		server sasltest.Server
		policy sasl.Policy
		inCall bool // the connection is made
		is     error
		says   string
	}{
		"at once":              {say(6, refused), sasltest.Server{}, sasl.Policy{}, false, nil, "GSS initiate failed"},
		"last, authentication": {say(0, refused), sasltest.Server{Offers: all}, sasl.Policy{}, true, nil, "GSS initiate failed"},
		"last, privacy":        {say(0, refused), sasltest.Server{Offers: all}, sasl.Policy{Listed: all}, true, nil, "GSS initiate failed"},
		"no Kerberos":          {say(6, []byte{0, 0, 0, 0, 0xff, 0xff, 0xff, 0xa8}), sasltest.Server{}, sasl.Policy{}, false, rpc.ErrSimple, ""},
		"another status":       {say(6, []byte{0, 0, 0, 2}), sasltest.Server{}, sasl.Policy{}, false, sasl.ErrProtocol, "status 2"},
		"a long token":         {say(6, []byte{0, 0, 0, 0, 0x7f, 0, 0, 0}), sasltest.Server{}, sasl.Policy{}, false, sasl.ErrProtocol, ""},
		"closed":               {say(6, nil), sasltest.Server{}, sasl.Policy{}, false, io.EOF, ""},
		"too weak":             {func(k *kerberized) error { _ = k.exchange(); return nil }, sasltest.Server{Offers: all[:2]}, sasl.Policy{Listed: all[2:]}, false, sasl.ErrWeak, ""},
		"an impostor":          {func(k *kerberized) error { _ = k.exchange(); return nil }, sasltest.Server{Offers: all, Reply: gsstest.Reply{OtherKey: true}}, sasl.Policy{}, false, gss.ErrServer, ""},
	} {
		addr, o := kerberizedServer(t, c.server, c.policy, c.handle)
		conn, err := rpc.Dial(t.Context(), addr, wire.ClientService, "", o)
		if c.inCall && err == nil {
			_, err = conn.Call(t.Context(), "Get", wire.Raw(nil), nil)
			conn.Close()
		}
		if err == nil || c.is != nil && !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v; want %v and %q", name, err, c.is, c.says)
		}
		if _, isServer := errors.AsType[*rpc.ServerError](err); isServer != (c.says == "GSS initiate failed") {
			t.Errorf("%s: %v is a refusal of the server: %v", name, err, isServer)
		}
	}
}

// drain reads until the client has closed the connection.
func drain(k *kerberized) error {
	_ = k.Conn.(*net.TCPConn).CloseWrite()
	_, err := io.Copy(io.Discard, k)
	if errors.Is(err, net.ErrClosed) || err != nil && strings.Contains(err.Error(), "reset") {
		return nil
	}
	return err
}

// TestAHandshakeEndsWithItsTime has a server that accepts the connection and sends nothing.
func TestAHandshakeEndsWithItsTime(t *testing.T) {
	addr, o := kerberizedServer(t, sasltest.Server{}, sasl.Policy{}, func(k *kerberized) error {
		_, err := io.Copy(io.Discard, k)
		return err
	})
	o.DialTimeout = time.Millisecond
	o.Dial = func(_ context.Context, addr string) (net.Conn, error) { return net.Dial("tcp", addr) } // the time is only for the handshake
	if _, err := rpc.Dial(t.Context(), addr, wire.ClientService, "", o); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v, want DeadlineExceeded", err)
	}
	o.DialTimeout = time.Hour
	cause := errors.New("the test ends it")
	ctx, cancel := context.WithCancelCause(t.Context())
	auth := o.Auth
	o.Auth = func(ctx context.Context) (rpc.Auth, error) {
		cancel(cause)
		return auth(ctx)
	}
	if _, err := rpc.Dial(ctx, addr, wire.ClientService, "", o); !errors.Is(err, cause) {
		t.Errorf("%v, want %v", err, cause)
	}
}

// TestTLSIsAroundEverything has servers with TLS, with Kerberos and without, and one without TLS.
func TestTLSIsAroundEverything(t *testing.T) {
	web := httptest.NewUnstartedServer(nil)
	web.StartTLS()
	defer web.Close()
	roots := x509.NewCertPool()
	roots.AddCert(web.Certificate())
	integrity := []sasl.Protection{sasl.Integrity}
	addr, o := kerberizedServer(t, sasltest.Server{Offers: integrity}, sasl.Policy{Listed: integrity}, func(k *kerberized) error {
		k.Conn = tls.Server(k.Conn, &tls.Config{Certificates: web.TLS.Certificates})
		return honest(k)
	})
	o.TLS = &tls.Config{RootCAs: roots}
	c, err := rpc.Dial(t.Context(), addr, wire.ClientService, "", o)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	r, err := c.Call(t.Context(), "Get", wire.Raw(nil), nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Release()

	plain, o := kerberizedServer(t, sasltest.Server{}, sasl.Policy{}, func(k *kerberized) error {
		_, err := k.Write([]byte("\x00\x00\x00\x10not TLS at all.."))
		return errors.Join(err, drain(k))
	})
	o.TLS = &tls.Config{RootCAs: roots}
	if _, err := rpc.Dial(t.Context(), plain, wire.ClientService, "", o); !errors.Is(err, rpc.ErrNoTLS) {
		t.Errorf("a server without TLS: %v, want ErrNoTLS", err)
	}
}

// FuzzHandshake reads the bytes of a server that is not authenticated.
func FuzzHandshake(f *testing.F) {
	service := gsstest.NewService(f, "hbase/rs1.test", etype.AES256SHA1)
	ticket := service.Ticket(f, "alice")
	f.Add(refused)
	f.Add([]byte{0, 0, 0, 0, 0xff, 0xff, 0xff, 0xa8})
	f.Add(append(make([]byte, 4), part([]byte("token"))...))
	f.Fuzz(func(t *testing.T, said []byte) {
		o := rpc.Options{
			Auth: func(context.Context) (rpc.Auth, error) {
				return rpc.Auth{Method: wire.Kerberos, Mechanism: sasl.NewGSSAPI(ticket, sasl.Policy{})}, nil
			},
			Dial: func(context.Context, string) (net.Conn, error) {
				a, b := net.Pipe()
				go func() {
					go func() { _, _ = io.Copy(io.Discard, b) }()
					_, _ = b.Write(said)
					b.Close()
				}()
				return a, nil
			},
		}
		if c, err := rpc.Dial(t.Context(), "rs1.test:16020", wire.ClientService, "", o); err == nil {
			c.Close()
			t.Errorf("% x makes a connection", said)
		}
	})
}
