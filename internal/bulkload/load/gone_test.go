package load_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/bulkloadtest"
	"usertrail/internal/cell"
	"usertrail/internal/store/dfs/local"
	"usertrail/internal/table"
	"usertrail/internal/table/catalog"
	"usertrail/internal/test/testkit"
)

// all removes every cell.
func all(*cell.Cell) bool { return true }

// opens is the error of opening the table.
func opens(p *bulkloadtest.HBase) error {
	p.T.Helper()
	store := p.Connect(local.New())
	defer store.Close()
	t, err := store.Open(p.T.Context())
	if err == nil {
		err = t.Close()
	}
	return err
}

// forgets sets the catalog aside.
func forgets(p *bulkloadtest.HBase) (string, error) {
	p.T.Helper()
	store := p.Connect(local.New())
	defer store.Close()
	return store.Forget(p.T.Context(), false)
}

// onBothWays runs a test with HFiles and with puts.
func onBothWays(t *testing.T, do func(t *testing.T, p *bulkloadtest.HBase, mode bulkload.Mode)) {
	for _, mode := range []bulkload.Mode{bulkload.HFile, bulkload.Put} {
		t.Run(string(mode), func(t *testing.T) { do(t, bulkloadtest.NewHBase(t), mode) })
	}
}

// TestATableWithoutItsRowsIsNotWhatTheCatalogSays truncates a table. No load reports that there
// is nothing to do. Once the catalog is forgotten, everything is loaded again.
func TestATableWithoutItsRowsIsNotWhatTheCatalogSays(t *testing.T) {
	onBothWays(t, func(t *testing.T, p *bulkloadtest.HBase, mode bulkload.Mode) {
		p.Loaded(mode, "2014-09-01", "2014-09-02")
		want := p.Cells()
		if err := opens(p); err != nil {
			t.Fatal(err)
		}
		if _, err := forgets(p); !errors.Is(err, table.ErrUnfit) || !strings.Contains(err.Error(), "truncate") {
			t.Errorf("forget with rows in the table: %v, want ErrUnfit", err)
		}
		p.Cluster.Delete(bulkloadtest.TrailsTable, all)
		for what, err := range map[string]error{
			"open": opens(p),
			"load": func() error { _, err := p.LoadMode(mode, "2014-09-01", "2014-09-02"); return err }(),
		} {
			if !errors.Is(err, table.ErrUnfit) || !strings.Contains(err.Error(), "bulkload forget") {
				t.Errorf("%s: %v, want ErrUnfit and what to do", what, err)
			}
		}
		aside, err := forgets(p)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"manifest.json", "loads/000001.json"} {
			if _, err := os.Stat(filepath.Join(aside, name)); err != nil {
				t.Error(err)
			}
		}
		if _, err := forgets(p); !errors.Is(err, table.ErrNoTable) {
			t.Errorf("forgotten twice: %v, want ErrNoTable", err)
		}
		p.Loaded(mode, "2014-09-01", "2014-09-02")
		if got := p.Cells(); !slices.Equal(got, want) {
			t.Errorf("the table holds %q, want %q", got, want)
		}
		p.Ends(want)
		if _, err := os.Stat(filepath.Join(aside, "loads/000001.json")); err != nil {
			t.Errorf("a later load: %v", err)
		}
	})
}

// TestATableOfAnOlderSnapshotIsNotWhatTheCatalogSays undoes the last load. All rows of this
// load also have cells of the previous load.
func TestATableOfAnOlderSnapshotIsNotWhatTheCatalogSays(t *testing.T) {
	onBothWays(t, func(t *testing.T, p *bulkloadtest.HBase, mode bulkload.Mode) {
		p.Loaded(mode, "2014-09-01", "2014-09-02")
		older := p.Cluster.Cells(bulkloadtest.TrailsTable)
		p.Write("2014-09-02/play.csv", "user,time,title,seconds\na,2014-09-01 13:00:00,three,1\nb,2014-09-01 14:00:00,two,2\nc,2014-09-01 15:00:00,two,3\n")
		p.Loaded(mode, "2014-09-01", "2014-09-02")
		if len(p.Cluster.Cells(bulkloadtest.TrailsTable)) <= len(older) {
			t.Fatal("the second load put nothing there")
		}
		if err := opens(p); err != nil {
			t.Fatal(err)
		}
		p.Cluster.Delete(bulkloadtest.TrailsTable, all)
		p.Cluster.Load(bulkloadtest.TrailsTable, older...)
		if err := opens(p); !errors.Is(err, table.ErrUnfit) || !strings.Contains(err.Error(), "load 2") {
			t.Errorf("without the second load: %v, want ErrUnfit", err)
		}
	})
}

// TestUsersMayBeDeleted deletes users. One user whose rows are still there proves the table. A
// load of one deleted user does not disprove it.
func TestUsersMayBeDeleted(t *testing.T) {
	onBothWays(t, func(t *testing.T, p *bulkloadtest.HBase, mode bulkload.Mode) {
		p.Loaded(mode, "2014-09-01", "2014-09-02")
		p.Cluster.Delete(bulkloadtest.TrailsTable, func(c *cell.Cell) bool { return !bytes.HasPrefix(c.Row, []byte("c,")) })
		if err := opens(p); err != nil {
			t.Errorf("with one user: %v", err)
		}
		p.Write("2014-09-03/play.csv", "user,time,title,seconds\nd,2014-09-03 13:00:00,three,1\n")
		p.Loaded(mode, "2014-09-03", "2014-09-03")
		p.Cluster.Delete(bulkloadtest.TrailsTable, func(c *cell.Cell) bool { return bytes.HasPrefix(c.Row, []byte("d,")) })
		if err := opens(p); err != nil {
			t.Errorf("without the only user of the last load: %v", err)
		}
		p.Write("2014-09-04/play.csv", "user,time,title,seconds\n")
		if _, err := p.LoadMode(mode, "2014-09-04", "2014-09-04"); err != nil {
			t.Fatal(err)
		}
		if err := opens(p); err != nil {
			t.Errorf("after a load without records: %v", err)
		}
		p.Cluster.Delete(bulkloadtest.TrailsTable, all)
		if err := opens(p); !errors.Is(err, table.ErrUnfit) {
			t.Errorf("without all: %v, want ErrUnfit", err)
		}
	})
}

// TestAllUsersOfALoadMayBeDeleted deletes the few users of the newest load, or the first of
// its many users. The loads before it remain the state of the table.
func TestAllUsersOfALoadMayBeDeleted(t *testing.T) {
	onBothWays(t, func(t *testing.T, p *bulkloadtest.HBase, mode bulkload.Mode) {
		p.Loaded(mode, "2014-09-01", "2014-09-02")
		p.Write("2014-09-03/play.csv", "user,time,title,seconds\nd,2014-09-03 13:00:00,three,1\ne,2014-09-03 14:00:00,four,1\n")
		p.Loaded(mode, "2014-09-03", "2014-09-03")
		p.Cluster.Delete(bulkloadtest.TrailsTable, func(c *cell.Cell) bool { return c.Row[0] == 'd' || c.Row[0] == 'e' })
		if err := opens(p); err != nil {
			t.Errorf("without the two users of the last load: %v", err)
		}
		many := "user,time,title,seconds\n"
		for n := range 60 {
			many += fmt.Sprintf("%dx,2014-09-04 13:00:00,three,1\n", 100+n) // x001, x101, … by their rows
		}
		p.Write("2014-09-04/play.csv", many)
		p.Loaded(mode, "2014-09-04", "2014-09-04")
		deleted := 0
		p.Cluster.Delete(bulkloadtest.TrailsTable, func(c *cell.Cell) bool {
			gone := c.Row[0] == 'x' && !bytes.HasPrefix(c.Row, []byte("x951"))
			if gone {
				deleted++
			}
			return gone
		})
		if deleted == 0 {
			t.Fatal("nobody was deleted")
		}
		if err := opens(p); err != nil {
			t.Errorf("with the last of many users: %v", err)
		}
		p.Cluster.Delete(bulkloadtest.TrailsTable, func(c *cell.Cell) bool { return c.Row[0] == 'x' })
		if err := opens(p); !errors.Is(err, table.ErrUnfit) || !strings.Contains(err.Error(), "load 3") {
			t.Errorf("without all of many users: %v, want ErrUnfit", err)
		}
	})
}

// TestRowsMayExpire deletes all rows of a table with a TTL. The table opens, because the rows
// may have expired.
func TestRowsMayExpire(t *testing.T) {
	onBothWays(t, func(t *testing.T, p *bulkloadtest.HBase, mode bulkload.Mode) {
		p.Cluster.Alter(bulkloadtest.TrailsTable, "TTL", "86400")
		p.Loaded(mode, "2014-09-01", "2014-09-02")
		p.Cluster.Delete(bulkloadtest.TrailsTable, all)
		if err := opens(p); err != nil {
			t.Errorf("after all has expired: %v", err)
		}
	})
}

// TestATableOfFilesIsNoCatalog names a table of files as the catalog of a table in HBase.
func TestATableOfFilesIsNoCatalog(t *testing.T) {
	p := bulkloadtest.NewHBase(t)
	p.Load(nil, "2014-09-01", "2014-09-01")
	if err := os.CopyFS(filepath.Join(p.Dir, "catalog"), os.DirFS(p.Store.Dir)); err != nil {
		t.Fatal(err)
	}
	if err := opens(p); !errors.Is(err, table.ErrUnfit) || !strings.Contains(err.Error(), "catalog is a table of files, not the catalog of a table in HBase") {
		t.Errorf("%v, want an error that says what the directory is", err)
	}
	keepsCatalog(p)
}

// TestOnlyTheCatalogOfTheTableIsForgotten names the catalog of another table as the catalog of an empty table.
func TestOnlyTheCatalogOfTheTableIsForgotten(t *testing.T) {
	p := bulkloadtest.NewHBase(t)
	p.Loaded(bulkload.HFile, "2014-09-01", "2014-09-01")
	p.Cluster.Delete(bulkloadtest.TrailsTable, all)
	name := filepath.Join(p.Dir, "catalog", catalog.ManifestName)
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	text = regexp.MustCompile(`(?m)^ "sha256": "\w+",$`).ReplaceAll(text, nil)
	testkit.WriteFile(t, name, strings.Replace(string(text), "/"+bulkloadtest.TrailsTable, "/other", 1))
	keepsCatalog(p)
}

// keepsCatalog fails if the catalog can be forgotten.
func keepsCatalog(p *bulkloadtest.HBase) {
	p.T.Helper()
	if aside, err := forgets(p); !errors.Is(err, table.ErrUnfit) {
		p.T.Errorf("forget: %q, %v; want ErrUnfit", aside, err)
	}
	if _, err := os.Stat(filepath.Join(p.Dir, "catalog", catalog.ManifestName)); err != nil {
		p.T.Error(err)
	}
}

// TestTwoClustersDoNotShareACatalog uses the catalog of a table for a table of the same name in
// another cluster.
func TestTwoClustersDoNotShareACatalog(t *testing.T) {
	onBothWays(t, func(t *testing.T, p *bulkloadtest.HBase, mode bulkload.Mode) {
		p.Loaded(mode, "2014-09-01", "2014-09-01") // by a cluster whose ID is not known
		for _, id := range []string{"one", "two", ""} {
			p.ID = id
			if err := opens(p); err != nil {
				t.Errorf("the catalog knows no cluster, and this one's ID is %q: %v", id, err)
			}
		}
		p.ID = "one"
		p.Loaded(mode, "2014-09-02", "2014-09-02")
		for id, want := range map[string]error{"one": nil, "": nil, "two": table.ErrUnfit} {
			p.ID = id
			if err := opens(p); !errors.Is(err, want) || want != nil && !strings.Contains(err.Error(), "two") {
				t.Errorf("the cluster %q: %v, want %v", id, err, want)
			}
		}

		// The cluster was restored with its tables and has a new ID. The message names the text
		// to remove and its file.
		p.ID = "two"
		told := regexp.MustCompile("remove `(.*?)` from (\\S+/manifest.json)").FindStringSubmatch(opens(p).Error())
		if told == nil {
			t.Fatalf("%v: the way on is missing", opens(p))
		}
		text, err := os.ReadFile(told[2])
		if err != nil {
			t.Fatal(err)
		}
		if n := bytes.Count(text, []byte(told[1])); n != 1 {
			t.Fatalf("%q is %d times in\n%s", told[1], n, text)
		}
		text = regexp.MustCompile(`(?m)^ "sha256": "\w+",$`).ReplaceAll(text, nil)
		testkit.WriteFile(t, told[2], string(bytes.Replace(text, []byte(told[1]), nil, 1)))
		if err := opens(p); err != nil {
			t.Errorf("after a restore: %v", err)
		}
		p.Write("2014-09-03/play.csv", "user,time,title,seconds\nd,2014-09-03 13:00:00,three,1\n")
		p.Loaded(mode, "2014-09-03", "2014-09-03")
		p.ID = "one"
		if err := opens(p); !errors.Is(err, table.ErrUnfit) {
			t.Errorf("the cluster with the old ID, after a load into the new one: %v, want ErrUnfit", err)
		}
	})
}
