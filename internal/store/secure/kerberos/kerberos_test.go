package kerberos_test

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"usertrail/internal/store/secure/etype"
	"usertrail/internal/store/secure/kerberos"
	"usertrail/internal/store/secure/kerberos/kerberostest"
	"usertrail/internal/test/clustertest"
)

// service is one that the KDC of the cluster knows.
func service(c *clustertest.Cluster) string {
	host, _, _ := net.SplitHostPort(c.NameNode())
	return "nn/" + host + "@" + clustertest.Realm
}

// kinit gets a ticket of alice.
func kinit(c *clustertest.Cluster, life, renew time.Duration) kerberostest.Kinit {
	return kerberostest.Kinit{Krb5Conf: c.Krb5Conf(), Keytab: c.Keytab(clustertest.Alice), User: clustertest.Alice, Realm: clustertest.Realm, Life: life, Renew: renew}
}

func TestAKeytabGetsTickets(t *testing.T) {
	c := clustertest.Secure(t)
	l, err := kerberos.Open(kerberos.Config{Krb5Conf: c.Krb5Conf(), Keytab: c.Keytab(clustertest.Alice)})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := l.User().String(), "alice@"+clustertest.Realm; got != want {
		t.Errorf("the user is %s, want %s", got, want)
	}
	ticket, err := l.Ticket(t.Context(), service(c))
	if err != nil {
		t.Fatal(err)
	}
	if ticket.Key.Type != etype.AES256SHA1 || ticket.Service.String() != service(c) || time.Until(ticket.Expires) < time.Hour {
		t.Errorf("%s for %s until %s", ticket.Key, ticket.Service, ticket.Expires)
	}
	again, err := l.Ticket(t.Context(), strings.TrimSuffix(service(c), "@"+clustertest.Realm))
	if err != nil || string(again.DER) != string(ticket.DER) {
		t.Errorf("the ticket is not kept: %v", err)
	}
	l.Forget(strings.TrimSuffix(service(c), "@"+clustertest.Realm))
	again, err = l.Ticket(t.Context(), service(c))
	if err != nil || string(again.DER) == string(ticket.DER) {
		t.Errorf("the ticket was not forgotten: %v", err)
	}
	if end, err := l.Check(t.Context()); err != nil || time.Until(end) < time.Hour {
		t.Errorf("the user's ticket ends at %s, %v", end, err)
	}
}

func TestTicketCachesAreRead(t *testing.T) {
	c := clustertest.Secure(t)
	dir := t.TempDir()
	kinit(c, time.Hour, 0).Run(t, filepath.Join(dir, "tkt"))
	kinit(c, time.Hour, 0).Run(t, filepath.Join(dir, "tkt2"))
	if err := os.WriteFile(filepath.Join(dir, "primary"), []byte("tkt2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{c.TicketCache(clustertest.Alice), "FILE:" + c.TicketCache(clustertest.Alice), "DIR:" + dir, "DIR::" + dir + "/tkt"} {
		t.Setenv("KRB5CCNAME", name)
		l, err := kerberos.Open(kerberos.Config{Krb5Conf: c.Krb5Conf()})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if _, err := l.Ticket(t.Context(), service(c)); err != nil || l.User().String() != "alice@"+clustertest.Realm {
			t.Errorf("%s: user %s, %v", name, l.User(), err)
		}
	}
}

// TestATicketIsRenewed has a cache in which the ticket ends soon, so that a Login renews it.
func TestATicketIsRenewed(t *testing.T) {
	c := clustertest.Secure(t)
	file := filepath.Join(t.TempDir(), "cache")
	k := kinit(c, time.Hour, 24*time.Hour)
	k.Early, k.Old = time.Hour-4*time.Minute, 10*time.Hour
	k.Run(t, file)
	l, err := kerberos.Open(kerberos.Config{Krb5Conf: c.Krb5Conf(), Cache: file})
	if err != nil {
		t.Fatal(err)
	}
	if end, err := l.Check(t.Context()); err != nil || time.Until(end) < 30*time.Minute {
		t.Errorf("the ticket ends in %s, %v; want a renewed one", time.Until(end), err)
	}
}

// TestATicketThatEndsIsReplacedByKinit has a cache whose ticket has ended, and then another one.
func TestATicketThatEndsIsReplacedByKinit(t *testing.T) {
	c := clustertest.Secure(t)
	file := filepath.Join(t.TempDir(), "cache")
	k := kinit(c, time.Hour, 0)
	k.Early = 2 * time.Hour
	k.Run(t, file)
	l, err := kerberos.Open(kerberos.Config{Krb5Conf: c.Krb5Conf(), Cache: file})
	if err != nil {
		t.Fatal(err)
	}
	_, err = l.Ticket(t.Context(), service(c))
	if !errors.Is(err, kerberos.ErrExpired) || !strings.Contains(err.Error(), "run kinit") || !strings.Contains(err.Error(), file) {
		t.Errorf("%v, want ErrExpired, the file and what to do", err)
	}
	kinit(c, time.Hour, 0).Run(t, file)
	if _, err := l.Ticket(t.Context(), service(c)); err != nil {
		t.Errorf("after kinit: %v", err)
	}
}

func TestWhatTheKDCRefusesIsNamed(t *testing.T) {
	c := clustertest.Secure(t)
	l, err := kerberos.Open(kerberos.Config{Krb5Conf: c.Krb5Conf(), Keytab: c.Keytab(clustertest.Alice)})
	if err != nil {
		t.Fatal(err)
	}
	_, err = l.Ticket(t.Context(), "hbase/nobody.test")
	if !errors.Is(err, kerberos.ErrRefused) || !strings.Contains(err.Error(), "hbase/nobody.test@"+clustertest.Realm) || !strings.Contains(err.Error(), "does not know the service") {
		t.Errorf("an unknown service: %v", err)
	}
}

func TestAKDCThatIsNotThereIsNamed(t *testing.T) {
	const address = "127.0.0.1:1" // nobody listens there
	l := open(t, krb5conf(t, "kdc = "+address), kerberos.Config{Keytab: keytabOf(t, "alice")})
	_, err := l.Check(t.Context())
	if !errors.Is(err, kerberos.ErrSilent) || !strings.Contains(err.Error(), address) {
		t.Errorf("%v, want ErrSilent with %s", err, address)
	}
}

// TestAWaitForTheKDCEndsWithItsContext has a KDC that accepts connections and never responds.
func TestAWaitForTheKDCEndsWithItsContext(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	connected := make(chan struct{})
	go func() {
		conn, err := listener.Accept()
		if err == nil {
			close(connected)
			defer conn.Close()
			<-t.Context().Done()
		}
	}()
	l := open(t, krb5conf(t, "kdc = "+listener.Addr().String()), kerberos.Config{Keytab: keytabOf(t, "alice")})
	cause := errors.New("the test ends it")
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() {
		<-connected
		cancel(cause)
	}()
	if _, err := l.Check(ctx); !errors.Is(err, cause) {
		t.Errorf("%v, want %v", err, cause)
	}
}
