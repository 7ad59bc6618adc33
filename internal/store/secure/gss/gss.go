// Package gss implements the client's side of GSS-API's Kerberos mechanism (RFC 4121): it proves
// the client to a server and the server to the client, and then protects the bytes between them.
//
// # Context
//
//	client  60 len | 06 09 2a864886f712010202 | 01 00 | AP-REQ    ticket, authenticator
//	server  60 len | 06 09 2a864886f712010202 | 02 00 | AP-REP    the authenticator's time, encrypted
//	                                          | 03 00 | KRB-ERROR
//
// AP-REQ and AP-REP are ASN.1 messages of RFC 4120, sections 5.5.1 and 5.5.2. The authenticator has
// a checksum of type 8003h, which holds flags, and a key for this context. Only a server that can
// decrypt the ticket can respond with the time. The server may choose another key in its AP-REP.
//
// # Tokens
//
// A token protects one piece of bytes. Integers are big-endian. Each direction has its own numbers. They
// begin with the numbers of AP-REQ and AP-REP and increase by 1 with each token.
//
//	signed  05 04 | flags | ff | 000c | RRC | number, 8 bytes | bytes | checksum of bytes | header
//	sealed  05 04 | flags | ff | EC   | RRC | number, 8 bytes | sealed(bytes | EC bytes | header)
//
//	flags   01 from the server    02 sealed    04 with the key that the server chose
//
// In the header that is signed or sealed, RRC is 0; in a signed one EC is 0, too. A sender may
// rotate the bytes after the header to the right by RRC.
package gss

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"usertrail/internal/store/secure/etype"
)

// Key usages: RFC 4120, section 7.5.1, and RFC 4121, section 2.
const (
	usageAuthenticator = 11
	usageReply         = 12
	usageFromServer    = 22
	usageFromClient    = 24
)

var (
	// ErrToken is wrapped if a token of the server is malformed.
	ErrToken = errors.New("malformed security token")
	// ErrServer is wrapped if the server did not prove that it has the service's key.
	ErrServer = errors.New("the server did not prove who it is")
	// ErrSequence is wrapped if a token is repeated, missing or out of order.
	ErrSequence = errors.New("security token out of sequence")
	// ErrUnsealed is wrapped if a token is only signed where a sealed one was agreed, or the other way round.
	ErrUnsealed = errors.New("security token is not protected as agreed")
)

// A Principal is a name in Kerberos.
type Principal struct {
	Names []string // such as "hbase", "host"
	Type  int32    // of the name; 1 is a user's
	Realm string
}

// String returns the name as names/name@REALM.
func (p Principal) String() string {
	s := ""
	for i, n := range p.Names {
		if i > 0 {
			s += "/"
		}
		s += n
	}
	return s + "@" + p.Realm
}

// A Ticket lets a client use one service.
type Ticket struct {
	Client  Principal
	Service Principal
	DER     []byte // the message Ticket
	Key     etype.Key
	Expires time.Time
}

// A Context is a client's context with one server. Wrap and Unwrap may be called at the same time,
// each by one goroutine.
type Context struct {
	session *etype.Cipher // opens the server's reply
	key     etype.Key
	time    time.Time // of the authenticator, to the microsecond

	send, receive direction
	established   bool
}

// A direction has the state of the tokens of one side.
type direction struct {
	cipher *etype.Cipher
	number uint64 // of the next token
	flags  byte
}

// Now is the clock of authenticators.
var now = time.Now

// Initiate begins a context with the service of a ticket. It returns the token for the server.
func Initiate(t *Ticket) (*Context, []byte, error) {
	c := &Context{time: now().UTC().Truncate(time.Microsecond)}
	var err error
	if c.key, err = etype.Generate(t.Key.Type); err != nil {
		return nil, nil, fmt.Errorf("ticket of %s for %s: %w", t.Client, t.Service, err)
	}
	var number [4]byte
	_, _ = rand.Read(number[:]) // it never fails
	// Some servers treat the number as a signed integer and increment it.
	c.send.number = uint64(binary.BigEndian.Uint32(number[:]) >> 2)
	seal, err := etype.New(t.Key, usageAuthenticator)
	if err != nil {
		return nil, nil, err
	}
	if c.session, err = etype.New(t.Key, usageReply); err != nil {
		return nil, nil, err
	}
	a := authenticator{client: t.Client, time: c.time, subkey: c.key, number: uint32(c.send.number)}
	req, err := request(t, seal.Seal(nil, a.encode()))
	if err != nil {
		return nil, nil, err
	}
	return c, frame(tokenRequest, req), nil
}

// Establish reads the response of the server to the token of Initiate. An error of the server is a
// *ServerError.
func (c *Context) Establish(token []byte) error {
	if c.established {
		return fmt.Errorf("%w: a second response", ErrToken)
	}
	kind, message, err := unframe(token)
	if err != nil {
		return err
	}
	switch kind {
	case tokenError:
		return parseError(message)
	case tokenReply:
	default:
		return fmt.Errorf("%w: kind %04x", ErrToken, kind)
	}
	id, sealed, err := parseReply(message)
	if err != nil {
		return err
	}
	if id != c.key.Type {
		return fmt.Errorf("%w: its reply has encryption type %d, the ticket has %d", ErrServer, id, c.key.Type)
	}
	plain, err := c.session.Open(sealed)
	if err != nil {
		return fmt.Errorf("%w: its reply: %w", ErrServer, err)
	}
	part, err := parseReplyPart(plain)
	if err != nil {
		return err
	}
	if !part.time.Equal(c.time) {
		return fmt.Errorf("%w: its reply repeats another time", ErrServer)
	}
	return c.establish(part)
}

// establish derives the keys of the tokens.
func (c *Context) establish(part replyPart) error {
	var flag byte
	if part.subkey.Bytes != nil {
		c.key, flag = part.subkey, flagServersKey
	}
	var err error
	if c.send.cipher, err = etype.New(c.key, usageFromClient); err != nil {
		return fmt.Errorf("key of the server's reply: %w", err)
	}
	if c.receive.cipher, err = etype.New(c.key, usageFromServer); err != nil {
		return err
	}
	c.send.flags, c.receive.flags = flag, flag|flagFromServer
	c.receive.number = uint64(part.number)
	c.established = true
	return nil
}

// Established reports whether the server has proved who it is.
func (c *Context) Established() bool { return c.established }
