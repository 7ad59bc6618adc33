package hbasetest

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"

	"google.golang.org/protobuf/encoding/protowire"

	"usertrail/internal/store/hbase/wire"
)

// A Peer is the server's end of one connection, frame by frame.
type Peer struct {
	Service string
	User    string

	net net.Conn
	r   *bufio.Reader
	mu  sync.Mutex // one frame at a time

	responded atomic.Bool
}

// A Request is one frame from a client.
type Request struct {
	ID      uint32
	Method  string
	Timeout uint32 // ms; 0 is no limit
	Param   []byte
	Cells   []byte
}

// Accept reads the client's first message. It refuses it if a server would.
func Accept(nc net.Conn) (*Peer, error) {
	p := &Peer{net: nc, r: bufio.NewReader(nc)}
	var start [10]byte
	if _, err := io.ReadFull(p.r, start[:]); err != nil {
		return nil, fmt.Errorf("preamble: %w", err)
	}
	if got := string(start[:6]); got != "HBas\x00\x50" {
		return nil, fmt.Errorf("preamble %q", got)
	}
	header := make([]byte, binary.BigEndian.Uint32(start[6:]))
	if _, err := io.ReadFull(p.r, header); err != nil {
		return nil, fmt.Errorf("ConnectionHeader: %w", err)
	}
	f, err := fieldsOf(header)
	if err != nil {
		return nil, fmt.Errorf("ConnectionHeader: %w", err)
	}
	user, err := fieldsOf(f.bytes(1))
	if err != nil {
		return nil, fmt.Errorf("UserInformation: %w", err)
	}
	p.Service, p.User = string(f.bytes(2)), string(user.bytes(1))
	if codec := string(f.bytes(3)); codec != wire.Codec {
		return nil, fmt.Errorf("codec %q", codec)
	}
	return p, nil
}

// Read reads the next request. The caller owns its bytes.
func (p *Peer) Read() (Request, error) {
	var length [4]byte
	if _, err := io.ReadFull(p.r, length[:]); err != nil {
		return Request{}, err
	}
	frame := make([]byte, binary.BigEndian.Uint32(length[:]))
	if _, err := io.ReadFull(p.r, frame); err != nil {
		return Request{}, err
	}
	return parseRequest(frame)
}

func parseRequest(frame []byte) (Request, error) {
	header, n := protowire.ConsumeBytes(frame)
	if n < 0 {
		return Request{}, errors.New("request without a header")
	}
	param, m := protowire.ConsumeBytes(frame[n:])
	if m < 0 {
		return Request{}, errors.New("request without a parameter")
	}
	f, err := fieldsOf(header)
	if err != nil {
		return Request{}, fmt.Errorf("RequestHeader: %w", err)
	}
	block, err := fieldsOf(f.bytes(5))
	if err != nil {
		return Request{}, fmt.Errorf("CellBlockMeta: %w", err)
	}
	r := Request{
		ID:      uint32(f.number(1)),
		Method:  string(f.bytes(3)),
		Timeout: uint32(f.number(7)),
		Param:   param,
		Cells:   frame[n+m:],
	}
	if !f.has(1) || f.number(4) != 1 {
		return r, errors.New("RequestHeader without call_id or request_param")
	}
	if int(block.number(1)) != len(r.Cells) {
		return r, fmt.Errorf("cell block of %d bytes, %d announced", len(r.Cells), block.number(1))
	}
	return r, nil
}

// Write sends bytes unchanged, with one write.
func (p *Peer) Write(frame []byte) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, err := p.net.Write(frame)
	p.responded.Store(true)
	return err
}

// Close closes the connection.
func (p *Peer) Close() error { return p.net.Close() }

// Response returns the frame of a response.
func Response(id uint32, param, cells []byte) []byte {
	var header message
	header.number(1, uint64(id))
	if len(cells) > 0 {
		var meta message
		meta.number(1, uint64(len(cells)))
		header.bytes(3, meta)
	}
	body := protowire.AppendBytes(nil, header)
	body = protowire.AppendBytes(body, param)
	return frame(append(body, cells...))
}

// Exception returns the frame of an exception. With call ID wire.ConnectionCallID the
// exception is about the connection.
func Exception(id uint32, e *wire.ServerError) []byte {
	var ex message
	ex.string(1, e.Class)
	ex.string(2, trace(e))
	if e.Host != "" {
		ex.string(3, e.Host)
		ex.number(4, uint64(e.Port))
	}
	ex.bool(5, e.DoNotRetry)
	ex.bool(6, e.Overloaded)
	var header message
	header.number(1, uint64(id))
	header.bytes(2, ex)
	return frame(protowire.AppendBytes(nil, header))
}

// trace returns the text of an exception in the form of a server, with a stack trace.
func trace(e *wire.ServerError) string {
	return e.Class + ": " + e.Message + "\n\tat org.apache.hadoop.hbase.regionserver.RSRpcServices.call(RSRpcServices.java:1)\n"
}

func frame(body []byte) []byte {
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(body))), body...)
}
