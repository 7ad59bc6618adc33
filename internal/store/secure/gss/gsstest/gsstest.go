// Package gsstest is the server's side of package gss, for tests: services with keys, tickets
// for them, and contexts that check the client's tokens. It reads the client's messages with
// gokrb5, another implementation of Kerberos.
package gsstest

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	asn1krb "github.com/jcmturner/gofork/encoding/asn1"
	"github.com/jcmturner/gokrb5/v8/asn1tools"
	"github.com/jcmturner/gokrb5/v8/crypto"
	"github.com/jcmturner/gokrb5/v8/iana"
	"github.com/jcmturner/gokrb5/v8/iana/asnAppTag"
	"github.com/jcmturner/gokrb5/v8/iana/keyusage"
	"github.com/jcmturner/gokrb5/v8/iana/nametype"
	"github.com/jcmturner/gokrb5/v8/keytab"
	"github.com/jcmturner/gokrb5/v8/messages"
	"github.com/jcmturner/gokrb5/v8/types"
	"golang.org/x/crypto/cryptobyte"
	"golang.org/x/crypto/cryptobyte/asn1"

	"usertrail/internal/store/secure/etype"
	"usertrail/internal/store/secure/gss"
)

// Realm is the realm of all services and clients.
const Realm = "GSS.TEST"

// A Service is a service that has a key.
type Service struct {
	name string
	id   etype.ID
	keys *keytab.Keytab
}

// NewService returns a service, named such as hbase/host, whose tickets have keys of an
// encryption type.
func NewService(t testing.TB, name string, id etype.ID) *Service {
	t.Helper()
	keys := keytab.New()
	if err := keys.AddEntry(name, Realm, "secret of "+name, time.Now(), 1, int32(id)); err != nil {
		t.Fatal(err)
	}
	return &Service{name: name, id: id, keys: keys}
}

// Ticket returns a ticket of a client for the service.
func (s *Service) Ticket(t testing.TB, client string) *gss.Ticket {
	t.Helper()
	now := time.Now().UTC()
	cname := types.NewPrincipalName(nametype.KRB_NT_PRINCIPAL, client)
	sname := types.NewPrincipalName(nametype.KRB_NT_SRV_INST, s.name)
	session, err := etype.Generate(s.id)
	if err != nil {
		t.Fatal(err)
	}
	part, err := asn1krb.Marshal(messages.EncTicketPart{
		Flags: types.NewKrbFlags(), Key: types.EncryptionKey{KeyType: int32(s.id), KeyValue: session.Bytes},
		CRealm: Realm, CName: cname, AuthTime: now, StartTime: now, EndTime: now.Add(time.Hour), RenewTill: now.Add(time.Hour),
	})
	if err != nil {
		t.Fatal(err)
	}
	key, _, err := s.keys.GetEncryptionKey(sname, Realm, 1, int32(s.id))
	if err != nil {
		t.Fatal(err)
	}
	sealed, err := crypto.GetEncryptedData(asn1tools.AddASNAppTag(part, asnAppTag.EncTicketPart), key, keyusage.KDC_REP_TICKET, 1)
	if err != nil {
		t.Fatal(err)
	}
	ticket := messages.Ticket{TktVNO: iana.PVNO, Realm: Realm, SName: sname, EncPart: sealed}
	der, err := ticket.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	return &gss.Ticket{
		Client:  gss.Principal{Names: cname.NameString, Type: cname.NameType, Realm: Realm},
		Service: gss.Principal{Names: sname.NameString, Type: sname.NameType, Realm: Realm},
		DER:     der, Key: session, Expires: now.Add(time.Hour),
	}
}

// A Reply determines how an acceptor responds. The zero Reply is an honest response.
type Reply struct {
	Subkey    bool          // the acceptor chooses the key of the tokens
	TimeOff   time.Duration // the time that it repeats is wrong by
	OtherKey  bool          // it does not have the session's key
	Code      gss.Code      // if not 0, it responds with an error
	FirstSent uint32        // number of its first token; 7 if 0
}

// A Context is a server's context with one client.
type Context struct {
	Client        string // user@REALM
	send, receive *etype.Cipher
	flags         byte
	next, want    uint64
}

// Accept returns the response to the first token of a client.
func (s *Service) Accept(token []byte, r Reply) (*Context, []byte, error) {
	req, err := s.open(token)
	if err != nil {
		return nil, nil, err
	}
	if r.Code != 0 {
		return nil, refusal(s.name, r.Code), nil
	}
	session := etype.Key{Type: s.id, Bytes: req.Ticket.DecryptedEncPart.Key.KeyValue}
	key := etype.Key{Type: etype.ID(req.Authenticator.SubKey.KeyType), Bytes: req.Authenticator.SubKey.KeyValue}
	c := &Context{Client: req.Authenticator.CName.PrincipalNameString() + "@" + req.Authenticator.CRealm, want: uint64(req.Authenticator.SeqNumber), next: uint64(r.FirstSent)}
	if c.next == 0 {
		c.next = 7
	}
	var sent etype.Key
	if r.Subkey {
		if key, err = etype.Generate(s.id); err != nil {
			return nil, nil, err
		}
		sent, c.flags = key, 4
	}
	if c.send, err = etype.New(key, 22); err != nil {
		return nil, nil, err
	}
	if c.receive, err = etype.New(key, 24); err != nil {
		return nil, nil, err
	}
	if r.OtherKey {
		if session, err = etype.Generate(s.id); err != nil {
			return nil, nil, err
		}
	}
	at := req.Authenticator.CTime.Add(time.Duration(req.Authenticator.Cusec)*time.Microsecond + r.TimeOff)
	response, err := reply(session, sent, at, uint32(c.next))
	return c, response, err
}

// open reads the AP-REQ in a token, and checks it as a service does.
func (s *Service) open(token []byte) (*messages.APReq, error) {
	message, ok := strings.CutPrefix(string(token[min(len(token), 4):]), "\x06\x09\x2a\x86\x48\x86\xf7\x12\x01\x02\x02\x01\x00")
	if len(token) < 4 || token[0] != 0x60 || !ok {
		return nil, fmt.Errorf("no token of an AP-REQ: % x", token)
	}
	var req messages.APReq
	if err := req.Unmarshal([]byte(message)); err != nil {
		return nil, err
	}
	if ok, err := req.Verify(s.keys, 5*time.Minute, types.HostAddress{}, nil); err != nil || !ok {
		return nil, fmt.Errorf("AP-REQ: %w", err)
	}
	sum := req.Authenticator.Cksum
	if sum.CksumType != 0x8003 || len(sum.Checksum) != 24 || binary.LittleEndian.Uint32(sum.Checksum[20:]) != 62 {
		return nil, fmt.Errorf("checksum of type %x: % x", sum.CksumType, sum.Checksum)
	}
	if len(req.APOptions.Bytes) != 4 || req.APOptions.Bytes[0] != 0x20 {
		return nil, fmt.Errorf("options % x", req.APOptions.Bytes)
	}
	return &req, nil
}

// Wrap returns a token, whose bytes are rotated by rrc. A sealed token has ec bytes more.
func (c *Context) Wrap(seal bool, data []byte, ec, rrc uint16) []byte {
	h := make([]byte, 16)
	binary.BigEndian.PutUint16(h, 0x0504)
	h[2], h[3] = c.flags|1, 0xff
	binary.BigEndian.PutUint64(h[8:], c.next)
	c.next++
	var body []byte
	if seal {
		h[2] |= 2
		binary.BigEndian.PutUint16(h[4:], ec)
		body = c.send.Seal(nil, data, make([]byte, ec), h)
	} else {
		body = c.send.Sum(append([]byte(nil), data...), data, h)
		binary.BigEndian.PutUint16(h[4:], uint16(c.send.SumLen()))
	}
	binary.BigEndian.PutUint16(h[6:], rrc)
	n := len(body) - int(rrc)%len(body)
	return append(append(h, body[n:]...), body[:n]...)
}

// Skip leaves out the number of a token.
func (c *Context) Skip() { c.next++ }

// Unwrap opens a token of the client.
func (c *Context) Unwrap(token []byte) (data []byte, sealed bool, err error) {
	if len(token) < 16 || binary.BigEndian.Uint16(token) != 0x0504 || token[2]&^2 != c.flags {
		return nil, false, fmt.Errorf("no token of the client: % x", token[:min(len(token), 16)])
	}
	h, body := token[:16], token[16:]
	if n := binary.BigEndian.Uint64(h[8:]); n != c.want {
		return nil, false, fmt.Errorf("token %d instead of %d", n, c.want)
	}
	c.want++
	if h[2]&2 != 0 {
		plain, err := c.receive.Open(body)
		if err != nil {
			return nil, true, err
		}
		end := len(plain) - 16
		if end < 0 || string(plain[end:]) != string(h) {
			return nil, true, errors.New("the sealed header is another one")
		}
		return plain[:end], true, nil
	}
	if len(body) < c.receive.SumLen() {
		return nil, false, errors.New("no room for a checksum")
	}
	data, sum := body[:len(body)-c.receive.SumLen()], body[len(body)-c.receive.SumLen():]
	signed := append([]byte(nil), h...)
	binary.BigEndian.PutUint32(signed[4:], 0)
	return data, false, c.receive.Verify(sum, data, signed)
}

// reply returns the token of an AP-REP.
func reply(session, subkey etype.Key, at time.Time, number uint32) ([]byte, error) {
	var part cryptobyte.Builder
	part.AddASN1(application(27), sequence(func(b *cryptobyte.Builder) {
		b.AddASN1(field(0), func(b *cryptobyte.Builder) { b.AddASN1GeneralizedTime(at) })
		add(b, 1, int64(at.Nanosecond()/1000))
		if subkey.Bytes != nil {
			b.AddASN1(field(2), sequence(func(b *cryptobyte.Builder) {
				add(b, 0, int64(subkey.Type))
				b.AddASN1(field(1), func(b *cryptobyte.Builder) { b.AddASN1OctetString(subkey.Bytes) })
			}))
		}
		add(b, 3, int64(number))
	}))
	cipher, err := etype.New(session, 12)
	if err != nil {
		return nil, err
	}
	var rep cryptobyte.Builder
	rep.AddASN1(application(15), sequence(func(b *cryptobyte.Builder) {
		add(b, 0, 5)
		add(b, 1, 15)
		b.AddASN1(field(2), sequence(func(b *cryptobyte.Builder) {
			add(b, 0, int64(session.Type))
			b.AddASN1(field(2), func(b *cryptobyte.Builder) { b.AddASN1OctetString(cipher.Seal(nil, part.BytesOrPanic())) })
		}))
	}))
	return framed(2, rep.BytesOrPanic()), nil
}

// refusal returns the token of a KRB-ERROR.
func refusal(service string, code gss.Code) []byte {
	e := messages.NewKRBError(types.NewPrincipalName(nametype.KRB_NT_SRV_INST, service), Realm, int32(code), "as a test asks")
	b, err := e.Marshal()
	if err != nil {
		panic(err)
	}
	return framed(3, b)
}

func framed(kind uint8, message []byte) []byte {
	var b cryptobyte.Builder
	b.AddASN1(application(0), func(b *cryptobyte.Builder) {
		b.AddBytes([]byte("\x06\x09\x2a\x86\x48\x86\xf7\x12\x01\x02\x02"))
		b.AddBytes([]byte{kind, 0})
		b.AddBytes(message)
	})
	return b.BytesOrPanic()
}

func application(n uint8) asn1.Tag { return asn1.Tag(0x60 | n) }
func field(n uint8) asn1.Tag       { return asn1.Tag(0xa0 | n) }

func sequence(f cryptobyte.BuilderContinuation) cryptobyte.BuilderContinuation {
	return func(b *cryptobyte.Builder) { b.AddASN1(asn1.SEQUENCE, f) }
}

func add(b *cryptobyte.Builder, n uint8, v int64) {
	b.AddASN1(field(n), func(b *cryptobyte.Builder) { b.AddASN1Int64(v) })
}
