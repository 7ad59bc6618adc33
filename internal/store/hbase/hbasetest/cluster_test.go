package hbasetest_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"usertrail/internal/cell"
	"usertrail/internal/store/hbase/hbasetest"
	"usertrail/internal/store/hbase/rpc"
	"usertrail/internal/store/hbase/wire"
)

const enough = 10 * time.Minute

// patience ends a call without a response, in a bubble, before its connection is closed for
// silence.
const patience = 10 * time.Second

func dial(t *testing.T, addr string, service wire.Service) *rpc.Conn {
	t.Helper()
	return dialBy(t, nil, addr, service)
}

// dialInMemory dials a server of a cluster that listens on no socket.
func dialInMemory(t *testing.T, c *hbasetest.Cluster, server int) *rpc.Conn {
	t.Helper()
	return dialBy(t, c.Dial, c.Addr(server), wire.ClientService)
}

func dialBy(t *testing.T, by func(context.Context, string) (net.Conn, error), addr string, service wire.Service) *rpc.Conn {
	t.Helper()
	c, err := rpc.Dial(t.Context(), addr, service, "trail", rpc.Options{Dial: by})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// ask makes a call with a time limit. The response is released when the test ends.
func ask(t *testing.T, c *rpc.Conn, method string, param, cells wire.Appender) (*rpc.Response, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), enough)
	defer cancel()
	r, err := c.Call(ctx, method, param, cells)
	if err == nil {
		t.Cleanup(r.Release)
	}
	return r, err
}

func put(row, qualifier, value string) *cell.Cell {
	return &cell.Cell{Row: []byte(row), Family: []byte("f"), Qualifier: []byte(qualifier), Time: 1000, Type: cell.Put, Value: []byte(value)}
}

// rows returns cells rowNN f:a and f:b.
func rows(n int) []*cell.Cell {
	var all []*cell.Cell
	for i := range n {
		row := fmt.Sprintf("row%02d", i)
		all = append(all, put(row, "a", "x"), put(row, "b", "y"))
	}
	return all
}

// multi sends one action per row to a region and returns the results, in order.
func multi(t *testing.T, c *rpc.Conn, region string, puts []*cell.Cell, gets ...string) []string {
	t.Helper()
	param, mark := wire.BeginRegion(nil, []byte(region))
	var block []byte
	for i, p := range puts {
		param = wire.AppendPutAction(param, uint32(i), p.Row, 1, wire.TableDefault)
		block = wire.AppendCell(block, p)
	}
	fields := (&wire.Get{}).Fields()
	for i, row := range gets {
		param = wire.AppendGetAction(param, uint32(len(puts)+i), []byte(row), fields)
	}
	r, err := ask(t, c, "Multi", wire.Raw(wire.EndRegion(param, mark)), wire.Raw(block))
	if err != nil {
		return []string{err.Error()}
	}
	var said []string
	m := wire.DecodeMulti(r.Param, r.Cells)
	var res wire.MultiResult
	for m.Next(&res) {
		switch {
		case res.Whole:
			said = append(said, "all: "+res.Err.Name())
		case res.Err != nil:
			said = append(said, fmt.Sprintf("%d: %s", res.Index, res.Err.Name()))
		default:
			said = append(said, fmt.Sprintf("%d: %s", res.Index, text(t, res.Cells)))
		}
	}
	if m.Err() != nil {
		t.Fatal(m.Err())
	}
	return said
}

// text returns cells as row/qualifier=value.
func text(t *testing.T, cells wire.Cells) string {
	t.Helper()
	var all []string
	var c cell.Cell
	for cells.Next(&c) {
		all = append(all, fmt.Sprintf("%s/%s=%s", c.Row, c.Qualifier, c.Value))
	}
	if cells.Err() != nil {
		t.Fatal(cells.Err())
	}
	return strings.Join(all, " ")
}

func expect(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s:\n got %q\nwant %q", what, got, want)
	}
}

func TestMultiRespondsAsHBase(t *testing.T) {
	c := hbasetest.New(t, hbasetest.Config{})
	c.CreateTable("t", []string{"f"}, []byte("m"))
	region := c.Regions("t")
	conn := dial(t, c.Addr(0), wire.ClientService)

	expect(t, "Gets do not see the Puts before them",
		multi(t, conn, region[0], []*cell.Cell{put("b", "q", "1"), put("a", "q", "2")}, "a"), "2: ", "1: ", "0: ")
	expect(t, "then they are there", multi(t, conn, region[0], nil, "b", "a", "absent"), "0: b/q=1", "1: a/q=2", "2: ")
	stranger := put("c", "q", "3")
	stranger.Family = []byte("g")
	expect(t, "bad Puts fail alone", multi(t, conn, region[0], []*cell.Cell{put("z", "q", "3"), put("d", "q", "4"), stranger}),
		"2: NoSuchColumnFamilyException", "1: ", "0: FailedSanityCheckException")
	expect(t, "a Get out of range", multi(t, conn, region[1], nil, "a", "z"), "0: WrongRegionException", "1: ")
	expect(t, "a region that is not here", multi(t, conn, "t,,5.x.", []*cell.Cell{put("e", "q", "5")}, "a"), "all: NotServingRegionException")
	n := c.Counts()
	if want := map[string]int{"a": 1, "b": 1, "d": 1}; !maps.Equal(n.RowPuts, want) {
		t.Errorf("executed the puts %v, want %v", n.RowPuts, want)
	}
	if n.RowGets["a"] != 2 || n.Connections != 1 || n.Calls["Multi"] != 5 {
		t.Errorf("counted %+v", n)
	}
}

func TestCapOnResponses(t *testing.T) {
	c := hbasetest.New(t, hbasetest.Config{MaxResponse: 100})
	c.CreateTable("t", []string{"f"})
	c.Load("t", put("a", "q", strings.Repeat("v", 80)), put("b", "q", "w"), put("c", "q", "x"))
	conn := dial(t, c.Addr(0), wire.ClientService)
	expect(t, "above the cap", multi(t, conn, c.Regions("t")[0], nil, "a", "b", "c")[1:], "1: MultiActionResultTooLarge", "2: MultiActionResultTooLarge")
}

// scan reads a region as a careful client does, and returns for each Result whether it was a
// part.
func scan(t *testing.T, conn *rpc.Conn, region string, s *wire.Scan, partials bool) (said []string, beats int) {
	t.Helper()
	r, err := ask(t, conn, "Scan", &wire.ScanRequest{Region: []byte(region), Scan: s, Rows: 2, Partials: partials, Heartbeats: partials}, nil)
	for seq := uint64(0); ; seq++ {
		if err != nil {
			return append(said, err.Error()), beats
		}
		var res wire.ScanResponse
		if err := res.Decode(r.Param); err != nil {
			t.Fatal(err)
		}
		block := r.Cells
		for i, n := range res.CellsPerResult {
			var cells wire.Cells
			if cells, block, err = wire.TakeCells(block, int(n)); err != nil {
				t.Fatal(err)
			}
			line := text(t, cells)
			if res.IsPartial(i) {
				line += " ..."
			}
			said = append(said, line)
		}
		if len(block) > 0 {
			t.Fatalf("%d bytes of cells left over", len(block))
		}
		if res.Heartbeat {
			beats++
		}
		if !res.MoreResults || !res.MoreInRegion {
			return said, beats
		}
		r, err = ask(t, conn, "Scan", &wire.ScanRequest{ScannerID: res.ScannerID, NextCallSeq: seq, Rows: 2, Partials: partials, Heartbeats: partials}, nil)
	}
}

func TestScans(t *testing.T) {
	c := hbasetest.New(t, hbasetest.Config{PartialCells: 1, HeartbeatEvery: 2})
	c.CreateTable("t", []string{"f"})
	c.Load("t", rows(5)...)
	conn := dial(t, c.Addr(0), wire.ClientService)
	region := c.Regions("t")[0]

	said, _ := scan(t, conn, region, &wire.Scan{Start: []byte("row01"), Stop: []byte("row03"), ExcludeStart: true, IncludeStop: true}, false)
	expect(t, "whole rows", said, "row02/a=x row02/b=y", "row03/a=x row03/b=y")
	said, beats := scan(t, conn, region, &wire.Scan{Start: []byte("row03")}, true)
	expect(t, "parts", said, "row03/a=x ...", "row03/b=y", "row04/a=x ...", "row04/b=y")
	if beats == 0 {
		t.Error("no heartbeat came")
	}
	said, _ = scan(t, conn, region, &wire.Scan{Start: []byte("row01"), Reversed: true, Filter: wire.AllOf(wire.ColumnPrefix([]byte("b")), wire.KeyOnly(false))}, false)
	expect(t, "reversed and filtered", said, "row01/b=", "row00/b=")
	if n := c.Scanners(); n != 0 {
		t.Errorf("%d scanners are left open", n)
	}
}

func TestScannersMindTheirSequence(t *testing.T) {
	c := hbasetest.New(t, hbasetest.Config{Servers: 2})
	c.CreateTable("t", []string{"f"})
	c.Load("t", rows(9)...)
	conn := dial(t, c.Addr(0), wire.ClientService)
	open := &wire.ScanRequest{Region: []byte(c.Regions("t")[0]), Scan: &wire.Scan{}, Rows: 1}
	r, err := ask(t, conn, "Scan", open, nil)
	if err != nil {
		t.Fatal(err)
	}
	var res wire.ScanResponse
	if err := res.Decode(r.Param); err != nil {
		t.Fatal(err)
	}
	next := func(seq uint64) string {
		_, err := ask(t, conn, "Scan", &wire.ScanRequest{ScannerID: res.ScannerID, NextCallSeq: seq, Rows: 1}, nil)
		var e *rpc.ServerError
		if errors.As(err, &e) {
			return e.Name()
		}
		return fmt.Sprint(err)
	}
	var said []string
	said = append(said, next(0), next(0), next(1))
	if _, err := ask(t, conn, "Scan", &wire.ScanRequest{ScannerID: res.ScannerID, Renew: true}, nil); err != nil {
		t.Errorf("renew: %v", err)
	}
	said = append(said, next(2))
	c.Move("t", []byte("row"), 1)
	said = append(said, next(3), next(4))
	expect(t, "calls", said, "<nil>", "OutOfOrderScannerNextException", "<nil>", "<nil>", "NotServingRegionException", "UnknownScannerException")
}

func TestMetaTellsOfRegions(t *testing.T) {
	c := hbasetest.New(t, hbasetest.Config{Servers: 2, SayMoved: true})
	c.CreateTable("t", []string{"f"}, []byte("m"))
	c.CreateTable("t-x", []string{"f"})
	master := dial(t, c.MasterAddr(), wire.ClientMetaService)
	r, err := ask(t, master, "GetMetaRegionLocations", wire.Raw(nil), nil)
	if err != nil {
		t.Fatal(err)
	}
	where, err := wire.DecodeMetaLocations(r.Param)
	if err != nil || len(where) != 1 || where[0].Server.Addr() != c.MetaAddr() {
		t.Fatalf("meta is at %v, %v; want %s", where, err, c.MetaAddr())
	}
	conn := dial(t, c.MetaAddr(), wire.ClientService)
	c.Split("t", []byte("p"))
	c.Merge("t", []byte("a"))
	old := c.Regions("t")[1]
	c.Move("t", []byte("q"), 0)

	said, _ := scan(t, conn, wire.MetaRegion, &wire.Scan{Start: []byte("t,,"), Stop: []byte("t ,,"), Columns: []wire.Column{{Family: []byte("info"), Qualifiers: [][]byte{[]byte("server")}}}}, false)
	var want []string
	for i, name := range c.Regions("t") {
		want = append(want, fmt.Sprintf("%s/server=%s", name, c.Addr(0)))
		if i == 0 && !strings.HasPrefix(name, "t,,") {
			t.Errorf("the first region is %s", name)
		}
	}
	expect(t, "regions", said, want...)
	one, _ := scan(t, conn, wire.MetaRegion, &wire.Scan{Start: []byte("t,q,99999999999999"), Stop: []byte("t,,"), IncludeStop: true, Reversed: true, Columns: []wire.Column{{Family: []byte("info"), Qualifiers: [][]byte{[]byte("server")}}}}, false)
	expect(t, "the region of a row", one[:1], want[1])

	_, err = ask(t, dial(t, c.Addr(1), wire.ClientService), "Get", &wire.GetRequest{Region: []byte(old), Row: []byte("q"), Fields: (&wire.Get{}).Fields()}, nil)
	var e *rpc.ServerError
	if !errors.As(err, &e) || e.Name() != "RegionMovedException" || fmt.Sprintf("%s:%d", e.Host, e.Port) != c.Addr(0) {
		t.Errorf("got %v, want moved to %s", err, c.Addr(0))
	}
}

func TestMasterMakesTables(t *testing.T) {
	c := hbasetest.New(t, hbasetest.Config{})
	conn := dial(t, c.MasterAddr(), wire.MasterService)
	schema := &wire.TableSchema{Name: wire.ParseTableName("n:t"), Families: []wire.FamilySchema{{Name: "f", Attributes: map[string]string{"VERSIONS": "1"}}}}
	if _, err := ask(t, conn, "CreateTable", wire.CreateTableRequest{Schema: schema, Splits: [][]byte{[]byte("m")}}, nil); err != nil {
		t.Fatal(err)
	}
	r, err := ask(t, conn, "GetTableDescriptors", wire.TableDescriptorsRequest{Table: schema.Name}, nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := wire.DecodeTableDescriptors(r.Param)
	if err != nil || len(got) != 1 || fmt.Sprint(got[0]) != fmt.Sprint(*schema) {
		t.Errorf("described as %v, %v; want %v", got, err, *schema)
	}
	if n := len(c.Regions("n:t")); n != 2 {
		t.Errorf("%d regions, want 2", n)
	}
	if _, err := ask(t, conn, "DeleteTable", wire.TableRequest{Table: schema.Name}, nil); err == nil || !strings.Contains(err.Error(), "TableNotDisabledException") {
		t.Errorf("an enabled table was deleted: %v", err)
	}
}

// TestFaults applies each fault to a Put, and checks the client's view and whether the Put
// was executed.
func TestFaults(t *testing.T) {
	for name, tt := range map[string]struct {
		fault    hbasetest.Fault
		executed bool
		want     error
		alive    bool
	}{
		"none":      {hbasetest.Fault{}, true, nil, true},
		"delay":     {hbasetest.Fault{Delay: time.Millisecond}, true, nil, true},
		"twice":     {hbasetest.Fault{Twice: true}, true, nil, true},
		"exception": {hbasetest.Fault{Exception: hbasetest.NotServing("r")}, false, &rpc.ServerError{}, true},
		"skip":      {hbasetest.Fault{Skip: true}, false, context.DeadlineExceeded, true},
		"drop":      {hbasetest.Fault{Drop: true}, true, context.DeadlineExceeded, true},
		"hold":      {hbasetest.Fault{}, true, context.DeadlineExceeded, true},
		"close":     {hbasetest.Fault{Close: true}, true, &rpc.ConnError{}, false},
		"cut":       {hbasetest.Fault{Cut: 7}, true, &rpc.ConnError{}, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				if name == "hold" {
					tt.fault.Hold = make(chan struct{})
				}
				c := hbasetest.New(t, hbasetest.Config{InMemory: true})
				c.CreateTable("t", []string{"f"})
				c.SetHooks(hbasetest.Hooks{Call: func(call hbasetest.Call) hbasetest.Fault {
					if call.Method == "Multi" && call.N == 1 {
						return tt.fault
					}
					return hbasetest.Fault{}
				}})
				conn := dialInMemory(t, c, 0)
				ctx, cancel := context.WithTimeout(t.Context(), patience)
				defer cancel()
				param, mark := wire.BeginRegion(nil, []byte(c.Regions("t")[0]))
				p := put("a", "q", "v")
				param = wire.EndRegion(wire.AppendPutAction(param, 0, p.Row, 1, wire.TableDefault), mark)
				r, err := conn.Call(ctx, "Multi", wire.Raw(param), wire.Raw(wire.AppendCell(nil, p)))
				wantFailure(t, err, tt.want)
				if err == nil {
					r.Release()
				}
				if got := c.Counts().RowPuts["a"] == 1; got != tt.executed {
					t.Errorf("executed: %v, want %v", got, tt.executed)
				}
				if alive := conn.Err() == nil; alive != tt.alive {
					t.Errorf("the connection lives: %v, want %v", alive, tt.alive)
				}
			})
		})
	}
}

// wantFailure compares an error with want, or with the type of want.
func wantFailure(t *testing.T, err, want error) {
	t.Helper()
	var server *rpc.ServerError
	var dead *rpc.ConnError
	switch want.(type) {
	case nil:
		if err != nil {
			t.Fatal(err)
		}
	case *rpc.ServerError:
		if !errors.As(err, &server) {
			t.Errorf("got %v, want an exception", err)
		}
	case *rpc.ConnError:
		if !errors.As(err, &dead) {
			t.Errorf("got %v, want a dead connection", err)
		}
	default:
		if !errors.Is(err, want) {
			t.Errorf("got %v, want %v", err, want)
		}
	}
}

func TestServersFreezeAndDie(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := hbasetest.New(t, hbasetest.Config{Servers: 2, InMemory: true})
		c.CreateTable("t", []string{"f"})
		region := c.Regions("t")[0]
		conn := dialInMemory(t, c, 0)
		c.Freeze(0)
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		if _, err := conn.Call(ctx, "Get", &wire.GetRequest{Region: []byte(region), Row: []byte("a")}, nil); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a frozen server gave %v", err)
		}
		c.Thaw(0)
		expect(t, "thawed", multi(t, conn, region, nil, "a"), "0: ")
		c.Kill(0)
		<-conn.Done()
		c.Reassign(0, 1)
		expect(t, "reassigned", multi(t, dialInMemory(t, c, 1), region, nil, "a"), "0: ")
		old := c.Addr(0)
		c.Restart(0)
		if c.Addr(0) == old {
			t.Errorf("it is at %s again", old)
		}
		dialInMemory(t, c, 0)
	})
}
