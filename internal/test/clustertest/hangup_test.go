package clustertest

import (
	"net"
	"net/netip"
	"testing"
)

func TestAClientThatHangsUpIsSeen(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0") // accepts no connection, like a frozen server
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	client, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	if hungUp, err := closeWait(netip.MustParseAddrPort(l.Addr().String())); hungUp || err != nil {
		t.Errorf("before: %t, %v", hungUp, err)
	}
	if err := client.Close(); err != nil {
		t.Fatal(err)
	}
	awaitHangUp(t, l.Addr().String())
}
