package hfile_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"usertrail/internal/cell"
	"usertrail/internal/format/hfile"
	"usertrail/internal/test/clustertest"
)

// TestTableTakesFilesIn loads files of all encodings and codecs into a table through the bulk
// load of HBase's client. Scans and gets must then return the content of the files. A major
// compaction, which rewrites every file, must keep every cell.
func TestTableTakesFilesIn(t *testing.T) {
	h := newHBase(t)
	table := h.c.Create(t, family, "VERSIONS=1000", "COMPRESSION=ZSTD", "DATA_BLOCK_ENCODING=ROW_INDEX_V1", "BLOOMFILTER=ROWCOL",
		"split="+rowNumber(500), "split="+rowNumber(750), "split="+rowNumber(1400))
	regions := h.c.Regions(t, table)
	cells := distinctPuts(world())
	dir := t.TempDir()
	files := regionFiles(t, filepath.Join(dir, family), cells, regions)
	rows := []string{rowNumber(1) + ",not there"}
	for i := 0; i < len(cells); i += 199 {
		rows = append(rows, string(cells[i].Row))
	}
	rows = slices.Compact(rows)
	h.ask("load", dir, table)
	gets := h.ask(append([]string{"gets", table, "a:,c:"}, rows...)...)
	counter := h.ask("rows", table)

	responses := h.responses()
	if got, want := strings.Join(responses[gets], "\t"), counted(find(t, files, rows, "a:", "c:")); got != want {
		t.Errorf("gets of %d rows give %s, our reader %s", len(rows), got, want)
	}
	want := digest(cells)
	if got := responses[counter][0]; got != fmt.Sprint(want.Rows) { // its log has warnings of its own
		t.Errorf("RowCounter finds %s rows, want %d", got, want.Rows)
	}
	if got := h.c.Digest(t, table); got != want {
		t.Errorf("after the load the table has %+v, want %+v", got, want)
	}
	h.c.Admin(t, "compact", table)
	if got := h.c.Digest(t, table); got != want {
		t.Errorf("after a major compaction the table has %+v, want %+v", got, want)
	}
	for _, r := range regions {
		// The loaded files remain for a while. Their names contain a sequence number.
		all := h.c.Admin(t, "ls", "/hbase/data/default/"+table+"/"+r.Encoded+"/"+family)
		loaded := func(file string) bool { return strings.Contains(file, "_SeqId_") }
		if made := slices.DeleteFunc(slices.Clone(all), loaded); len(made) != 1 {
			t.Errorf("region %s has files %q after a major compaction", r.Encoded, all)
		}
	}
}

func rowNumber(i int) string { return fmt.Sprintf("%0*d", prefixLen, i*rowStep) }

// distinctPuts returns the cells that a table returns unchanged.
func distinctPuts(cells []cell.Cell) []cell.Cell {
	cells = slices.DeleteFunc(cells, func(c cell.Cell) bool { return c.Type != cell.Put })
	return slices.CompactFunc(cells, func(a, b cell.Cell) bool { return cell.Compare(&a, &b) == 0 })
}

// regionFiles writes two files for each region. Each file has every other cell, and an
// encoding, a codec and a Bloom filter of its own.
func regionFiles(t *testing.T, dir string, cells []cell.Cell, regions []clustertest.Region) []*hfile.Reader {
	t.Helper()
	var files []*hfile.Reader
	for _, r := range regions {
		var half [2][]cell.Cell
		for i, c := range cells {
			if row := string(c.Row); row >= r.Start && (row < r.End || r.End == "") {
				half[i%2] = append(half[i%2], c)
			}
		}
		for _, some := range half {
			n := len(files)
			opt, err := hfile.ForFamily(map[string]string{
				"DATA_BLOCK_ENCODING": encodings[n%len(encodings)],
				"COMPRESSION":         append(codecs, "NONE")[n%(len(codecs)+1)],
				"BLOOMFILTER":         blooms[n%len(blooms)], "RowPrefixBloomFilter.prefix_length": fmt.Sprint(prefixLen),
			})
			if err != nil {
				t.Fatal(err)
			}
			b := writeFile(t, filepath.Join(dir, fmt.Sprintf("%032x", n)), opt, some)
			files = append(files, open(t, b))
		}
	}
	return files
}

// find returns the files' cells of the given rows whose qualifiers begin with one of the
// prefixes. rows are in order.
func find(t *testing.T, files []*hfile.Reader, rows []string, prefixes ...string) []cell.Cell {
	t.Helper()
	var found []cell.Cell
	for _, f := range files {
		it := f.Iterator(hfile.IterOptions{})
		for _, row := range rows {
			for ok := it.SeekGE([]byte(row)); ok && string(it.Cell().Row) == row; ok = it.Next() {
				c := it.Cell()
				if slices.ContainsFunc(prefixes, func(p string) bool { return bytes.HasPrefix(c.Qualifier, []byte(p)) }) {
					found = append(found, *c.Clone())
				}
			}
		}
		if it.Err() != nil {
			t.Fatal(it.Err())
		}
	}
	slices.SortFunc(found, func(a, b cell.Cell) int { return cell.Compare(&a, &b) })
	return found
}

// digest returns the result of Admin.java's digest for a table of the cells.
func digest(cells []cell.Cell) clustertest.Digest {
	d := clustertest.Digest{Cells: int64(len(cells))}
	sum := sha256.New()
	add := func(b []byte) {
		sum.Write(binary.BigEndian.AppendUint32(nil, uint32(len(b))))
		sum.Write(b)
	}
	for i, c := range cells {
		if i == 0 || !bytes.Equal(c.Row, cells[i-1].Row) {
			d.Rows++
		}
		add(c.Row)
		add(c.Family)
		add(c.Qualifier)
		sum.Write(binary.BigEndian.AppendUint64(nil, uint64(c.Time)))
		add(c.Value)
	}
	d.SHA256 = hex.EncodeToString(sum.Sum(nil))
	return d
}
