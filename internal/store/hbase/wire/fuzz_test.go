package wire_test

import (
	"bytes"
	"testing"

	"usertrail/internal/cell"
	"usertrail/internal/store/hbase/wire"
)

// FuzzResponses checks that no response of a server causes a panic, and that decoded cells encode
// to the same bytes.
func FuzzResponses(f *testing.F) {
	for _, s := range []string{goldenGetResponse, goldenMultiResponse, "0608011a020805", "00", ""} {
		f.Add(unhex(f, s))
	}
	f.Add(append([]byte{2, 8, 1}, msg(1, msg(2, msg(1, "c.E", 2, "c.E: text\n at")))...))
	f.Add(append([]byte{2, 8, 1, 20}, msg(1, []byte{1, 2}, 7, []byte{0, 1}, 2, 5, 8, 0, 12, msg(1, "r"))...))
	f.Fuzz(func(t *testing.T, frame []byte) {
		_, _ = wire.CallID(frame)
		var r wire.Response
		if r.Decode(frame) != nil {
			return
		}
		if res, err := wire.DecodeGet(r.Param, r.Cells); err == nil {
			again(t, res.Cells, r.Cells)
		}
		m := wire.DecodeMulti(r.Param, r.Cells)
		var one wire.MultiResult
		var block []byte
		for m.Next(&one) {
			var c cell.Cell
			for one.Cells.Next(&c) {
				block = wire.AppendCell(block, &c)
			}
			if one.Cells.Err() != nil {
				return
			}
		}
		if m.Err() == nil && !bytes.Equal(block, r.Cells) {
			t.Errorf("cells %x went back as %x", r.Cells, block)
		}
		var s wire.ScanResponse
		if s.Decode(r.Param) == nil {
			rest := r.Cells
			for _, n := range s.CellsPerResult {
				var err error
				if _, rest, err = wire.TakeCells(rest, int(n)); err != nil {
					break
				}
			}
		}
		for _, b := range [][]byte{frame, r.Param, append([]byte("PBUF"), frame...)} {
			decodeMessage(b)
		}
	})
}

// decodeMessage decodes b as each message without cells.
func decodeMessage(b []byte) {
	var info wire.RegionInfo
	_ = info.Decode(b)
	_ = info.Name()
	_, _, _ = wire.DecodeMetaZnode(b)
	_, _ = wire.DecodeMasterZnode(b)
	_, _ = wire.DecodeMetaLocations(b)
	_, _ = wire.DecodeActiveMaster(b)
	_, _ = wire.DecodeToken(b)
	_, _ = wire.DecodeTableState(b)
	_, _ = wire.DecodeTableDescriptors(b)
	_, _ = wire.DecodeProcedureID(b)
	_, _, _ = wire.DecodeProcedure(b)
	_, _ = wire.DecodeFlush(b)
	_, _ = wire.DecodeRegionInfo(b)
	_, _ = wire.DecodePrepareBulkLoad(b)
	_, _ = wire.DecodeBulkLoad(b)
	_, _ = wire.DecodeSnapshotBegun(b)
	_, _ = wire.DecodeSnapshotDone(b)
	_, _ = wire.DecodeSnapshots(b)
	_, _ = wire.DecodeClusterStatus(b)
	_, _ = wire.DecodePermissions(b)
}

// again expects cells to encode to block.
func again(t *testing.T, cells wire.Cells, block []byte) {
	t.Helper()
	var c cell.Cell
	var got []byte
	for cells.Next(&c) {
		got = wire.AppendCell(got, &c)
	}
	if cells.Err() == nil && !bytes.Equal(got, block) {
		t.Errorf("cells %x went back as %x", block, got)
	}
}

// FuzzCells checks that a block is decoded to its end or is an error.
func FuzzCells(f *testing.F) {
	f.Add(unhex(f, goldenMultiCells), 1)
	f.Add(unhex(f, goldenGetResponse)[14:], 2)
	f.Add([]byte{0xff, 0xff, 0xff, 0xff}, 1)
	f.Add([]byte{0, 0, 0, 0}, 1)
	f.Add([]byte{0}, -1)
	f.Fuzz(func(t *testing.T, block []byte, n int) {
		cells, rest, err := wire.TakeCells(block, n)
		if err != nil {
			return
		}
		if cells.Len() != n || cells.Size()+len(rest) != len(block) {
			t.Fatalf("%d cells of %d bytes and %d left, of %d cells in %d bytes", cells.Len(), cells.Size(), len(rest), n, len(block))
		}
		again(t, cells, block[:cells.Size()])
	})
}
