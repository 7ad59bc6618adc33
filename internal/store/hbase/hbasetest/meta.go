package hbasetest

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"

	"usertrail/internal/cell"
	"usertrail/internal/store/hbase/wire"
)

// meta returns the current content of hbase:meta. The cluster is locked.
func (c *Cluster) meta() *table {
	t := &table{families: []string{"info", "table"}}
	add := func(row, family, qualifier string, value []byte) {
		t.cells = append(t.cells, &cell.Cell{Row: []byte(row), Family: []byte(family), Qualifier: []byte(qualifier), Time: 1, Type: cell.Put, Value: value})
	}
	for name, x := range c.tables {
		add(name, "table", "state", []byte{0x08, byte(x.state)})
		for _, r := range x.regions {
			row := r.name
			add(row, "info", "regioninfo", r.info.Append([]byte("PBUF")))
			state := "CLOSED"
			if r.server != nil {
				state = "OPEN"
				add(row, "info", "server", []byte(r.server.name.Addr()))
				add(row, "info", "serverstartcode", binary.BigEndian.AppendUint64(nil, r.server.name.StartCode))
				add(row, "info", "sn", []byte(r.server.name.String()))
			}
			add(row, "info", "seqnumDuringOpen", binary.BigEndian.AppendUint64(nil, uint64(r.seq)))
			if x.state != wire.TableEnabled {
				state = "CLOSED"
			}
			add(row, "info", "state", []byte(state))
		}
	}
	slices.SortFunc(t.cells, func(a, b *cell.Cell) int {
		return cmp.Or(compareMeta(a.Row, b.Row), bytes.Compare(a.Family, b.Family), bytes.Compare(a.Qualifier, b.Qualifier))
	})
	return t
}

// compareMeta orders the rows of hbase:meta: by table, start key and ID.
func compareMeta(a, b []byte) int {
	aTable, aStart, aID, aWhole := cutMeta(a)
	bTable, bStart, bID, bWhole := cutMeta(b)
	switch c := bytes.Compare(aTable, bTable); {
	case c != 0:
		return c
	case aWhole != bWhole && aWhole:
		return 1
	case aWhole != bWhole:
		return -1
	}
	return cmp.Or(bytes.Compare(aStart, bStart), bytes.Compare(aID, bID))
}

func cutMeta(row []byte) (table, start, id []byte, whole bool) {
	table, rest, whole := bytes.Cut(row, []byte(","))
	if i := bytes.LastIndexByte(rest, ','); i >= 0 {
		return table, rest[:i], rest[i+1:], whole
	}
	return table, rest, nil, whole
}

// clientMeta executes the calls with which a client finds meta.
func (x *execution) clientMeta(method string) ([]byte, *wire.ServerError) {
	var m message
	switch method {
	case "GetMetaRegionLocations":
		info := wire.RegionInfo{ID: 1, Table: wire.TableName{Namespace: "hbase", Qualifier: "meta"}}
		var location message
		location.bytes(1, info.Append(nil))
		x.c.mu.Lock()
		location.bytes(2, x.c.servers[0].name.Append(nil))
		x.c.mu.Unlock()
		location.number(3, ^uint64(0))
		m.bytes(1, location)
	case "GetActiveMaster":
		m.bytes(1, x.c.master.name.Append(nil))
	case "GetClusterId":
		m.string(1, "hbasetest")
	default:
		return nil, final("DoNotRetryIOException", "java.lang.UnsupportedOperationException: %s", method)
	}
	return m, nil
}
