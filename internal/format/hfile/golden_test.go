package hfile

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"strings"
	"testing"

	"usertrail/internal/cell"
	"usertrail/internal/test/testkit"
)

// goldens lists files that HBase's own writer made, and the settings of the writer.
var goldens = []struct {
	name        string
	opt         Options
	cells       int64
	first, last string // rows
	levels      int
}{
	{"hbase_2_4_13_16KB_GZ_20000_fake_first_key", Options{BlockSize: 16 << 10}, 20000,
		"hudi-key-000000000-abcdefghij", "hudi-key-000019999-abcdefghij", 1},
	{"hbase_2_4_13_1KB_GZ_10000_large_keys_deep_index", Options{BlockSize: 1 << 10, IndexChunk: 2 << 10, indexMinEntries: 14}, 10000,
		"hudi-key-" + strings.Repeat("a", 100) + "-000000000", "hudi-key-" + strings.Repeat("a", 100) + "-000009999", 3},
	{"hbase_2_4_13_1KB_GZ_20000_large_keys", Options{BlockSize: 1 << 10}, 20000,
		"hudi-key-" + strings.Repeat("a", 100) + "-000000000", "hudi-key-" + strings.Repeat("a", 100) + "-000019999", 2},
	{"hbase_2_4_9_16KB_GZ_20000", Options{BlockSize: 16 << 10}, 20000, "hudi-key-000000000", "hudi-key-000019999", 1},
	{"hbase_2_4_9_16KB_GZ_200_20_non_unique", Options{BlockSize: 16 << 10}, 4200, "hudi-key-000000000", "hudi-key-000000199", 1},
	{"hbase_2_4_9_16KB_NONE_5000", Options{BlockSize: 16 << 10}, 5000, "hudi-key-000000000", "hudi-key-000004999", 1},
	{"hbase_2_4_9_512KB_GZ_20000", Options{BlockSize: 512 << 10}, 20000, "hudi-key-000000000", "hudi-key-000019999", 1},
	{"hbase_2_4_9_64KB_NONE_5000", Options{BlockSize: 64 << 10}, 5000, "hudi-key-000000000", "hudi-key-000004999", 1},
	{"hbase_2_4_9_no_entry", Options{BlockSize: 64 << 10, comparator: "org.apache.hudi.io.storage.HoodieHBaseKVComparator"}, 0, "", "", 1},
}

func goldenFile(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(testkit.Shared(t, "data/hfile/hudi_1_0_"+name+".hfile"))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// goldenCell returns cell number i of a file of n distinct rows.
func goldenCell(name, first string, i int) (row, value string) {
	prefix, suffix, _ := strings.Cut(first, "000000000")
	if !strings.Contains(name, "non_unique") {
		return fmt.Sprintf("%s%09d%s", prefix, i, suffix), fmt.Sprintf("hudi-value-%09d", i)
	}
	row, value = fmt.Sprintf("%s%09d", prefix, i/21), fmt.Sprintf("hudi-value-%09d", i/21)
	if i%21 > 0 {
		value += fmt.Sprintf("_%d", i%21-1)
	}
	return row, value
}

func TestReadsHBasesFiles(t *testing.T) {
	for _, g := range goldens {
		t.Run(g.name, func(t *testing.T) {
			r := open(t, goldenFile(t, g.name))
			if r.Cells() != g.cells || string(r.FirstRow()) != g.first || string(r.LastRow()) != g.last || r.Trailer().Levels != g.levels {
				t.Errorf("%d cells from %s to %s in %d levels", r.Cells(), r.FirstRow(), r.LastRow(), r.Trailer().Levels)
			}
			i := 0
			check := func(c *cell.Cell) error {
				row, value := goldenCell(g.name, g.first, i)
				if string(c.Row) != row || len(c.Family) != 0 || len(c.Qualifier) != 0 || c.Time != 1<<63-1 ||
					c.Type != cell.Put || string(c.Value) != value || c.MVCC != 0 || c.Tags != nil {
					return fmt.Errorf("cell %d is %s, want row %s and value %s", i, c, row, value)
				}
				i++
				return nil
			}
			if err := r.Verify(check); err != nil || i != int(g.cells) {
				t.Errorf("verify read %d cells: %v", i, err)
			}
			i = 0
			it := r.Iterator(IterOptions{ReadAhead: 64 << 10})
			for ok := it.First(); ok; ok = it.Next() {
				if err := check(it.Cell()); err != nil {
					t.Fatal(err)
				}
			}
			if it.Err() != nil || i != int(g.cells) {
				t.Errorf("read %d cells: %v", i, it.Err())
			}
		})
	}
}

// TestWritesHBasesFiles makes each file again from its cells. No other gzip produces the same
// bytes as Java's, so the test's compressor returns the file's stored bytes for the same
// payload. Everything else comes from our writer, including the payloads themselves.
func TestWritesHBasesFiles(t *testing.T) {
	for _, g := range goldens {
		t.Run(g.name, func(t *testing.T) {
			want := goldenFile(t, g.name)
			r := open(t, want)
			opt := g.opt
			opt.Codec, opt.Encoding = r.Trailer().Codec, NoEncoding
			opt.ShortIndexKeys, opt.unmarked = true, true
			opt.Info = maps.Clone(r.Info())
			for name := range r.Info() {
				if strings.HasPrefix(name, infoReserved) || ownInfo[name] {
					delete(opt.Info, name)
				}
			}
			var stored map[string][]byte
			stored, opt.meta = storedPayloads(t, r, want)
			opt.compressor = func(dst, payload []byte) ([]byte, error) {
				b, ok := stored[string(payload)]
				if !ok {
					return nil, fmt.Errorf("the file has no block with payload %.200x", payload)
				}
				return append(dst, b...), nil
			}
			var cells []cell.Cell
			if g.cells > 0 {
				var err error
				if cells, err = scan(r, IterOptions{}); err != nil {
					t.Fatal(err)
				}
			}
			if got := write(t, opt, cells); !bytes.Equal(got, want) {
				at := commonPrefix(got, want)
				t.Errorf("%d bytes, want %d; they differ at %d", len(got), len(want), at)
			}
		})
	}
}

// storedPayloads maps each block's decompressed payload to its stored payload. It also
// returns the file's meta blocks.
func storedPayloads(t *testing.T, r *Reader, file []byte) (map[string][]byte, []metaBlock) {
	stored := map[string][]byte{}
	var meta []metaBlock
	for b, err := range r.Blocks() {
		if err != nil {
			t.Fatal(err)
		}
		at := b.Offset + headerLen
		stored[string(b.Payload)] = file[at : at+int64(b.Stored)]
		if b.Type == MetaBlock {
			meta = append(meta, metaBlock{name: "bloomFilter", payload: bytes.Clone(b.Payload)})
		}
	}
	return stored, meta
}
