package gss

import (
	"crypto/subtle"
	"encoding/binary"
	"fmt"
)

// The flags of a token.
const (
	flagFromServer = 1 << iota
	flagSealed
	flagServersKey
)

const (
	headerLen = 16
	tokenID   = 0x0504
)

// header returns the header of a token.
func (d *direction) header(flags byte, ec uint16) [headerLen]byte {
	var h [headerLen]byte
	binary.BigEndian.PutUint16(h[0:], tokenID)
	h[2], h[3] = flags, 0xff
	binary.BigEndian.PutUint16(h[4:], ec)
	binary.BigEndian.PutUint64(h[8:], d.number)
	return h
}

// Overhead returns an upper bound of the number of bytes by which a token is longer than its
// bytes.
func (c *Context) Overhead() int { return 2*headerLen + c.send.cipher.Overhead() }

// Wrap appends a token that protects the parts of bytes, one after the other, to dst. The token is
// sealed or only signed. Tokens must be sent in the order of the calls.
func (c *Context) Wrap(dst []byte, seal bool, parts ...[]byte) []byte {
	d := &c.send
	defer func() { d.number++ }()
	if seal {
		h := d.header(d.flags|flagSealed, 0)
		return d.cipher.Seal(append(dst, h[:]...), append(parts, h[:])...)
	}
	signed := d.header(d.flags, 0)
	h := d.header(d.flags, uint16(d.cipher.SumLen()))
	dst = append(dst, h[:]...)
	for _, p := range parts {
		dst = append(dst, p...)
	}
	return d.cipher.Sum(dst, append(parts, signed[:])...)
}

// Unwrap checks a token of the server, and opens it in place. The result aliases it. An error leaves
// the context unusable.
func (c *Context) Unwrap(token []byte, sealed bool) ([]byte, error) {
	d := &c.receive
	if len(token) < headerLen {
		return nil, fmt.Errorf("%w: %d bytes", ErrToken, len(token))
	}
	head, body := token[:headerLen], token[headerLen:]
	flags, ec, rrc := head[2], binary.BigEndian.Uint16(head[4:]), binary.BigEndian.Uint16(head[6:])
	switch {
	case binary.BigEndian.Uint16(head) != tokenID || head[3] != 0xff:
		return nil, fmt.Errorf("%w: it begins with % x", ErrToken, head[:4])
	case flags&^flagSealed != d.flags:
		return nil, fmt.Errorf("%w: flags %02x", ErrToken, flags)
	case flags&flagSealed != 0 != sealed:
		return nil, fmt.Errorf("%w: flags %02x", ErrUnsealed, flags)
	}
	rotateLeft(body, int(rrc))
	var text []byte
	var err error
	if sealed {
		text, err = d.open(body, head, int(ec))
	} else {
		text, err = d.verify(body, head, int(ec))
	}
	if err != nil {
		return nil, err
	}
	// The number is compared when the token is known to be the server's.
	if n := binary.BigEndian.Uint64(head[8:]); n != d.number {
		return nil, fmt.Errorf("%w: number %d instead of %d", ErrSequence, n, d.number)
	}
	d.number++
	return text, nil
}

// open opens a sealed body. head is the header in the clear.
func (d *direction) open(body, head []byte, ec int) ([]byte, error) {
	plain, err := d.cipher.Open(body)
	if err != nil {
		return nil, err
	}
	end := len(plain) - headerLen
	if end < ec {
		return nil, fmt.Errorf("%w: %d bytes are sealed, and %d are too many", ErrToken, len(plain), ec)
	}
	inner := plain[end:]
	binary.BigEndian.PutUint16(head[6:], 0)
	if subtle.ConstantTimeCompare(inner, head) != 1 {
		return nil, fmt.Errorf("%w: its header was changed", ErrToken)
	}
	return plain[:end-ec], nil
}

// verify checks a signed body.
func (d *direction) verify(body, head []byte, ec int) ([]byte, error) {
	if ec != d.cipher.SumLen() || len(body) < ec {
		return nil, fmt.Errorf("%w: %d bytes with a checksum of %d", ErrToken, len(body), ec)
	}
	text, sum := body[:len(body)-ec], body[len(body)-ec:]
	binary.BigEndian.PutUint32(head[4:], 0)
	return text, d.cipher.Verify(sum, text, head)
}

// rotateLeft rotates b in place.
func rotateLeft(b []byte, n int) {
	if len(b) == 0 || n%len(b) == 0 {
		return
	}
	n %= len(b)
	first := append([]byte(nil), b[:n]...)
	copy(b, b[n:])
	copy(b[len(b)-n:], first)
}
