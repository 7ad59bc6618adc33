package importer_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"usertrail/internal/bulkload/bulkloadtest"

	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/importer"
	"usertrail/internal/bulkload/load"
	"usertrail/internal/column"
	"usertrail/internal/format/layout"
	"usertrail/internal/store/dfs"
	"usertrail/internal/store/dfs/dfstest"
	"usertrail/internal/store/dfs/local"
	"usertrail/internal/table/files"
)

// fill loads the logs into the fixture's table of files, a day at a time.
func fill(p *bulkloadtest.HBase) {
	p.T.Helper()
	p.Load(nil, "2014-09-01", "2014-09-01")
	p.Load(nil, "2014-09-02", "2014-09-02")
}

// imports imports the table of files, over fs.
func imports(p *bulkloadtest.HBase, fs dfs.FS) (bulkload.Result, error) {
	store := p.Connect(fs)
	defer store.Close()
	from, err := files.Open(p.T.Context(), local.New(), p.Store.Dir)
	if err != nil {
		p.T.Fatal(err)
	}
	defer from.Close()
	return importer.Run(p.T.Context(), bulkload.Resources{Store: store, Workers: 2}, from)
}

// TestAnImportIsALoad compares an import with a load of the logs, including the ledgers.
func TestAnImportIsALoad(t *testing.T) {
	want := bulkloadtest.Undisturbed(t)
	p := bulkloadtest.NewHBase(t)
	fill(p)
	r, err := imports(p, local.New())
	if err != nil || r.Loaded != 5 || r.Files != 2 || r.HFiles != 2 || r.Loads != 1 || r.Check() != nil {
		t.Fatalf("%+v, %v; want 5 records of 2 files in 2 HFiles", r, err)
	}
	if r, err = imports(p, local.New()); !errors.Is(err, bulkload.ErrNothing) || r.Already != 2 {
		t.Errorf("a second import: %+v, %v; want ErrNothing", r, err)
	}
	p.Ends(want) // a load of the logs finds them loaded
	own := bulkloadtest.NewHBase(t)
	if _, err := own.Run(local.New()); err != nil {
		t.Fatal(err)
	}
	loads, loaded := p.Ledgers(), own.Ledgers()
	if len(loads) != 1 || len(loaded) != 1 {
		t.Fatalf("%d and %d ledgers, want one each", len(loads), len(loaded))
	}
	if got, want := fmt.Sprint(loads[0].Days, loads[0].Regions), fmt.Sprint(loaded[0].Days, loaded[0].Regions); got != want {
		t.Errorf("the ledger has %s, the ledger of a load has %s", got, want)
	}
}

// TestARowTooLargeToImport imports a user whose plays of a day are one row: where they cannot
// be counted within the memory, the error names the user, and nothing is taken in.
func TestARowTooLargeToImport(t *testing.T) {
	p := bulkloadtest.NewHBase(t)
	p.Write("2014-09-01/play.csv", bulkloadtest.Busy(4000))
	fill(p)
	imports := func(memory int64) (bulkload.Result, error) {
		store := p.Connect(local.New())
		defer store.Close()
		from, err := files.Open(t.Context(), local.New(), p.Store.Dir)
		if err != nil {
			t.Fatal(err)
		}
		defer from.Close()
		return importer.Run(t.Context(), bulkload.Resources{Store: store, FS: local.New(), Temp: p.Dir, Workers: 2, Memory: memory}, from)
	}
	r, err := imports(256 << 10)
	if !errors.Is(err, bulkload.ErrRequest) || !strings.Contains(err.Error(), `user "b"`) || !strings.Contains(err.Error(), "--memory") {
		t.Errorf("%v, want an error that names the user and --memory", err)
	}
	if r.Loaded != 0 || len(p.Cells()) != 0 {
		t.Errorf("%d records are loaded, the table has %d cells", r.Loaded, len(p.Cells()))
	}
	if r, err := imports(64 << 20); err != nil || r.Loaded != 4004 {
		t.Errorf("with more memory %d records are loaded, %v", r.Loaded, err)
	}
}

// TestAnImportContinues imports loads that were added to the table of files later.
func TestAnImportContinues(t *testing.T) {
	want := bulkloadtest.Undisturbed(t)
	p := bulkloadtest.NewHBase(t)
	p.Load(nil, "2014-09-01", "2014-09-01")
	if r, err := imports(p, local.New()); err != nil || r.Loaded != 3 {
		t.Fatalf("%+v, %v; want 3 records", r, err)
	}
	p.Load(nil, "2014-09-02", "2014-09-02")
	if r, err := imports(p, local.New()); err != nil || r.Loaded != 2 || r.Already != 1 {
		t.Fatalf("%+v, %v; want 2 records more", r, err)
	}
	p.Ends(want)
}

// direct loads logs into HBase.
func direct(p *bulkloadtest.HBase, from, to string, types ...string) {
	p.T.Helper()
	store := p.Connect(local.New())
	defer store.Close()
	cfg := p.Config(from, to, types...)
	cfg.Store, cfg.Mode = store, bulkload.Put
	if _, err := load.Run(p.T.Context(), cfg); err != nil {
		p.T.Fatal(err)
	}
}

// mixed delivers a file of many days and behaviours.
func mixed(p *bulkloadtest.HBase) {
	p.T.Helper()
	text, _ := bulkloadtest.MixedLog()
	p.SetJob(bulkloadtest.MixedJob)
	p.Write("mixed.csv", text)
}

// TestAnImportContinuesWithPartsOfFiles imports a part of a file, then another part that came
// under another name, and at last what HBase has another part of.
func TestAnImportContinuesWithPartsOfFiles(t *testing.T) {
	p := bulkloadtest.NewHBase(t)
	mixed(p)
	p.Load(nil, "2014-09-01", "2014-09-02", "play")
	if r, err := imports(p, local.New()); err != nil || r.Loaded != 20 {
		t.Fatalf("%+v, %v; want 20 plays", r, err)
	}
	p.Rename("mixed.csv", "renamed.csv")
	p.Load(nil, "2014-09-02", "2014-09-03")
	if r, err := imports(p, local.New()); err != nil || r.Loaded != 30 || r.Already != 1 {
		t.Fatalf("%+v, %v; want 30 records more", r, err)
	}
	p.Load(nil, "2014-09-04", "2014-09-04", "play")
	direct(p, "2014-09-04", "2014-09-04", "order")
	if r, err := imports(p, local.New()); err != nil || r.Loaded != 10 {
		t.Fatalf("%+v, %v; want the plays of the last day", r, err)
	}
	if n := len(p.Cluster.Cells(bulkloadtest.TrailsTable)); n != 70 {
		t.Errorf("%d records are in HBase, want 70", n)
	}
}

// TestAnImportSurvivesEveryFailure fails every operation on files once, and imports
// again.
func TestAnImportSurvivesEveryFailure(t *testing.T) {
	want := bulkloadtest.Undisturbed(t)
	dfstest.Sweep(t, []dfstest.Mode{dfstest.Dead}, 30, func(t *testing.T, n int, mode dfstest.Mode) bool {
		p := bulkloadtest.NewHBase(t)
		fill(p)
		fs := dfstest.FaultAt(local.New(), n, mode)
		_, err := imports(p, fs)
		if fs.Count() <= n {
			return true
		}
		if err != nil && !errors.Is(err, dfstest.ErrInjected) {
			t.Fatalf("operation %d: %v, want ErrInjected", n, err)
		}
		if _, err := imports(p, local.New()); err != nil && !errors.Is(err, bulkload.ErrNothing) {
			t.Fatalf("operation %d, the same import again: %v", n, err)
		}
		p.Ends(want)
		return false
	})
}

// unfit are tables whose records an import refuses.
var unfit = map[string]struct {
	before func(p *bulkloadtest.HBase)
	says   string
}{
	"a part of a load is there": {func(p *bulkloadtest.HBase) {
		p.Load(nil, "2014-09-01", "2014-09-02")
		direct(p, "2014-09-01", "2014-09-01")
	}, "from the logs"},
	"its bytes are there under another name": {func(p *bulkloadtest.HBase) {
		fill(p)
		p.Rename("2014-09-01/play.csv", "2014-09-01/play.txt")
		if _, err := p.Run(local.New()); err != nil {
			p.T.Fatal(err)
		}
	}, "has the same bytes as 2014-09-01/play.txt"},
	"another part of a file is there": {func(p *bulkloadtest.HBase) {
		mixed(p)
		p.Load(nil, "2014-09-01", "2014-09-02", "play", "order")
		direct(p, "2014-09-02", "2014-09-03", "order")
	}, "mixed.csv: some records of load 1 of"},
	"a copy brought less than the file here": {func(p *bulkloadtest.HBase) {
		mixed(p)
		p.Load(nil, "2014-09-01", "2014-09-01", "play")
		p.Rename("mixed.csv", "renamed.csv")
		p.Load(nil, "2014-09-01", "2014-09-02", "play")
		direct(p, "2014-09-01", "2014-09-02", "play")
	}, "mixed.csv of"},
	"a file came with other bytes": {func(p *bulkloadtest.HBase) {
		fill(p)
		p.Write("2014-09-01/play.csv", "user,time,title,seconds\na,2014-09-01 10:00:00,three,1\n")
		direct(p, "2014-09-01", "2014-09-01")
	}, "play.csv was loaded with other bytes into"},
	"another file has its number": {func(p *bulkloadtest.HBase) {
		ours, theirs := sameNumber(p.T)
		p.Write(ours, "user,time,title,seconds\na,2014-09-03 10:00:00,one,1\n")
		p.Load(nil, "2014-09-03", "2014-09-03")
		p.Rename(ours, theirs)
		p.Write(theirs, "user,time,title,seconds\na,2014-09-03 10:00:00,two,2\n")
		direct(p, "2014-09-03", "2014-09-03")
	}, "their records would be mistaken for each other; load one of them from the logs"},
	"another schema": {func(p *bulkloadtest.HBase) {
		p.SetJob(strings.Replace(bulkloadtest.TwoKinds, "price: double", "price: string", 1))
		fill(p)
		p.SetJob(bulkloadtest.TwoKinds)
		if _, err := p.Run(local.New()); err != nil {
			p.T.Fatal(err)
		}
	}, "schema"},
}

// TestImportsThatDoNotFitAreRefused imports records that the table already has in another form.
func TestImportsThatDoNotFitAreRefused(t *testing.T) {
	for what, x := range unfit {
		t.Run(what, func(t *testing.T) {
			p := bulkloadtest.NewHBase(t)
			x.before(p)
			before := p.Cells()
			if _, err := imports(p, local.New()); !errors.Is(err, bulkload.ErrRequest) || !strings.Contains(err.Error(), x.says) {
				t.Errorf("%v, want ErrRequest about %q", err, x.says)
			}
			if got := p.Cells(); !slices.Equal(got, before) {
				t.Error("the table changed")
			}
		})
	}
}

// sameNumber returns two paths of logs whose files get one number in different tables.
func sameNumber(t *testing.T) (one, other string) {
	t.Helper()
	known := map[uint32]string{}
	for i := 0; ; i++ {
		path := fmt.Sprintf("2014-09-03/play.%d", i)
		n, err := column.Number(path, func(uint32) bool { return true })
		if err != nil {
			t.Fatal(err)
		}
		if one, ok := known[n]; ok {
			return one, path
		}
		known[n] = path
	}
}

// TestAnImportRefusesOtherFieldOrders imports from a table with another order of fields. An
// import copies cells in which the place of a value shows its field, so both tables must have
// the fields of a behaviour in the same order.
func TestAnImportRefusesOtherFieldOrders(t *testing.T) {
	for _, x := range []struct {
		there, brought []string
		fits           bool
	}{
		{[]string{"a", "b"}, []string{"b", "a"}, false},
		{[]string{"a", "c"}, []string{"a", "b"}, false},
		{[]string{"a", "b", "c"}, []string{"a", "b"}, true},
		{[]string{"a"}, []string{"a", "b"}, true},
	} {
		t.Run(fmt.Sprint(x.there, x.brought), func(t *testing.T) {
			p := bulkloadtest.NewHBase(t)
			there, _, _ := bulkloadtest.ListLog("csv", 1, x.there)
			brought, _, _ := bulkloadtest.ListLog("csv", 2, x.brought)
			p.Write("2014-09-01/play.log", there)
			p.Write("2014-09-02/play.log", brought)
			p.SetJob(bulkloadtest.ListJob("csv", layout.Default, x.brought))
			p.Load(nil, "2014-09-02", "2014-09-02")
			p.SetJob(bulkloadtest.ListJob("csv", layout.Default, x.there))
			if _, err := p.Puts(t.Context(), "2014-09-01", "2014-09-01", 1); err != nil {
				t.Fatal(err)
			}
			before := p.Cells()
			_, err := imports(p, local.New())
			if x.fits {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			if !errors.Is(err, bulkload.ErrRequest) || !strings.Contains(err.Error(), "behaviour play") || !strings.Contains(err.Error(), "from the logs") {
				t.Errorf("%v, want ErrRequest about the fields of play", err)
			}
			if !slices.Equal(p.Cells(), before) {
				t.Error("the table changed")
			}
		})
	}
}
