package wire_test

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"usertrail/internal/cell"
	"usertrail/internal/store/hbase/wire"
)

// msg builds a message: numbers and strings, or other messages, by field.
func msg(fields ...any) []byte {
	var b []byte
	for i := 0; i < len(fields); i += 2 {
		num := protowire.Number(fields[i].(int))
		switch v := fields[i+1].(type) {
		case int:
			b = protowire.AppendVarint(protowire.AppendTag(b, num, protowire.VarintType), uint64(v))
		case string:
			b = protowire.AppendString(protowire.AppendTag(b, num, protowire.BytesType), v)
		case []byte:
			b = protowire.AppendBytes(protowire.AppendTag(b, num, protowire.BytesType), v)
		}
	}
	return b
}

// An encoding is an encoded message, and the bytes that it must have.
type encoding struct {
	got  []byte
	want []byte
}

// regionR and tableT are the region r and the table t in a message.
var (
	regionR = msg(1, 1, 2, "r")
	tableT  = msg(1, "default", 2, "t")
)

func compare(t *testing.T, all map[string]encoding) {
	t.Helper()
	for name, x := range all {
		if !bytes.Equal(x.got, x.want) {
			t.Errorf("%s is\n%x, want\n%x", name, x.got, x.want)
		}
	}
}

// filterOf returns a filter with a name and a body in a message.
func filterOf(name string, body []byte) []byte {
	return msg(1, "org.apache.hadoop.hbase.filter."+name, 2, body)
}

// TestRequests compares requests to RegionServers with messages that are put together by hand.
func TestRequests(t *testing.T) {
	long := bytes.Repeat([]byte("k"), 20000) // lengths of one, two and three bytes
	compare(t, map[string]encoding{
		"header with time":  {(&wire.RequestHeader{CallID: 7, Method: "Scan", TimeoutMS: 500}).Append(nil), msg(1, 7, 3, "Scan", 4, 1, 7, 500)},
		"get of everything": {(&wire.Get{Time: wire.TimeRange{From: 0, To: 9}, MaxVersions: 3, CacheBlocks: true, StoreLimit: 4, StoreOffset: 5, ExistenceOnly: true}).Fields(), msg(5, msg(1, 0, 2, 9), 6, 3, 7, 1, 8, 4, 9, 5, 10, 1)},
		"get of columns":    {(&wire.Get{Columns: []wire.Column{{Family: []byte("f"), Qualifiers: [][]byte{[]byte("a"), {}}}}, Filter: wire.FirstKeyOnly()}).Fields(), msg(2, msg(1, "f", 2, "a", 2, ""), 4, filterOf("FirstKeyOnlyFilter", nil), 7, 0)},
		"long get":          {(&wire.GetRequest{Region: []byte("r"), Row: long, Fields: familyF.Fields()}).Append(nil), msg(1, regionR, 2, msg(1, long, 2, msg(1, "f"), 7, 0))},
		"open":              {(&wire.ScanRequest{Region: []byte("r"), Scan: &wire.Scan{Stop: []byte("z")}, Rows: 5, Partials: true, Heartbeats: true, Limit: 9}).Append(nil), msg(1, regionR, 2, msg(3, "", 4, "z", 8, 0, 21, 1, 22, 0), 4, 5, 7, 1, 8, 1, 11, 9)},
		"open, every field": {(&wire.ScanRequest{Region: []byte("r"), Scan: &wire.Scan{Start: []byte("a"), ExcludeStart: true, IncludeStop: true, Reversed: true, MaxVersions: 2, CacheBlocks: true, BatchSize: 3, MaxResultSize: 4, StoreLimit: 5, StoreOffset: 6, AllowPartial: true, MVCCReadPoint: 7, ReadType: wire.ReadStream, NeedCursor: true}}).Append(nil), msg(1, regionR, 2, msg(3, "a", 4, "", 7, 2, 8, 1, 9, 3, 10, 4, 11, 5, 12, 6, 15, 1, 18, 1, 20, 7, 21, 0, 22, 1, 23, 1, 24, 1), 4, 0, 7, 0, 8, 0)},
		"one-shot":          {(&wire.ScanRequest{Region: []byte("r"), Scan: &wire.Scan{}, Rows: 5, Close: true}).Append(nil), msg(1, regionR, 2, msg(3, "", 4, "", 8, 0, 21, 1, 22, 0), 4, 5, 5, 1, 7, 0, 8, 0)},
		"first next":        {(&wire.ScanRequest{ScannerID: 8, Rows: 5}).Append(nil), msg(3, 8, 4, 5, 6, 0, 7, 0, 8, 0)},
		"third next":        {(&wire.ScanRequest{ScannerID: 8, Rows: 5, NextCallSeq: 2, Partials: true}).Append(nil), msg(3, 8, 4, 5, 6, 2, 7, 1, 8, 0)},
		"renew":             {(&wire.ScanRequest{ScannerID: 8, Renew: true}).Append(nil), msg(3, 8, 4, 0, 7, 0, 8, 0, 10, 1)},
		"close":             {(&wire.ScanRequest{ScannerID: 8, Close: true}).Append(nil), msg(3, 8, 4, 0, 5, 1, 7, 0, 8, 0)},
	})
}

// TestRequestsOfTables does the same with requests about whole tables and regions.
func TestRequestsOfTables(t *testing.T) {
	compare(t, map[string]encoding{
		"create":           {wire.CreateTableRequest{Schema: &wire.TableSchema{Name: wire.ParseTableName("t"), Families: []wire.FamilySchema{{Name: "f", Attributes: map[string]string{"VERSIONS": "1", "BLOOMFILTER": "ROW"}}}}, Splits: [][]byte{[]byte("m")}}.Append(nil), msg(1, msg(1, tableT, 3, msg(1, "f", 2, msg(1, "BLOOMFILTER", 2, "ROW"), 2, msg(1, "VERSIONS", 2, "1"))), 2, "m")},
		"descriptors":      {wire.TableDescriptorsRequest{Table: wire.ParseTableName("t")}.Append(nil), msg(1, tableT)},
		"disable":          {wire.TableRequest{Table: wire.ParseTableName("n:t")}.Append(nil), msg(1, msg(1, "n", 2, "t"))},
		"procedure":        {wire.ProcedureRequest{ID: 3}.Append(nil), msg(1, 3)},
		"flush":            {wire.RegionRequest{Region: []byte("r")}.Append(nil), msg(1, regionR)},
		"compact":          {wire.CompactRegionRequest{Region: []byte("r"), Major: true}.Append(nil), msg(1, regionR, 2, 1)},
		"prepare":          {(&wire.PrepareBulkLoadRequest{Table: wire.ParseTableName("t"), Region: []byte("r")}).Append(nil), msg(1, tableT, 2, regionR)},
		"bulk load":        {(&wire.BulkLoadRequest{Region: []byte("r"), Files: []wire.FamilyPath{{Family: []byte("f"), Path: "/a/1"}, {Family: []byte("g"), Path: "hdfs://n/a/2"}}, Token: "hdfs://n/s"}).Append(nil), msg(1, regionR, 2, msg(1, "f", 2, "/a/1"), 2, msg(1, "g", 2, "hdfs://n/a/2"), 3, 1, 5, "hdfs://n/s", 6, 0)},
		"clean up":         {(&wire.CleanupBulkLoadRequest{Token: "hdfs://n/s", Region: []byte("r")}).Append(nil), msg(1, "hdfs://n/s", 2, regionR)},
		"snapshot":         {(&wire.SnapshotRequest{Snapshot: wire.Snapshot{Name: "s", Table: wire.ParseTableName("n:t"), Created: 5, Type: wire.SnapshotFlush}}).Append(nil), msg(1, msg(1, "s", 2, "n:t", 3, 5, 4, 1))},
		"snapshot's nonce": {(&wire.SnapshotRequest{Snapshot: wire.Snapshot{Name: "s"}, Nonce: 7}).Append(nil), msg(1, msg(1, "s", 4, 0), 2, 7, 3, 7)},
		"snapshot's name":  {(&wire.SnapshotRequest{Snapshot: wire.Snapshot{Name: "s"}}).Append(nil), msg(1, msg(1, "s", 4, 0))},
		"status":           {wire.ClusterStatusRequest{}.Append(nil), msg(1, 0, 1, 3, 1, 4, 1, 7, 1, 10)},
		"permissions":      {(&wire.PermissionsRequest{Table: wire.ParseTableName("t"), Family: "f", Permissions: []wire.Permission{wire.PermitRead, wire.PermitAdmin}}).Append(nil), msg(2, msg(1, 3, 4, msg(1, tableT, 2, "f", 4, 0, 4, 4)))},
		"table permission": {(&wire.PermissionsRequest{Table: wire.ParseTableName("t"), Permissions: []wire.Permission{wire.PermitWrite}}).Append(nil), msg(2, msg(1, 3, 4, msg(1, tableT, 4, 1)))},
	})
}

// TestFilters does the same with filters.
func TestFilters(t *testing.T) {
	multiple, err := wire.ColumnPrefixes([]byte("play,"), []byte("order,"))
	if err != nil {
		t.Fatal(err)
	}
	single, err := wire.ColumnPrefixes([]byte("play,"))
	if err != nil {
		t.Fatal(err)
	}
	ranges, err := wire.RowRanges(wire.RowRange{Start: []byte("a"), Stop: []byte("b"), IncludeStop: true}, wire.RowRange{Start: []byte("c"), ExcludeStart: true})
	if err != nil {
		t.Fatal(err)
	}
	compare(t, map[string]encoding{
		"prefixes":     {multiple, filterOf("MultipleColumnPrefixFilter", msg(1, "order,", 1, "play,"))},
		"one prefix":   {single, filterOf("ColumnPrefixFilter", msg(1, "play,"))},
		"key only":     {wire.KeyOnly(false), filterOf("KeyOnlyFilter", msg(1, 0))},
		"page":         {wire.Page(10), filterOf("PageFilter", msg(1, 10))},
		"column count": {wire.ColumnCount(2), filterOf("ColumnCountGetFilter", msg(1, 2))},
		"all of":       {wire.AllOf(wire.Page(1), wire.FirstKeyOnly()), filterOf("FilterList", msg(1, 1, 2, filterOf("PageFilter", msg(1, 1)), 2, filterOf("FirstKeyOnlyFilter", nil)))},
		"one of":       {wire.OneOf(wire.Page(1)), filterOf("FilterList", msg(1, 2, 2, filterOf("PageFilter", msg(1, 1))))},
		"row ranges":   {ranges, filterOf("MultiRowRangeFilter", msg(1, msg(1, "a", 2, 1, 3, "b", 4, 1), 1, msg(1, "c", 2, 0, 3, "", 4, 0)))},
	})
}

func TestFiltersRefuse(t *testing.T) {
	prefixes := func(p ...string) error {
		var all [][]byte
		for _, s := range p {
			all = append(all, []byte(s))
		}
		_, err := wire.ColumnPrefixes(all...)
		return err
	}
	rows := func(r ...wire.RowRange) error { _, err := wire.RowRanges(r...); return err }
	fuzzy := func(r ...wire.FuzzyRow) error { _, err := wire.FuzzyRows(r...); return err }
	for name, tt := range map[string]struct {
		err  error
		text string
	}{
		"no prefix":        {prefixes(), "none given"},
		"covering":         {prefixes("page", "play", "page_id"), `"page" covers "page_id"`},
		"covering far off": {prefixes("a", "b,", "a\x00", "c"), `"a" covers "a\x00"`},
		"equal":            {prefixes("page,", "page,"), "covers"},
		"empty":            {prefixes("", "page,"), `"" covers "page,"`},
		"no range":         {rows(), "0 given"},
		"too many":         {rows(make([]wire.RowRange, wire.MaxRowRanges+1)...), "1001 given"},
		"backwards":        {rows(wire.RowRange{Start: []byte("b"), Stop: []byte("a")}), `from "b" to "a"`},
		"empty range":      {rows(wire.RowRange{Start: []byte("b"), Stop: []byte("b")}), "holds no row"},
		"no fuzzy row":     {fuzzy(), "none given"},
		"a short mask":     {fuzzy(wire.FuzzyRow{Row: []byte("a"), Any: []bool{false}}, wire.FuzzyRow{Row: []byte("ab"), Any: []bool{true}}), `row 1, "ab", has 2 bytes and a mask of 1`},
		"all open":         {fuzzy(wire.FuzzyRow{Row: []byte("ab"), Any: []bool{true, true}}), "row 0 matches every row"},
		"no byte":          {fuzzy(wire.FuzzyRow{}), "row 0 matches every row"},
	} {
		if tt.err == nil || !strings.Contains(tt.err.Error(), tt.text) {
			t.Errorf("%s: got %v, want %q in it", name, tt.err, tt.text)
		}
	}
	if err := prefixes("page,", "page_id,", "play,"); err != nil {
		t.Errorf("prefixes with separators: %v", err)
	}
	if err := rows(wire.RowRange{Start: []byte("b"), Stop: []byte("b"), IncludeStop: true}, wire.RowRange{}); err != nil {
		t.Errorf("a range of one row and one of all: %v", err)
	}
}

func TestScanResponses(t *testing.T) {
	r := wire.ScanResponse{CellsPerResult: []uint32{9, 9}, Partial: []bool{true, true}, Cursor: []byte("old")}
	check := func(what string, param []byte, want wire.ScanResponse) {
		t.Helper()
		if err := r.Decode(param); err != nil {
			t.Errorf("%s: %v", what, err)
			return
		}
		if fmt.Sprint(r) != fmt.Sprint(want) {
			t.Errorf("%s: got %+v, want %+v", what, r, want)
		}
	}
	check("silence", nil, wire.ScanResponse{MoreResults: true, MoreInRegion: true})
	check("unpacked", msg(1, 2, 1, 3, 7, 1, 7, 0, 2, 5, 4, 60000, 11, 8, 99, "unknown"),
		wire.ScanResponse{CellsPerResult: []uint32{2, 3}, Partial: []bool{true, false}, ScannerID: 5, TTL: 60000, MVCCReadPoint: 8, MoreResults: true, MoreInRegion: true})
	if !r.IsPartial(0) || r.IsPartial(1) || r.IsPartial(2) {
		t.Error("the flags say something else")
	}
	check("packed", msg(1, []byte{2, 0x80, 1}, 7, []byte{0, 1}), wire.ScanResponse{CellsPerResult: []uint32{2, 128}, Partial: []bool{false, true}, MoreResults: true, MoreInRegion: true})
	check("heartbeat", msg(9, 1, 3, 1, 8, 1, 12, msg(1, "row")), wire.ScanResponse{Heartbeat: true, Cursor: []byte("row"), MoreResults: true, MoreInRegion: true})
	check("the end", msg(3, 0, 8, 0), wire.ScanResponse{})
}

func TestMultiExceptions(t *testing.T) {
	const moved = "org.apache.hadoop.hbase.exceptions.RegionMovedException"
	trace := moved + ": Region moved to: hostname=h2 port=16020 startCode=1. As of locationSeqNum=4.\n\tat org.apache.hadoop..."
	c := wire.AppendCell(nil, &cell.Cell{Row: []byte("r"), Type: cell.Put})
	param := msg(1, msg(2, msg(1, moved, 2, trace)),
		1, msg(1, msg(1, 4, 2, msg(2, 1)), 1, msg(1, 3, 3, msg(1, "org.apache.hadoop.hbase.MultiActionResultTooLarge", 2, "text"))),
		3, msg(1, "statistics"))
	var got []wire.MultiResult
	var r wire.MultiResult
	m := wire.DecodeMulti(param, c)
	for m.Next(&r) {
		got = append(got, r)
	}
	if m.Err() != nil || len(got) != 3 {
		t.Fatalf("got %d results, %v; want 3", len(got), m.Err())
	}
	e := got[0].Err
	if !got[0].Whole || e.Class != moved || e.Host != "h2" || e.Port != 16020 || strings.Contains(e.Message, "\n") || strings.Contains(e.Message, moved) {
		t.Errorf("the first region: %+v, %+v", got[0], e)
	}
	if got[1].Region != 1 || got[1].Index != 4 || got[1].Cells.Len() != 1 {
		t.Errorf("the action with a cell: %+v", got[1])
	}
	if got[2].Whole || got[2].Index != 3 || got[2].Err.Error() != "MultiActionResultTooLarge: text" {
		t.Errorf("the refused action: %+v", got[2])
	}
}

func TestRegionsAndServers(t *testing.T) {
	info := wire.RegionInfo{ID: 1795226873591, Table: wire.ParseTableName("t")}
	if got := string(info.Name()); got != goldenRegion {
		t.Errorf("the region's name is %s, want %s", got, goldenRegion)
	}
	meta := wire.RegionInfo{ID: 1, Table: wire.ParseTableName("hbase:meta")}
	if got := string(meta.Name()); got != wire.MetaRegion {
		t.Errorf("meta's name is %s, want %s", got, wire.MetaRegion)
	}
	full := wire.RegionInfo{ID: 7, Table: wire.TableName{Namespace: "n", Qualifier: "t"}, Start: []byte("a"), End: []byte("b"), Offline: true, Split: true, ReplicaID: 2}
	var back wire.RegionInfo
	if err := back.Decode(full.Append(nil)); err != nil || !reflect.DeepEqual(back, full) {
		t.Errorf("got back %+v, %v; want %+v", back, err, full)
	}
	if !bytes.Contains(full.Name(), []byte("n:t,a,7_0002.")) {
		t.Errorf("the replica's name is %s", full.Name())
	}

	server := wire.ServerName{Host: "h", Port: 16020, StartCode: 99}
	znode := append([]byte("\xff\x00\x00\x00\x03xyzPBUF"), msg(1, server.Append(nil), 3, 3)...)
	got, open, err := wire.DecodeMetaZnode(znode)
	if err != nil || !open || got != server || got.Addr() != "h:16020" || got.String() != "h,16020,99" {
		t.Errorf("meta is at %v, open %v, %v", got, open, err)
	}
	if _, open, err := wire.DecodeMetaZnode(append([]byte("PBUF"), msg(1, server.Append(nil), 3, 2)...)); err != nil || open {
		t.Errorf("meta in transition is open %v, %v", open, err)
	}
	if got, err := wire.DecodeMasterZnode(append([]byte("PBUF"), msg(1, server.Append(nil))...)); err != nil || got != server {
		t.Errorf("the master is %v, %v", got, err)
	}
	all, err := wire.DecodeMetaLocations(msg(1, msg(1, meta.Append(nil), 2, server.Append(nil), 3, -1)))
	if err != nil || len(all) != 1 || all[0].Server != server {
		t.Errorf("meta's places are %v, %v", all, err)
	}
	for _, bad := range []string{"", "\xff", "\xff\x7f\xff\xff\xff", "\xff\x00\x00\x00\x01", "PBU", "PBUF\x0a\x7f"} {
		if _, _, err := wire.DecodeMetaZnode([]byte(bad)); !errors.Is(err, wire.ErrMalformed) {
			t.Errorf("the znode %q gave %v", bad, err)
		}
	}
	if s, err := wire.DecodeTableState(msg(1, 1)); err != nil || s != wire.TableDisabled || s.String() != "disabled" {
		t.Errorf("state %v, %v", s, err)
	}
}

func TestTablesAndProcedures(t *testing.T) {
	schema := wire.TableSchema{
		Name: wire.TableName{Namespace: "n", Qualifier: "t"}, Attributes: map[string]string{"IS_META": "false"}, Configuration: map[string]string{"a": "b"},
		Families: []wire.FamilySchema{{Name: "f", Attributes: map[string]string{"VERSIONS": "1"}, Configuration: map[string]string{"c": ""}}},
	}
	got, err := wire.DecodeTableDescriptors(msg(1, schema.Append(nil)))
	if err != nil || len(got) != 1 || !reflect.DeepEqual(got[0], schema) {
		t.Errorf("got %+v, %v; want %+v", got, err, schema)
	}
	if id, err := wire.DecodeProcedureID(msg(1, 12)); err != nil || id != 12 {
		t.Errorf("procedure %d, %v", id, err)
	}
	if _, err := wire.DecodeProcedureID(nil); !errors.Is(err, wire.ErrMalformed) {
		t.Errorf("no procedure: %v", err)
	}
	state, failed, err := wire.DecodeProcedure(msg(1, 2, 5, msg(1, "master", 2, msg(1, "org.apache.hadoop.hbase.TableExistsException", 2, "t"))))
	if err != nil || state != wire.ProcedureFinished || failed == nil || failed.Error() != "TableExistsException: t" {
		t.Errorf("procedure %v, %v, %v", state, failed, err)
	}
	if flushed, err := wire.DecodeFlush(msg(1, 5, 2, 1)); err != nil || !flushed {
		t.Errorf("flushed %v, %v", flushed, err)
	}
}

func TestBulkLoadResponses(t *testing.T) {
	if token, err := wire.DecodePrepareBulkLoad(msg(1, "hdfs://n/s")); err != nil || token != "hdfs://n/s" {
		t.Errorf("token %q, %v", token, err)
	}
	for _, want := range []bool{false, true} {
		n := 0
		if want {
			n = 1
		}
		if loaded, err := wire.DecodeBulkLoad(msg(1, n)); err != nil || loaded != want {
			t.Errorf("loaded %v, %v; want %v", loaded, err, want)
		}
	}
	if _, err := wire.DecodePrepareBulkLoad(nil); !errors.Is(err, wire.ErrMalformed) {
		t.Errorf("no token: %v", err)
	}
	if _, err := wire.DecodeBulkLoad(nil); !errors.Is(err, wire.ErrMalformed) {
		t.Errorf("neither loaded nor not: %v", err)
	}
}

func TestMasterResponses(t *testing.T) {
	for _, want := range []wire.SnapshotBegun{{Limit: 300000}, {Limit: 300000, Procedure: 17}} {
		param := msg(1, int(want.Limit))
		if want.Procedure != 0 {
			param = append(param, msg(2, int(want.Procedure))...)
		}
		if begun, err := wire.DecodeSnapshotBegun(param); err != nil || begun != want {
			t.Errorf("a snapshot with %+v, %v; want %+v", begun, err, want)
		}
	}
	for n, want := range []bool{false, true} {
		if done, err := wire.DecodeSnapshotDone(msg(1, n)); err != nil || done != want {
			t.Errorf("done %v, %v; want %v", done, err, want)
		}
		if granted, err := wire.DecodePermissions(msg(1, []byte{byte(n)})); err != nil || granted != want {
			t.Errorf("granted %v, %v; want %v", granted, err, want)
		}
		if granted, err := wire.DecodePermissions(msg(1, n)); err != nil || granted != want {
			t.Errorf("granted, not packed, %v, %v; want %v", granted, err, want)
		}
	}
	all, err := wire.DecodeSnapshots(msg(1, msg(1, "a", 2, "n:t", 3, 7, 4, 2, 5, 2, 6, "ann", 7, "grants", 8, 9), 1, msg(1, "b", 2, "t")))
	want := []wire.Snapshot{
		{Name: "a", Table: wire.TableName{Namespace: "n", Qualifier: "t"}, Created: 7, Type: wire.SnapshotSkipFlush, Owner: "ann", TTL: 9},
		{Name: "b", Table: wire.TableName{Namespace: "default", Qualifier: "t"}, Type: wire.SnapshotFlush},
	}
	if err != nil || !reflect.DeepEqual(all, want) {
		t.Errorf("snapshots %+v, %v; want %+v", all, err, want)
	}

	for name, err := range map[string]error{
		"no response":    second(wire.DecodePermissions(nil)),
		"two responses":  second(wire.DecodePermissions(msg(1, 1, 1, 1))),
		"no name":        second(wire.DecodeSnapshots(msg(1, msg(2, "t")))),
		"unknown type":   second(wire.DecodeSnapshots(msg(1, msg(1, "s", 4, 3)))),
		"type as text":   second(wire.DecodeSnapshots(msg(1, msg(1, "s", 4, "")))),
		"no host":        second(wire.DecodeClusterStatus(msg(1, msg(11, msg(2, 5))))),
		"region missing": second(wire.DecodeClusterStatus(msg(1, msg(4, msg(2, msg(1, msg(1, 5))))))),
	} {
		if !errors.Is(err, wire.ErrMalformed) {
			t.Errorf("%s: got %v, want malformed", name, err)
		}
	}
}

// TestClusterStatus decodes the status of a cluster with a dead server and two regions in transition.
func TestClusterStatus(t *testing.T) {
	server := func(host string) wire.ServerName { return wire.ServerName{Host: host, Port: 1, StartCode: 2} }
	region := wire.RegionInfo{ID: 3, Table: wire.ParseTableName("t")}
	transition := func(state int) []byte {
		return msg(1, msg(1, 1, 2, "r"), 2, msg(1, region.Append(nil), 2, state, 3, 8))
	}
	status, err := wire.DecodeClusterStatus(msg(1, msg(1, msg(1, "2.6.1"), 3, server("dead").Append(nil), 4, transition(2), 4, transition(99), 5, msg(1, "id"),
		7, server("master").Append(nil), 11, server("a").Append(nil), 11, server("b").Append(nil), 99, 1)))
	if err != nil || status.Version != "2.6.1" || status.Master != server("master") {
		t.Errorf("status %+v, %v", status, err)
	}
	if !reflect.DeepEqual(status.Live, []wire.ServerName{server("a"), server("b")}) || !reflect.DeepEqual(status.Dead, []wire.ServerName{server("dead")}) {
		t.Errorf("live %v, dead %v", status.Live, status.Dead)
	}
	if in := status.InTransition; len(in) != 2 || in[0].State != "OPENING" || in[0].Since != 8 || in[0].Region.ID != 3 || in[1].State != "99" {
		t.Errorf("in transition %+v", in)
	}
}

func second[T any](_ T, err error) error { return err }

// TestMalformedResponses has one response for each possible mistake.
func TestMalformedResponses(t *testing.T) {
	whole := wire.AppendCell(nil, &cell.Cell{Row: []byte("row"), Family: []byte("f"), Value: []byte("v")})
	multi := func(param, block []byte) error {
		m := wire.DecodeMulti(param, block)
		var r wire.MultiResult
		for m.Next(&r) {
		}
		return m.Err()
	}
	one := func(count int) []byte { return msg(1, msg(1, msg(1, 0, 2, msg(2, count)))) }
	get := func(param, block []byte) error { _, err := wire.DecodeGet(param, block); return err }
	scan := func(param []byte) error { return new(wire.ScanResponse).Decode(param) }
	first := func(change func([]byte)) error {
		b := bytes.Clone(whole)
		change(b)
		cells, _, err := wire.TakeCells(b, 1)
		if err != nil {
			return err
		}
		var c cell.Cell
		if cells.Next(&c) {
			return errors.New("it was taken for a cell")
		}
		return cells.Err()
	}
	for name, err := range map[string]error{
		"get: cells short":            get(msg(1, msg(2, 2)), whole),
		"get: cells left":             get(msg(1, msg(2, 0)), whole),
		"get: negative count":         get(msg(1, msg(2, -1)), nil),
		"get: cells in the message":   get(msg(1, msg(1, "cell")), nil),
		"get: number for a message":   get(msg(1, 5), nil),
		"get: cut":                    get(msg(1, msg(2, 1))[:3], nil),
		"multi: cells short":          multi(one(2), whole),
		"multi: cells left":           multi(one(0), whole),
		"multi: region as a number":   multi(msg(1, 1), nil),
		"multi: action as a number":   multi(msg(1, msg(1, 1)), nil),
		"multi: region cut":           multi(msg(1, []byte{0x0a, 0x05, 0}), nil),
		"multi: exception cut":        multi(msg(1, msg(2, []byte{0x0a, 0x05, 0})), nil),
		"multi: bad action exception": multi(msg(1, msg(1, msg(3, []byte{0x0a, 0x05, 0}))), nil),
		"scan: flags without results": scan(msg(7, 1)),
		"scan: huge count":            scan(msg(1, -1)),
		"scan: packed, cut":           scan(msg(1, []byte{0x80})),
		"scan: results":               scan(msg(5, "r")),
		"scan: number as bytes":       scan(msg(2, "r")),
		"cell: too short":             first(func(b []byte) { binary.BigEndian.PutUint32(b, 5) }),
		"cell: too long":              first(func(b []byte) { binary.BigEndian.PutUint32(b, 1<<31) }),
		"cell: key too long":          first(func(b []byte) { b[4] = 0xff }),
		"cell: value too long":        first(func(b []byte) { b[11]++ }),
		"cell: key too short":         first(func(b []byte) { b[7], b[11] = 3, b[11]+b[7]-3 }),
		"cell: row too long":          first(func(b []byte) { b[12] = 0x7f }),
		"cell: family too long":       first(func(b []byte) { b[17] = 0xff }),
	} {
		if !errors.Is(err, wire.ErrMalformed) {
			t.Errorf("%s: got %v, want malformed", name, err)
		}
	}
}

// TestMalformedFrames has one frame for each possible mistake.
func TestMalformedFrames(t *testing.T) {
	for name, frame := range map[string]string{
		"nothing":          "",
		"no call":          "00",
		"header cut":       "0508",
		"call as bytes":    "020a00",
		"block too long":   "0608011a020805" + "00",
		"param cut":        "020801" + "05",
		"behind the param": "020801" + "0000",
	} {
		b := unhex(t, frame)
		_, err := wire.CallID(b)
		var r wire.Response
		if err = errors.Join(err, r.Decode(b)); !errors.Is(err, wire.ErrMalformed) {
			t.Errorf("frame %s: got %v, want malformed", name, err)
		}
	}
}

func TestCellsAreClipped(t *testing.T) {
	block := wire.AppendCell(nil, &cell.Cell{Row: []byte("row"), Family: []byte("f"), Qualifier: []byte("q"), Value: []byte("v")})
	block = append(block, block...)
	before := hex.EncodeToString(block)
	cells, rest, err := wire.TakeCells(block, 2)
	if err != nil || len(rest) != 0 || cells.Size() != len(block) {
		t.Fatalf("%d bytes are left, %v", len(rest), err)
	}
	var c cell.Cell
	c.Tags, c.MVCC = []byte("stale"), 5
	for cells.Next(&c) {
		if c.Tags != nil || c.MVCC != 0 {
			t.Errorf("a cell without tags has %q, MVCC %d", c.Tags, c.MVCC)
		}
		for _, b := range [][]byte{c.Row, c.Family, c.Qualifier, c.Value} {
			_ = append(b, "overwrites the neighbour"...)
		}
	}
	if hex.EncodeToString(block) != before {
		t.Error("appending to a cell's bytes changed the block")
	}
}
