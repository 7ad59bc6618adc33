package clustertest

import (
	"bufio"
	"context"
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

// Admin has HBase's own client do something and gives the words of its answer. The
// requests are listed in scripts/cluster.d/java/Admin.java; a word may be any bytes.
// An answer that is a key is still escaped: see Unescape.
func (c *Cluster) Admin(t testing.TB, words ...string) []string {
	t.Helper()
	ctx, cancel := limited(t, callLimit)
	defer cancel()
	answer, err := c.Ask(ctx, words...)
	if err != nil {
		t.Fatal(err)
	}
	return answer
}

// Ask is Admin for a request that may fail. A request that ctx ends may still be
// carried out.
func (c *Cluster) Ask(ctx context.Context, words ...string) ([]string, error) {
	answer, err := c.request(ctx, words)
	if err != nil {
		return nil, fmt.Errorf("admin %q: %w", words, err)
	}
	return answer, nil
}

// cleanUp is Admin, for requests that may be made again, at a test's end. The test may
// have left servers dead, and the daemon admin with connections to servers before them.
func (c *Cluster) cleanUp(t testing.TB, words ...string) {
	t.Helper()
	ctx, cancel := limited(t, healLimit+callLimit)
	defer cancel()
	err := c.heal(ctx)
	if err == nil {
		_, err = c.Ask(ctx, words...)
	}
	for err != nil && ctx.Err() == nil {
		t.Logf("clean up again: %v", err)
		time.Sleep(time.Second)
		_, err = c.Ask(ctx, words...)
	}
	if err != nil {
		t.Errorf("clean up: %v", err)
	}
}

// Table is the name of a table that no other test uses. It is dropped at t's end.
func (c *Cluster) Table(t testing.TB) string {
	t.Helper()
	name := unique(t)
	t.Cleanup(func() { c.cleanUp(t, "drop", name) })
	return name
}

// Create makes a table of one family, with options as Admin's create has them, and
// gives its name. It is dropped at t's end.
func (c *Cluster) Create(t testing.TB, family string, options ...string) string {
	t.Helper()
	name := c.Table(t)
	c.Admin(t, append([]string{"create", name, family}, options...)...)
	return name
}

// HDFS is a new directory, as hdfs://host:port/path, which is removed at t's end.
func (c *Cluster) HDFS(t testing.TB) string {
	t.Helper()
	path := "/test/" + unique(t)
	c.Admin(t, "mkdir", path)
	t.Cleanup(func() { c.cleanUp(t, "rm", path) })
	return "hdfs://" + c.NameNode() + path
}

// unique is the test's name, as far as HBase takes it for a table's, and a number.
func unique(t testing.TB) string {
	name := strings.Map(func(r rune) rune {
		if r < 0x80 && (r == '-' || '0' <= r && r <= '9' || 'A' <= r && r <= 'Z' || 'a' <= r && r <= 'z') {
			return r
		}
		return '_'
	}, t.Name())
	return fmt.Sprintf("%.80s_%08x", name, rand.Uint32())
}

// A Region is a part of a table and the server that has it now.
type Region struct {
	Encoded    string // its name as requests take it
	Server     string // rs1..; "" while it is nowhere
	Start, End string // keys; "" is the table's end
}

// Regions are a table's, in the order of their keys.
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

// MetaServer is the RegionServer that has hbase:meta.
func (c *Cluster) MetaServer(t testing.TB) string {
	t.Helper()
	return c.name(c.Admin(t, "meta")[0])
}

// Move puts a region on the RegionServer of that name.
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

// name of the RegionServer at an address.
func (c *Cluster) name(address string) string {
	for _, d := range c.RegionServers() {
		if d.Address == address {
			return d.Name
		}
	}
	return ""
}

// A Digest is of a table's cells, as Admin.java's digest says.
type Digest struct {
	Rows, Cells int64
	SHA256      string // hexadecimal
}

// Digest has HBase's own client scan a table.
func (c *Cluster) Digest(t testing.TB, table string) Digest {
	t.Helper()
	answer := c.Admin(t, "digest", table)
	rows, err1 := strconv.ParseInt(answer[0], 10, 64)
	cells, err2 := strconv.ParseInt(answer[1], 10, 64)
	if err := errors.Join(err1, err2); err != nil {
		t.Fatalf("admin: digest of %s: %v", table, err)
	}
	return Digest{rows, cells, answer[2]}
}

// admin is the address of the daemon that runs Admin.java.
func (c *Cluster) admin() string { return c.net + ".0.1:16050" }

// request sends the daemon one request, on a connection of its own, and returns the
// words of the reply.
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
	answer := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
	switch {
	case answer[0] == "ok":
		return answer[1:], nil
	case answer[0] == "error" && len(answer) == 2:
		return nil, errors.New(answer[1])
	}
	return nil, fmt.Errorf("not understood: %q", line)
}

// ended is the error of a connection that ctx may have closed.
func ended(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return fmt.Errorf("the daemon admin: %w", err)
}

// escape writes bytes as a word of a request.
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

// Unescape is the bytes of a word of an answer, in which \xNN stands for a byte.
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
