package snapshot_test

import (
	"bytes"
	"crypto/md5"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"usertrail/internal/cell"
	"usertrail/internal/format/hfile"
	"usertrail/internal/format/layout"
	"usertrail/internal/store/dfs/local"
	"usertrail/internal/table"
	"usertrail/internal/table/snapshot"
	"usertrail/internal/test/testkit"
)

// A disk is HBase's directory on a local disk, with one table and its snapshot.
type disk struct {
	root    string
	table   string // in the namespace ns
	layout  uint64
	family  map[string]string // attributes
	regions []diskRegion
}

type diskRegion struct {
	start, end     string
	id             uint64
	split, offline bool
	files          []diskFile
}

// A diskFile is a file as the manifest names it.
type diskFile struct {
	name string
	half string // "top ROW", "bottom ROW" or none
	size int64
}

// message appends a field that is a message.
func message(b []byte, num protowire.Number, fields []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, num, protowire.BytesType), fields)
}

func number(b []byte, num protowire.Number, v uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, num, protowire.VarintType), v)
}

func text(b []byte, num protowire.Number, s string) []byte { return message(b, num, []byte(s)) }

func newDisk(t testing.TB) *disk {
	return &disk{root: t.TempDir(), table: "t", layout: 2}
}

// encoded returns the name of a region's folder.
func (d *disk) encoded(r diskRegion) string {
	sum := md5.Sum(fmt.Appendf(nil, "ns:%s,%s,%d", d.table, r.start, r.id))
	return hex.EncodeToString(sum[:])
}

// put writes an HFile below the root and returns its size.
func (d *disk) put(t testing.TB, path string, o hfile.Options, cells ...*cell.Cell) int64 {
	t.Helper()
	var b bytes.Buffer
	w, err := hfile.NewWriter(&b, o)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cells {
		if err := w.Add(c); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.Close(); err != nil {
		t.Fatal(err)
	}
	d.write(t, path, b.Bytes())
	return int64(b.Len())
}

func (d *disk) write(t testing.TB, path string, b []byte) {
	t.Helper()
	name := filepath.Join(d.root, path)
	testkit.WriteFile(t, name, string(b))
}

// take writes the snapshot.
func (d *disk) take(t testing.TB, name string) {
	t.Helper()
	info := text(nil, 1, name)
	info = text(info, 2, "ns:"+d.table)
	info = number(info, 3, 1_700_000_000_000)
	info = number(info, 5, d.layout)
	d.write(t, ".hbase-snapshot/"+name+"/.snapshotinfo", info)
	d.write(t, ".hbase-snapshot/"+name+"/data.manifest", d.manifest())
}

func (d *disk) manifest() []byte {
	tableName := text(text(nil, 1, "ns"), 2, d.table)
	family := text(nil, 1, "d")
	for k, v := range d.family {
		family = message(family, 2, text(text(nil, 1, k), 2, v))
	}
	out := message(nil, 1, message(message(nil, 1, tableName), 3, family))
	for _, r := range d.regions {
		info := number(nil, 1, r.id)
		info = message(info, 2, tableName)
		info = text(text(info, 3, r.start), 4, r.end)
		info = number(number(info, 5, protowire.EncodeBool(r.offline)), 6, protowire.EncodeBool(r.split))
		files := text(nil, 1, "d")
		for _, f := range r.files {
			files = message(files, 2, f.encode())
		}
		out = message(out, 2, message(message(number(nil, 1, 0), 2, info), 3, files))
	}
	return out
}

func (f diskFile) encode() []byte {
	b := text(nil, 1, f.name)
	if f.half != "" {
		var side, row string
		fmt.Sscan(f.half, &side, &row)
		key := append([]byte{byte(len(row) >> 8), byte(len(row))}, row...)
		key = append(key, 0, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff)
		b = message(b, 2, number(message(nil, 1, key), 2, map[string]uint64{"top": 0, "bottom": 1}[side]))
	}
	return number(b, 3, uint64(f.size))
}

// open opens the snapshot s.
func (d *disk) open(t testing.TB) (*snapshot.Table, error) {
	s, err := snapshot.Open(t.Context(), snapshot.Config{
		FS: local.New(), Root: d.root, Name: "s", Table: "ns:t", Now: time.UnixMilli(1_700_000_000_000),
		Info: table.Info{Address: "hbase://zk/ns:t", Family: "d", Layout: layout.Reversed{}},
	})
	if err == nil {
		t.Cleanup(func() {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	return s, err
}

// cells takes the snapshot s, opens it and reads it.
func (d *disk) cells(t *testing.T) ([]string, error) {
	t.Helper()
	d.take(t, "s")
	s, err := d.open(t)
	if err != nil {
		return nil, err
	}
	return read(t, s, table.Query{Ranges: everything})
}

func put(row, qualifier string, time int64, value string) *cell.Cell {
	return &cell.Cell{Row: []byte(row), Family: []byte("d"), Qualifier: []byte(qualifier), Time: time, Type: cell.Put, Value: []byte(value)}
}
