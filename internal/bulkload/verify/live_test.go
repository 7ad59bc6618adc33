package verify_test

import (
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"usertrail/internal/behaviour"
	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/load"
	"usertrail/internal/bulkload/verify"
	"usertrail/internal/run/hadoopconf"
	"usertrail/internal/store/dfs"
	"usertrail/internal/table/live"
	"usertrail/internal/test/clustertest"
	"usertrail/internal/test/testworld"
)

// A liveFixture is a fixture whose table is in HBase.
type liveFixture struct {
	*fixture
	c     *clustertest.Cluster
	name  string
	fs    dfs.FS
	store *live.Store
}

// newLiveFixture creates a table, with options as for clustertest's Create.
func newLiveFixture(t *testing.T, w *testworld.W, options ...string) *liveFixture {
	t.Helper()
	h := &liveFixture{fixture: newFixture(t, w), c: clustertest.Get(t)}
	h.name = h.c.Create(t, "d", options...)
	conf, err := hadoopconf.Load(h.c.ConfDir())
	if err != nil {
		t.Fatal(err)
	}
	h.fs = h.c.Files()
	h.store, err = live.Connect(t.Context(), h.fs, fmt.Sprintf("hbase://%s/%s", h.c.ZooKeeper(), h.name),
		live.Options{Conf: conf, Catalog: filepath.Join(h.dir, "catalog")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.store.Close(); err != nil {
			t.Error(err)
		}
	})
	return h
}

// load loads the delivered files.
func (h *liveFixture) load(t *testing.T, mode bulkload.Mode) {
	t.Helper()
	cfg := h.config()
	cfg.FS, cfg.Store, cfg.Mode = h.fs, h.store, mode
	if _, err := load.Run(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
}

func (h *liveFixture) verify(t *testing.T) (verify.Result, error) {
	t.Helper()
	return verify.Run(t.Context(), verify.Config{Store: h.store, Workers: 3})
}

// TestALiveTableIsAsItWasLoaded loads a world in two nights, by puts and by HFiles. It splits
// a region between them, and compares the table with the world's oracle.
func TestALiveTableIsAsItWasLoaded(t *testing.T) {
	for _, modes := range [][]bulkload.Mode{{bulkload.Put, bulkload.HFile}, {bulkload.HFile, bulkload.Put}} {
		t.Run(fmt.Sprint(modes), func(t *testing.T) { testLoads(t, modes) })
	}
}

func testLoads(t *testing.T, modes []bulkload.Mode) {
	h := newLiveFixture(t, testworld.World(1, 60), "split=1", "split=x")
	for i, write := range []func(string) error{h.w.WriteEarly, h.w.WriteLate} {
		if err := write(h.dir); err != nil {
			t.Fatal(err)
		}
		if i > 0 {
			h.c.Admin(t, "split", h.name, "k")
		}
		h.load(t, modes[i])
		r, err := h.verify(t)
		if err != nil || r.Unlocated != "" {
			t.Errorf("after load %d: %v, %+v", i+1, err, r)
		}
		q := h.w.Queries(1, 1)[0]
		q.Early = i == 0
		if want := int64(len(h.w.Oracle(q).Rows)); r.Records != want {
			t.Errorf("after load %d: %d records, want %d", i+1, r.Records, want)
		}
	}
	if n := len(h.c.Regions(t, h.name)); n < 4 {
		t.Errorf("the table has %d regions, want one to have been split", n)
	}
}

// TestWhatChangedInHBaseIsNamed changes single cells with HBase's own client, in a table that
// was split between its loads.
func TestWhatChangedInHBaseIsNamed(t *testing.T) {
	h := newLiveFixture(t, testworld.World(1, 1), "split=m")
	h.is(t, plays)
	date := h.w.Span.From
	for i, users := range []string{"abxy", "cdwz"} {
		text := "user,time,title\n"
		for _, user := range users {
			text += fmt.Sprintf("%c,%s 10:00:00,one\n", user, date+behaviour.Date(i))
		}
		h.deliver(t, fmt.Sprintf("%s/play.csv", date+behaviour.Date(i)), text)
		h.load(t, bulkload.Put)
		if i == 0 {
			h.c.Admin(t, "split", h.name, "c")
		}
	}
	if r, err := h.verify(t); err != nil || r.Cells != 8 {
		t.Fatalf("%v, %+v", err, r)
	}
	row := h.row("a", date)
	cells := h.c.Admin(t, "get", h.name, row)
	word, _, ok := strings.Cut(cells[0], "=one@")
	if len(cells) != 1 || !ok {
		t.Fatalf("row %q: %q", row, cells)
	}
	qualifier := clustertest.Unescape(word)
	for _, x := range []struct {
		words   []string
		verdict verify.Verdict
		found   int64
		region  string
	}{
		{[]string{"put", h.name, row, "d", "title,other", "one", "1"}, verify.More, 5, `[-, "m")`},
		{[]string{"delete", h.name, row, "d", "title,other"}, "", 4, ""},
		{[]string{"put", h.name, row, "d", qualifier, "eno"}, verify.Other, 4, `[-, "m")`},
		{[]string{"delete", h.name, row, "d", qualifier}, verify.Fewer, 3, `[-, "m")`},
		{[]string{"put", h.name, "x,y", "d", "q", "v"}, verify.Fewer, 3, `[-, "m")`},
	} {
		h.c.Admin(t, x.words...)
		r, err := h.verify(t)
		if x.verdict == "" {
			if err != nil {
				t.Errorf("%q: %v, want all to be as it was", x.words, err)
			}
			continue
		}
		if !errors.Is(err, verify.ErrDiffers) || len(r.Days) != 1 || r.Days[0].Date != date || r.Days[0].Verdict != x.verdict || r.Days[0].Found.Cells != x.found {
			t.Errorf("%q: %v, %+v; want %s on %s", x.words, err, r.Days, x.verdict, date)
		}
		if len(r.Regions) != 1 || r.Regions[0].String() != x.region {
			t.Errorf("%q: regions %v; want %s", x.words, r.Regions, x.region)
		}
		if foreign := x.words[2] == "x,y"; (r.ForeignCells == 1) != foreign || foreign && string(r.Foreign.First) != "x,y" {
			t.Errorf("%q: %d foreign cells, the first in %q", x.words, r.ForeignCells, r.Foreign.First)
		}
	}
}

// TestWhatIsLoadedUnderADeleteIsNamed deletes a record, and the whole row, with HBase's own
// client before the record is loaded. The record is then in the table but hidden.
func TestWhatIsLoadedUnderADeleteIsNamed(t *testing.T) {
	for _, mode := range []bulkload.Mode{bulkload.HFile, bulkload.Put} {
		t.Run(string(mode), func(t *testing.T) { testDeletes(t, mode) })
	}
}

func testDeletes(t *testing.T, mode bulkload.Mode) {
	h, log, err := loadUnder(t, mode)
	if err != nil || strings.Contains(log, "deletes of another client hide") {
		t.Fatalf("nothing was deleted: %v, %s", err, log)
	}
	row := h.row("a", h.w.Span.From)
	word, _, ok := strings.Cut(h.c.Admin(t, "get", h.name, row)[0], "=one@")
	if !ok {
		t.Fatalf("row %q: %q", row, word)
	}
	for what, marker := range map[string][]string{"column": {"d", clustertest.Unescape(word)}, "row": nil} {
		h, log, err := loadUnder(t, mode, append([]string{row}, marker...)...)
		if !strings.Contains(log, "deletes of another client hide") {
			t.Errorf("a deleted %s: the load says %s", what, log)
		}
		r, _ := h.verify(t)
		if !errors.Is(err, verify.ErrDiffers) || !strings.Contains(err.Error(), "hidden by deletes: 1") || len(r.Days) != 1 || r.Days[0].Verdict != verify.Hidden || r.Hidden != 1 {
			t.Errorf("a deleted %s: %v, %+v; want a day with one cell that deletes hide", what, err, r)
		}
	}
}

// row returns the row of a user's plays of a day.
func (h *liveFixture) row(user string, date behaviour.Date) string {
	y, m, d := date.Civil()
	return fmt.Sprintf("%s,%04d%02d%02d,00001", user, y, m, d)
}

// loadUnder loads two records into a new table in which words were deleted. It returns the
// log of the load and the error of verify.
func loadUnder(t *testing.T, mode bulkload.Mode, words ...string) (*liveFixture, string, error) {
	t.Helper()
	h := newLiveFixture(t, testworld.World(1, 1))
	h.is(t, plays)
	date := h.w.Span.From
	h.deliver(t, date.String()+"/play.csv", fmt.Sprintf("user,time,title\na,%s 10:00:00,one\nb,%s 10:00:00,two\n", date, date))
	if words != nil {
		h.c.Admin(t, append([]string{"delete", h.name}, words...)...)
	}
	cfg := h.config()
	var log strings.Builder
	cfg.FS, cfg.Store, cfg.Mode, cfg.Log = h.fs, h.store, mode, slog.New(slog.NewTextHandler(&log, nil))
	if _, err := load.Run(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
	_, err := h.verify(t)
	return h, log.String(), err
}

// TestWhatHBaseLetExpireIsNoDifference has cells with a lifetime of one hour, and a younger
// cell.
func TestWhatHBaseLetExpireIsNoDifference(t *testing.T) {
	h := newLiveFixture(t, testworld.World(1, 1), "TTL=3600")
	h.is(t, plays)
	now := time.Now().UTC()
	old := behaviour.DateOf(2014, 9, 1)
	today := behaviour.DateAt(now.UnixMicro(), time.UTC)
	h.deliver(t, old.String()+"/play.csv", fmt.Sprintf("user,time,title\na,%s 10:00:00,one\n", old))
	h.deliver(t, today.String()+"/play.csv", fmt.Sprintf("user,time,title\na,%s,one\n", now.Format(time.DateTime)))
	h.w.Span = behaviour.Span{From: old, To: today}
	h.load(t, bulkload.Put)
	r, err := h.verify(t)
	if err != nil || r.ExpiredDays != 1 || len(r.Days) != 1 || r.Days[0].Date != old || r.Days[0].Verdict != verify.Expired || r.Cells != 1 {
		t.Errorf("%v, %+v; want the first day to be expired", err, r)
	}
}
