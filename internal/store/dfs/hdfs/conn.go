package hdfs

import (
	"encoding/binary"
	"net"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"usertrail/internal/store/protofield"
)

// conn is a connection on which each read and write has a time limit: the library sets no
// deadline on most of its reads and writes. After an error conn closes the connection.
// Otherwise the library would read a late response as the response to the next request.
type conn struct {
	net.Conn
	limit func() time.Duration
	amend func([]byte) []byte // changes the bytes to send; nil for no change
}

func (c *conn) Read(b []byte) (int, error) {
	if err := c.Conn.SetReadDeadline(time.Now().Add(c.limit())); err != nil {
		return 0, err
	}
	n, err := c.Conn.Read(b)
	if err != nil {
		c.Close()
	}
	return n, err
}

func (c *conn) Write(b []byte) (int, error) {
	if err := c.Conn.SetWriteDeadline(time.Now().Add(c.limit())); err != nil {
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

// SetDeadline does nothing: each read and write has its own deadline.
func (c *conn) SetDeadline(time.Time) error { return nil }

// These field numbers identify requests and the fields that are changed in them.
const (
	methodName    = protowire.Number(1) // in RequestHeaderProto
	overwriteDest = protowire.Number(3) // in Rename2RequestProto
	closedSource  = protowire.Number(1) // in IsFileClosedRequestProto, and in TruncateRequestProto
	recoverSource = protowire.Number(1) // in RecoverLeaseRequestProto
	recoverClient = protowire.Number(2)
	truncateFor   = protowire.Number(3) // the client, in TruncateRequestProto
)

// A request holds the parts of a packet that calls a method (rpc.Server):
//
//	length, 4 bytes   RpcRequestHeaderProto   RequestHeaderProto   body
//
// Each message has a length before it. If a field occurs twice, protobuf uses
// the last value.
type request [3][]byte

// parseRequest parses a request for method. It returns false for any other packet.
func parseRequest(packet []byte, method string) (request, bool) {
	var r request
	if len(packet) < 4 {
		return r, false
	}
	rest := packet[4:]
	for i := range r {
		b, n := protowire.ConsumeBytes(rest)
		if n < 0 {
			return r, false
		}
		r[i], rest = b, rest[n:]
	}
	name, ok := stringField(r[1], methodName)
	return r, ok && name == method
}

// packet returns the request in the form in which it is sent.
func (r request) packet() []byte {
	out := make([]byte, 4)
	for _, b := range r {
		out = protowire.AppendBytes(out, b)
	}
	binary.BigEndian.PutUint32(out, uint32(len(out)-4))
	return out
}

// keepTarget changes a rename2 request so that it does not replace its target. The
// library cannot request this. keepTarget returns any other packet unchanged.
func keepTarget(packet []byte) []byte {
	r, ok := parseRequest(packet, "rename2")
	if !ok {
		return packet
	}
	body := append([]byte(nil), r[2]...)
	body = protowire.AppendTag(body, overwriteDest, protowire.VarintType)
	r[2] = protowire.AppendVarint(body, protowire.EncodeBool(false))
	return r.packet()
}

// askClosed changes a truncate request into a request that asks whether the file is closed.
// The library cannot request this either. The response to both requests is one bool.
func askClosed(packet []byte) []byte {
	r, ok := parseRequest(packet, "truncate")
	if !ok {
		return packet
	}
	name, ok := stringField(r[2], closedSource)
	if !ok {
		return packet
	}
	r.call("isFileClosed")
	r[2] = protowire.AppendString(protowire.AppendTag(nil, closedSource, protowire.BytesType), name)
	return r.packet()
}

// recoverLease changes a truncate request into a request that takes the lease of the file
// from the client that has it, and closes the file. The response is a bool that reports whether
// the file is closed.
func recoverLease(packet []byte) []byte {
	r, ok := parseRequest(packet, "truncate")
	if !ok {
		return packet
	}
	name, ok1 := stringField(r[2], closedSource)
	client, ok2 := stringField(r[2], truncateFor)
	if !ok1 || !ok2 {
		return packet
	}
	r.call("recoverLease")
	r[2] = protowire.AppendString(protowire.AppendTag(nil, recoverSource, protowire.BytesType), name)
	r[2] = protowire.AppendString(protowire.AppendTag(r[2], recoverClient, protowire.BytesType), client)
	return r.packet()
}

// call changes r to call another method.
func (r *request) call(method string) {
	header := append([]byte(nil), r[1]...)
	header = protowire.AppendTag(header, methodName, protowire.BytesType)
	r[1] = protowire.AppendString(header, method)
}

// stringField returns the first field with the number want.
func stringField(message []byte, want protowire.Number) (string, bool) {
	b, err := protofield.Find(message, want)
	return string(b), err == nil
}
