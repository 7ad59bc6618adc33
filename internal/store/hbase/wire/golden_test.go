package wire_test

import (
	"encoding/hex"
	"fmt"
	"slices"
	"testing"

	"usertrail/internal/cell"
	"usertrail/internal/store/hbase/wire"
)

// Messages between a client and HBase 2.6.1, without their lengths.
const (
	goldenRegion        = "t,,1795226873591.491e6cddf45c90a385abdfc0b2a6e41b."
	goldenPreamble      = "4842617300500000005c0a070a05747261696c120d436c69656e74536572766963651a2b6f72672e6170616368652e6861646f6f702e68626173652e636f6465632e4b657956616c7565436f6465632a150a05322e362e3012001a0022002a00320038024006"
	goldenGet           = "0908011a034765742001" + "45" + goldenGetParam
	goldenGetParam      = "0a3608011232742c2c313739353232363837333539312e34393165366364646634356339306133383561626466633062326136653431622e120b0a02313012030a01663800"
	goldenGetResponse   = "0608011a020847060a04100220000000001d0000001400000001000231300166706167653100000000000003e80461000000220000001900000001000231300166706167655f75726c303200000000000003e80462"
	goldenMultiHeader   = "08021a054d756c746920012a02081d"
	goldenMultiParam    = "0a590a3608011232742c2c313739353232363837333539312e34393165366364646634356339306133383561626466633062326136653431622e1a0e0800120a0a0231301002300040011a0f08011a0b0a02313012030a01663800"
	goldenMultiCells    = "0000001900000010000000010002313001667100000000000003e80476"
	goldenMultiResponse = "0608021a020847140a100a0808011204100220000a04080012001a000000001d0000001400000001000231300166706167653100000000000003e80461000000220000001900000001000231300166706167655f75726c303200000000000003e80462"
)

// goldenCells are the cells of both responses.
var goldenCells = []string{`"10"/f:"page1"/1000/Put="a"`, `"10"/f:"page_url02"/1000/Put="b"`}

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func same(t *testing.T, what string, got []byte, want string) {
	t.Helper()
	if h := hex.EncodeToString(got); h != want {
		t.Errorf("%s is\n%s, want\n%s", what, h, want)
	}
}

var familyF = wire.Get{Columns: []wire.Column{{Family: []byte("f")}}}

func TestGoldenRequests(t *testing.T) {
	same(t, "the preamble", wire.AppendHeader(wire.AppendMagic(nil, wire.Simple), wire.ClientService, "trail"), goldenPreamble)

	get := wire.GetRequest{Region: []byte(goldenRegion), Row: []byte("10"), Fields: familyF.Fields()}
	same(t, "a Get", get.Append(nil), goldenGetParam)
	same(t, "its header", (&wire.RequestHeader{CallID: 1, Method: "Get"}).Append(nil), goldenGet[2:20])

	x := &cell.Cell{Row: []byte("10"), Family: []byte("f"), Qualifier: []byte("q"), Time: 1000, Type: cell.Put, Value: []byte("v")}
	block := wire.AppendCell(nil, x)
	same(t, "a cell", block, goldenMultiCells)
	if wire.CellSize(x) != len(block) {
		t.Errorf("a cell of %d bytes is said to have %d", len(block), wire.CellSize(x))
	}
	b, mark := wire.BeginRegion(nil, []byte(goldenRegion))
	b = wire.AppendPutAction(b, 0, []byte("10"), 1, wire.TableDefault)
	b = wire.AppendGetAction(b, 1, []byte("10"), familyF.Fields())
	same(t, "a Multi", wire.EndRegion(b, mark), goldenMultiParam)
	same(t, "its header", (&wire.RequestHeader{CallID: 2, Method: "Multi", CellBlock: len(block)}).Append(nil), goldenMultiHeader)
}

// drain returns cells as text.
func drain(t *testing.T, cells wire.Cells) []string {
	t.Helper()
	var all []string
	var c cell.Cell
	for cells.Next(&c) {
		all = append(all, c.String())
	}
	if err := cells.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}

func TestGoldenResponses(t *testing.T) {
	var r wire.Response
	if err := r.Decode(unhex(t, goldenGetResponse)); err != nil || r.CallID != 1 {
		t.Fatalf("call %d, %v; want 1", r.CallID, err)
	}
	res, err := wire.DecodeGet(r.Param, r.Cells)
	if err != nil {
		t.Fatal(err)
	}
	if got := drain(t, res.Cells); !slices.Equal(got, goldenCells) {
		t.Errorf("the Get gave %q, want %q", got, goldenCells)
	}

	if err := r.Decode(unhex(t, goldenMultiResponse)); err != nil || r.CallID != 2 {
		t.Fatalf("call %d, %v; want 2", r.CallID, err)
	}
	var got []string
	m := wire.DecodeMulti(r.Param, r.Cells)
	var one wire.MultiResult
	for m.Next(&one) {
		got = append(got, fmt.Sprintf("region %d, action %d: %q, %v", one.Region, one.Index, drain(t, one.Cells), one.Err))
	}
	want := []string{fmt.Sprintf("region 0, action 1: %q, <nil>", goldenCells), "region 0, action 0: [], <nil>"}
	if m.Err() != nil || !slices.Equal(got, want) || m.Regions() != 1 {
		t.Errorf("the Multi gave %q, %v; want %q", got, m.Err(), want)
	}
}

// TestGoldenFilters compares filters with HBase 2.6.1's encoding of its own filters. The
// masks of FuzzyRowFilter are in the form that servers of all versions and platforms read.
func TestGoldenFilters(t *testing.T) {
	const filter = "6f72672e6170616368652e6861646f6f702e68626173652e66696c7465722e" // org.apache.hadoop.hbase.filter.
	fuzzy, err := wire.FuzzyRows(
		wire.FuzzyRow{Row: []byte("????20140901"), Any: []bool{true, true, true, true, 11: false}},
		wire.FuzzyRow{Row: []byte("ab"), Any: []bool{false, false}})
	if err != nil {
		t.Fatal(err)
	}
	atLeast := wire.ColumnTest{Family: []byte("f"), Qualifier: []byte("q"), Is: wire.GreaterOrEqual, Value: []byte("v")}
	prefix := atLeast
	prefix.Is, prefix.Prefix, prefix.KeepMissing, prefix.AnyVersion = wire.Equal, true, true, true
	for what, x := range map[string]struct {
		got  wire.Filter
		want string
	}{
		"a range of columns": {wire.ColumnRange([]byte("b"), []byte("d")), "0a30" + filter + "436f6c756d6e52616e676546696c746572120a0a016210011a01642000"},
		"columns from one":   {wire.ColumnRange([]byte("b"), nil), "0a30" + filter + "436f6c756d6e52616e676546696c74657212070a016210012000"},
		"columns before one": {wire.ColumnRange(nil, []byte("d")), "0a30" + filter + "436f6c756d6e52616e676546696c746572120710011a01642000"},
		"a page of columns":  {wire.ColumnPage(3, 7, nil), "0a35" + filter + "436f6c756d6e506167696e6174696f6e46696c746572120408031007"},
		"columns from there": {wire.ColumnPage(3, 0, []byte("c")), "0a35" + filter + "436f6c756d6e506167696e6174696f6e46696c746572120508031a0163"},
		"a page of rows":     {wire.Page(10), "0a29" + filter + "5061676546696c7465721202080a"},
		"a few columns":      {wire.ColumnCount(2), "0a33" + filter + "436f6c756d6e436f756e7447657446696c74657212020802"},
		"a value":            {wire.RowsWhere(atLeast), "0a36" + filter + "53696e676c65436f6c756d6e56616c756546696c74657212460a0166120171180422380a2f" + filter + "42696e617279436f6d70617261746f7212050a030a017628013001"},
		"a value's prefix":   {wire.RowsWhere(prefix), "0a36" + filter + "53696e676c65436f6c756d6e56616c756546696c746572124c0a01661201711802223e0a35" + filter + "42696e617279507265666978436f6d70617261746f7212050a030a017628003000"},
		"fuzzy rows":         {fuzzy, "0a2d" + filter + "46757a7a79526f7746696c746572122a0a1c0a0c000000003230313430393031120c0101010100000000000000000a080a026162120200001001"},
	} {
		same(t, what, x.got, x.want)
	}
}
