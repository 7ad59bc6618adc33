package load_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"usertrail/internal/bulkload/bulkloadtest"

	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/load"
	"usertrail/internal/store/dfs/local"
	"usertrail/internal/store/hbase/hbasetest"
)

// TestRegionsChangeBetweenBatches splits and merges regions while the first batch of three is
// put or handed over. The load continues, and loads the same cells as an undisturbed load.
func TestRegionsChangeBetweenBatches(t *testing.T) {
	run := func(t *testing.T, mode bulkload.Mode, change func(*hbasetest.Cluster)) []string {
		t.Helper()
		p := bulkloadtest.NewHBase(t)
		for day := 3; day <= 4; day++ {
			text := "user,time,title,seconds\n"
			for i := range 60 {
				text += fmt.Sprintf("%c%d,2014-09-%02d 10:00:00,one,%d\n", 'a'+i%26, i, day, i)
			}
			p.Write(fmt.Sprintf("2014-09-%02d/play.csv", day), text)
		}
		var once sync.Once
		p.Cluster.SetHooks(hbasetest.Hooks{Call: func(c hbasetest.Call) hbasetest.Fault {
			if c.Method == "Multi" || c.Method == "BulkLoadHFile" {
				once.Do(func() { change(p.Cluster) })
			}
			return hbasetest.Fault{}
		}})
		store := p.Connect(local.New())
		defer store.Close()
		cfg := p.Config("2014-09-01", "2014-09-04")
		cfg.Store, cfg.Mode, cfg.Batch = store, mode, 1
		r, err := load.Run(t.Context(), cfg)
		if err != nil || r.Loaded != 125 || r.Loads != 4 {
			t.Fatalf("%+v, %v; want 125 records in four loads", r, err)
		}
		return p.Cells()
	}
	for _, mode := range []bulkload.Mode{bulkload.Put, bulkload.HFile} {
		want := run(t, mode, func(*hbasetest.Cluster) {})
		for what, change := range map[string]func(*hbasetest.Cluster){
			"split": func(c *hbasetest.Cluster) {
				c.Split(bulkloadtest.TrailsTable, []byte("m"))
				c.Split(bulkloadtest.TrailsTable, []byte("t"))
			},
			"merge": func(c *hbasetest.Cluster) { c.Merge(bulkloadtest.TrailsTable, []byte("a")) },
		} {
			t.Run(string(mode)+" "+what, func(t *testing.T) {
				if got := run(t, mode, change); !slices.Equal(got, want) {
					t.Errorf("the table holds\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
				}
			})
		}
	}
}
