// Package transfer secures connections to DataNodes, whose protocol is datatransfer.proto of
// Hadoop. A client library that knows nothing of this begins with an operation, in which there is a
// block token. The token is the secret of the exchange that is made first:
//
//	client  deadbeef | message: SUCCESS           server  message: a challenge of DIGEST-MD5
//	client  message: the response, cipher suites   server  message: the server's proof, a suite and its keys
//	then    the operation …
//
//	message    varint | DataTransferEncryptorMessageProto
//	operation  001c | 50 write or 51 read | varint | OpWriteBlockProto or OpReadBlockProto
//
// The bytes after the handshake are plain, or in SASL tokens behind their lengths, or, if the server
// chose a cipher suite, in AES-CTR. The server sends the keys of the suite in tokens.
package transfer

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"

	"google.golang.org/protobuf/encoding/protowire"

	"usertrail/internal/store/protofield"
	"usertrail/internal/store/secure/sasl"
	"usertrail/internal/store/secure/token"
)

// ErrRefused is wrapped if a DataNode refuses a client's block token.
var ErrRefused = errors.New("the DataNode refuses the block token")

// A Config determines how connections are protected.
type Config struct {
	Policy sasl.Policy
	AES    bool // ask for AES-CTR in place of the ciphers of DIGEST-MD5
}

// serverName is the name that every DataNode has in DIGEST-MD5 (SaslDataTransferServer).
const (
	protocolName = "hdfs"
	serverName   = "0"
)

const (
	magic      = "\xde\xad\xbe\xef"
	version    = 0x1c
	maxMessage = 1 << 20
	maxToken   = 1 << 20
)

// A Conn is a connection that is secured when the first operation is written. One goroutine may
// read while others write, once the first write has ended.
type Conn struct {
	net.Conn
	cfg Config

	mu     sync.Mutex
	begun  []byte // of the first operation, which is not whole yet
	ready  bool
	failed error

	in  io.Reader
	out io.Writer
}

// New returns a connection over nc.
func New(nc net.Conn, cfg Config) *Conn { return &Conn{Conn: nc, cfg: cfg} }

// Write implements net.Conn. The first one makes the exchange.
func (c *Conn) Write(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.failed != nil {
		return 0, c.failed
	}
	if c.ready {
		return c.out.Write(b)
	}
	c.begun = append(c.begun, b...)
	t, whole, err := parseOperation(c.begun)
	if err == nil && whole {
		if err = c.secure(t); err == nil {
			_, err = c.out.Write(c.begun)
			c.ready, c.begun = true, nil
		}
	}
	if err != nil {
		c.failed = err
		return 0, err
	}
	return len(b), nil
}

// Read implements net.Conn.
func (c *Conn) Read(b []byte) (int, error) {
	c.mu.Lock()
	ready, failed := c.ready, c.failed
	c.mu.Unlock()
	if failed != nil {
		return 0, failed
	}
	if !ready {
		return 0, errors.New("read from a DataNode before an operation")
	}
	return c.in.Read(b)
}

// secure makes the exchange.
func (c *Conn) secure(t token.Token) error {
	m := sasl.NewDigest(sasl.TokenSecret(t.Identifier, t.Password), protocolName, serverName, c.cfg.Policy)
	if _, err := c.Conn.Write(append([]byte(magic), frame(message{})...)); err != nil {
		return err
	}
	first, err := receive(c.Conn)
	if err != nil {
		return err
	}
	response, err := m.Next(first.payload)
	if err != nil {
		return err
	}
	sealed := m.Protection() == sasl.Privacy
	if _, err := c.Conn.Write(frame(message{payload: response, askAES: sealed && c.cfg.AES})); err != nil {
		return err
	}
	last, err := receive(c.Conn)
	if err != nil {
		return err
	}
	if _, err := m.Next(last.payload); err != nil {
		return err
	}
	return c.protect(m.Layer(), last.suite)
}

// protect sets how bytes travel after the exchange.
func (c *Conn) protect(l sasl.Layer, s *suite) error {
	switch {
	case l == nil:
		c.in, c.out = c.Conn, c.Conn
	case s == nil || !c.cfg.AES:
		c.in, c.out = sasl.NewReader(c.Conn, l, maxToken, nil), sasl.NewWriter(c.Conn, l)
	default:
		in, out, err := s.streams(l)
		if err != nil {
			return err
		}
		c.in, c.out = &cipher.StreamReader{S: in, R: c.Conn}, &stream{Stream: out, to: c.Conn}
	}
	return nil
}

// A stream writes encrypted bytes.
type stream struct {
	cipher.Stream
	to  io.Writer
	buf []byte
}

func (s *stream) Write(b []byte) (int, error) {
	if cap(s.buf) < len(b) {
		s.buf = make([]byte, len(b))
	}
	buf := s.buf[:len(b)]
	s.XORKeyStream(buf, b)
	return s.to.Write(buf)
}

// A suite has the keys of AES-CTR, in tokens. In and out are the server's.
type suite struct {
	inKey, inIV, outKey, outIV []byte
}

// streams unwraps the keys.
func (s *suite) streams(l sasl.Layer) (in, out cipher.Stream, err error) {
	inKey, err := l.Unwrap(s.inKey)
	if err == nil {
		inKey = append([]byte(nil), inKey...)
		out, err = ctr(inKey, s.inIV)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("key of AES: %w", err)
	}
	outKey, err := l.Unwrap(s.outKey)
	if err == nil {
		in, err = ctr(outKey, s.outIV)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("key of AES: %w", err)
	}
	return in, out, nil
}

func ctr(key, iv []byte) (cipher.Stream, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	if len(iv) != aes.BlockSize {
		return nil, fmt.Errorf("%w: initial vector of %d bytes", sasl.ErrProtocol, len(iv))
	}
	return cipher.NewCTR(block, iv), nil
}

// parseOperation returns the block token of an operation that is whole.
func parseOperation(b []byte) (t token.Token, whole bool, err error) {
	if len(b) < 3 {
		return t, false, nil
	}
	if v := binary.BigEndian.Uint16(b); v != version {
		return t, false, fmt.Errorf("operation of version %04x", v)
	}
	body, n := protowire.ConsumeBytes(b[3:])
	if n < 0 {
		if len(b) > maxMessage {
			return t, false, errors.New("operation without an end")
		}
		return t, false, nil
	}
	// The first field of the operations is their header, the first of the header the base header,
	// whose second field is the token.
	for _, num := range []protowire.Number{1, 1, 2} {
		if body, err = protofield.Find(body, num); err != nil {
			return t, false, fmt.Errorf("operation %02x has no block token: %w", b[2], err)
		}
	}
	if t.Identifier, err = protofield.Find(body, 1); err == nil {
		t.Password, err = protofield.Find(body, 2)
	}
	return t, true, err
}

// A message is DataTransferEncryptorMessageProto.
type message struct {
	status  uint64
	payload []byte
	text    string
	suite   *suite
	askAES  bool
}

// Values of DataTransferEncryptorStatus and CipherSuiteProto.
const (
	statusSuccess = 0
	suiteAES      = 2
)

// frame returns a message behind its length.
func frame(m message) []byte {
	var b []byte
	b = protowire.AppendVarint(protowire.AppendTag(b, 1, protowire.VarintType), m.status)
	b = protowire.AppendBytes(protowire.AppendTag(b, 2, protowire.BytesType), m.payload)
	if m.askAES {
		option := protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), suiteAES)
		b = protowire.AppendBytes(protowire.AppendTag(b, 4, protowire.BytesType), option)
	}
	return protowire.AppendBytes(nil, b)
}

// receive reads a message of the server.
func receive(in io.Reader) (message, error) {
	b, err := readMessage(in)
	if err != nil {
		return message{}, fmt.Errorf("response to the authentication: %w", err)
	}
	m, err := parseMessage(b)
	if err == nil && m.status != statusSuccess {
		err = fmt.Errorf("%w: %s", ErrRefused, m.text)
	}
	return m, err
}

// readMessage reads a message behind its length, and nothing after it.
func readMessage(in io.Reader) ([]byte, error) {
	var length []byte
	for one := [1]byte{0x80}; one[0]&0x80 != 0; {
		if len(length) == binary.MaxVarintLen32 {
			return nil, fmt.Errorf("%w: a length without an end", sasl.ErrProtocol)
		}
		if _, err := io.ReadFull(in, one[:]); err != nil {
			return nil, err
		}
		length = append(length, one[0])
	}
	n, _ := protowire.ConsumeVarint(length)
	if n > maxMessage {
		return nil, fmt.Errorf("%w: message of %d bytes", sasl.ErrProtocol, n)
	}
	b := make([]byte, n)
	_, err := io.ReadFull(in, b)
	return b, err
}

// parseMessage parses a message of the server.
func parseMessage(b []byte) (message, error) {
	var m message
	for f, err := range protofield.All(b) {
		if err != nil {
			return m, fmt.Errorf("%w: %w", sasl.ErrProtocol, err)
		}
		switch {
		case f.Num == 1 && f.Type == protowire.VarintType:
			m.status = f.Number
		case f.Type != protowire.BytesType:
		case f.Num == 2:
			m.payload = f.Bytes
		case f.Num == 3:
			m.text = string(f.Bytes)
		case f.Num == 4:
			if m.suite, err = parseSuite(f.Bytes); err != nil {
				return m, err
			}
		}
	}
	return m, nil
}

// parseSuite parses CipherOptionProto.
func parseSuite(b []byte) (*suite, error) {
	var s suite
	for num, to := range map[protowire.Number]*[]byte{2: &s.inKey, 3: &s.inIV, 4: &s.outKey, 5: &s.outIV} {
		v, err := protofield.Find(b, num)
		if err != nil {
			return nil, fmt.Errorf("%w: cipher option: %w", sasl.ErrProtocol, err)
		}
		*to = v
	}
	return &s, nil
}
