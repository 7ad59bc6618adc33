package fit_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"usertrail/internal/bulkload/bulkloadtest"

	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/delivered"
	"usertrail/internal/bulkload/fit"
	"usertrail/internal/format/job"
	"usertrail/internal/format/layout"
	"usertrail/internal/store/dfs/dfstest"
)

func TestIDsAreCutEvenly(t *testing.T) {
	j := bulkloadtest.New(t, bulkloadtest.TwoKinds).Job
	for _, x := range []struct {
		ids     string
		format  string
		first   int
		last    int
		regions int
		keyLen  int
	}{
		{"0000000001..0062951396", "%010d", 1, 62951396, 16, 11},
		{"u1000000..u1999999", "u%d", 1000000, 1999999, 10, 9},
		{"1..5000", "%d", 1, 5000, 4, 0},
		{"0..9", "%d", 0, 9, 5, 2},
	} {
		ids, err := fit.ParseIDs(x.ids)
		if err != nil {
			t.Fatal(err)
		}
		cut, err := fit.IDs(j, ids, x.regions)
		if err != nil {
			t.Fatal(err)
		}
		if len(cut.Splits) != x.regions-1 || cut.KeyLen != x.keyLen || cut.Splits.Validate() != nil {
			t.Errorf("%s: %d points %q, keys of %d bytes; want %d of %d", x.ids, len(cut.Splits), cut.Splits, cut.KeyLen, x.regions-1, x.keyLen)
		}
		counts := make([]int, x.regions)
		l, err := layout.ByName(layout.Default)
		if err != nil {
			t.Fatal(err)
		}
		n, random := 100_000, rand.New(rand.NewPCG(1, 2))
		for range n {
			id := fmt.Appendf(nil, x.format, x.first+random.IntN(x.last-x.first+1))
			counts[cut.Splits.Of(l.AppendUserKey(nil, id))]++
		}
		for i, c := range counts {
			if share := n / x.regions; c < share*9/10 || c > share*11/10 {
				t.Errorf("%s: region %d has %d of %d IDs, want about %d", x.ids, i, c, n, share)
			}
		}
	}
	for _, text := range []string{
		"", "1", "1..", "..1", "a..b", "9..1", "a1..b2", "01..100", "1..0100", "1...9", "1234567890123456789..2234567890123456789",
	} {
		if ids, err := fit.ParseIDs(text); !errors.Is(err, bulkload.ErrRequest) {
			t.Errorf("%q is taken for %+v, %v", text, ids, err)
		}
	}
}

// search finds the logs of 2014-09-01.
func search(y *bulkloadtest.Fixture) *delivered.Search {
	y.T.Helper()
	c := y.Config("2014-09-01", "2014-09-01")
	s, err := delivered.NewSearch(c.FS, c.Job, c.Span, nil)
	if err != nil {
		y.T.Fatal(err)
	}
	return s
}

func TestLogsTellHowATableIsCut(t *testing.T) {
	y := bulkloadtest.New(t, bulkloadtest.TwoKinds)
	y.Write("2014-09-01/play.csv", bulkloadtest.Header)
	if _, err := fit.Logs(t.Context(), search(y), 4); !errors.Is(err, job.ErrNoInput) {
		t.Errorf("logs without a record: %v, want ErrNoInput", err)
	}
	var b strings.Builder
	b.WriteString(bulkloadtest.Header)
	for i := range 400 {
		fmt.Fprintf(&b, "%04d,2014-09-01 08:00:00,a,1\n", i)
	}
	y.Write("2014-09-01/play.csv", b.String())
	cut, err := fit.Logs(t.Context(), search(y), 4)
	if err != nil || len(cut.Splits) != 3 || cut.KeyLen != 5 || cut.Users != 400 {
		t.Errorf("400 users in 4 regions: %d points, keys of %d bytes, %d users, %v", len(cut.Splits), cut.KeyLen, cut.Users, err)
	}
	y.Write("2014-09-01/order.csv", "user,time,price\nsomebody,2014-09-01 08:00:00,1.5\n")
	cut, err = fit.Logs(t.Context(), search(y), 0)
	if err != nil || len(cut.Splits) != 0 || cut.KeyLen != 0 || cut.Users != 401 {
		t.Errorf("a user of another length: %d points, keys of %d bytes, %d users, %v", len(cut.Splits), cut.KeyLen, cut.Users, err)
	}
	y.Job.Table.Regions = 8
	if cut, err = fit.Logs(t.Context(), search(y), 0); err != nil || len(cut.Splits) != 7 {
		t.Errorf("as the job says: %d points, %v", len(cut.Splits), err)
	}
}

// TestAFailedReadCutsNoOtherRegions reads a log in several reads, with a fault in each operation. A read that fails in the middle of the
// log must not cut the regions by the records before it.
func TestAFailedReadCutsNoOtherRegions(t *testing.T) {
	y := bulkloadtest.New(t, bulkloadtest.TwoKinds)
	var b strings.Builder
	b.WriteString(bulkloadtest.Header)
	for i := range 800 {
		fmt.Fprintf(&b, "%04d,2014-09-01 08:00:00,a,1\n", i)
	}
	y.Write("2014-09-01/play.csv", b.String())
	good := search(y)
	want, err := fit.Logs(t.Context(), good, 4)
	if err != nil || want.Users != 800 {
		t.Fatalf("%d users, %v", want.Users, err)
	}
	dfstest.Sweep(t, []dfstest.Mode{0}, 5, func(t *testing.T, n int, mode dfstest.Mode) bool {
		faulty, fault := *good, dfstest.FaultAt(good.FS, n, mode)
		faulty.FS = fault
		cut, err := fit.Logs(t.Context(), &faulty, 4)
		if err == nil && !reflect.DeepEqual(cut, want) {
			t.Errorf("fault at %d: %d users, want an error, or %d", n, cut.Users, want.Users)
		}
		return fault.Count() <= n
	})
}

// TestALayoutDecidesHowIDsAreCut cuts a numbered population where its rows begin with the
// ID as it is, where they begin with six digits, and where they do not begin with it.
func TestALayoutDecidesHowIDsAreCut(t *testing.T) {
	cut := func(name, ids string) (fit.Fit, error) {
		r, err := fit.ParseIDs(ids)
		if err != nil {
			t.Fatal(err)
		}
		return fit.IDs(bulkloadtest.New(t, bulkloadtest.LaidOut(name)).Job, r, 4)
	}
	for _, x := range []struct {
		layout, ids string
		begin       []string // with which each split point begins
		keyLen      int
	}{
		{"tall", "u1000..u4999", []string{"u2", "u3", "u4"}, 6},
		{"fixed", "1..4000", []string{"0010", "0020", "0030"}, 6},
		{"fixed/8", "1..4000", []string{"000010", "000020", "000030"}, 8},
	} {
		cut, err := cut(x.layout, x.ids)
		begins := func(point []byte, with string) bool { return strings.HasPrefix(string(point), with) }
		if err != nil || !slices.EqualFunc(cut.Splits, x.begin, begins) || cut.KeyLen != x.keyLen {
			t.Errorf("%s: cut at %q, keys of %d bytes, %v; want near %q, of %d", x.layout, cut.Splits, cut.KeyLen, err, x.begin, x.keyLen)
		}
	}
	for name, says := range map[string]string{"fixed": "1000000", "hashed": "do not begin with their users"} {
		if _, err := cut(name, "1..1000000"); !errors.Is(err, bulkload.ErrRequest) || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want ErrRequest that says %s", name, err, says)
		}
	}
}

// TestALayoutMayCutATableItself checks the number of regions: the argument, the number in the
// job, or the default.
func TestALayoutMayCutATableItself(t *testing.T) {
	j := bulkloadtest.New(t, bulkloadtest.LaidOut("hashed")).Job
	for _, x := range []struct{ asked, job, want int }{{4, 8, 4}, {0, 8, 8}, {0, 0, 16}, {1, 0, 1}} {
		j.Table.Regions = x.job
		cut, ok, err := fit.Layout(j, x.asked)
		if err != nil || !ok || len(cut.Splits) != x.want-1 || cut.KeyLen != 0 || cut.Splits.Validate() != nil {
			t.Errorf("%+v: cut at %q, keys of %d bytes, %t, %v", x, cut.Splits, cut.KeyLen, ok, err)
		}
	}
	for _, name := range []string{"reversed", "tall", "wide", "game", "game-time", "fixed"} {
		if cut, ok, err := fit.Layout(bulkloadtest.New(t, bulkloadtest.LaidOut(name)).Job, 4); ok || err != nil || cut.Splits != nil {
			t.Errorf("%s: cut at %q, %t, %v; want that its users decide", name, cut.Splits, ok, err)
		}
	}
}

func TestLogsThatALayoutCannotHoldTellNoCut(t *testing.T) {
	y := bulkloadtest.New(t, bulkloadtest.LaidOut("fixed"))
	y.Write("2014-09-01/play.csv", bulkloadtest.Header+"42,2014-09-01 08:00:00,a,1\nsomebody,2014-09-01 08:00:00,a,1\n")
	_, err := fit.Logs(t.Context(), search(y), 4)
	if !errors.Is(err, bulkload.ErrRequest) || !strings.Contains(err.Error(), "play.csv: record at byte 51: ") || !strings.Contains(err.Error(), "somebody") {
		t.Errorf("%v, want ErrRequest that names the file, the place and the user", err)
	}
}

// TestATableOfFilesIsCutAsItsLayoutIs loads one user into a table of four regions. The regions
// divide the hashed keys evenly, whatever users the logs have.
func TestATableOfFilesIsCutAsItsLayoutIs(t *testing.T) {
	y := bulkloadtest.New(t, bulkloadtest.LaidOut("hashed"))
	y.Job.Table.Regions = 4
	y.Write("2014-09-01/play.csv", bulkloadtest.Header+"u1,2014-09-01 08:00:00,a,1\n")
	y.Load(nil, "2014-09-01", "2014-09-01")
	opened, err := y.Store.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer opened.Close()
	var starts []string
	regions, err := opened.Regions(t.Context())
	for _, r := range regions {
		starts = append(starts, string(r.Start))
	}
	if got := fmt.Sprintf("%q", starts); err != nil || got != `["" "40000000" "80000000" "c0000000"]` {
		t.Errorf("regions begin at %s, %v", got, err)
	}
}
