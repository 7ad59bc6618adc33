package live_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"usertrail/internal/format/layout"
	"usertrail/internal/run/hadoopconf"
	"usertrail/internal/store/dfs/local"
	"usertrail/internal/table"
	"usertrail/internal/table/live"
	"usertrail/internal/table/tabletest"
	"usertrail/internal/test/clustertest"
	"usertrail/internal/test/testkit"
)

// createFor creates a table that is cut as the suite wants it, with the settings that the rows
// of a layout need.
func createFor(t *testing.T, c *clustertest.Cluster, l layout.Layout) string {
	t.Helper()
	return c.Create(t, "d", append(cut(), fmt.Sprintf("VERSIONS=%d", max(1, l.Traits().Versions)))...)
}

// cut returns the options of a table that is cut as the suite wants it.
func cut() (options []string) {
	for _, p := range tabletest.Splits {
		options = append(options, "split="+string(p))
	}
	return options
}

func TestMain(m *testing.M) { clustertest.Main(m) }

func connect(t *testing.T, c *clustertest.Cluster, name string, o live.Options) *live.Store {
	t.Helper()
	s, err := live.Connect(t.Context(), c.Files(), fmt.Sprintf("hbase://%s/%s", c.ZooKeeper(), name), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func TestALiveTableIsATable(t *testing.T) {
	t.Parallel()
	c := clustertest.Get(t)
	tabletest.Run(t, tabletest.Puts, func(t *testing.T, l layout.Layout) table.Store {
		return connect(t, c, createFor(t, c, l), live.Options{Conf: new(hadoopconf.Conf), Catalog: filepath.Join(t.TempDir(), "catalog")})
	})
}

// TestALiveTableTakesFiles loads HFiles, with the catalog on HBase's file system and, in
// a run that covers everything, elsewhere and in every layout.
func TestALiveTableTakesFiles(t *testing.T) {
	c := clustertest.Get(t)
	conf := confOf(t, c)
	catalogs := []struct {
		name    string
		catalog func(t *testing.T) string
	}{
		{"catalog on HDFS", func(t *testing.T) string { return c.HDFS(t) + "/catalog" }},
		{"catalog on a local disk", func(t *testing.T) string { return filepath.Join(t.TempDir(), "catalog") }},
	}
	for _, x := range catalogs[:testkit.Pick(1, len(catalogs))] {
		t.Run(x.name, func(t *testing.T) {
			t.Parallel()
			tabletest.Run(t, tabletest.Files, func(t *testing.T, l layout.Layout) table.Store {
				if l.Name() != layout.Default {
					testkit.OnlyAll(t, "TestALiveTableIsATable and the files of a table of files")
				}
				return connect(t, c, createFor(t, c, l), live.Options{Conf: conf, Catalog: x.catalog(t)})
			})
		})
	}
}

func confOf(t *testing.T, c *clustertest.Cluster) *hadoopconf.Conf {
	t.Helper()
	conf, err := hadoopconf.Load(c.ConfDir())
	if err != nil {
		t.Fatal(err)
	}
	return conf
}

// TestACatalogIsFoundWhereItIs tries every way to name a catalog.
func TestACatalogIsFoundWhereItIs(t *testing.T) {
	t.Parallel()
	c := clustertest.Get(t)
	conf := confOf(t, c)
	plain, marked := c.Shared(t, "d"), c.Shared(t, "d", "table."+live.CatalogAttribute+"=/marked")
	for _, x := range []struct {
		what, table string
		options     live.Options
		want        string
	}{
		{"the job says it", plain, live.Options{Conf: conf, Catalog: "/said"}, "/said"},
		{"the table says it", marked, live.Options{Conf: conf}, "/marked"},
		{"both say it", marked, live.Options{Conf: conf, Catalog: "/marked/"}, "/marked"},
		{"nobody says it", plain, live.Options{Conf: conf}, "hdfs://" + c.NameNode() + "/usertrail/default/" + plain},
	} {
		if got := connect(t, c, x.table, x.options).Catalog(); got != x.want {
			t.Errorf("%s: the catalog is %s, want %s", x.what, got, x.want)
		}
	}
	for what, x := range map[string]struct {
		table   string
		options live.Options
	}{
		"they do not agree":      {marked, live.Options{Conf: conf, Catalog: "/other"}},
		"nobody knows":           {plain, live.Options{Conf: new(hadoopconf.Conf)}},
		"a family there is none": {plain, live.Options{Conf: conf, Family: "e"}},
	} {
		_, err := live.Connect(t.Context(), local.New(), fmt.Sprintf("hbase://%s/%s", c.ZooKeeper(), x.table), x.options)
		if !errors.Is(err, table.ErrUnfit) {
			t.Errorf("%s: %v, want ErrUnfit", what, err)
		}
	}
}

// TestACatalogBelongsToOneTable opens another table with the catalog of one.
func TestACatalogBelongsToOneTable(t *testing.T) {
	t.Parallel()
	c := clustertest.Get(t)
	dir := filepath.Join(t.TempDir(), "catalog")
	o := live.Options{Conf: new(hadoopconf.Conf), Catalog: dir}
	tabletest.Load(t, tabletest.Puts, connect(t, c, c.Create(t, "d"), o))
	_, err := connect(t, c, c.Shared(t, "d"), o).Open(t.Context())
	if !errors.Is(err, table.ErrUnfit) {
		t.Errorf("the catalog of another table: %v, want ErrUnfit", err)
	}
}
