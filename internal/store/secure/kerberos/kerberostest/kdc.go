package kerberostest

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/jcmturner/gokrb5/v8/crypto"
	"github.com/jcmturner/gokrb5/v8/iana"
	"github.com/jcmturner/gokrb5/v8/iana/etypeID"
	"github.com/jcmturner/gokrb5/v8/iana/keyusage"
	"github.com/jcmturner/gokrb5/v8/iana/msgtype"
	"github.com/jcmturner/gokrb5/v8/iana/patype"
	"github.com/jcmturner/gokrb5/v8/keytab"
	"github.com/jcmturner/gokrb5/v8/messages"
	"github.com/jcmturner/gokrb5/v8/types"
)

// KDCRealm is the realm of a KDC.
const KDCRealm = "REALM.TEST"

const (
	secret  = "secret" // the password of every principal
	keyType = etypeID.AES256_CTS_HMAC_SHA1_96
)

// A KDC is a small KDC, for tests without servers. It gives a ticket for each service to each user.
type KDC struct {
	listener net.Listener
	held     chan struct{}

	mu      sync.Mutex
	life    time.Duration
	silence chan struct{} // closed when the silence ends; nil without silence
	refuse  int32         // code of the error for the next request of a service; 0 is none
	logins  int
}

// NewKDC starts a KDC, whose tickets are valid for a day. It ends at t's end.
func NewKDC(t testing.TB) *KDC {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	k := &KDC{listener: l, held: make(chan struct{}, 1), life: 24 * time.Hour}
	var all sync.WaitGroup
	all.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			all.Go(func() { k.serve(t, conn) })
		}
	})
	t.Cleanup(func() {
		l.Close()
		k.Speak()
		all.Wait()
	})
	return k
}

// Conf writes a configuration of Kerberos, and returns its file.
func (k *KDC) Conf(t testing.TB) string {
	t.Helper()
	return k.write(t, "krb5.conf", fmt.Appendf(nil, "[libdefaults]\n default_realm = %s\n dns_lookup_kdc = no\n udp_preference_limit = 1\n[realms]\n %[1]s = {\n  kdc = %s\n }\n",
		KDCRealm, k.listener.Addr()))
}

// Keytab writes the keytab of a user, and returns its file.
func (k *KDC) Keytab(t testing.TB, user string) string {
	t.Helper()
	keys, err := keysOf(user)
	if err != nil {
		t.Fatal(err)
	}
	b, err := keys.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	return k.write(t, user+".keytab", b)
}

func (k *KDC) write(t testing.TB, name string, b []byte) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// keysOf returns a keytab of a principal.
func keysOf(name string) (*keytab.Keytab, error) {
	keys := keytab.New()
	return keys, keys.AddEntry(name, KDCRealm, secret, time.Now(), 1, keyType)
}

// Live sets for how long later tickets are valid. A ticket with a negative life has ended before the
// client gets it.
func (k *KDC) Live(life time.Duration) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.life = life
}

// Refuse refuses the next request for a ticket for a service, by an error's code.
func (k *KDC) Refuse(code int32) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.refuse = code
}

// Logins returns the number of tickets that users got by their keys.
func (k *KDC) Logins() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.logins
}

// Hush makes the KDC accept connections and not respond, until Speak is called.
func (k *KDC) Hush() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.silence = make(chan struct{})
}

// Held returns a channel that has an element when a client has connected to the silent KDC.
func (k *KDC) Held() <-chan struct{} { return k.held }

// Speak ends the silence. The connections of the silence are closed.
func (k *KDC) Speak() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.silence != nil {
		close(k.silence)
		k.silence = nil
	}
}

// serve responds to one request.
func (k *KDC) serve(t testing.TB, conn net.Conn) {
	defer conn.Close()
	k.mu.Lock()
	silence := k.silence
	k.mu.Unlock()
	if silence != nil {
		select {
		case k.held <- struct{}{}:
		default:
		}
		<-silence
		return
	}
	var length [4]byte
	if _, err := io.ReadFull(conn, length[:]); err != nil {
		return // the client ended
	}
	request := make([]byte, binary.BigEndian.Uint32(length[:]))
	if _, err := io.ReadFull(conn, request); err != nil {
		return
	}
	response, err := k.respond(request)
	if err != nil {
		t.Errorf("KDC: %v", err)
		return
	}
	_, _ = conn.Write(data(nil, response)) // the client may have ended
}

func (k *KDC) respond(b []byte) ([]byte, error) {
	var as messages.ASReq
	if as.Unmarshal(b) == nil {
		return k.logIn(as.ReqBody)
	}
	var tgs messages.TGSReq
	if err := tgs.Unmarshal(b); err != nil {
		return nil, err
	}
	for _, pa := range tgs.PAData {
		if pa.PADataType == patype.PA_TGS_REQ {
			return k.serviceTicket(tgs.ReqBody, pa.PADataValue)
		}
	}
	return nil, errors.New("a request without a ticket")
}

// logIn returns a ticket-granting ticket, which is sealed with the user's key.
func (k *KDC) logIn(body messages.KDCReqBody) ([]byte, error) {
	k.mu.Lock()
	k.logins++
	k.mu.Unlock()
	key, err := keyOf(body.CName)
	if err != nil {
		return nil, err
	}
	fields, err := k.grant(body.CName, body, key, keyusage.AS_REP_ENCPART)
	if err != nil {
		return nil, err
	}
	fields.MsgType = msgtype.KRB_AS_REP
	rep := messages.ASRep{KDCRepFields: fields}
	return rep.Marshal()
}

// serviceTicket returns a ticket for a service, which is sealed with the key of the user's ticket.
func (k *KDC) serviceTicket(body messages.KDCReqBody, proof []byte) ([]byte, error) {
	k.mu.Lock()
	refuse := k.refuse
	k.refuse = 0
	k.mu.Unlock()
	if refuse != 0 {
		e := messages.NewKRBError(body.SName, KDCRealm, refuse, "refused by the test")
		return e.Marshal()
	}
	var req messages.APReq
	if err := req.Unmarshal(proof); err != nil {
		return nil, err
	}
	keys, err := keysOf(req.Ticket.SName.PrincipalNameString())
	if err != nil {
		return nil, err
	}
	if err := req.Ticket.DecryptEncPart(keys, nil); err != nil {
		return nil, err
	}
	of := req.Ticket.DecryptedEncPart
	fields, err := k.grant(of.CName, body, of.Key, keyusage.TGS_REP_ENCPART_SESSION_KEY)
	if err != nil {
		return nil, err
	}
	fields.MsgType = msgtype.KRB_TGS_REP
	rep := messages.TGSRep{KDCRepFields: fields}
	return rep.Marshal()
}

// grant returns the fields of a response with a ticket. Its secret part is sealed with key.
func (k *KDC) grant(user types.PrincipalName, body messages.KDCReqBody, key types.EncryptionKey, usage uint32) (messages.KDCRepFields, error) {
	k.mu.Lock()
	life := k.life
	k.mu.Unlock()
	var none messages.KDCRepFields
	keys, err := keysOf(body.SName.PrincipalNameString())
	if err != nil {
		return none, err
	}
	now := time.Now().UTC().Truncate(time.Second)
	ticket, session, err := messages.NewTicket(user, KDCRealm, body.SName, KDCRealm, types.NewKrbFlags(), keys, keyType, 1, now, now, now.Add(life), time.Time{})
	if err != nil {
		return none, err
	}
	part := messages.EncKDCRepPart{
		Key: session, LastReqs: []messages.LastReq{}, Nonce: body.Nonce, Flags: types.NewKrbFlags(),
		AuthTime: now, StartTime: now, EndTime: now.Add(life), SRealm: KDCRealm, SName: body.SName,
	}
	b, err := part.Marshal()
	if err != nil {
		return none, err
	}
	sealed, err := crypto.GetEncryptedData(b, key, usage, 1)
	if err != nil {
		return none, err
	}
	return messages.KDCRepFields{PVNO: iana.PVNO, CRealm: KDCRealm, CName: user, Ticket: ticket, EncPart: sealed}, nil
}

// keyOf returns the key of a principal.
func keyOf(name types.PrincipalName) (types.EncryptionKey, error) {
	keys, err := keysOf(name.PrincipalNameString())
	if err != nil {
		return types.EncryptionKey{}, err
	}
	key, _, err := keys.GetEncryptionKey(name, KDCRealm, 1, keyType)
	return key, err
}
