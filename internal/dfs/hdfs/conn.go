package hdfs

import (
	"encoding/binary"
	"net"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
)

// conn is a connection on which nothing waits for ever: the library sets no
// deadline on most of its reads and writes. After an error it is closed, because
// on one that goes on the library would take a late answer for the next one.
type conn struct {
	net.Conn
	limit time.Duration
	amend func([]byte) []byte // changes what is sent; nil for not at all
}

func (c *conn) Read(b []byte) (int, error) {
	if err := c.Conn.SetReadDeadline(time.Now().Add(c.limit)); err != nil {
		return 0, err
	}
	n, err := c.Conn.Read(b)
	if err != nil {
		c.Close()
	}
	return n, err
}

func (c *conn) Write(b []byte) (int, error) {
	if err := c.Conn.SetWriteDeadline(time.Now().Add(c.limit)); err != nil {
		return 0, err
	}
	sent := b
	if c.amend != nil {
		sent = c.amend(b)
	}
	if _, err := c.Conn.Write(sent); err != nil {
		c.Close()
		return 0, err
	}
	return len(b), nil
}

// SetDeadline does nothing: each read and write has its own.
func (c *conn) SetDeadline(time.Time) error { return nil }

// keepTarget makes a rename2 request one that does not replace its target, which
// the library cannot ask for. Any other packet is left as it is. A request is
// (rpc.Server, and Rename2RequestProto in ClientNamenodeProtocol.proto):
//
//	length, 4 bytes   RpcRequestHeaderProto   RequestHeaderProto   body
//
// with a length before each message. Of a field that comes twice, protobuf takes
// the last.
func keepTarget(packet []byte) []byte {
	const (
		methodName    = protowire.Number(1) // in RequestHeaderProto
		overwriteDest = protowire.Number(3) // in Rename2RequestProto
	)
	if len(packet) < 4 {
		return packet
	}
	var parts [3][]byte
	rest := packet[4:]
	for i := range parts {
		b, n := protowire.ConsumeBytes(rest)
		if n < 0 {
			return packet
		}
		parts[i], rest = b, rest[n:]
	}
	if name, ok := stringField(parts[1], methodName); !ok || name != "rename2" {
		return packet
	}
	body := append([]byte(nil), parts[2]...)
	body = protowire.AppendTag(body, overwriteDest, protowire.VarintType)
	parts[2] = protowire.AppendVarint(body, protowire.EncodeBool(false))
	out := make([]byte, 4, len(packet)+8)
	for _, b := range parts {
		out = protowire.AppendBytes(out, b)
	}
	binary.BigEndian.PutUint32(out, uint32(len(out)-4))
	return out
}

// stringField returns the first field of that number.
func stringField(message []byte, want protowire.Number) (string, bool) {
	for len(message) > 0 {
		num, typ, n := protowire.ConsumeTag(message)
		if n < 0 {
			return "", false
		}
		if num == want && typ == protowire.BytesType {
			b, m := protowire.ConsumeBytes(message[n:])
			return string(b), m >= 0
		}
		m := protowire.ConsumeFieldValue(num, typ, message[n:])
		if m < 0 {
			return "", false
		}
		message = message[n+m:]
	}
	return "", false
}
