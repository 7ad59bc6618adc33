// Package ipc secures a connection to a NameNode: it makes the exchange of SASL in Hadoop's RPC
// protocol, and protects what follows. RpcHeader.proto and IpcConnectionContext.proto of Hadoop have
// the messages.
//
//	client  "hrpc" | 09 | 00 | df
//	packet  int32 length | varint | header | varint | message …
//
//	client  RpcSaslProto NEGOTIATE                 server  NEGOTIATE, the mechanisms that it offers
//	client  INITIATE, a mechanism and its token    server  CHALLENGE, a token
//	client  RESPONSE, a token                      server  SUCCESS, perhaps a token
//
// All of these have the call ID -33. If signed or sealed bytes were agreed on, each later packet of
// both sides is a token in a message RpcSaslProto WRAP.
//
// A client library that knows nothing of this speaks over a Conn as over a connection without
// authentication.
package ipc

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"net"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"

	"usertrail/internal/store/protofield"
	"usertrail/internal/store/secure/sasl"
)

// ErrSimple is wrapped if the server does not require authentication.
var ErrSimple = errors.New("the NameNode does not ask for Kerberos")

// A ServerError is an exception of the server.
type ServerError struct {
	Class   string // of Java
	Message string
}

func (e *ServerError) Error() string { return e.Class + ": " + e.Message }

// An Auth is a mechanism that a server offers.
type Auth struct {
	Method    string // KERBEROS, TOKEN or SIMPLE
	Mechanism string // of SASL
	Protocol  string // the server's principal is Protocol/Server
	Server    string
	Challenge []byte // the first token of the server, if it speaks first

	raw []byte // the message, without the challenge
}

const (
	headerLen    = 7
	lengthLen    = 4
	saslCall     = -33
	contextCall  = -3
	maxHandshake = 1 << 20
	// MaxPacket is the number of bytes of the longest packet that is read (ipc.maximum.response.length).
	MaxPacket = 128 << 20
)

// hello begins a connection with SASL.
var hello = []byte("hrpc\x09\x00\xdf")

// A state is the state of a message RpcSaslProto.
type state uint64

const (
	success state = iota
	negotiate
	initiate
	challenge
	response
	wrap
)

// A Choose returns the offer that the client accepts, and its side of the exchange.
type Choose func(offers []Auth) (Auth, sasl.Mechanism, error)

// Secure makes the exchange on nc. The caller limits its time by deadlines of nc.
func Secure(nc net.Conn, choose Choose) (*Conn, error) {
	c := &Conn{Conn: nc}
	first := append(slices.Clone(hello), packet(message{state: negotiate})...)
	if _, err := nc.Write(first); err != nil {
		return nil, err
	}
	m, err := c.receive(negotiate)
	if err != nil {
		return nil, err
	}
	auth, mechanism, err := choose(m.auths)
	if err != nil {
		return nil, err
	}
	if err := c.exchange(auth, mechanism); err != nil {
		return nil, err
	}
	c.layer, c.protection = mechanism.Layer(), mechanism.Protection()
	return c, nil
}

// exchange makes the exchange of a mechanism.
func (c *Conn) exchange(auth Auth, m sasl.Mechanism) error {
	token, err := m.Start()
	if err == nil && auth.Challenge != nil {
		token, err = m.Next(auth.Challenge)
	}
	if err != nil {
		return err
	}
	out := message{state: initiate, token: token, auths: []Auth{auth}}
	for {
		if _, err := c.Conn.Write(packet(out)); err != nil {
			return err
		}
		in, err := c.receive(challenge, success)
		if err != nil {
			return err
		}
		if in.state == success {
			return finish(m, in.token)
		}
		if token, err = m.Next(in.token); err != nil {
			return err
		}
		out = message{state: response, token: token}
	}
}

// finish checks that the client is satisfied, too, when the server is.
func finish(m sasl.Mechanism, token []byte) error {
	if len(token) > 0 {
		if _, err := m.Next(token); err != nil {
			return err
		}
	}
	if !m.Done() {
		return fmt.Errorf("%w: it ended the exchange early", sasl.ErrProtocol)
	}
	return nil
}

// receive reads a message of SASL in one of some states.
func (c *Conn) receive(want ...state) (message, error) {
	b, err := readPacket(c.Conn, maxHandshake)
	if err != nil {
		return message{}, fmt.Errorf("response to the authentication: %w", err)
	}
	m, err := parsePacket(b)
	switch {
	case err != nil:
		return m, err
	case m.state == success && !slices.Contains(want, success):
		return m, ErrSimple
	case !slices.Contains(want, m.state):
		return m, fmt.Errorf("%w: state %d", sasl.ErrProtocol, m.state)
	}
	return m, nil
}

// A Conn is a connection on which both sides have proved who they are. One goroutine may read
// while another writes. A write must have whole packets.
type Conn struct {
	net.Conn
	layer      sasl.Layer // nil if bytes are not protected
	protection sasl.Protection
	greeted    int    // bytes of the library's own greeting that were dropped
	unread     []byte // of the last token
	out        []byte
	broken     error
}

// Protection returns the protection that was agreed on.
func (c *Conn) Protection() sasl.Protection { return c.protection }

// Write sends packets. It drops the greeting of a connection without authentication, with which
// the library begins.
func (c *Conn) Write(b []byte) (int, error) {
	n := min(headerLen-c.greeted, len(b))
	c.greeted += n
	if rest := b[n:]; len(rest) > 0 {
		if err := c.send(rest); err != nil {
			return 0, err
		}
	}
	return len(b), nil
}

// send writes bytes in tokens.
func (c *Conn) send(b []byte) error {
	if c.layer == nil {
		_, err := c.Conn.Write(b)
		return err
	}
	c.out = c.out[:0]
	for len(b) > 0 {
		n := min(len(b), c.layer.Most())
		c.out = append(c.out, packet(message{state: wrap, token: c.layer.Wrap(nil, b[:n])})...)
		b = b[n:]
	}
	_, err := c.Conn.Write(c.out)
	return err
}

// Read reads the content of the server's tokens.
func (c *Conn) Read(p []byte) (int, error) {
	if c.layer == nil {
		return c.Conn.Read(p)
	}
	for len(c.unread) == 0 && len(p) > 0 {
		if c.broken != nil {
			return 0, c.broken
		}
		if c.unread, c.broken = c.next(); c.broken != nil {
			return 0, c.broken
		}
	}
	n := copy(p, c.unread)
	c.unread = c.unread[n:]
	return n, nil
}

// next reads one token.
func (c *Conn) next() ([]byte, error) {
	b, err := readPacket(c.Conn, MaxPacket)
	if err != nil {
		return nil, err
	}
	m, err := parsePacket(b)
	if err != nil {
		return nil, err
	}
	if m.state != wrap {
		return nil, fmt.Errorf("%w: state %d where bytes are protected", sasl.ErrProtocol, m.state)
	}
	return c.layer.Unwrap(bytes.Clone(m.token))
}

// readPacket reads a packet without its length.
func readPacket(in io.Reader, limit int) ([]byte, error) {
	var length [lengthLen]byte
	if _, err := io.ReadFull(in, length[:]); err != nil {
		return nil, err
	}
	n := int(int32(binary.BigEndian.Uint32(length[:])))
	if n <= 0 || n > limit {
		return nil, fmt.Errorf("%w: packet of %d bytes", sasl.ErrProtocol, n)
	}
	var b bytes.Buffer // it grows as the bytes arrive, because the length may be a lie
	if _, err := io.CopyN(&b, in, int64(n)); err != nil {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return nil, err
	}
	return b.Bytes(), nil
}

// A message is RpcSaslProto.
type message struct {
	state state
	token []byte
	auths []Auth
}

// Fields of the messages.
const (
	headerKind     = protowire.Number(1) // of RpcRequestHeaderProto
	headerOp       = protowire.Number(2)
	headerCall     = protowire.Number(3)
	headerClient   = protowire.Number(4)
	headerRetry    = protowire.Number(5)
	responseCall   = protowire.Number(1) // of RpcResponseHeaderProto
	responseStatus = protowire.Number(2)
	responseClass  = protowire.Number(4)
	responseText   = protowire.Number(5)
	saslState      = protowire.Number(2) // of RpcSaslProto
	saslToken      = protowire.Number(3)
	saslAuths      = protowire.Number(4)
	authMethod     = protowire.Number(1) // of SaslAuth
	authMechanism  = protowire.Number(2)
	authProtocol   = protowire.Number(3)
	authServer     = protowire.Number(4)
	authChallenge  = protowire.Number(5)
	protocolBuffer = 2 // the kind of all calls
)

func number(b []byte, num protowire.Number, v uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, num, protowire.VarintType), v)
}

func octets(b []byte, num protowire.Number, v []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, num, protowire.BytesType), v)
}

// header returns RpcRequestHeaderProto of a call.
func header(call int32, client []byte) []byte {
	b := number(nil, headerKind, protocolBuffer)
	b = number(b, headerOp, 0)
	b = number(b, headerCall, protowire.EncodeZigZag(int64(call)))
	b = octets(b, headerClient, client)
	return number(b, headerRetry, protowire.EncodeZigZag(-1))
}

// join returns a packet of messages.
func join(messages ...[]byte) []byte {
	b := make([]byte, lengthLen)
	for _, m := range messages {
		b = protowire.AppendBytes(b, m)
	}
	binary.BigEndian.PutUint32(b, uint32(len(b)-lengthLen))
	return b
}

// packet returns the packet of a message.
func packet(m message) []byte {
	b := number(nil, saslState, uint64(m.state))
	if m.token != nil || m.state == response || m.state == initiate {
		b = octets(b, saslToken, m.token) // the field must be there even if it is empty
	}
	for _, a := range m.auths {
		b = octets(b, saslAuths, a.raw)
	}
	return join(header(saslCall, nil), b)
}

// parsePacket parses a packet of the server with a message of SASL.
func parsePacket(b []byte) (message, error) {
	var m message
	h, body, err := parseResponse(b)
	if err != nil {
		return m, err
	}
	if int32(h.call) != saslCall {
		return m, fmt.Errorf("%w: a response to call %d", sasl.ErrProtocol, int32(h.call))
	}
	for f, err := range fields(body) {
		if err != nil {
			return m, err
		}
		switch f.Num {
		case saslState:
			m.state = state(f.Number)
		case saslToken:
			m.token = f.Bytes
		case saslAuths:
			a, err := parseAuth(f.Bytes)
			if err != nil {
				return m, err
			}
			m.auths = append(m.auths, a)
		}
	}
	return m, nil
}

func parseAuth(b []byte) (Auth, error) {
	var a Auth
	for f, err := range fields(b) {
		if err != nil {
			return a, err
		}
		switch f.Num {
		case authMethod:
			a.Method = string(f.Bytes)
		case authMechanism:
			a.Mechanism = string(f.Bytes)
		case authProtocol:
			a.Protocol = string(f.Bytes)
		case authServer:
			a.Server = string(f.Bytes)
		case authChallenge:
			a.Challenge = f.Bytes
		}
	}
	for num, v := range []string{authMethod: a.Method, authMechanism: a.Mechanism, authProtocol: a.Protocol, authServer: a.Server} {
		if num > 0 {
			a.raw = octets(a.raw, protowire.Number(num), []byte(v))
		}
	}
	return a, nil
}

// A responseHeader is RpcResponseHeaderProto.
type responseHeader struct {
	call   uint32
	status uint64
	ServerError
}

// parseResponse returns the header of a packet of the server, and its message. An exception is an
// error.
func parseResponse(b []byte) (responseHeader, []byte, error) {
	var h responseHeader
	head, n := protowire.ConsumeBytes(b)
	if n < 0 {
		return h, nil, fmt.Errorf("%w: %w", sasl.ErrProtocol, protowire.ParseError(n))
	}
	for f, err := range fields(head) {
		if err != nil {
			return h, nil, err
		}
		switch f.Num {
		case responseCall:
			h.call = uint32(f.Number)
		case responseStatus:
			h.status = f.Number
		case responseClass:
			h.Class = string(f.Bytes)
		case responseText:
			h.Message = string(f.Bytes)
		}
	}
	if h.status != 0 {
		return h, nil, &h.ServerError
	}
	if len(b) == n {
		return h, nil, nil
	}
	body, m := protowire.ConsumeBytes(b[n:])
	if m < 0 {
		return h, nil, fmt.Errorf("%w: %w", sasl.ErrProtocol, protowire.ParseError(m))
	}
	return h, body, nil
}

// fields iterates over the fields of a message. An error is an error of the protocol.
func fields(message []byte) iter.Seq2[protofield.Field, error] {
	return func(yield func(protofield.Field, error) bool) {
		for f, err := range protofield.All(message) {
			if err != nil {
				err = fmt.Errorf("%w: %w", sasl.ErrProtocol, err)
			}
			if !yield(f, err) {
				return
			}
		}
	}
}
