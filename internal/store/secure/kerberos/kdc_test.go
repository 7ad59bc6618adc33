package kerberos_test

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"usertrail/internal/store/secure/gss"
	"usertrail/internal/store/secure/kerberos"
	"usertrail/internal/store/secure/kerberos/kerberostest"
)

const (
	oneService     = "hbase/rs1.test@" + kerberostest.KDCRealm
	anotherService = "hbase/rs2.test@" + kerberostest.KDCRealm
)

// tickets gets a ticket for each of two services.
func tickets(t *testing.T, l *kerberos.Login) {
	t.Helper()
	for _, service := range []string{oneService, anotherService} {
		ticket, err := l.Ticket(t.Context(), service)
		if err != nil {
			t.Fatal(err)
		}
		if got := ticket.Service.String(); got != service || ticket.Client.String() != "alice@"+kerberostest.KDCRealm {
			t.Errorf("the ticket is for %s at %s, want alice at %s", ticket.Client, got, service)
		}
	}
}

// TestAKeytabLogsInWhenItsTicketHasEnded counts how often a user logs in.
func TestAKeytabLogsInWhenItsTicketHasEnded(t *testing.T) {
	for _, x := range []struct {
		name   string
		life   time.Duration
		logins int
	}{
		{"the ticket is valid", time.Hour, 1},
		{"each ticket has ended when it arrives", -time.Minute, 4},
	} {
		t.Run(x.name, func(t *testing.T) {
			k := kerberostest.NewKDC(t)
			k.Live(x.life)
			l := open(t, k.Conf(t), kerberos.Config{Keytab: k.Keytab(t, "alice")})
			tickets(t, l)
			tickets(t, l)
			if got := k.Logins(); got != x.logins {
				t.Errorf("the user logged in %d times, want %d", got, x.logins)
			}
		})
	}
}

// kinitAt gets a ticket of alice from a KDC. The cache has an end that is earlier by the given time.
func kinitAt(t *testing.T, k *kerberostest.KDC, conf, file string, early time.Duration) {
	t.Helper()
	kerberostest.Kinit{Krb5Conf: conf, Keytab: k.Keytab(t, "alice"), User: "alice", Realm: kerberostest.KDCRealm, Life: time.Hour, Early: early}.Run(t, file)
}

// TestATicketCacheIsReadAgain has a ticket that ends while a program runs, and then another one.
func TestATicketCacheIsReadAgain(t *testing.T) {
	k := kerberostest.NewKDC(t)
	k.Live(time.Hour)
	conf, cache := k.Conf(t), filepath.Join(t.TempDir(), "cache")
	kinitAt(t, k, conf, cache, 2*time.Hour)
	l := open(t, conf, kerberos.Config{Cache: cache})
	_, err := l.Ticket(t.Context(), oneService)
	for _, want := range []string{cache, "run kinit", "--keytab"} {
		if !errors.Is(err, kerberos.ErrExpired) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want ErrExpired and %q", err, want)
		}
	}
	kinitAt(t, k, conf, cache, 0)
	tickets(t, l)
}

// TestAKDCWhoseClockIsAhead refuses a ticket that is valid by the clock of the client.
func TestAKDCWhoseClockIsAhead(t *testing.T) {
	k := kerberostest.NewKDC(t)
	conf, cache := k.Conf(t), filepath.Join(t.TempDir(), "cache")
	l := open(t, conf, kerberos.Config{Keytab: k.Keytab(t, "alice")})
	if _, err := l.Check(t.Context()); err != nil {
		t.Fatal(err)
	}
	k.Refuse(int32(gss.CodeTicketExpired))
	tickets(t, l)
	if got := k.Logins(); got != 2 {
		t.Errorf("the user logged in %d times, want 2", got)
	}
	kinitAt(t, k, conf, cache, 0)
	k.Refuse(int32(gss.CodeTicketExpired))
	tickets(t, open(t, conf, kerberos.Config{Cache: cache}))
}

// TestASilentKDCIsNamed has a goroutine that has asked a silent KDC, and one whose time ends while it waits
// for the first. The KDC then responds, and the same Login gets its tickets.
func TestASilentKDCIsNamed(t *testing.T) {
	k := kerberostest.NewKDC(t)
	l := open(t, k.Conf(t), kerberos.Config{Keytab: k.Keytab(t, "alice")})
	silent := func(err error) {
		t.Helper()
		if !errors.Is(err, kerberos.ErrSilent) || !strings.Contains(err.Error(), kerberostest.KDCRealm) {
			t.Errorf("%v; want ErrSilent and the realm", err)
		}
	}
	k.Hush()
	first := make(chan error)
	go func() {
		_, err := l.Ticket(t.Context(), oneService)
		first <- err
	}()
	<-k.Held()
	late, end := context.WithDeadline(t.Context(), time.Now())
	defer end()
	_, err := l.Ticket(late, anotherService)
	silent(err)
	k.Speak()
	silent(<-first)
	tickets(t, l)
}
