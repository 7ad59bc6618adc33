package metamorphic_test

import (
	"errors"
	"fmt"
	iofs "io/fs"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"usertrail/internal/run/hadoopconf"
	"usertrail/internal/store/dfs"
	"usertrail/internal/store/dfs/hdfs"
	"usertrail/internal/test/clustertest"
	"usertrail/internal/test/testkit"
)

// realSteps is the length of a sequence on a cluster. realSeeds are the seeds of every run
// that covers everything.
const realSteps = 40

var realSeeds = []uint64{1, 2, 3, 4}

// TestSequencesOnACluster runs sequences on a real HBase and on a real HDFS.
func TestSequencesOnACluster(t *testing.T) {
	testkit.OnlyAll(t, "TestSequences")
	p := newPrograms(t)
	p.real = &realCluster{Cluster: clustertest.Get(t)}
	conf := func() (*hadoopconf.Conf, error) { return hadoopconf.Load(p.real.ConfDir()) }
	p.real.fs = hdfs.New(hdfs.Config{Conf: conf})
	steps, some := realSteps, realSeeds
	if *oneSteps > 0 {
		steps = *oneSteps
	}
	if *oneSeed > 0 {
		some = nil
		for n := range *oneCount {
			some = append(some, *oneSeed+uint64(n))
		}
	} else {
		some = append(slices.Clone(some), 1+rand.Uint64N(1<<32))
	}
	for _, seed := range some {
		q, r := draw(seed)
		q.Real, q.Store = true, []string{inHBase, inHDFS}[seed%2]
		t.Run(fmt.Sprintf("%s=%d", q.Store, seed), func(t *testing.T) {
			x := newRun(t, p, q)
			d := newDrawer(r, x.model)
			x.steps(t, steps, func(int) Step { return d.step() })
		})
	}
}

// A realCluster holds the tables of real sequences.
type realCluster struct {
	*clustertest.Cluster
	fs dfs.FS // HDFS
}

// onCluster creates a place for the tables of a run. It is a table in HBase with its catalog
// in the run's directory, or a directory on HDFS.
func (x *run) onCluster(t testing.TB) {
	c := x.p.real
	x.script.line("export HADOOP_CONF_DIR=%s", word(c.ConfDir()))
	if x.Store == inHDFS {
		x.hdfs = c.HDFS(t)
		return
	}
	x.hbase = "hbase://" + c.ZooKeeper() + "/" + c.Create(t, "d")
	x.place = "{path: \"" + x.hbase + "\", catalog: \"" + x.path(firstTable) + "\"}"
}

// realRegions changes the regions of a table in a real HBase. HBase sometimes refuses to
// change a region that was just split; in that case nothing changes.
func (x *run) realRegions(s *Step) error {
	c, name, ctx := x.p.real, x.inTable(), x.t.Context()
	all := c.Regions(x.t, name)
	at := slices.IndexFunc(all, func(r clustertest.Region) bool { return r.Start <= s.Row && (s.Row < r.End || r.End == "") })
	var words []string
	switch {
	case at < 0:
		return nil
	case s.Do == splitRegion:
		words = []string{"split", name, s.Row}
	case s.Do == mergeRegions && at+1 < len(all):
		words = []string{"merge", all[at].Encoded, all[at+1].Encoded}
	case s.Do == moveRegion:
		servers := c.RegionServers()
		words = []string{"move", all[at].Encoded, servers[s.Server%len(servers)].Address}
	default:
		return nil
	}
	if _, err := c.Ask(ctx, words...); err != nil {
		x.t.Logf("HBase: %.200v", err)
	}
	return ctx.Err()
}

// makeAnew drops the table in a real HBase and creates it again.
func (x *run) makeAnew() {
	x.p.real.Admin(x.t, "drop", x.inTable())
	x.p.real.Admin(x.t, "create", x.inTable(), "d")
}

// readTable, listTable and writeTable access files of tables in any place. Names of files in
// a directory do not include the directory.
func (x *run) readTable(name string) ([]byte, error) {
	if x.hdfs != "" {
		return dfs.ReadFile(x.t.Context(), x.p.real.fs, x.address(name))
	}
	return os.ReadFile(x.path(name))
}

func (x *run) listTable(dir string) ([]string, error) {
	var out []string
	if x.hdfs != "" {
		list, err := x.p.real.fs.List(x.t.Context(), x.address(dir))
		for _, f := range list {
			out = append(out, dfs.Base(f.Name))
		}
		return out, err
	}
	list, err := os.ReadDir(x.path(dir))
	for _, f := range list {
		out = append(out, f.Name())
	}
	return out, err
}

func (x *run) writeTable(name string, b []byte) error {
	if x.hdfs != "" {
		return dfs.WriteFile(x.t.Context(), x.p.real.fs, x.address(name), b)
	}
	return os.WriteFile(x.path(name), b, 0o644)
}

// absent reports whether the file does not exist.
func absent(err error) bool { return errors.Is(err, iofs.ErrNotExist) }
