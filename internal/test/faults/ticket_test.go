package faults_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"usertrail/internal/run/breakpoint"
	"usertrail/internal/store/secure/kerberos/kerberostest"
	"usertrail/internal/test/clustertest"
	"usertrail/internal/test/testkit"
)

// TestATicketEndsDuringALoad holds a load until its ticket has ended. The load then needs a ticket
// for the RegionServer without hbase:meta, with which it has no connection.
func TestATicketEndsDuringALoad(t *testing.T) {
	testkit.OnlyAll(t, "the tests of internal/store/secure/kerberos")
	t.Parallel()
	c := clustertest.Secure(t)
	r := newReference(t, newSecured(t, c, t.TempDir()), oneDay()...)
	for _, x := range []struct {
		name  string
		start func(*testing.T, *fixture) (*process, time.Time)
		again bool // kinit runs again before the load continues
		want  int  // status of the load
	}{
		{"a ticket cache", startWithTicket, false, exitUsage},
		{"a ticket cache, and kinit runs again", startWithTicket, true, exitDone},
		{"a keytab", startWithKeytab, false, exitDone},
	} {
		t.Run(x.name, func(t *testing.T) {
			h := r.another(t, c.HDFS(t))
			level(t, h)
			p, end := x.start(t, h)
			<-time.After(time.Until(end))
			if x.again {
				h.kinit(t, time.Hour)
			}
			p.resume(t)
			said := p.wait(t)
			if said.status != x.want {
				t.Fatalf("the load ended with status %d, want %d: %s", said.status, x.want, said.stderr)
			}
			if x.want == exitUsage {
				for _, want := range []string{"the Kerberos ticket has expired", h.cache(), "run kinit", "--keytab"} {
					if !strings.Contains(said.Error, want) {
						t.Errorf("the load says %q, want %q", said.Error, want)
					}
				}
				h.kinit(t, time.Hour)
				said = h.load(t, oneDay()...).done(t)
			}
			r.checkSaid(t, said)
			r.checkLoad(t, h)
		})
	}
}

// cache returns the file of the ticket cache.
func (h *fixture) cache() string { return filepath.Join(h.dir, "cache") }

// kinit gets a ticket of Alice.
func (h *fixture) kinit(t *testing.T, life time.Duration) {
	t.Helper()
	kerberostest.Kinit{Krb5Conf: h.c.Krb5Conf(), Keytab: h.c.Keytab(clustertest.Alice), User: clustertest.Alice, Realm: clustertest.Realm, Life: life}.Run(t, h.cache())
}

// startWithTicket starts a load whose only ticket is in a cache. It returns the load when it is held,
// and the end of the ticket. The ticket is valid as long as this machine needs to get there.
func startWithTicket(t *testing.T, h *fixture) (*process, time.Time) {
	t.Helper()
	h.user = append(client(h.c, h.c.ConfDir()), private, "KRB5CCNAME="+h.cache())
	for life := 8 * time.Second; ; life *= 2 {
		h.kinit(t, life)
		end := time.Now().Add(life)
		p := h.loadUntil(t, at(breakpoint.Opened, 1), oneDay()...)
		if testkit.AwaitStop(p.cmd.Process.Pid, p.ended) {
			return p, end
		}
		if r := p.wait(t); r.status != exitUsage || !strings.Contains(r.Error, "has expired") {
			t.Fatalf("the load ended with status %d before it was held: %s", r.status, r.stderr)
		}
	}
}

// lifetime is the line of krb5.conf that says how long a ticket is valid.
var lifetime = regexp.MustCompile(`(?m)^ *ticket_lifetime *=.*$`)

// startWithKeytab starts a load with a keytab, whose tickets are valid for seconds. It returns the
// load when it is held, and a time at which all its tickets have ended.
func startWithKeytab(t *testing.T, h *fixture) (*process, time.Time) {
	t.Helper()
	const life = 5 * time.Second
	conf, err := os.ReadFile(h.c.Krb5Conf())
	if err != nil {
		t.Fatal(err)
	}
	if !lifetime.Match(conf) {
		t.Fatalf("%s has no ticket_lifetime", h.c.Krb5Conf())
	}
	h.write(t, "krb5.conf", lifetime.ReplaceAllString(string(conf), "  ticket_lifetime = "+life.String()))
	h.user = append(login(h.c, h.c.ConfDir(), clustertest.Alice), private, "KRB5_CONFIG="+filepath.Join(h.dir, "krb5.conf"))
	p := h.loadUntil(t, at(breakpoint.Opened, 1), oneDay()...)
	p.awaitStop(t)
	return p, time.Now().Add(life)
}
