package clustertest

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/quick"

	"github.com/gofrs/flock"

	"usertrail/internal/test/testkit"
)

// cells are the cells that the tests put: row, family, qualifier, timestamp, value, in
// HBase's order.
var cells = []struct {
	row, family, qualifier string
	time                   uint64
	value                  string
}{
	{"\x00a b\\", "f", "q", 7, "one\ttwo\n"},
	{"a", "f", "q", 1, ""},
	{"z\xff", "f", "\x00", 1 << 40, "é"},
}

// filled returns a new table with the cells.
func filled(t *testing.T, c *Cluster, options ...string) string {
	t.Helper()
	table := c.Create(t, "f", options...)
	for _, x := range cells {
		c.Admin(t, "put", table, x.row, x.family, x.qualifier, x.value, strconv.FormatUint(x.time, 10))
	}
	return table
}

// digest returns the expected Digest of the cells.
func digest() Digest {
	sum := sha256.New()
	add := func(s string) {
		sum.Write(binary.BigEndian.AppendUint32(nil, uint32(len(s))))
		sum.Write([]byte(s))
	}
	for _, x := range cells {
		add(x.row)
		add(x.family)
		add(x.qualifier)
		sum.Write(binary.BigEndian.AppendUint64(nil, x.time))
		add(x.value)
	}
	n := int64(len(cells))
	return Digest{n, n, hex.EncodeToString(sum.Sum(nil))}
}

func TestWhatIsPutIsThere(t *testing.T) {
	c := Get(t)
	table := filled(t, c)
	if got, want := c.Digest(t, table), digest(); got != want {
		t.Errorf("the digest is %+v, want %+v", got, want)
	}
	got := c.Admin(t, "get", table, cells[0].row)
	if want := []string{escape("q") + "=" + escape(cells[0].value) + "@7"}; !slices.Equal(got, want) {
		t.Errorf("the row is %q, want %q", got, want)
	}
}

func TestLocksOfTheMasterAreJSON(t *testing.T) {
	c := Get(t)
	filled(t, c)
	if got := c.locks(t.Context()); !json.Valid([]byte(got)) {
		t.Errorf("the locks are %q, want JSON", got)
	}
}

// TestASharedTableIsMadeOnce requests a shared table several times in two processes.
func TestASharedTableIsMadeOnce(t *testing.T) {
	c := Get(t)
	other := &Cluster{net: c.net}
	name := c.Shared(t, "f", "split=m")
	for _, of := range []*Cluster{c, other, other} {
		t.Run("a test", func(t *testing.T) {
			if got := of.Shared(t, "f", "split=m"); got != name {
				t.Errorf("the table is %s, want %s", got, name)
			}
		})
	}
	if got, want := starts(c.Regions(t, name)), []string{"", "m"}; !slices.Equal(got, want) {
		t.Errorf("regions begin at %q, want %q", got, want)
	}
	if c.Shared(t, "f") == name {
		t.Error("a table with other options is the same")
	}
}

// starts returns the first keys of a table's regions.
func starts(all []Region) []string {
	var keys []string
	for _, r := range all {
		keys = append(keys, r.Start)
	}
	return keys
}

func TestRegionsSplitMoveAndMerge(t *testing.T) {
	c := Get(t)
	table := filled(t, c, "split=m", "COMPRESSION=ZSTD")
	if got, want := starts(c.Regions(t, table)), []string{"", "m"}; !slices.Equal(got, want) {
		t.Fatalf("regions begin at %q, want %q", got, want)
	}
	c.Admin(t, "split", table, "x\x00")
	all := c.Regions(t, table)
	if got, want := starts(all), []string{"", "m", "x\x00"}; !slices.Equal(got, want) {
		t.Fatalf("after the split regions begin at %q, want %q", got, want)
	}
	for _, d := range c.RegionServers() {
		c.Move(t, all[0], d.Name)
		if got := c.Regions(t, table)[0].Server; got != d.Name {
			t.Errorf("moved to %s it is on %s", d.Name, got)
		}
	}
	c.Admin(t, "compact", table) // daughter regions have references until they are compacted
	c.Admin(t, "merge", all[0].Encoded, all[1].Encoded)
	if got, want := starts(c.Regions(t, table)), []string{"", "x\x00"}; !slices.Equal(got, want) {
		t.Errorf("after the merge regions begin at %q, want %q", got, want)
	}
	if got, want := c.Digest(t, table), digest(); got != want {
		t.Errorf("the digest is %+v, want %+v", got, want)
	}
}

// allKinds returns a daemon of each kind.
func allKinds(t *testing.T, c *Cluster) []string {
	return []string{"dn2", c.MetaServer(t), "master", "zk", "nn"}
}

func TestKilledDaemonsAreStartedForTheNextTest(t *testing.T) {
	testkit.OnlyAll(t, "the tests of internal/store/dfs/hdfs and internal/test/faults, which kill daemons one after the other")
	c := Alone(t)
	table := filled(t, c)
	for _, name := range allKinds(t, c) {
		t.Run(name, func(t *testing.T) {
			c.Kill(t, name)
			c := Alone(t)
			if got, want := c.Digest(t, table), digest(); got != want {
				t.Errorf("the digest is %+v, want %+v", got, want)
			}
		})
	}
}

func TestFrozenDaemonsAreNotHealthy(t *testing.T) {
	c := Alone(t)
	for _, name := range testkit.Pick([]string{"zk"}, allKinds(t, c)) {
		t.Run(name, func(t *testing.T) {
			c.Freeze(t, name)
			ctx, cancel := limited(t, callLimit)
			defer cancel()
			if err := c.WaitHealthy(ctx); err == nil || !strings.Contains(err.Error(), "frozen: [\""+name) {
				t.Errorf("while %s is frozen: %v", name, err)
			}
			c.Thaw(t, name)
			Alone(t)
			c.Admin(t, "tables")
		})
	}
}

// TestRestartedDaemonsBecomeHealthy also covers a RegionServer that HBase ends because a
// write failed while the NameNode or ZooKeeper was away. The next test repairs it.
func TestRestartedDaemonsBecomeHealthy(t *testing.T) {
	testkit.OnlyAll(t, "TestNameNodeRestarts of internal/store/dfs/hdfs")
	c := Alone(t)
	for _, name := range allKinds(t, c) {
		t.Run(name, func(t *testing.T) {
			c.Restart(t, name)
			filled(t, Alone(t))
		})
	}
}

// TestRequestsContinueAfterARestart checks that the daemon admin recovers from a stale connection
// to the NameNode.
func TestRequestsContinueAfterARestart(t *testing.T) {
	testkit.OnlyAll(t, "TestNameNodeRestarts of internal/store/dfs/hdfs")
	c := Alone(t)
	dir := c.HDFS(t)
	c.Admin(t, "mkdir", dir+"/before")
	c.Restart(t, "nn")
	c.Admin(t, "mkdir", dir+"/after")
}

func TestPermissionsAreChecked(t *testing.T) {
	testkit.OnlyAll(t, "TestRealPermissions of internal/store/hbase")
	c := Get(t)
	table := filled(t, c)
	read := func() string {
		return strings.TrimSpace(c.Java(t, filepath.Join("testdata", "ReadAs.java"), "bob", table))
	}

	if got, want := read(), "AccessDeniedException"; got != want {
		t.Fatalf("bob reads %q, want %q", got, want)
	}
	c.Admin(t, "grant", "bob", "R", table)
	if got, want := read(), "3 rows"; got != want {
		t.Errorf("after the grant bob reads %q, want %q", got, want)
	}
}

func TestDirectoriesAreNewAndRemoved(t *testing.T) {
	c := Get(t)
	var first string
	t.Run("one", func(t *testing.T) {
		first = c.HDFS(t)
		c.Admin(t, "mkdir", first+"/bobs own", "bob", "700")
		if got, want := c.Admin(t, "ls", first), []string{`bobs\x20own bob 0700 0`}; !slices.Equal(got, want) {
			t.Errorf("in it is %q, want %q", got, want)
		}
		if again := c.HDFS(t); again == first {
			t.Errorf("twice %s", first)
		}
	})
	ctx, cancel := limited(t, callLimit)
	defer cancel()
	if got, err := c.Ask(ctx, "ls", first); err == nil || !strings.Contains(err.Error(), "FileNotFoundException") {
		t.Errorf("afterwards %s has %q, %v", first, got, err)
	}
}

// TestOthersShareTheClusterOrWait makes the requests of another process.
func TestOthersShareTheClusterOrWait(t *testing.T) {
	for name, test := range map[string]struct {
		lend          func(testing.TB) *Cluster
		beside, alone bool // whether another process gets shared or exclusive use
	}{
		"shared": {Get, true, false},
		"alone":  {Alone, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			c := test.lend(t)
			other := flock.New(filepath.Join(c.dir, "test.lock"))
			got, err := other.TryRLock()
			if got != test.beside || err != nil {
				t.Errorf("another shares it: %v, %v, want %v", got, err, test.beside)
			}
			if err := other.Unlock(); err != nil {
				t.Fatal(err)
			}
			got, err = other.TryLock()
			if got != test.alone || err != nil {
				t.Errorf("another has it alone: %v, %v, want %v", got, err, test.alone)
			}
		})
	}
}

// TestTheClusterIsGivenBack checks that the last test of a process ends its use.
func TestTheClusterIsGivenBack(t *testing.T) {
	has := func(t *testing.T, c *Cluster, want bool) {
		t.Helper()
		if got := c.claim.use.Locked() || c.claim.use.RLocked(); got != want {
			t.Errorf("this process has the cluster: %v, want %v", got, want)
		}
	}
	for name, lend := range map[string]func(testing.TB) *Cluster{"shared": Get, "alone": Alone} {
		t.Run(name, func(t *testing.T) {
			var c *Cluster
			t.Run("two uses", func(t *testing.T) {
				c = lend(t)
				t.Run("one of them ends", func(t *testing.T) { lend(t) })
				has(t, c, true)
			})
			if c == nil {
				t.Skip("there is no cluster to have")
			}
			has(t, c, false)
		})
	}
	var c *Cluster
	AloneFor(t, func(lent *Cluster) {
		c = lent
		has(t, c, true)
	})
	has(t, c, false)
}

// TestWhoSharesCannotHaveItAlone checks that a test cannot wait for itself.
func TestWhoSharesCannotHaveItAlone(t *testing.T) {
	c := Get(t)
	if err := c.claim.take(true, c.ready); !errors.Is(err, errShared) {
		t.Errorf("%v, want that the test shares it", err)
	}
}

func TestNoneSkips(t *testing.T) {
	t.Setenv("USERTRAIL_CLUSTER", "none")
	t.Run("", func(sub *testing.T) {
		defer func() {
			if !sub.Skipped() {
				t.Error("is not skipped")
			}
		}()
		Get(sub)
	})
}

func TestAnEmptyDirectoryIsNoCluster(t *testing.T) {
	dir := t.TempDir()
	if _, err := plain.find(dir, false); err == nil || !strings.Contains(err.Error(), "CLUSTER_DIR="+dir) {
		t.Errorf("%v, want what to do", err)
	}
}

func TestWordsHoldAnyBytes(t *testing.T) {
	same := func(s []byte) bool {
		word := escape(string(s))
		return Unescape(word) == string(s) && !strings.ContainsAny(word, " \t\n")
	}
	if err := quick.Check(same, nil); err != nil {
		t.Error(err)
	}
}
