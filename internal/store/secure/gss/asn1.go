package gss

import (
	"encoding/binary"
	"fmt"
	"time"

	"golang.org/x/crypto/cryptobyte"
	"golang.org/x/crypto/cryptobyte/asn1"

	"usertrail/internal/store/secure/etype"
)

// Kinds of tokens of the context.
const (
	tokenRequest = 0x0100
	tokenReply   = 0x0200
	tokenError   = 0x0300
)

// Numbers of messages: RFC 4120, section 5.10.
const (
	version           = 5
	messageReq        = 14
	messageRep        = 15
	messageErr        = 30
	tagAuthenticator  = 2
	tagEncAPRepPart   = 27
	typeGeneralString = asn1.Tag(27)
)

// mechanism is Kerberos: 1.2.840.113554.1.2.2
var mechanism = []byte{0x2a, 0x86, 0x48, 0x86, 0xf7, 0x12, 0x01, 0x02, 0x02}

// application returns an application's tag, and field the tag of a field of a message.
func application(n uint8) asn1.Tag { return asn1.Tag(0x60 | n) }
func field(n uint8) asn1.Tag       { return asn1.Tag(n).ContextSpecific().Constructed() }

// frame puts the header of GSS-API before a message.
func frame(kind uint16, message []byte) []byte {
	var b cryptobyte.Builder
	b.AddASN1(application(0), func(b *cryptobyte.Builder) {
		b.AddASN1(asn1.OBJECT_IDENTIFIER, func(b *cryptobyte.Builder) { b.AddBytes(mechanism) })
		b.AddUint16(kind)
		b.AddBytes(message)
	})
	return b.BytesOrPanic()
}

// unframe removes the header of GSS-API.
func unframe(token []byte) (kind uint16, message []byte, err error) {
	in := cryptobyte.String(token)
	var body, oid cryptobyte.String
	if !in.ReadASN1(&body, application(0)) || !in.Empty() || !body.ReadASN1(&oid, asn1.OBJECT_IDENTIFIER) || !body.ReadUint16(&kind) {
		return 0, nil, fmt.Errorf("%w: no token of GSS-API", ErrToken)
	}
	if string(oid) != string(mechanism) {
		return 0, nil, fmt.Errorf("%w: the mechanism is not Kerberos", ErrToken)
	}
	return kind, body, nil
}

// An authenticator proves that a client has the key of its ticket.
type authenticator struct {
	client Principal
	time   time.Time
	subkey etype.Key
	number uint32
}

// contextFlags of the checksum 8003h: mutual, replay, sequence, confidentiality, integrity.
const contextFlags = 2 | 4 | 8 | 16 | 32

// encode returns the message Authenticator.
func (a *authenticator) encode() []byte {
	checksum := binary.LittleEndian.AppendUint32(nil, 16)
	checksum = append(checksum, make([]byte, 16)...) // no channel bindings
	checksum = binary.LittleEndian.AppendUint32(checksum, contextFlags)
	var b cryptobyte.Builder
	b.AddASN1(application(tagAuthenticator), sequence(func(b *cryptobyte.Builder) {
		addInt(b, 0, version)
		addString(b, 1, a.client.Realm)
		b.AddASN1(field(2), sequence(func(b *cryptobyte.Builder) {
			addInt(b, 0, int64(a.client.Type))
			b.AddASN1(field(1), sequence(func(b *cryptobyte.Builder) {
				for _, n := range a.client.Names {
					b.AddASN1(typeGeneralString, func(b *cryptobyte.Builder) { b.AddBytes([]byte(n)) })
				}
			}))
		}))
		b.AddASN1(field(3), sequence(func(b *cryptobyte.Builder) {
			addInt(b, 0, 0x8003)
			addOctets(b, 1, checksum)
		}))
		addInt(b, 4, int64(a.time.Nanosecond()/1000))
		b.AddASN1(field(5), func(b *cryptobyte.Builder) { b.AddASN1GeneralizedTime(a.time) })
		b.AddASN1(field(6), sequence(func(b *cryptobyte.Builder) {
			addInt(b, 0, int64(a.subkey.Type))
			addOctets(b, 1, a.subkey.Bytes)
		}))
		addInt(b, 7, int64(a.number))
	}))
	return b.BytesOrPanic()
}

// request returns the message AP-REQ with a sealed authenticator.
func request(t *Ticket, sealed []byte) ([]byte, error) {
	var b cryptobyte.Builder
	b.AddASN1(application(messageReq), sequence(func(b *cryptobyte.Builder) {
		addInt(b, 0, version)
		addInt(b, 1, messageReq)
		b.AddASN1(field(2), func(b *cryptobyte.Builder) {
			b.AddASN1(asn1.BIT_STRING, func(b *cryptobyte.Builder) { b.AddBytes([]byte{0, 0x20, 0, 0, 0}) }) // mutual-required
		})
		b.AddASN1(field(3), func(b *cryptobyte.Builder) { b.AddBytes(t.DER) })
		b.AddASN1(field(4), sequence(func(b *cryptobyte.Builder) {
			addInt(b, 0, int64(t.Key.Type))
			addOctets(b, 2, sealed)
		}))
	}))
	return b.Bytes()
}

func sequence(f cryptobyte.BuilderContinuation) cryptobyte.BuilderContinuation {
	return func(b *cryptobyte.Builder) { b.AddASN1(asn1.SEQUENCE, f) }
}

func addInt(b *cryptobyte.Builder, n uint8, v int64) {
	b.AddASN1(field(n), func(b *cryptobyte.Builder) { b.AddASN1Int64(v) })
}

func addString(b *cryptobyte.Builder, n uint8, s string) {
	b.AddASN1(field(n), func(b *cryptobyte.Builder) {
		b.AddASN1(typeGeneralString, func(b *cryptobyte.Builder) { b.AddBytes([]byte(s)) })
	})
}

func addOctets(b *cryptobyte.Builder, n uint8, s []byte) {
	b.AddASN1(field(n), func(b *cryptobyte.Builder) { b.AddASN1OctetString(s) })
}

// parseReply returns the encryption type and the sealed part of the message AP-REP.
func parseReply(message []byte) (id etype.ID, sealed []byte, err error) {
	in := cryptobyte.String(message)
	var all, body, part, encrypted cryptobyte.String
	var vno, kind, typ int64
	ok := in.ReadASN1(&all, application(messageRep)) && all.ReadASN1(&body, asn1.SEQUENCE) &&
		readInt(&body, 0, &vno) && readInt(&body, 1, &kind) &&
		body.ReadASN1(&part, field(2)) && part.ReadASN1(&encrypted, asn1.SEQUENCE) &&
		readInt(&encrypted, 0, &typ) && skipOptional(&encrypted, 1) && readOctets(&encrypted, 2, &sealed)
	if !ok || vno != version || kind != messageRep || typ != int64(etype.ID(typ)) {
		return 0, nil, fmt.Errorf("%w: no AP-REP", ErrToken)
	}
	return etype.ID(typ), sealed, nil
}

// A replyPart is the sealed part of the server's AP-REP.
type replyPart struct {
	time   time.Time
	subkey etype.Key // empty if the server chose none
	number uint32    // of its first token
}

// parseReplyPart parses the message EncAPRepPart.
func parseReplyPart(plain []byte) (replyPart, error) {
	in := cryptobyte.String(plain)
	var all, body, at, key cryptobyte.String
	var usec int64
	var r replyPart
	ok := in.ReadASN1(&all, application(tagEncAPRepPart)) && all.ReadASN1(&body, asn1.SEQUENCE) &&
		body.ReadASN1(&at, field(0)) && at.ReadASN1GeneralizedTime(&r.time) && readInt(&body, 1, &usec)
	var hasKey, hasNumber bool
	ok = ok && body.ReadOptionalASN1(&key, &hasKey, field(2))
	if ok && hasKey {
		var k cryptobyte.String
		var typ int64
		ok = key.ReadASN1(&k, asn1.SEQUENCE) && readInt(&k, 0, &typ) && readOctets(&k, 1, &r.subkey.Bytes)
		r.subkey.Type = etype.ID(typ)
	}
	var number cryptobyte.String
	ok = ok && body.ReadOptionalASN1(&number, &hasNumber, field(3))
	if ok && hasNumber {
		var n int64
		ok = number.ReadASN1Integer(&n)
		r.number = uint32(n) // some servers encode it as a signed integer
	}
	if !ok || usec < 0 || usec > 999_999 {
		return replyPart{}, fmt.Errorf("%w: no EncAPRepPart", ErrToken)
	}
	r.time = r.time.Add(time.Duration(usec) * time.Microsecond)
	return r, nil
}

func readInt(s *cryptobyte.String, n uint8, v *int64) bool {
	var in cryptobyte.String
	return s.ReadASN1(&in, field(n)) && in.ReadASN1Integer(v)
}

func readOctets(s *cryptobyte.String, n uint8, v *[]byte) bool {
	var in, out cryptobyte.String
	ok := s.ReadASN1(&in, field(n)) && in.ReadASN1(&out, asn1.OCTET_STRING)
	*v = out
	return ok
}

func skipOptional(s *cryptobyte.String, n uint8) bool { return s.SkipOptionalASN1(field(n)) }
