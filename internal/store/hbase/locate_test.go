package hbase

import (
	"errors"
	"strings"
	"testing"
	"time"

	"usertrail/internal/cell"
	"usertrail/internal/split"
	"usertrail/internal/store/hbase/rpc"
	"usertrail/internal/store/hbase/wire"
)

func TestConfigSaysEverythingThatIsWrong(t *testing.T) {
	_, err := Dial(t.Context(), Config{Znode: "hbase", CallTimeout: -1, InFlight: -3})
	for _, want := range []string{"ZooKeeper", "Znode", "CallTimeout", "InFlight"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not name %s", err, want)
		}
	}
}

// metaRow appends a row of meta in the form of a server.
func metaRow(dst []byte, info wire.RegionInfo, server string, seq byte) ([]byte, uint32) {
	row := info.Name()
	add := func(qualifier string, value []byte) {
		dst = wire.AppendCell(dst, &cell.Cell{Row: row, Family: []byte("info"), Qualifier: []byte(qualifier), Type: cell.Put, Value: value})
	}
	add("regioninfo", info.Append([]byte("PBUF")))
	add("seqnumDuringOpen", []byte{0, 0, 0, 0, 0, 0, 0, seq})
	if server == "" {
		return dst, 2
	}
	add("server", []byte(server))
	return dst, 3
}

func TestMetaReaderSkipsWhatIsNoRegionOfTheTable(t *testing.T) {
	name := wire.ParseTableName("ns:t")
	m := metaReader{table: name}
	for _, x := range []struct {
		info   wire.RegionInfo
		server string
	}{
		{wire.RegionInfo{ID: 1, Table: name, End: []byte("m"), Offline: true, Split: true}, "gone:1"},
		{wire.RegionInfo{ID: 2, Table: name, End: []byte("f")}, "a:1"},
		{wire.RegionInfo{ID: 2, Table: name, Start: []byte("f"), End: []byte("m")}, ""},
		{wire.RegionInfo{ID: 1, Table: name, Start: []byte("m")}, "b:1"},
		{wire.RegionInfo{ID: 1, Table: name, Start: []byte("m"), ReplicaID: 1}, "c:1"},
		{wire.RegionInfo{ID: 9, Table: wire.ParseTableName("ns:t-x")}, "d:1"},
	} {
		block, n := metaRow(nil, x.info, x.server, 7)
		cells, _, err := wire.TakeCells(block, int(n))
		if err != nil {
			t.Fatal(err)
		}
		if err := m.row(&cells); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	for _, r := range m.regions() {
		got = append(got, r.Region.String()+r.Server)
	}
	if want := `[-, "f")a:1|["f", "m")|["m", +)b:1`; strings.Join(got, "|") != want {
		t.Errorf("regions %s, want %s", strings.Join(got, "|"), want)
	}
	if err := findHole(m.regions()); err != nil {
		t.Error(err)
	}
	if findHole(m.regions()[1:]) == nil || findHole(m.regions()[:2]) == nil {
		t.Error("a hole at the start or end was not seen")
	}
}

func locations(all ...*region) *[]*region { return &all }

func at(start, end, server string, seq int64) *region {
	r := &region{}
	r.Region = Region{Region: split.Region{Start: []byte(start), End: []byte(end)}, Name: []byte("t," + start), Server: server, Seq: seq}
	return r
}

func TestAWalkDoesNotUndoWhatWasLearnedSince(t *testing.T) {
	tab := &table{name: "t"}
	a, b := at("", "m", "s1:1", 5), at("m", "", "s1:1", 5)
	tab.regions.Store(locations(a, b))
	began := time.Now()
	tab.moved(a, "s2:1", 6)
	if r := tab.known([]byte("c")); r.Server != "s2:1" || !r.online() {
		t.Fatalf("after the move: %+v", r.Region)
	}
	b.leave()
	tab.merge([]*region{at("", "m", "s1:1", 5), at("m", "", "s1:1", 5)}, began)
	if r := tab.known([]byte("c")); r.Server != "s2:1" {
		t.Errorf("an older walk moved the region back to %s", r.Server)
	}
	if tab.known([]byte("x")).online() {
		t.Error("an older walk brought back a location found wrong after it began")
	}
	tab.merge([]*region{at("", "m", "s3:1", 7), at("m", "", "s1:1", 5)}, time.Now())
	if r := tab.known([]byte("c")); r.Server != "s3:1" {
		t.Errorf("a later opening was not taken over: %s", r.Server)
	}
	if !tab.known([]byte("x")).online() {
		t.Error("a younger walk did not bring the location back")
	}
	old := tab.known([]byte("c"))
	tab.moved(old, "s1:1", 6)
	if r := tab.known([]byte("c")); r.Server != "s3:1" || r.online() {
		t.Errorf("a move to an earlier opening was believed: %+v", r.Region)
	}
}

func TestKnownFindsHoles(t *testing.T) {
	tab := &table{name: "t"}
	if tab.known([]byte("a")) != nil {
		t.Error("a region before anything is known")
	}
	tab.regions.Store(locations(at("", "b", "s:1", 1), at("d", "", "s:1", 1)))
	for row, want := range map[string]string{"a": "t,", "b": "", "c": "", "d": "t,d", "zz": "t,d"} {
		got := ""
		if r := tab.known([]byte(row)); r != nil {
			got = r.String()
		}
		if got != want {
			t.Errorf("%s is in %q, want %q", row, got, want)
		}
	}
}

// effortClient returns a client that is sufficient for efforts.
func effortClient(budget time.Duration) *Client {
	return &Client{cfg: Config{OpTimeout: budget, User: "ann"}}
}

func TestRetriesEndWithTheirBudgetAndSayWhatWasTried(t *testing.T) {
	e := retryState{what: "get of 3 rows", table: "t", region: "t,a", server: "rs1:16020"}
	busy := verdict{remedy: ease, err: &rpc.ServerError{Class: pkg + "RegionTooBusyException", Message: "over memstore limit"}}
	var err error
	for err == nil {
		_, err = e.after(effortClient(time.Minute), time.Second, busy)
	}
	var g *GaveUpError
	if !errors.As(err, &g) || !errors.Is(err, ErrUnavailable) {
		t.Fatalf("%v; want a GaveUpError that may pass", err)
	}
	for _, want := range []string{"get of 3 rows", "table t", "t,a", "rs1:16020", "attempts", "RegionTooBusyException", "over memstore limit"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q does not say %q", err, want)
		}
	}
	if g.Attempts < 5 {
		t.Errorf("gave up after %d attempts; a minute has room for more", g.Attempts)
	}
}

func TestAnUnknownFailureIsTriedAFewTimes(t *testing.T) {
	e := retryState{what: "get"}
	n := 0
	var err error
	for ; err == nil; n++ {
		_, err = e.after(effortClient(time.Hour), 0, verdict{remedy: repeat, err: errors.New("what")})
	}
	if n != maxRepeats || errors.Is(err, ErrUnavailable) {
		t.Errorf("%d attempts and %v; want %d and no hope", n, err, maxRepeats)
	}
}

func TestAFatalFailureNamesTheUser(t *testing.T) {
	e := retryState{what: "get", table: "t"}
	v := judge(&rpc.ServerError{Class: pkg + "security.AccessDeniedException", Message: "Insufficient permissions"})
	var err error
	for range 1 + maxAsks {
		_, err = e.after(effortClient(time.Hour), 0, v)
	}
	if !errors.Is(err, ErrPermission) || !strings.Contains(err.Error(), "user ann") || !strings.Contains(err.Error(), "table t") {
		t.Errorf("got %v; want ErrPermission with user and table", err)
	}
}

func TestTheFirstMoveCostsNoPause(t *testing.T) {
	e := retryState{}
	v := verdict{remedy: relocate, err: errNotOnline}
	if d, err := e.after(effortClient(time.Hour), 0, v); d != 0 || err != nil {
		t.Errorf("first: %s, %v", d, err)
	}
	if d, err := e.after(effortClient(time.Hour), 0, v); d <= 0 || err != nil {
		t.Errorf("second: %s, %v; want a pause", d, err)
	}
}
