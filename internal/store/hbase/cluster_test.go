package hbase

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"usertrail/internal/cell"
	"usertrail/internal/split"
	"usertrail/internal/store/hbase/wire"
	"usertrail/internal/test/clustertest"
	"usertrail/internal/test/testkit"
)

// dialReal returns a client of the real cluster, as its superuser or another.
func dialReal(t *testing.T, k *clustertest.Cluster, changes ...func(*Config)) *Client {
	t.Helper()
	cfg := Config{ZooKeeper: []string{k.ZooKeeper()}}
	for _, change := range changes {
		change(&cfg)
	}
	c, err := Dial(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	closeLater(t, c)
	return c
}

// createReal creates a table of family f that is split at some rows.
func createReal(t *testing.T, k *clustertest.Cluster, c *Client, at ...int) string {
	t.Helper()
	name := k.Table(t)
	schema := &wire.TableSchema{Name: wire.ParseTableName(name), Families: []wire.FamilySchema{{Name: "f"}}}
	var splits [][]byte
	for _, i := range at {
		splits = append(splits, []byte(rowName(i)))
	}
	if err := c.Create(t.Context(), schema, splits); err != nil {
		t.Fatal(err)
	}
	return name
}

// realCell returns cell q of row i. Some values are long.
func realCell(i, q int) *cell.Cell {
	c := put(rowName(i), fmt.Sprintf("q%02d", q), fmt.Sprintf("%d-%d", i, q))
	c.Time = int64(1000 + i)
	if i%50 == 0 {
		c.Value = bytes.Repeat(c.Value, 1000)
	}
	return c
}

const realColumns = 5

// putReal puts the rows from up to to.
func putReal(t *testing.T, c *Client, name string, from, to int, progress func(i int)) {
	t.Helper()
	p, err := c.NewPutter(name, PutOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	for i := from; i < to; i++ {
		for q := range realColumns {
			if err := p.Put(t.Context(), realCell(i, q)); err != nil {
				t.Fatal(err)
			}
		}
		if progress != nil {
			progress(i)
		}
	}
	if err := p.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// A digest sums up cells in order, like clustertest.Cluster.Digest.
type digest struct {
	rows, cells int64
	last        []byte
	sum         interface {
		Write([]byte) (int, error)
		Sum([]byte) []byte
	}
}

func newDigest() *digest { return &digest{sum: sha256.New()} }

func (d *digest) add(c *cell.Cell) error {
	if !bytes.Equal(d.last, c.Row) {
		d.rows++
		d.last = append(d.last[:0], c.Row...)
	}
	d.cells++
	for _, b := range [][]byte{c.Row, c.Family, c.Qualifier, nil, c.Value} {
		if b == nil {
			b = binary.BigEndian.AppendUint64(nil, uint64(c.Time))
		} else {
			_, _ = d.sum.Write(binary.BigEndian.AppendUint32(nil, uint32(len(b))))
		}
		_, _ = d.sum.Write(b)
	}
	return nil
}

func (d *digest) String() string {
	return fmt.Sprint(clustertest.Digest{Rows: d.rows, Cells: d.cells, SHA256: hex.EncodeToString(d.sum.Sum(nil))})
}

// wantReal returns the digest of rows 0 to n.
func wantReal(n int) string {
	d := newDigest()
	for i := range n {
		for q := range realColumns {
			_ = d.add(realCell(i, q))
		}
	}
	return d.String()
}

// scanReal compares a scan with the n expected rows.
func scanReal(t *testing.T, c *Client, name string, n int, s Scan, progress func(rows int64)) {
	t.Helper()
	d := newDigest()
	err := c.Scan(t.Context(), name, s, func(x *cell.Cell) error {
		if progress != nil {
			progress(d.rows)
		}
		return d.add(x)
	})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := d.String(), wantReal(n); got != want {
		t.Errorf("scan gives %s, want %s", got, want)
	}
}

// getReal requests rows 0 to n in random order, and some absent rows.
func getReal(t *testing.T, c *Client, name string, n int, progress func(rows int)) {
	t.Helper()
	names := make([]string, 0, n+2)
	for i := range n {
		names = append(names, rowName(i*7919%n))
	}
	names = append(names, "absent", "zzz")
	s := newSink(t)
	err := c.Gets(t.Context(), name, rowsOf(names...), GetOptions{Batch: 100}, func(x *cell.Cell) error {
		if progress != nil {
			progress(len(s.rows))
		}
		return s.emit(x)
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(s.rows) != n {
		t.Errorf("%d rows, want %d", len(s.rows), n)
	}
	for i := range n {
		row := s.rows[rowName(i)]
		if len(row) != realColumns {
			t.Fatalf("%s has %d cells, want %d", rowName(i), len(row), realColumns)
		}
		for q, got := range row {
			x := realCell(i, q)
			if want := string(x.Qualifier) + "=" + string(x.Value); got != want {
				t.Fatalf("%s: %.80q, want %.80q", rowName(i), got, want)
			}
		}
	}
}

func TestRealAgreesWithJava(t *testing.T) {
	t.Parallel()
	k := clustertest.Get(t)
	c := dialReal(t, k)
	n := testkit.Pick(1200, 7919*2/3)
	name := createReal(t, k, c, n/5, 2*n/5, 4*n/5)

	all, err := c.Regions(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	javas := k.Regions(t, name)
	if len(all) != 4 || len(javas) != 4 {
		t.Fatalf("%d regions, Java's client sees %d, want 4", len(all), len(javas))
	}
	for i, r := range all {
		if want := (split.Region{Start: []byte(javas[i].Start), End: []byte(javas[i].End)}); r.Region.String() != want.String() || !strings.Contains(string(r.Name), javas[i].Encoded) {
			t.Errorf("region %d is %s %s, Java's client sees %s %s", i, r.Region, r.Name, want, javas[i].Encoded)
		}
	}
	schema, err := c.Describe(t.Context(), name)
	if err != nil || schema.Name.String() != name || len(schema.Families) != 1 || schema.Families[0].Attributes["BLOOMFILTER"] != "ROW" {
		t.Errorf("described as %+v, %v", schema, err)
	}

	putReal(t, c, name, 0, n, nil)
	if got, want := fmt.Sprint(k.Digest(t, name)), wantReal(n); got != want {
		t.Fatalf("Java's client reads %s, want %s", got, want)
	}
	scanReal(t, c, name, n, Scan{}, nil)
	scanReal(t, c, name, n, Scan{ResultBytes: 10_000, CacheBlocks: true}, nil)
	getReal(t, c, name, n, nil)
	k.Admin(t, "flush", name)
	scanReal(t, c, name, n, Scan{ReadType: wire.ReadStream}, nil)
	getReal(t, c, name, n, nil)

	k.Admin(t, "put", name, "aJava", "f", "q", "from Java", "5")
	got, err := c.Get(t.Context(), name, []byte("aJava"), wire.Get{})
	if err != nil || len(got) != 1 || string(got[0].Value) != "from Java" || got[0].Time != 5 {
		t.Errorf("a cell that Java's client put: %v, %v", got, err)
	}
	one := k.Admin(t, "get", name, rowName(7))
	if len(one) != realColumns || clustertest.Unescape(one[1]) != "q01=7-1@1007" {
		t.Errorf("Java's client gets %q", one)
	}
}

// TestRealScanOfWideRows checks that rows larger than a response arrive in parts.
func TestRealScanOfWideRows(t *testing.T) {
	t.Parallel()
	k := clustertest.Get(t)
	c := dialReal(t, k)
	name := createReal(t, k, c, 1)
	p, err := c.NewPutter(name, PutOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	for i := range 3 {
		for q := range 2000 {
			if err := p.Put(t.Context(), put(rowName(i), fmt.Sprintf("q%06d", q), strings.Repeat("v", 50))); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := p.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	d := newDigest()
	if err := c.Scan(t.Context(), name, Scan{ResultBytes: 5000}, d.add); err != nil {
		t.Fatal(err)
	}
	if got, want := d.String(), fmt.Sprint(k.Digest(t, name)); got != want || d.cells != 6000 {
		t.Errorf("scan gives %s, Java's client %s", got, want)
	}
}

func TestRealErrors(t *testing.T) {
	t.Parallel()
	k := clustertest.Get(t)
	c := dialReal(t, k)
	name := createReal(t, k, c, 100)
	putReal(t, c, name, 0, 200, nil)
	ignore := func(*cell.Cell) error { return nil }
	other := []wire.Column{{Family: []byte("g")}}
	if err := c.Scan(t.Context(), name, Scan{Columns: other}, ignore); !errors.Is(err, ErrNoFamily) {
		t.Errorf("scan of another family: %v", err)
	}
	if err := c.Gets(t.Context(), name, rowsOf("a"), GetOptions{Get: wire.Get{Columns: other}}, ignore); !errors.Is(err, ErrNoFamily) {
		t.Errorf("gets of another family: %v", err)
	}
	p, err := c.NewPutter(name, PutOptions{})
	if err != nil {
		t.Fatal(err)
	}
	x := put("r", "q", "v")
	x.Family = []byte("g")
	if err := p.Put(t.Context(), x); err != nil {
		t.Fatal(err)
	}
	if err := p.Flush(t.Context()); !errors.Is(err, ErrNoFamily) {
		t.Errorf("put into another family: %v", err)
	}
	_ = p.Close()

	eve := dialReal(t, k, func(cfg *Config) { cfg.User = "eve" })
	_, err = eve.Get(t.Context(), name, []byte("a"), wire.Get{})
	if !errors.Is(err, ErrPermission) || !strings.Contains(err.Error(), "eve") || !strings.Contains(err.Error(), name) {
		t.Errorf("a user without permission: %v", err)
	}
	if err := eve.Scan(t.Context(), name, Scan{}, ignore); !errors.Is(err, ErrPermission) {
		t.Errorf("a scan without permission: %v", err)
	}

	schema := &wire.TableSchema{Name: wire.ParseTableName(name), Families: []wire.FamilySchema{{Name: "f"}}}
	if err := c.Create(t.Context(), schema, nil); !errors.Is(err, ErrTableExists) {
		t.Errorf("created again: %v", err)
	}
	refusesDisabled(t, k, c, name)
}

// refusesDisabled disables and drops a table, and reads it after each step.
func refusesDisabled(t *testing.T, k *clustertest.Cluster, c *Client, name string) {
	t.Helper()
	ignore := func(*cell.Cell) error { return nil }
	if err := c.Disable(t.Context(), name); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Get(t.Context(), name, []byte("a"), wire.Get{}); !errors.Is(err, ErrDisabled) {
		t.Errorf("get from a disabled table: %v", err)
	}
	if err := c.Gets(t.Context(), name, rowsOf("a", "z"), GetOptions{}, ignore); !errors.Is(err, ErrDisabled) {
		t.Errorf("gets from a disabled table: %v", err)
	}
	if err := c.Scan(t.Context(), name, Scan{}, ignore); !errors.Is(err, ErrDisabled) {
		t.Errorf("scan of a disabled table: %v", err)
	}
	if err := c.Drop(t.Context(), name); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Regions(t.Context(), name); !errors.Is(err, ErrNoTable) {
		t.Errorf("regions of a dropped table: %v", err)
	}
	if _, err := dialReal(t, k).Get(t.Context(), name, []byte("a"), wire.Get{}); !errors.Is(err, ErrNoTable) {
		t.Errorf("get from a dropped table: %v", err)
	}
}

// A shaker moves, splits and merges regions of a table, one after the other.
type shaker struct {
	k     *clustertest.Cluster
	name  string
	begun chan struct{} // each receive starts a change
	over  chan struct{}
	wg    sync.WaitGroup
}

func shake(t *testing.T, k *clustertest.Cluster, name string) *shaker {
	s := &shaker{k: k, name: name, begun: make(chan struct{}), over: make(chan struct{})}
	s.wg.Go(func() {
		for i := 0; ; i++ {
			select {
			case s.begun <- struct{}{}:
				s.change(t.Context(), i)
			case <-s.over:
				return
			}
		}
	})
	return s
}

// next waits for the current change, and returns when the next one begins.
func (s *shaker) next() { <-s.begun }

// stop returns when the last change has ended.
func (s *shaker) stop() {
	close(s.over)
	s.wg.Wait()
}

// change requests change i. It may fail because the previous change has not ended.
func (s *shaker) change(ctx context.Context, i int) {
	words, err := s.k.Ask(ctx, "regions", s.name)
	if err != nil || len(words) < 2 {
		return
	}
	servers := s.k.RegionServers()
	encoded := func(j int) string { return strings.Fields(words[j%len(words)])[0] }
	switch i % 4 {
	case 0, 2:
		_, _ = s.k.Ask(ctx, "move", encoded(i), servers[i%len(servers)].Address)
	case 1:
		_, _ = s.k.Ask(ctx, "split", s.name, rowName(200+137*i%2500))
	case 3:
		j := i % (len(words) - 1)
		_, _ = s.k.Ask(ctx, "merge", encoded(j), encoded(j+1))
	}
}

// TestRealRegionsMoveSplitAndMerge starts a change at some rows of each operation.
func TestRealRegionsMoveSplitAndMerge(t *testing.T) {
	t.Parallel()
	k := clustertest.Get(t)
	c := dialReal(t, k, func(cfg *Config) { cfg.MaxRequestBytes = 20_000 })
	const n = 3000
	name := createReal(t, k, c, 500, 1000, 2000)
	s := shake(t, k, name)
	changes := testkit.Pick(4, 12)
	putReal(t, c, name, 0, n, func(i int) {
		if i%(n/changes) == n/changes/2 {
			s.next()
		}
	})
	for range testkit.Pick(1, 5) {
		var scanned int64
		scanReal(t, c, name, n, Scan{ResultBytes: 20_000}, func(rows int64) {
			if rows > scanned && rows%(n/2) == n/4 {
				s.next()
			}
			scanned = rows
		})
		got := 0
		getReal(t, c, name, n, func(rows int) {
			if rows > got && rows%(n/2) == n/4 {
				s.next()
			}
			got = rows
		})
	}
	s.stop()
	if got, want := fmt.Sprint(k.Digest(t, name)), wantReal(n); got != want {
		t.Errorf("Java's client reads %s, want %s", got, want)
	}
}

// TestRealRegionServerEnds kills or freezes a server during each kind of operation.
func TestRealRegionServerEnds(t *testing.T) {
	testkit.OnlyAll(t, "internal/test/faults and the tests of servers that end on the fake cluster")
	k := clustertest.Alone(t)
	c := dialReal(t, k, func(cfg *Config) { cfg.MaxRequestBytes, cfg.CallTimeout = 20_000, 20*time.Second })
	const n = 3000
	name := createReal(t, k, c, 300, 600, 900, 1200, 1500, 1800, 2100, 2400, 2700)
	servers := k.RegionServers()
	var once sync.Once
	well := func() {
		once = sync.Once{}
		ctx, cancel := context.WithTimeout(t.Context(), enough)
		defer cancel()
		if err := k.WaitHealthy(ctx); err != nil {
			t.Fatal(err)
		}
	}
	putReal(t, c, name, 0, n, func(i int) {
		if i == n/2 {
			once.Do(func() { k.Kill(t, servers[0].Name) })
		}
	})
	k.Start(t, servers[0].Name)
	well()
	if got, want := fmt.Sprint(k.Digest(t, name)), wantReal(n); got != want {
		t.Fatalf("Java's client reads %s, want %s", got, want)
	}
	scanReal(t, c, name, n, Scan{ResultBytes: 20_000}, func(rows int64) {
		if rows == n/3 {
			once.Do(func() { k.Kill(t, servers[1].Name) })
		}
	})
	k.Start(t, servers[1].Name)
	well()
	getReal(t, c, name, n, func(rows int) {
		if rows == n/3 {
			once.Do(func() { k.Freeze(t, servers[2].Name) })
		}
	})
}
