package rpc

import (
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"usertrail/internal/store/hbase/wire"
	"usertrail/internal/store/secure/sasl"
)

// An Auth is how a client proves to one server who it is.
type Auth struct {
	Method    wire.Method // Kerberos or Token
	Mechanism sasl.Mechanism
}

const (
	// maxToken is the number of bytes of the longest token of a server that has not proved who
	// it is yet, and of the texts of its refusal.
	maxToken = 1 << 20
	// toSimple is the length that asks a client to continue without authentication.
	toSimple = -88
	// refusal is the status of a refusal. It comes in place of the length of the first response,
	// and no response is that short.
	refusal = 1
)

// secure starts TLS on the connection and authenticates both sides, as o requires. It returns the
// connection for the bytes that follow, and the mechanism if there was an exchange.
func (o Options) secure(ctx context.Context, nc net.Conn, addr string) (net.Conn, sasl.Mechanism, error) {
	if o.TLS == nil && o.Auth == nil {
		return nc, nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, o.DialTimeout)
	defer cancel()
	if o.TLS != nil {
		var err error
		if nc, err = startTLS(ctx, nc, addr, o.TLS); err != nil {
			return nil, nil, err
		}
	}
	if o.Auth == nil {
		return nc, nil, nil
	}
	a, err := o.Auth(ctx)
	if err != nil {
		return nil, nil, err
	}
	stop := context.AfterFunc(ctx, func() { _ = nc.SetDeadline(time.Unix(1, 0)) })
	err = authenticate(nc, a)
	if !stop() {
		return nil, nil, context.Cause(ctx)
	}
	if err != nil {
		return nil, nil, err
	}
	return nc, a.Mechanism, nil
}

// startTLS makes nc a connection with TLS. The server's certificate must be for the host of addr.
func startTLS(ctx context.Context, nc net.Conn, addr string, cfg *tls.Config) (net.Conn, error) {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, err
	}
	cfg = cfg.Clone()
	cfg.ServerName = host
	c := tls.Client(nc, cfg)
	err = c.HandshakeContext(ctx)
	if _, plain := errors.AsType[tls.RecordHeaderError](err); plain {
		return nil, fmt.Errorf("%w: %w", ErrNoTLS, err)
	}
	if err != nil {
		return nil, fmt.Errorf("TLS: %w", err)
	}
	return c, nil
}

// authenticate makes the exchange of a mechanism:
//
//	client  "HBas" | 00 | method    repeat  int32 n | token
//	server                          repeat  int32 0 | int32 n | token
//	                                        int32 1 | int32 n | class | int32 n | message
//
// A client that speaks last gets no response but a refusal, in place of the response to its first call.
func authenticate(nc net.Conn, a Auth) error {
	token, err := a.Mechanism.Start()
	if err != nil {
		return err
	}
	first := wire.AppendMagic(nil, a.Method)
	for {
		if _, err := nc.Write(appendToken(first, token)); err != nil {
			return err
		}
		if a.Mechanism.Done() {
			return nil
		}
		first = nil
		if token, err = readToken(nc); err != nil {
			return err
		}
		if token, err = a.Mechanism.Next(token); err != nil {
			return err
		}
		if a.Mechanism.Done() && !a.Mechanism.LastWord() {
			return nil
		}
	}
}

func appendToken(dst, token []byte) []byte {
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(token)))
	return append(dst, token...)
}

// readToken reads a response of the server. Its refusal is a *ServerError.
func readToken(in io.Reader) ([]byte, error) {
	status, err := readInt(in)
	if err != nil {
		return nil, fmt.Errorf("response to the authentication: %w", err)
	}
	if status != 0 {
		if status != refusal {
			return nil, fmt.Errorf("%w: status %d", sasl.ErrProtocol, status)
		}
		return nil, readRefusal(in)
	}
	n, err := readInt(in)
	if err != nil {
		return nil, fmt.Errorf("response to the authentication: %w", err)
	}
	if n == toSimple {
		return nil, ErrSimple
	}
	return readBytes(in, n)
}

// readRefusal reads the rest of a refusal and returns it as an error.
func readRefusal(in io.Reader) error {
	var text [2]string
	for i := range text {
		n, err := readInt(in)
		if err != nil {
			return fmt.Errorf("refusal of the server: %w", err)
		}
		b, err := readBytes(in, n)
		if err != nil {
			return fmt.Errorf("refusal of the server: %w", err)
		}
		text[i] = string(b)
	}
	return &ServerError{Class: text[0], Message: text[1]}
}

func readInt(in io.Reader) (int, error) {
	var b [4]byte
	_, err := io.ReadFull(in, b[:])
	return int(int32(binary.BigEndian.Uint32(b[:]))), err
}

func readBytes(in io.Reader, n int) ([]byte, error) {
	if n < 0 || n > maxToken {
		return nil, fmt.Errorf("%w: token of %d bytes", sasl.ErrProtocol, n)
	}
	b := make([]byte, n)
	_, err := io.ReadFull(in, b)
	return b, err
}

// writer returns the function that sends the frames of several calls.
func (c *Conn) writer() func(net.Buffers) error {
	if c.layer != nil {
		w := sasl.NewWriter(c.net, c.layer)
		return func(frames net.Buffers) error { return w.WriteAll(frames...) }
	}
	if _, ok := c.net.(*tls.Conn); ok {
		// Each write is at least one record and one system call.
		var joint []byte
		return func(frames net.Buffers) error {
			joint = joint[:0]
			for _, f := range frames {
				joint = append(joint, f...)
			}
			_, err := c.net.Write(joint)
			if cap(joint) > 2*writeSize {
				joint = nil
			}
			return err
		}
	}
	return func(frames net.Buffers) error {
		_, err := frames.WriteTo(c.net)
		return err
	}
}
