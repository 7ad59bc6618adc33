package faults_test

import (
	"net"
	"strings"
	"testing"
	"time"

	"usertrail/internal/run/breakpoint"
	"usertrail/internal/test/clustertest"
	"usertrail/internal/test/testkit"
)

// TestSecuredFaults kills a RegionServer of the secured cluster in the middle of a load by puts and
// of extracts.
func TestSecuredFaults(t *testing.T) {
	testkit.OnlyAll(t, "TestFaults, without Kerberos")
	c := clustertest.SecureAlone(t)
	r := newReference(t, newSecured(t, c, t.TempDir()))
	w := begin(t, r, t.TempDir(), pairs(cut)[0], at(breakpoint.Fetch, 1), nil)
	killServer(other)(t, w)
	w.checkEnds(t)
}

// An outage is a time without the KDC. asked waits until a client has asked the KDC in vain.
type outage struct{ asked, end func() }

// freezeKDC stops a KDC that then accepts connections and never responds.
func freezeKDC(t *testing.T, c *clustertest.Cluster) outage {
	t.Helper()
	c.Freeze(t, "kdc")
	return outage{func() { c.AwaitHangUp(t, "kdc") }, func() { c.Thaw(t, "kdc") }}
}

// killKDC kills the KDC. In its place the test accepts a connection and closes it.
func killKDC(t *testing.T, c *clustertest.Cluster) outage {
	t.Helper()
	c.Kill(t, "kdc")
	l, err := net.Listen("tcp", c.KDC())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	asked := func() {
		t.Helper()
		err := l.(*net.TCPListener).SetDeadline(time.Now().Add(deadline))
		if err == nil {
			var conn net.Conn
			if conn, err = l.Accept(); err == nil {
				err = conn.Close()
			}
		}
		if err != nil {
			t.Fatalf("no client asked the KDC: %v", err)
		}
	}
	return outage{asked, func() {
		l.Close()
		c.Start(t, "kdc")
	}}
}

// TestALoadWithoutTheKDC stops the KDC while a load by puts is held. When the load has opened the table, it
// has no ticket yet for the RegionServer without hbase:meta. Before its commit it has all tickets.
func TestALoadWithoutTheKDC(t *testing.T) {
	testkit.OnlyAll(t, "the tests of internal/store/secure/kerberos with a KDC that does not respond")
	c := clustertest.SecureAlone(t)
	r := newReference(t, newSecured(t, c, t.TempDir()), oneDay()...)
	for _, x := range []struct {
		name  string
		step  string // of the load
		begin func(*testing.T, *clustertest.Cluster) outage
		ends  bool // before the load ends
		want  int  // status of the load
	}{
		{"frozen, and the load has its tickets", breakpoint.Commit, freezeKDC, false, exitDone},
		{"frozen, and the load waits", breakpoint.Opened, freezeKDC, true, exitDone},
		{"killed, and the load waits", breakpoint.Opened, killKDC, true, exitDone},
		{"frozen, and the load gives up", breakpoint.Opened, freezeKDC, false, exitNotNow},
	} {
		t.Run(x.name, func(t *testing.T) {
			h := r.another(t, c.HDFS(t))
			level(t, h)
			flags := oneDay()
			if x.want == exitNotNow {
				flags = append(flags, "--retry-for", patience.String())
			}
			p := h.loadUntil(t, at(x.step, 1), flags...)
			p.awaitStop(t)
			kdc := x.begin(t, c)
			p.resume(t)
			if x.ends {
				kdc.asked()
				kdc.end()
			}
			said := p.wait(t)
			if said.status != x.want {
				t.Fatalf("the load ended with status %d, want %d: %s", said.status, x.want, said.stderr)
			}
			if !x.ends {
				kdc.end()
			}
			if x.want == exitNotNow {
				if want := "no KDC responds: realm " + clustertest.Realm; !strings.Contains(said.Error, want) {
					t.Errorf("the load says %q, want %q", said.Error, want)
				}
				said = h.load(t, oneDay()...).done(t)
			}
			r.checkSaid(t, said)
			r.checkLoad(t, h)
		})
	}
}
