package hbasetest

import (
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
)

// A Quorum is a Cluster with a ZooKeeper that has its address, so that programs reach it by
// hbase:// addresses. Tables are for one test each.
type Quorum struct {
	*Cluster
	zk   net.Listener
	disk Folder

	lost atomic.Int32 // reads of nodes whose connections are still to be closed

	mu     sync.Mutex
	tables int
}

// NewQuorum returns an HBase that stores its files below dir. It ends with the test.
func NewQuorum(t testing.TB, dir string) *Quorum {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	d := Folder(filepath.Join(dir, "hbase"))
	b := &Quorum{Cluster: New(t, Config{Servers: 2, Disk: d}), zk: l, disk: d}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go b.serve(c)
		}
	}()
	return b
}

// Root returns the directory with HBase's files, which a job calls root.
func (b *Quorum) Root() string { return b.disk.Root() }

// ZooKeeper returns the host:port of its ZooKeeper.
func (b *Quorum) ZooKeeper() string { return b.zk.Addr().String() }

// LoseReads has ZooKeeper close the connections of the next n reads of nodes, in place of a
// response.
func (b *Quorum) LoseReads(n int) { b.lost.Store(int32(n)) }

// Table creates a table with four regions and returns its address.
func (b *Quorum) Table() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.tables++
	name := fmt.Sprintf("t%d", b.tables)
	b.CreateTable(name, []string{"d"}, []byte("2"), []byte("a"), []byte("u"))
	return "hbase://" + b.ZooKeeper() + "/" + name
}

// serve serves a client of ZooKeeper. It supports only reads of nodes.
func (b *Quorum) serve(c net.Conn) {
	defer c.Close()
	if _, err := readFrame(c); err != nil { // the connection request
		return
	}
	hello := binary.BigEndian.AppendUint32(nil, 0)       // version of the protocol
	hello = binary.BigEndian.AppendUint32(hello, 10_000) // ms that a session lasts
	hello = binary.BigEndian.AppendUint64(hello, 1)      // session
	hello = append(binary.BigEndian.AppendUint32(hello, 16), make([]byte, 16)...)
	if _, err := c.Write(framed(hello)); err != nil {
		return
	}
	const getData = 4
	for {
		q, err := readFrame(c)
		if err != nil || len(q) < 8 {
			return
		}
		xid, what := q[:4], binary.BigEndian.Uint32(q[4:])
		a := binary.BigEndian.AppendUint64(append([]byte{}, xid...), 1)
		var data []byte
		if what == getData && len(q) > 12 {
			if b.lost.Add(-1) >= 0 {
				return
			}
			n := binary.BigEndian.Uint32(q[8:])
			data = b.node(string(q[12 : 12+n]))
			if data == nil {
				a = binary.BigEndian.AppendUint32(a, ^uint32(100)) // ZNONODE, -101
			} else {
				a = binary.BigEndian.AppendUint32(a, 0)
				a = append(binary.BigEndian.AppendUint32(a, uint32(len(data))), data...)
				a = append(a, make([]byte, 68)...) // its Stat
			}
		} else {
			a = binary.BigEndian.AppendUint32(a, 0)
		}
		if _, err := c.Write(framed(a)); err != nil {
			return
		}
	}
}

// node returns the data of a node, nil if there is none.
func (b *Quorum) node(name string) []byte {
	switch name {
	case "/hbase/meta-region-server":
		return nodeData(serverName(b.MetaAddr()))
	case "/hbase/master":
		return nodeData(serverName(b.MasterAddr()))
	case "/hbase/hbaseid":
		return nodeData("lab")
	}
	return nil
}

// nodeData returns data in the form that HBase stores in ZooKeeper: a message with the given
// first field.
func nodeData(first string) []byte {
	return append([]byte("PBUF\x0a"), append([]byte{byte(len(first))}, first...)...)
}

// serverName returns a ServerName as protobuf: host, port and start code.
func serverName(addr string) string {
	host, text, err := net.SplitHostPort(addr)
	if err != nil {
		panic(err) // the address is the fake's
	}
	port, err := strconv.Atoi(text)
	if err != nil {
		panic(err)
	}
	b := append([]byte{0x0a, byte(len(host))}, host...)
	b = binary.AppendUvarint(append(b, 0x10), uint64(port))
	return string(append(b, 0x18, 1))
}

func readFrame(r io.Reader) ([]byte, error) {
	var n [4]byte
	if _, err := io.ReadFull(r, n[:]); err != nil {
		return nil, err
	}
	b := make([]byte, binary.BigEndian.Uint32(n[:])&0xffff)
	_, err := io.ReadFull(r, b)
	return b, err
}

func framed(b []byte) []byte {
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(b))), b...)
}
