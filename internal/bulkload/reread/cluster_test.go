package reread_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/bulkloadtest"
	"usertrail/internal/bulkload/load"
	"usertrail/internal/bulkload/reread"
	"usertrail/internal/bulkload/verify"
	"usertrail/internal/run/hadoopconf"
	"usertrail/internal/table/live"
	"usertrail/internal/test/clustertest"
)

// TestARereadIntoARealHBase loads two days by puts and by HFiles, and reads them again for two more fields. verify finds the loaded
// cells, and a second load of the same logs by the longer job into another table has the same cells.
func TestARereadIntoARealHBase(t *testing.T) {
	for _, layout := range []string{"reversed", "wide"} {
		t.Run(layout, func(t *testing.T) { rereadInCluster(t, layout) })
	}
}

func rereadInCluster(t *testing.T, layout string) {
	c := clustertest.Get(t)
	conf, err := hadoopconf.Load(c.ConfDir())
	if err != nil {
		t.Fatal(err)
	}
	y := bulkloadtest.New(t, jobOf(layout, short))
	for _, day := range []string{first, "2014-09-02"} {
		y.Write(day+"/a.csv", logOf(day))
	}
	connect := func(catalog string) *live.Store {
		store, err := live.Connect(t.Context(), c.Files(), fmt.Sprintf("hbase://%s/%s", c.ZooKeeper(), c.Create(t, "d", "split=13")),
			live.Options{Conf: conf, Catalog: filepath.Join(y.Dir, catalog)})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := store.Close(); err != nil {
				t.Error(err)
			}
		})
		return store
	}
	config := func(store *live.Store, mode bulkload.Mode, from, to string) load.Config {
		cfg := y.Config(from, to)
		cfg.FS, cfg.Store, cfg.Mode = c.Files(), store, mode
		return cfg
	}
	loaded := func(store *live.Store, mode bulkload.Mode, day string) {
		t.Helper()
		if _, err := load.Run(t.Context(), config(store, mode, day, day)); err != nil {
			t.Fatal(err)
		}
	}
	cells := func(store *live.Store) string {
		t.Helper()
		r, err := verify.Run(t.Context(), verify.Config{Store: store})
		if err != nil {
			t.Errorf("verify: %v: %+v", err, r)
		}
		return fmt.Sprint(r.Cells, r.Records)
	}

	grown := connect("grown")
	loaded(grown, bulkload.Put, first)
	loaded(grown, bulkload.HFile, "2014-09-02")
	y.SetJob(jobOf(layout, long))
	cfg := config(grown, bulkload.Auto, first, "2014-09-02")
	r, err := reread.Run(t.Context(), reread.Config{Resources: cfg.Resources, Job: cfg.Job, Span: cfg.Span})
	if err != nil || r.Reread.Records != 40 {
		t.Fatalf("%+v, %v", r.Reread, err)
	}
	fresh := connect("fresh")
	loaded(fresh, bulkload.Put, first)
	loaded(fresh, bulkload.HFile, "2014-09-02")
	if got, want := cells(grown), cells(fresh); got != want {
		t.Errorf("the table has the cells and records %s, a new one %s", got, want)
	}
}
