package clustertest

import (
	"bufio"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"
)

// Admin sends a request to HBase's own client and returns the words of its response. The
// requests are listed in scripts/cluster.d/java/Admin.java. A word may have any bytes. An
// response that is a key is still escaped: see Unescape.
func (c *Cluster) Admin(t testing.TB, words ...string) []string {
	t.Helper()
	ctx, cancel := limited(t, callLimit)
	defer cancel()
	response, err := c.Ask(ctx, words...)
	if err != nil {
		t.Fatal(err)
	}
	return response
}

// Ask is Admin for a request that may fail. If ctx ends, the request may still be carried
// out.
func (c *Cluster) Ask(ctx context.Context, words ...string) ([]string, error) {
	response, err := c.request(ctx, words)
	if err != nil {
		return nil, fmt.Errorf("admin %q: %w", words, err)
	}
	return response, nil
}

// cleanUp is Admin at a test's end, for requests that can be repeated. The test may have left
// dead servers, and the daemon admin may still have connections to them.
func (c *Cluster) cleanUp(t testing.TB, words ...string) {
	t.Helper()
	ctx, cancel := limited(t, healLimit+callLimit)
	defer cancel()
	err := c.heal(ctx)
	if err == nil {
		_, err = c.Ask(ctx, words...)
	}
	for err != nil && ctx.Err() == nil {
		t.Logf("clean up again: %v\nlocks of the master: %s", err, c.locks(ctx))
		time.Sleep(time.Second)
		_, err = c.Ask(ctx, words...)
	}
	if err != nil {
		t.Errorf("clean up: %v", err)
	}
}

// locks returns the locks of tables and regions in the master as JSON, or why they are not known.
// A lock that stays is why a request for a table does not end.
func (c *Cluster) locks(ctx context.Context) string {
	response, err := c.Ask(ctx, "locks")
	if err != nil {
		return err.Error()
	}
	return Unescape(strings.Join(response, "\n"))
}

// Table returns a table name that no other test uses. The table is dropped at t's end.
func (c *Cluster) Table(t testing.TB) string {
	t.Helper()
	name := unique(t)
	t.Cleanup(func() { c.cleanUp(t, "drop", name) })
	return name
}

// Create creates a table of one family and returns its name. options are the options of
// Admin's create. The table is dropped at t's end.
func (c *Cluster) Create(t testing.TB, family string, options ...string) string {
	t.Helper()
	name := c.Table(t)
	c.Admin(t, append([]string{"create", name, family}, options...)...)
	return name
}

// Shared returns a table of one family that all tests with the same options share. They read
// only its description, its regions and its absence of rows. No test puts into it, grants or
// alters: the table stays as long as the cluster is up.
func (c *Cluster) Shared(t testing.TB, family string, options ...string) string {
	t.Helper()
	words := append([]string{family}, options...)
	name := fmt.Sprintf("shared_%x", sha256.Sum256([]byte(strings.Join(words, "\t"))))[:len("shared_")+16]
	c.sharing.Lock()
	defer c.sharing.Unlock()
	if c.shared[name] {
		return name
	}
	ctx, cancel := limited(t, callLimit)
	defer cancel()
	_, err := c.Ask(ctx, append([]string{"create", name}, words...)...)
	// A test of another process may have made it. HBase reports that after the table is complete.
	if err != nil && !strings.Contains(err.Error(), "TableExistsException") {
		t.Fatal(err)
	}
	if c.shared == nil {
		c.shared = map[string]bool{}
	}
	c.shared[name] = true
	return name
}

// HDFS returns a new directory, as hdfs://host:port/path. It is removed at t's end. In a
// secured cluster it belongs to Alice.
func (c *Cluster) HDFS(t testing.TB) string {
	t.Helper()
	path := "/test/" + unique(t)
	mkdir := []string{"mkdir", path}
	if c.secured {
		mkdir = append(mkdir, Alice, "755")
	}
	c.Admin(t, mkdir...)
	t.Cleanup(func() { c.cleanUp(t, "rm", path) })
	return "hdfs://" + c.NameNode() + path
}

// unique returns a name that HBase accepts for a table: the test's name and a number.
func unique(t testing.TB) string {
	name := strings.Map(func(r rune) rune {
		if r < 0x80 && (r == '-' || '0' <= r && r <= '9' || 'A' <= r && r <= 'Z' || 'a' <= r && r <= 'z') {
			return r
		}
		return '_'
	}, t.Name())
	return fmt.Sprintf("%.80s_%08x", name, rand.Uint32())
}

// A Region is a part of a table, with the server that currently serves it.
type Region struct {
	Encoded    string // its name in requests
	Server     string // rs1..; "" if no server serves it
	Start, End string // keys; "" is the table's start or end
}

// Regions returns the regions of a table, in the order of their keys.
func (c *Cluster) Regions(t testing.TB, table string) []Region {
	t.Helper()
	var all []Region
	for _, word := range c.Admin(t, "regions", table) {
		part := strings.Split(word, " ")
		if len(part) != 4 {
			t.Fatalf("admin: a region is %q", word)
		}
		all = append(all, Region{Encoded: part[0], Server: c.name(part[1]), Start: Unescape(part[2]), End: Unescape(part[3])})
	}
	return all
}

// MetaServer returns the RegionServer of hbase:meta.
func (c *Cluster) MetaServer(t testing.TB) string {
	t.Helper()
	return c.name(c.Admin(t, "meta")[0])
}

// Move moves a region to the RegionServer with the given name.
func (c *Cluster) Move(t testing.TB, region Region, name string) {
	t.Helper()
	for _, d := range c.RegionServers() {
		if d.Name == name {
			c.Admin(t, "move", region.Encoded, d.Address)
			return
		}
	}
	t.Fatalf("there is no RegionServer %s", name)
}

// name returns the name of the RegionServer at an address.
func (c *Cluster) name(address string) string {
	for _, d := range c.RegionServers() {
		if d.Address == address {
			return d.Name
		}
	}
	return ""
}

// A Digest is the digest of a table's cells that Admin.java's digest computes.
type Digest struct {
	Rows, Cells int64
	SHA256      string // hexadecimal
}

// Digest scans a table with HBase's own client.
func (c *Cluster) Digest(t testing.TB, table string) Digest {
	t.Helper()
	response := c.Admin(t, "digest", table)
	rows, err1 := strconv.ParseInt(response[0], 10, 64)
	cells, err2 := strconv.ParseInt(response[1], 10, 64)
	if err := errors.Join(err1, err2); err != nil {
		t.Fatalf("admin: digest of %s: %v", table, err)
	}
	return Digest{rows, cells, response[2]}
}

// admin returns the address of the daemon that runs Admin.java.
func (c *Cluster) admin() string { return c.net + ".0.1:16050" }

// request sends one request to the daemon, on its own connection, and returns the words of
// the reply.
func (c *Cluster) request(ctx context.Context, words []string) ([]string, error) {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", c.admin())
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	escaped := make([]string, len(words))
	for i, word := range words {
		escaped[i] = escape(word)
	}
	if _, err := io.WriteString(conn, strings.Join(escaped, "\t")+"\n"); err != nil {
		return nil, ended(ctx, err)
	}
	line, err := bufio.NewReader(conn).ReadString('\n')
	if err != nil {
		return nil, ended(ctx, err)
	}
	response := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
	switch {
	case response[0] == "ok":
		return response[1:], nil
	case response[0] == "error" && len(response) == 2:
		return nil, errors.New(response[1])
	}
	return nil, fmt.Errorf("not understood: %q", line)
}

// ended returns the error of a connection that ctx may have closed.
func ended(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return fmt.Errorf("the daemon admin: %w", err)
}

// escape returns bytes as a word of a request.
func escape(s string) string {
	var b strings.Builder
	for _, c := range []byte(s) {
		if c > ' ' && c < 0x7f && c != '\\' {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, `\x%02X`, c)
		}
	}
	return b.String()
}

// Unescape returns the bytes of a word of a response, in which \xNN stands for a byte.
func Unescape(word string) string {
	var b strings.Builder
	for {
		before, after, found := strings.Cut(word, `\x`)
		b.WriteString(before)
		if !found {
			return b.String()
		}
		n, err := strconv.ParseUint(after[:min(2, len(after))], 16, 8)
		if err != nil {
			b.WriteString(`\x`)
			word = after
			continue
		}
		b.WriteByte(byte(n))
		word = after[2:]
	}
}
