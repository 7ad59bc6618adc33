package clustertest

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// AwaitHangUp waits until a client has closed its connection to a frozen RegionServer or KDC, because the server
// does not respond.
func (c *Cluster) AwaitHangUp(t testing.TB, name string) {
	t.Helper()
	servers := append(c.RegionServers(), Daemon{"kdc", c.KDC()})
	at := slices.IndexFunc(servers, func(d Daemon) bool { return d.Name == name })
	if at < 0 {
		t.Fatalf("there is no server %s", name)
	}
	awaitHangUp(t, servers[at].Address)
}

// awaitHangUp waits until a client has closed its connection to a server that does not close its own end.
func awaitHangUp(t testing.TB, address string) {
	t.Helper()
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(healLimit); ; time.Sleep(10 * time.Millisecond) {
		hungUp, err := closeWait(at)
		switch {
		case err != nil:
			t.Fatal(err)
		case hungUp:
			return
		case time.Now().After(end):
			t.Fatalf("after %s no client has closed its connection to %s", healLimit, at)
		}
	}
}

// closeWait reports whether a server has a connection that only its client has closed. Linux lists all
// connections in /proc/net/tcp: see proc(5).
func closeWait(server netip.AddrPort) (bool, error) {
	const state = "08" // CLOSE_WAIT
	ip := server.Addr().As4()
	local := fmt.Sprintf("%08X:%04X", binary.NativeEndian.Uint32(ip[:]), server.Port())
	table, err := os.ReadFile("/proc/net/tcp")
	if err != nil {
		return false, err
	}
	for line := range strings.Lines(string(table)) {
		if f := strings.Fields(line); len(f) > 3 && f[1] == local && f[3] == state {
			return true, nil
		}
	}
	return false, nil
}
