package live_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"usertrail/internal/behaviour"
	"usertrail/internal/format/layout"
	"usertrail/internal/run/hadoopconf"
	"usertrail/internal/store/dfs"
	"usertrail/internal/store/dfs/hdfs"
	"usertrail/internal/store/dfs/local"
	"usertrail/internal/table"
	"usertrail/internal/table/live"
	"usertrail/internal/table/precheck"
	"usertrail/internal/table/tabletest"
	"usertrail/internal/test/clustertest"
)

// tonight is a load of a night by puts.
var tonight = precheck.Load{Span: behaviour.Span{From: today(), To: today()}, Bytes: 1 << 20, Puts: true}

func today() behaviour.Date {
	d, err := behaviour.ParseDate(time.Now().UTC().Format(time.DateOnly))
	if err != nil {
		panic(err)
	}
	return d
}

// everywhere returns local files and the files of the cluster, by the cluster's configuration.
func everywhere(c *clustertest.Cluster, user string) (dfs.FS, *hadoopconf.Conf, error) {
	conf, err := hadoopconf.Load(c.ConfDir())
	far := hdfs.New(hdfs.Config{User: user, Conf: func() (*hadoopconf.Conf, error) { return conf, err }})
	return dfs.NewMux(map[string]dfs.FS{"": local.New(), hdfs.Scheme: far}), conf, err
}

// look checks the table of that name.
func look(t *testing.T, c *clustertest.Cluster, name string, o live.Options, load precheck.Load) map[precheck.Name]precheck.Check {
	t.Helper()
	fs, conf, err := everywhere(c, o.Client.User)
	if err != nil {
		t.Fatal(err)
	}
	if o.Conf == nil {
		o.Conf = conf
	}
	s, err := live.Look(t.Context(), fs, at(c, name), o)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	found := map[precheck.Name]precheck.Check{}
	for _, check := range s.Check(t.Context(), load) {
		if _, twice := found[check.Name]; twice {
			t.Errorf("%s is checked twice", check.Name)
		}
		found[check.Name] = check
	}
	return found
}

// expect compares one check.
func expect(t *testing.T, found map[precheck.Name]precheck.Check, name precheck.Name, state precheck.State, words ...string) {
	t.Helper()
	c, ok := found[name]
	if !ok || c.State != state {
		t.Errorf("%s is %q: %s; want %s", name, c.State, c.Detail, state)
		return
	}
	for _, w := range words {
		if !strings.Contains(c.Detail+c.Advice, w) {
			t.Errorf("%s says %q and advises %q, without %q", name, c.Detail, c.Advice, w)
		}
	}
	if state == precheck.Fail != (c.Err != nil) {
		t.Errorf("%s: %s with the error %v", name, c.State, c.Err)
	}
}

// testFit checks a table that was made for trails and has no load yet.
func testFit(t *testing.T, c *clustertest.Cluster, catalog, name string) {
	o := live.Options{Catalog: catalog}
	load := tonight
	load.HFiles = true
	found := look(t, c, name, o, load)
	expect(t, found, precheck.TableThere, precheck.OK, name)
	expect(t, found, precheck.FamilyThere, precheck.OK, "family d")
	expect(t, found, precheck.FamilyFit, precheck.OK, "BLOOMFILTER ROWPREFIX_FIXED_LENGTH", "COMPRESSION GZ", "BLOCKSIZE 16384")
	expect(t, found, precheck.Regions, precheck.OK, "7, all open")
	expect(t, found, precheck.Permissions, precheck.OK, o.Catalog)
	expect(t, found, precheck.StagingRoom, precheck.OK, "free space")
	expect(t, found, precheck.Versions, precheck.OK, "HBase "+c.HBase()+".", fmt.Sprintf(", %d servers", len(c.RegionServers())))
	expect(t, found, precheck.Clock, precheck.OK, o.Catalog)
	expect(t, found, precheck.UnfinishedRun, precheck.OK)

	fs, _, err := everywhere(c, "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fs.Stat(t.Context(), o.Catalog); err == nil {
		t.Error("the checks left a catalog behind")
	}
	lock, err := fs.Lock(t.Context(), dfs.Join(o.Catalog, "lock")) // the garbage collector releases a lock that nothing refers to
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Unlock()
	found = look(t, c, name, o, tonight)
	expect(t, found, precheck.UnfinishedRun, precheck.Fail, "locked by another run: process ")
	if !errors.Is(found[precheck.UnfinishedRun].Err, dfs.ErrLocked) {
		t.Errorf("%v, want ErrLocked", found[precheck.UnfinishedRun].Err)
	}
	load.Locked = true
	expect(t, look(t, c, name, o, load), precheck.UnfinishedRun, precheck.OK)
}

// TestATableThatSuitsBadlyIsWarnedOf sets each unsuitable setting of a family, and has a table
// with one region.
func TestATableThatSuitsBadlyIsWarnedOf(t *testing.T) {
	t.Parallel()
	c := clustertest.Get(t)
	name := c.Shared(t, "d", "VERSIONS=3", "MIN_VERSIONS=1", "KEEP_DELETED_CELLS=TRUE", "BLOOMFILTER=NONE", "TTL=864000")
	load := tonight
	load.Bytes, load.Span.From, load.HFiles = 1<<30, load.Span.From-20, true
	found := look(t, c, name, live.Options{Catalog: filepath.Join(t.TempDir(), "catalog")}, load)
	expect(t, found, precheck.FamilyFit, precheck.Warn, "VERSIONS is 3", "MIN_VERSIONS is 1", "KEEP_DELETED_CELLS is TRUE", "BLOOMFILTER is NONE",
		"DATA_BLOCK_ENCODING is NONE", "COMPRESSION is NONE", "TTL is 10d: ", "alter '"+name+"'")
	expect(t, found, precheck.Regions, precheck.Warn, "one region", "create-table")
	expect(t, found, precheck.Clock, precheck.Skipped, "on this machine")
	load.Span.From = load.Span.To
	if d := look(t, c, name, live.Options{Catalog: "/c"}, load)[precheck.FamilyFit].Detail; strings.Contains(d, "TTL is") {
		t.Errorf("days that a TTL keeps are warned of: %s", d)
	}
}

// TestATTLThatIsNotTheJobs checks tables that keep behaviours for another time than the
// job asks for, and for the same.
func TestATTLThatIsNotTheJobs(t *testing.T) {
	t.Parallel()
	c := clustertest.Get(t)
	testTTL(t, c, c.Shared(t, "d", "TTL=864000"), map[time.Duration]string{
		0: "", 10 * day: "",
		400 * day: "TTL is 10d, and the job's ttl is 400d: TTL => 34560000 sets it",
	})
	testTTL(t, c, c.Shared(t, "d"), map[time.Duration]string{
		0: "", 36 * time.Hour: "TTL is forever, and the job's ttl is 36h0m0s: TTL => 129600 sets it",
	})
}

const day = 24 * time.Hour

// testTTL checks a table for jobs with TTLs. cases has the check's detail for each TTL; "" means
// that the detail does not mention a TTL.
func testTTL(t *testing.T, c *clustertest.Cluster, name string, cases map[time.Duration]string) {
	t.Helper()
	for asked, says := range cases {
		load := tonight
		load.TTL = asked
		got := look(t, c, name, live.Options{Catalog: "/c"}, load)[precheck.FamilyFit]
		if says == "" && strings.Contains(got.Detail, "TTL") {
			t.Errorf("a job that asks for %s is told %q", asked, got.Detail)
		}
		if says != "" && (got.State != precheck.Warn || !strings.Contains(got.Detail, says)) {
			t.Errorf("a job that asks for %s is told %s %q, want %q", asked, got.State, got.Detail, says)
		}
	}
}

// TestVersionsThatALayoutNeeds checks tables made for a layout that needs many and cuts
// its tables itself, and for others.
func TestVersionsThatALayoutNeeds(t *testing.T) {
	t.Parallel()
	c := clustertest.Get(t)
	l, err := layout.ByName("hashed")
	if err != nil {
		t.Fatal(err)
	}
	needs := l.Traits()
	o := live.Options{Conf: new(hadoopconf.Conf), Catalog: filepath.Join(t.TempDir(), "catalog")}
	name := c.Table(t)
	d := design(t, at(c, name), o, live.Spec{Splits: needs.Splits(4), Compression: "gz", Versions: needs.Versions, TTL: needs.TTL})
	if there, differs, err := d.Make(t.Context()); err != nil || there || differs != nil {
		t.Fatalf("made: there already %t, differs %q, %v", there, differs, err)
	}
	load := tonight
	load.Traits, load.TTL, load.HFiles = needs, needs.TTL, true
	found := look(t, c, name, o, load)
	expect(t, found, precheck.FamilyFit, precheck.OK, "VERSIONS 400", "BLOOMFILTER ROW,")
	expect(t, found, precheck.Regions, precheck.OK, "4, all open, split as the layout requires")

	forever := load
	forever.TTL, forever.Forever = 0, true
	expect(t, look(t, c, name, o, forever), precheck.FamilyFit, precheck.Warn, "TTL is 365d, and the job's ttl is forever: TTL => 'FOREVER' sets it")
	other := tonight
	expect(t, look(t, c, name, o, other), precheck.FamilyFit, precheck.Warn, "VERSIONS is 400: a behaviour has one")

	few := c.Shared(t, "d", "VERSIONS=399")
	found = look(t, c, few, o, load)
	expect(t, found, precheck.FamilyFit, precheck.Fail, "VERSIONS of family d is 399, and the layout needs 400", "alter '"+few+"', {NAME => 'd', VERSIONS => 400}")
	if !errors.Is(found[precheck.FamilyFit].Err, table.ErrUnfit) {
		t.Errorf("%v, want ErrUnfit", found[precheck.FamilyFit].Err)
	}
	if d := found[precheck.Regions].Detail; d != "1, all open" {
		t.Errorf("of one region it says %q", d)
	}
	expect(t, look(t, c, c.Shared(t, "d", "VERSIONS=400", "split=2"), o, load), precheck.Regions, precheck.OK, "all open, not split as the layout requires")
}

// TestATableThatIsNotAsItMustBe lists the other checks all the same.
func TestATableThatIsNotAsItMustBe(t *testing.T) {
	t.Parallel()
	c := clustertest.Get(t)
	disabled := c.Create(t, "d")
	c.Admin(t, "disable", disabled)
	enabled := c.Shared(t, "d")
	o := live.Options{Catalog: dfs.Join(c.HDFS(t), "catalog")}
	for what, x := range map[string]struct {
		table   string
		options live.Options
		fails   precheck.Name
		words   string
	}{
		"there is none":          {"none_such", o, precheck.TableThere, "create-table"},
		"it is disabled":         {disabled, o, precheck.TableThere, "enable '" + disabled + "'"},
		"it lacks the family":    {enabled, live.Options{Catalog: o.Catalog, Family: "e"}, precheck.FamilyThere, `"e"; there is d`},
		"nothing says a catalog": {enabled, live.Options{Conf: new(hadoopconf.Conf)}, precheck.TableThere, "nothing says where its catalog is"},
	} {
		t.Run(what, func(t *testing.T) {
			found := look(t, c, x.table, x.options, tonight)
			expect(t, found, x.fails, precheck.Fail, x.words)
			if !errors.Is(found[x.fails].Err, table.ErrUnfit) {
				t.Errorf("%v, want ErrUnfit", found[x.fails].Err)
			}
			expect(t, found, precheck.FamilyFit, precheck.Skipped)
			expect(t, found, precheck.Permissions, precheck.Skipped)
			if x.options.Catalog != "" {
				expect(t, found, precheck.Clock, precheck.OK)
				expect(t, found, precheck.UnfinishedRun, precheck.OK)
				expect(t, found, precheck.StagingRoom, precheck.OK)
			}
		})
	}
	none := live.Options{Conf: new(hadoopconf.Conf), Catalog: "/c"}
	none.Client.CallTimeout, none.Client.OpTimeout = time.Second, time.Second
	away, err := live.Look(t.Context(), local.New(), "hbase://127.0.0.1:1/t", none)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := away.Open(t.Context()); !errors.Is(err, table.ErrUnreachable) {
		t.Errorf("Open of a table out of reach: %v", err)
	}
	if err := precheck.Failure(away.Check(t.Context(), tonight)); !errors.Is(err, table.ErrUnreachable) {
		t.Errorf("out of reach: %v, want ErrUnreachable", err)
	}
	if _, err := live.Look(t.Context(), local.New(), "trails", none); !errors.Is(err, live.ErrAddress) {
		t.Errorf("no address: %v, want ErrAddress", err)
	}
}

// TestRightsThatAreMissing has bob look, who may do ever more.
func TestRightsThatAreMissing(t *testing.T) {
	t.Parallel()
	c := clustertest.Get(t)
	name, dir := c.Create(t, "d"), c.HDFS(t)
	o := live.Options{Family: "d", Catalog: dfs.Join(dir, "catalog")}
	o.Client.User = "bob"
	both := tonight
	both.HFiles = true

	found := look(t, c, name, o, both)
	expect(t, found, precheck.FamilyFit, precheck.Skipped, "does not describe")
	many := tonight
	many.Traits.Versions = 400
	expect(t, look(t, c, name, o, many), precheck.FamilyFit, precheck.Warn, "does not describe", "whether VERSIONS of family d is 400 or more")
	expect(t, found, precheck.Permissions, precheck.Fail, "no right to put (W), no right to load HFiles (C or A)", "grant 'bob', 'RWC', '"+name+"'")
	if !errors.Is(found[precheck.Permissions].Err, table.ErrUnfit) {
		t.Errorf("%v, want ErrUnfit", found[precheck.Permissions].Err)
	}

	c.Admin(t, "grant", "bob", "RW", name)
	t.Cleanup(func() { c.Admin(t, "revoke", "bob", name) })
	found = look(t, c, name, o, tonight)
	expect(t, found, precheck.Permissions, precheck.Fail, "permission denied for user bob", o.Catalog)
	o.Catalog = filepath.Join(t.TempDir(), "catalog")
	expect(t, look(t, c, name, o, tonight), precheck.Permissions, precheck.OK)
	expect(t, look(t, c, name, o, precheck.Load{HFiles: true}), precheck.Permissions, precheck.Fail, "(C or A)")
}

// TestWhatAKilledLoadLeftIsTold loads by halves.
func TestWhatAKilledLoadLeftIsTold(t *testing.T) {
	t.Parallel()
	c := clustertest.Get(t)
	name := c.Create(t, "d")
	o := live.Options{Conf: new(hadoopconf.Conf), Catalog: filepath.Join(t.TempDir(), "catalog")}
	s := connect(t, c, name, o)
	tabletest.Load(t, tabletest.Puts, s)
	opened, err := s.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	loads, err := table.Ledgers(t.Context(), opened)
	if err != nil {
		t.Fatal(err)
	}
	if err := opened.(table.Putter).Begin(context.Background(), loads[0].Inputs[:1], nil); err != nil {
		t.Fatal(err)
	}
	expect(t, look(t, c, name, o, tonight), precheck.UnfinishedRun, precheck.Warn, "put records of 1 file", loads[0].Inputs[0].Path)
}
