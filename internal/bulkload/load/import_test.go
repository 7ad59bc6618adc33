package load_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/importer"
	"usertrail/internal/bulkload/load"
	"usertrail/internal/format/manifest"
	"usertrail/internal/store/dfs"
	"usertrail/internal/store/dfs/dfstest"
	"usertrail/internal/store/dfs/local"
	"usertrail/internal/table/files"
)

// fill loads the logs into the fixture's table of files, a day at a time.
func (p *hbaseFixture) fill() {
	p.t.Helper()
	p.load(nil, "2014-09-01", "2014-09-01")
	p.load(nil, "2014-09-02", "2014-09-02")
}

// imports imports the table of files, over fs.
func (p *hbaseFixture) imports(fs dfs.FS) (bulkload.Result, error) {
	store := p.connect(fs)
	defer store.Close()
	from, err := files.Open(p.t.Context(), local.New(), p.store.Dir)
	if err != nil {
		p.t.Fatal(err)
	}
	defer from.Close()
	return importer.Run(p.t.Context(), bulkload.Resources{Store: store, Workers: 2}, from)
}

// TestAnImportIsALoad compares an import with a load of the logs, including the ledgers.
func TestAnImportIsALoad(t *testing.T) {
	want := undisturbed(t)
	p := newHBaseFixture(t)
	p.fill()
	r, err := p.imports(local.New())
	if err != nil || r.Loaded != 5 || r.Files != 2 || r.HFiles != 2 || r.Loads != 1 || r.Check() != nil {
		t.Fatalf("%+v, %v; want 5 records of 2 files in 2 HFiles", r, err)
	}
	if r, err = p.imports(local.New()); !errors.Is(err, bulkload.ErrNothing) || r.Already != 2 {
		t.Errorf("a second import: %+v, %v; want ErrNothing", r, err)
	}
	p.ends(want) // a load of the logs finds them loaded
	own := newHBaseFixture(t)
	if _, err := own.run(local.New()); err != nil {
		t.Fatal(err)
	}
	loads, loaded := p.ledgers(), own.ledgers()
	if len(loads) != 1 || len(loaded) != 1 {
		t.Fatalf("%d and %d ledgers, want one each", len(loads), len(loaded))
	}
	if got, want := fmt.Sprint(loads[0].Days, loads[0].Regions), fmt.Sprint(loaded[0].Days, loaded[0].Regions); got != want {
		t.Errorf("the ledger tells %s, that of a load %s", got, want)
	}
}

// TestARowTooLargeToImport imports a user whose plays of a day are one row: where they cannot
// be counted within the memory, the error names the user, and nothing is taken in.
func TestARowTooLargeToImport(t *testing.T) {
	p := newHBaseFixture(t)
	p.write("2014-09-01/play.csv", busy(4000))
	p.fill()
	imports := func(memory int64) (bulkload.Result, error) {
		store := p.connect(local.New())
		defer store.Close()
		from, err := files.Open(t.Context(), local.New(), p.store.Dir)
		if err != nil {
			t.Fatal(err)
		}
		defer from.Close()
		return importer.Run(t.Context(), bulkload.Resources{Store: store, FS: local.New(), Temp: p.dir, Workers: 2, Memory: memory}, from)
	}
	r, err := imports(256 << 10)
	if !errors.Is(err, bulkload.ErrRequest) || !strings.Contains(err.Error(), `user "b"`) || !strings.Contains(err.Error(), "--memory") {
		t.Errorf("%v, want an error that names the user and --memory", err)
	}
	if r.Loaded != 0 || len(p.cells()) != 0 {
		t.Errorf("%d records are loaded, the table has %d cells", r.Loaded, len(p.cells()))
	}
	if r, err := imports(64 << 20); err != nil || r.Loaded != 4004 {
		t.Errorf("with more memory %d records are loaded, %v", r.Loaded, err)
	}
}

// ledgers returns the ledgers of the table in HBase.
func (p *hbaseFixture) ledgers() []*manifest.Load {
	p.t.Helper()
	store := p.connect(local.New())
	defer store.Close()
	target, err := store.Open(p.t.Context())
	if err != nil {
		p.t.Fatal(err)
	}
	defer target.Close()
	loads, err := target.Ledgers(p.t.Context())
	if err != nil {
		p.t.Fatal(err)
	}
	return loads
}

// TestAnImportGoesOn imports loads that were added to the table of files later.
func TestAnImportGoesOn(t *testing.T) {
	want := undisturbed(t)
	p := newHBaseFixture(t)
	p.load(nil, "2014-09-01", "2014-09-01")
	if r, err := p.imports(local.New()); err != nil || r.Loaded != 3 {
		t.Fatalf("%+v, %v; want 3 records", r, err)
	}
	p.load(nil, "2014-09-02", "2014-09-02")
	if r, err := p.imports(local.New()); err != nil || r.Loaded != 2 || r.Already != 1 {
		t.Fatalf("%+v, %v; want 2 records more", r, err)
	}
	p.ends(want)
}

// direct loads logs into HBase.
func (p *hbaseFixture) direct(from, to string, types ...string) {
	p.t.Helper()
	store := p.connect(local.New())
	defer store.Close()
	cfg := p.config(from, to, types...)
	cfg.Store, cfg.Mode = store, bulkload.Put
	if _, err := load.Run(p.t.Context(), cfg); err != nil {
		p.t.Fatal(err)
	}
}

// mixed delivers a file of many days and behaviours.
func (p *hbaseFixture) mixed() {
	p.t.Helper()
	text, _ := mixedLog()
	p.is(mixedJob)
	p.write("mixed.csv", text)
}

// TestAnImportGoesOnWithPartsOfFiles imports a part of a file, then another part that came
// under another name, and at last what HBase has another part of.
func TestAnImportGoesOnWithPartsOfFiles(t *testing.T) {
	p := newHBaseFixture(t)
	p.mixed()
	p.load(nil, "2014-09-01", "2014-09-02", "play")
	if r, err := p.imports(local.New()); err != nil || r.Loaded != 20 {
		t.Fatalf("%+v, %v; want 20 plays", r, err)
	}
	p.rename("mixed.csv", "renamed.csv")
	p.load(nil, "2014-09-02", "2014-09-03")
	if r, err := p.imports(local.New()); err != nil || r.Loaded != 30 || r.Already != 1 {
		t.Fatalf("%+v, %v; want 30 records more", r, err)
	}
	p.load(nil, "2014-09-04", "2014-09-04", "play")
	p.direct("2014-09-04", "2014-09-04", "order")
	if r, err := p.imports(local.New()); err != nil || r.Loaded != 10 {
		t.Fatalf("%+v, %v; want the plays of the last day", r, err)
	}
	if n := len(p.hbase.Cells(trailsTable)); n != 70 {
		t.Errorf("%d records are in HBase, want 70", n)
	}
}

// TestAnImportSurvivesEveryFailure fails every operation on files once, and imports
// again.
func TestAnImportSurvivesEveryFailure(t *testing.T) {
	want := undisturbed(t)
	dfstest.Sweep(t, []dfstest.Mode{dfstest.Dead}, 30, func(t *testing.T, n int, mode dfstest.Mode) bool {
		p := newHBaseFixture(t)
		p.fill()
		fs := dfstest.FaultAt(local.New(), n, mode)
		_, err := p.imports(fs)
		if fs.Count() <= n {
			return true
		}
		if err != nil && !errors.Is(err, dfstest.ErrInjected) {
			t.Fatalf("operation %d: %v, want ErrInjected", n, err)
		}
		if _, err := p.imports(local.New()); err != nil && !errors.Is(err, bulkload.ErrNothing) {
			t.Fatalf("operation %d, the same import again: %v", n, err)
		}
		p.ends(want)
		return false
	})
}

// TestImportsThatDoNotFitAreRefused imports records that the table already has in another form.
func TestImportsThatDoNotFitAreRefused(t *testing.T) {
	for what, x := range map[string]struct {
		before func(p *hbaseFixture)
		says   string
	}{
		"a part of a load is there": {func(p *hbaseFixture) {
			p.load(nil, "2014-09-01", "2014-09-02")
			p.direct("2014-09-01", "2014-09-01")
		}, "from the logs"},
		"its bytes are there under another name": {func(p *hbaseFixture) {
			p.fill()
			p.rename("2014-09-01/play.csv", "2014-09-01/play.txt")
			if _, err := p.run(local.New()); err != nil {
				t.Fatal(err)
			}
		}, "has the bytes of 2014-09-01/play.txt"},
		"another part of a file is there": {func(p *hbaseFixture) {
			p.mixed()
			p.load(nil, "2014-09-01", "2014-09-02", "play", "order")
			p.direct("2014-09-02", "2014-09-03", "order")
		}, "mixed.csv: a part of what load 1 of"},
		"a copy brought less than the file here": {func(p *hbaseFixture) {
			p.mixed()
			p.load(nil, "2014-09-01", "2014-09-01", "play")
			p.rename("mixed.csv", "renamed.csv")
			p.load(nil, "2014-09-01", "2014-09-02", "play")
			p.direct("2014-09-01", "2014-09-02", "play")
		}, "mixed.csv of"},
		"a file came with other bytes": {func(p *hbaseFixture) {
			p.fill()
			p.write("2014-09-01/play.csv", "user,time,title,seconds\na,2014-09-01 10:00:00,three,1\n")
			p.direct("2014-09-01", "2014-09-01")
		}, "play.csv was loaded with other bytes into"},
		"another schema": {func(p *hbaseFixture) {
			p.is(strings.Replace(twoKinds, "price: double", "price: string", 1))
			p.fill()
			p.is(twoKinds)
			if _, err := p.run(local.New()); err != nil {
				t.Fatal(err)
			}
		}, "schema"},
	} {
		t.Run(what, func(t *testing.T) {
			p := newHBaseFixture(t)
			x.before(p)
			before := p.cells()
			if _, err := p.imports(local.New()); !errors.Is(err, bulkload.ErrRequest) || !strings.Contains(err.Error(), x.says) {
				t.Errorf("%v, want ErrRequest about %q", err, x.says)
			}
			if got := p.cells(); !slices.Equal(got, before) {
				t.Error("the table changed")
			}
		})
	}
}
