package live_test

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"usertrail/internal/behaviour"
	"usertrail/internal/cell"
	"usertrail/internal/format/layout"
	"usertrail/internal/store/hbase"
	"usertrail/internal/store/hbase/wire"
	"usertrail/internal/test/clustertest"
	"usertrail/internal/test/testkit"
	"usertrail/internal/trail"
)

// hashedDays are one more than the hashed layout keeps of a column.
const hashedDays = 401

var (
	hashedSchema = &behaviour.Schema{Zone: "UTC", Kinds: []behaviour.Kind{{ID: 1, Name: "play", Fields: []behaviour.Field{{Name: "title", Type: behaviour.String}}}}}
	hashedRow    = layout.Hashed{}.AppendRow(nil, hashedSchema, &behaviour.Record{User: []byte("u42")})
	hashedFirst  = behaviour.DateOf(2014, 1, 1)
	hashedLast   = hashedFirst + hashedDays - 1
)

// putHashed puts a behaviour of each day, all with one column ID, and on the last day
// another one of the same instant.
func putHashed(t *testing.T, client *hbase.Client, name string) {
	t.Helper()
	e := layout.Hashed{}.Encoder(hashedSchema, "d")
	for day := hashedFirst; day <= hashedLast; day++ {
		e.Add(&behaviour.Record{Time: int64(day)*86_400_000_000 + 7, ID: 42, Values: [][]byte{[]byte(day.String())}})
	}
	e.Add(&behaviour.Record{Time: int64(hashedLast)*86_400_000_000 + 7, ID: 43, Values: [][]byte{[]byte("another")}})
	p, err := client.NewPutter(name, hbase.PutOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Cells(hashedRow, func(c *cell.Cell) error { return p.Put(t.Context(), c) }); err != nil {
		t.Fatal(err)
	}
	if err := p.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
}

// getHashed reads the days of a span, by their timestamps, and returns the behaviours that it
// has read.
func getHashed(t *testing.T, client *hbase.Client, name string, from, to behaviour.Date) []string {
	t.Helper()
	const day = 86_400_000
	got, err := client.Get(t.Context(), name, hashedRow, wire.Get{
		Time:        wire.TimeRange{From: int64(from) * day, To: int64(to+1) * day},
		MaxVersions: uint32(layout.Hashed{}.Traits().Versions),
	})
	if err != nil {
		t.Fatal(err)
	}
	var b trail.Batch
	b.Reset()
	d := layout.Hashed{}.Decoder(hashedSchema, layout.Want{Kinds: []int{0}, Span: behaviour.Span{From: from, To: to}})
	d.Into(&b, func([]byte) (uint32, bool) { return 0, true })
	for i := range got {
		if err := d.Add(&got[i]); err != nil {
			t.Fatal(err)
		}
	}
	if err := d.Flush(); err != nil {
		t.Fatal(err)
	}
	b.Sort(1)
	var out []string
	for _, e := range b.Events {
		out = append(out, fmt.Sprintf("%s %d %s +%d", behaviour.Date(e.Date), e.ID, b.Value(b.Refs[e.Refs]), e.Time%1000))
	}
	return out
}

// TestHashedKeepsItsVersions has a column with a version for each of 401 days, in a family
// that keeps as many as the layout requires, and in one that keeps what HBase does by itself.
func TestHashedKeepsItsVersions(t *testing.T) {
	t.Parallel()
	c := clustertest.Get(t)
	client, err := hbase.Dial(t.Context(), hbase.Config{ZooKeeper: []string{c.ZooKeeper()}})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	kept := c.Create(t, "d", "VERSIONS="+strconv.Itoa(layout.Hashed{}.Traits().Versions))
	one := c.Create(t, "d", "VERSIONS=1")
	putHashed(t, client, kept)
	putHashed(t, client, one)

	check := func(when, name string, from, to behaviour.Date, want ...string) {
		t.Helper()
		if got := getHashed(t, client, name, from, to); strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("%s: of %s to %s come %q, want %q", when, from, to, got, want)
		}
	}
	oldest := "2014-01-01 42 2014-01-01 +7"
	latest := []string{"2015-02-05 42 2015-02-05 +7", "2015-02-05 43 another +7"}
	// The count of versions is of those in the time range, so until HBase writes the
	// memory down, a get can see a version that is one too many.
	check("in memory", kept, hashedFirst, hashedFirst, oldest)
	check("in memory", one, hashedFirst, hashedFirst, oldest)
	check("in memory", one, hashedFirst, hashedLast, latest...)

	for _, name := range []string{kept, one} {
		c.Admin(t, "flush", name)
		c.Admin(t, "compact", name)
	}
	middle := hashedFirst + 200
	check("written down", kept, middle, middle+1, "2014-07-20 42 2014-07-20 +7", "2014-07-21 42 2014-07-21 +7")
	check("written down", kept, hashedLast, hashedLast, latest...)
	check("written down", kept, hashedFirst, hashedFirst)
	if got := getHashed(t, client, kept, hashedFirst, hashedLast); len(got) != 401 || got[0] != "2014-01-02 42 2014-01-02 +7" {
		t.Errorf("of all days come %d behaviours from %q on, want 400 days without the oldest, and the last day's other", len(got), got[:min(1, len(got))])
	}
	check("written down", one, middle, middle+1)
	check("written down", one, hashedFirst, hashedLast, latest...)
}

// TestHashedIsCutAsHBaseCuts compares the split points with the split points of HBase's own class.
func TestHashedIsCutAsHBaseCuts(t *testing.T) {
	testkit.OnlyAll(t, "the points of HBase's class that internal/format/layout's TestHashedSplits has")
	t.Parallel()
	c := clustertest.Get(t)
	var regions []string
	var want strings.Builder
	for _, n := range []int{2, 3, 7, 16, 100, 1000} {
		regions = append(regions, strconv.Itoa(n))
		want.Write(bytes.Join(layout.Hashed{}.Traits().Splits(n), []byte(" ")))
		want.WriteString("\n")
	}
	if got := c.Java(t, java(t, "HexSplits.java"), regions...); got != want.String() {
		t.Errorf("HBase cuts %s regions at\n%s\nwant\n%s", regions, got, want.String())
	}
}
