// Package kerberostest makes ticket caches for tests, as kinit does.
package kerberostest

import (
	"encoding/binary"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/jcmturner/gokrb5/v8/client"
	"github.com/jcmturner/gokrb5/v8/config"
	"github.com/jcmturner/gokrb5/v8/keytab"
	"github.com/jcmturner/gokrb5/v8/messages"
)

// A Kinit gets a ticket for a user.
type Kinit struct {
	Krb5Conf, Keytab string
	User, Realm      string
	Life, Renew      time.Duration // that it requests; a ticket with Renew 0 cannot be renewed
	Early            time.Duration // the cache has an end of the ticket, and of its renewal, that is earlier by this time
	Old              time.Duration // the cache has a start of the ticket that is earlier by this time
}

// Run writes the ticket to a file. It replaces the file at once.
func (k Kinit) Run(t testing.TB, file string) {
	t.Helper()
	conf, err := config.Load(k.Krb5Conf)
	if err != nil {
		t.Fatal(err)
	}
	conf.LibDefaults.TicketLifetime, conf.LibDefaults.RenewLifetime = k.Life, k.Renew
	keys, err := keytab.Load(k.Keytab)
	if err != nil {
		t.Fatal(err)
	}
	c := client.NewWithKeytab(k.User, k.Realm, keys, conf, client.DisablePAFXFAST(true))
	req, err := messages.NewASReqForTGT(k.Realm, conf, c.Credentials.CName())
	if err != nil {
		t.Fatal(err)
	}
	rep, err := c.ASExchange(k.Realm, req, 0)
	if err != nil {
		t.Fatal(err)
	}
	part := file + ".part"
	if err := os.WriteFile(part, k.cache(t, &rep), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(part, file); err != nil {
		t.Fatal(err)
	}
}

// cache returns the content of a cache: version 4 of MIT's file_ccache format.
func (k Kinit) cache(t testing.TB, rep *messages.ASRep) []byte {
	t.Helper()
	der, err := rep.Ticket.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	part := rep.DecryptedEncPart
	b := []byte{5, 4, 0, 0}
	b = k.principal(b, k.User)
	b = k.principal(b, k.User)
	b = k.principal(b, "krbtgt/"+k.Realm)
	b = binary.BigEndian.AppendUint16(b, uint16(part.Key.KeyType))
	b = data(b, part.Key.KeyValue)
	for _, at := range []time.Time{part.AuthTime, part.AuthTime.Add(-k.Old), part.EndTime.Add(-k.Early), part.RenewTill.Add(-k.Early)} {
		var seconds int64
		if at.Year() > 1970 {
			seconds = at.Unix()
		}
		b = binary.BigEndian.AppendUint32(b, uint32(seconds))
	}
	b = append(b, 0)                        // no session key of another ticket
	b = binary.BigEndian.AppendUint32(b, 0) // flags
	b = append(b, make([]byte, 8)...)       // no addresses, no data
	b = data(b, der)
	return data(b, nil)
}

func (k Kinit) principal(b []byte, name string) []byte {
	names := strings.Split(name, "/")
	b = binary.BigEndian.AppendUint32(b, 1)
	b = binary.BigEndian.AppendUint32(b, uint32(len(names)))
	b = data(b, []byte(k.Realm))
	for _, n := range names {
		b = data(b, []byte(n))
	}
	return b
}

func data(b, d []byte) []byte {
	return append(binary.BigEndian.AppendUint32(b, uint32(len(d))), d...)
}
