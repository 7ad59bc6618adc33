package wire

import (
	"encoding/binary"
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
)

// A Service is the service that a connection uses. A connection has one service.
type Service string

// The services and the servers that offer them.
const (
	ClientService     Service = "ClientService"     // region servers: data
	AdminService      Service = "AdminService"      // region servers: flush and the like
	MasterService     Service = "MasterService"     // the active master: tables
	ClientMetaService Service = "ClientMetaService" // masters, region servers from 2.5: where meta is
)

// ConnectionCallID is the call ID of a response that is about the connection.
const ConnectionCallID = 0xffffffff

// Codec is the class of the cell blocks, both ways.
const Codec = "org.apache.hadoop.hbase.codec.KeyValueCodec"

// A Method is the way in which a client proves who it is.
type Method byte

// The methods of authentication.
const (
	Simple   Method = 0x50 // it does not: the header has its name
	Kerberos Method = 0x51
	Token    Method = 0x52 // a delegation token
)

// AppendMagic appends the first bytes that a client sends.
func AppendMagic(dst []byte, m Method) []byte { return append(dst, 'H', 'B', 'a', 's', 0, byte(m)) }

// AppendHeader appends the length and the ConnectionHeader. Because of the version in it, servers limit
// the size of a Multi's response and use cell blocks for single Gets. An authenticated user has no name in
// it, because servers impersonate a user of another name.
func AppendHeader(dst []byte, service Service, user string) []byte {
	start := len(dst)
	dst = append(dst, 0, 0, 0, 0)
	var at int
	if user != "" {
		dst, at = begin(dst, 1)
		dst = appendString(dst, 1, user)
		dst = end(dst, at)
	}
	dst = appendString(dst, 2, string(service))
	dst = appendString(dst, 3, Codec)
	dst, at = begin(dst, 5)
	dst = appendString(dst, 1, "2.6.0")
	for num := protowire.Number(2); num <= 6; num++ {
		dst = appendString(dst, num, "")
	}
	dst = appendUint(dst, 7, 2)
	dst = appendUint(dst, 8, 6)
	dst = end(dst, at)
	binary.BigEndian.PutUint32(dst[start:], uint32(len(dst)-start-4))
	return dst
}

// A RequestHeader precedes every request.
type RequestHeader struct {
	CallID    uint32
	Method    string
	CellBlock int    // bytes; 0 is no cell block
	TimeoutMS uint32 // the time left for the call; 0 is no limit
}

// Append appends the message.
func (h *RequestHeader) Append(dst []byte) []byte {
	dst = appendUint(dst, 1, uint64(h.CallID))
	dst = appendString(dst, 3, h.Method)
	dst = appendBool(dst, 4, true)
	if h.CellBlock > 0 {
		var at int
		dst, at = begin(dst, 5)
		dst = appendUint(dst, 1, uint64(h.CellBlock))
		dst = end(dst, at)
	}
	return appendNonzero(dst, 7, uint64(h.TimeoutMS))
}

// A Response is the frame of one response without its length, cut into parts that alias it.
type Response struct {
	CallID    uint32
	Exception *ServerError // if not nil, Param and Cells are empty
	Param     []byte
	Cells     []byte
}

// CallID returns the call that a frame responds to.
func CallID(frame []byte) (uint32, error) {
	header, n := protowire.ConsumeBytes(frame)
	if n < 0 {
		return 0, fmt.Errorf("frame of %d bytes: %w: %w", len(frame), ErrMalformed, protowire.ParseError(n))
	}
	d := decoder{rest: header}
	for d.next() {
		if d.num == 1 {
			var id uint32
			d.uint32(&id)
			return id, d.done("ResponseHeader")
		}
	}
	d.refuse("call ID missing")
	return 0, d.done("ResponseHeader")
}

// Decode cuts frame in its parts.
func (r *Response) Decode(frame []byte) error {
	*r = Response{}
	header, n := protowire.ConsumeBytes(frame)
	if n < 0 {
		return fmt.Errorf("frame of %d bytes: %w: %w", len(frame), ErrMalformed, protowire.ParseError(n))
	}
	rest := frame[n:]
	cells := 0
	d := decoder{rest: header}
	for d.next() {
		switch d.num {
		case 1:
			d.uint32(&r.CallID)
		case 2:
			r.Exception = new(ServerError)
			d.message(r.Exception.decodeResponse)
		case 3:
			d.message(func(b []byte) error {
				d := decoder{rest: b}
				for d.next() {
					if d.num == 1 {
						d.count(&cells)
					}
				}
				return d.done("CellBlockMeta")
			})
		}
	}
	if err := d.done("ResponseHeader"); err != nil {
		return err
	}
	if cells > len(rest) {
		return fmt.Errorf("ResponseHeader: %w: cell block of %d bytes in the last %d of the frame", ErrMalformed, cells, len(rest))
	}
	r.Cells = rest[len(rest)-cells:]
	rest = rest[: len(rest)-cells : len(rest)-cells]
	if len(rest) == 0 {
		return nil
	}
	if r.Param, n = protowire.ConsumeBytes(rest); n != len(rest) {
		return fmt.Errorf("call %d: %w: %d bytes left for the response's message", r.CallID, ErrMalformed, len(rest))
	}
	return nil
}
