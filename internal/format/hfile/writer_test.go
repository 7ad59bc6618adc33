package hfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"usertrail/internal/cell"
)

func TestAddRefuses(t *testing.T) {
	base := cell.Cell{Row: []byte("row2"), Family: []byte("c"), Qualifier: []byte("q2"), Time: 100, Type: cell.Delete}
	change := func(f func(*cell.Cell)) cell.Cell {
		c := base
		f(&c)
		return c
	}
	for _, v := range []struct {
		next cell.Cell
		want string
	}{
		{change(func(c *cell.Cell) { c.Row = []byte("row1") }), "cell 1 out of order: row 726f7731 after 726f7732"},
		{change(func(c *cell.Cell) { c.Row = []byte("row") }), "cell 1 out of order"},
		{change(func(c *cell.Cell) { c.Qualifier = []byte("q1") }), "qualifier 7131 after 7132"},
		{change(func(c *cell.Cell) { c.Qualifier = nil }), "cell 1 out of order"},
		{change(func(c *cell.Cell) { c.Time = 101 }), "cell 1 out of order"},
		{change(func(c *cell.Cell) { c.Type = cell.DeleteColumn }), "cell 1 out of order"},
		{change(func(c *cell.Cell) { c.Family = []byte("d") }), `cell 1 of family "d": the file is of family "c"`},
		{change(func(c *cell.Cell) { c.Row = nil }), "a row of 0 bytes"},
		{change(func(c *cell.Cell) { c.Row = bytes.Repeat([]byte("z"), maxRow+1) }), "a row of 32768 bytes"},
		{change(func(c *cell.Cell) { c.Family = bytes.Repeat([]byte("z"), maxFamily+1) }), "a family of 128 bytes"},
		{change(func(c *cell.Cell) { c.Value = make([]byte, maxValue+1) }), "value of 67108865"},
		{change(func(c *cell.Cell) { c.Tags = []byte("t") }), "cell 1 has tags"},
	} {
		w, err := NewWriter(io.Discard, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Add(&base); err != nil {
			t.Fatal(err)
		}
		err = w.Add(&v.next)
		if err == nil || !strings.Contains(err.Error(), v.want) {
			t.Errorf("got %v, want %s", err, v.want)
		}
		if again := w.Add(&base); again != err {
			t.Errorf("after %v Add says %v", err, again)
		}
		if _, closed := w.Close(); closed != err {
			t.Errorf("after %v Close says %v", err, closed)
		}
	}
}

func TestOptionsAreChecked(t *testing.T) {
	for want, opt := range map[string]Options{
		`codec "LZO"`:            {Codec: "LZO"},
		`encoding "PREFIX_TREE"`: {Encoding: "PREFIX_TREE"},
		"block size -1":          {BlockSize: -1},
		"index chunk -5":         {IndexChunk: -5},
		`Bloom filter "COL"`:     {Bloom: "COL"},
		"Bloom prefix of 0":      {Bloom: PrefixBloom},
		`info "hfile.x" is the`:  {Info: map[string][]byte{"hfile.x": nil}},
		`info "TIMERANGE" is`:    {Info: map[string][]byte{"TIMERANGE": nil}},
		`info "MAX_SEQ_ID_KEY"`:  {Info: map[string][]byte{"MAX_SEQ_ID_KEY": nil}},
	} {
		if _, err := NewWriter(io.Discard, opt); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// blockRows returns the first row of each data block and its number of cells.
func blockRows(t *testing.T, b []byte) (rows []string, cells []int) {
	t.Helper()
	for block, err := range open(t, b).Blocks() {
		if err != nil {
			t.Fatal(err)
		}
		if block.Type.data() {
			rows = append(rows, string(block.FirstRow))
			cells = append(cells, block.Cells)
		}
	}
	return rows, cells
}

func groupOf(row []byte) int { return bytes.IndexByte(row, ',') + 1 }

func TestBlocksEndWhereGroupsEnd(t *testing.T) {
	var cells []cell.Cell
	for user := range 40 {
		for day := range 1 + user*7%13 {
			cells = append(cells, cell.Cell{Row: fmt.Appendf(nil, "%04d,%02d", user, day), Type: cell.Put, Value: make([]byte, 60)})
		}
	}
	b := write(t, Options{BlockSize: 500, GroupLen: groupOf}, cells)
	rows, counts := blockRows(t, b)
	if len(rows) < 10 {
		t.Fatalf("only %d blocks", len(rows))
	}
	for i, row := range rows {
		if !strings.HasSuffix(row, ",00") {
			t.Errorf("block %d begins within a user, at %s", i, row)
		}
		if size := counts[i] * len(cells[0].Value); i+1 < len(rows) && size < 300 {
			t.Errorf("block %d ended with %d bytes of values", i, size)
		}
	}
}

func TestGroupsDoNotGrowBlocksWithoutBound(t *testing.T) {
	var cells []cell.Cell
	for day := range 100 {
		cells = append(cells, cell.Cell{Row: fmt.Appendf(nil, "one,%03d", day), Type: cell.Put, Value: make([]byte, 100)})
	}
	_, counts := blockRows(t, write(t, Options{BlockSize: 1000, GroupLen: groupOf}, cells))
	if len(counts) < 3 || counts[0] < 3*1000/140 || counts[0] > 4*1000/100 {
		t.Errorf("blocks of %d cells of 129 bytes", counts)
	}
}

func TestGroupLenIsAskedOfNewRowsOnly(t *testing.T) {
	var cells []cell.Cell
	for row := range 30 {
		for q := range 50 {
			cells = append(cells, cell.Cell{Row: fmt.Appendf(nil, "%d,%02d", row/10, row), Qualifier: fmt.Appendf(nil, "%02d", q), Type: cell.Put})
		}
	}
	asked := 0
	write(t, Options{BlockSize: 100, GroupLen: func(row []byte) int { asked++; return groupOf(row) }}, cells)
	if asked == 0 || asked > 30 {
		t.Errorf("asked %d times for 30 rows of 50 cells", asked)
	}
}

// TestEqualKeysStayTogether repeats a key so often that its block becomes far too large.
func TestEqualKeysStayTogether(t *testing.T) {
	var cells []cell.Cell
	for i := range 300 {
		cells = append(cells, cell.Cell{Row: fmt.Appendf(nil, "row%d", i/100), Type: cell.Put, Value: make([]byte, 50)})
	}
	for _, opt := range []Options{{BlockSize: 100}, {BlockSize: 100, GroupLen: func([]byte) int { return 1 }}} {
		b := write(t, opt, cells)
		if rows, _ := blockRows(t, b); strings.Join(rows, " ") != "row0 row1 row2" {
			t.Errorf("blocks begin at %s", rows)
		}
		if err := open(t, b).Verify(nil); err != nil {
			t.Error(err)
		}
	}
}

// A brokenWriter accepts left bytes and then fails.
type brokenWriter struct{ left int }

var errBroken = errors.New("the disk is full")

func (w *brokenWriter) Write(b []byte) (int, error) {
	if len(b) > w.left {
		return w.left, errBroken
	}
	w.left -= len(b)
	return len(b), nil
}

func TestWriteErrorsAreReturned(t *testing.T) {
	cells := madeUp(7, 20_000)
	whole := len(write(t, Options{Codec: Plain}, cells))
	for _, room := range []int{0, whole / 2, whole - 1} {
		w, err := NewWriter(&brokenWriter{left: room}, Options{Codec: Plain})
		if err != nil {
			t.Fatal(err)
		}
		for i := range cells {
			cells[i].Tags = nil
			if err = w.Add(&cells[i]); err != nil {
				break
			}
		}
		if err == nil {
			_, err = w.Close()
		}
		if !errors.Is(err, errBroken) || !strings.Contains(err.Error(), "write at offset") {
			t.Errorf("room for %d of %d bytes: %v", room, whole, err)
		}
	}
}

func TestClosedWriterRefuses(t *testing.T) {
	w, err := NewWriter(io.Discard, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := w.Add(&three()[0]); !errors.Is(err, errClosed) {
		t.Errorf("Add says %v", err)
	}
	if _, err := w.Close(); !errors.Is(err, errClosed) {
		t.Errorf("Close says %v", err)
	}
}

func TestShortKeysLieBetween(t *testing.T) {
	cells := madeUp(8, 3000)
	for i := 1; i < len(cells); i++ {
		left, right := appendKey(nil, &cells[i-1]), appendKey(nil, &cells[i])
		if bytes.Equal(left, right) {
			continue
		}
		key := appendShortKey(nil, &cells[i-1], &cells[i])
		if compareKeys(left, key) >= 0 || compareKeys(key, right) > 0 || len(key) > len(right) {
			t.Errorf("key %x between %x and %x", key, left, right)
		}
	}
}

func TestWriterKeepsNoReference(t *testing.T) {
	cells := without(madeUp(9, 500), Options{})
	var buf bytes.Buffer
	w, err := NewWriter(&buf, Options{Bloom: RowBloom, BlockSize: 1000, ShortIndexKeys: true})
	if err != nil {
		t.Fatal(err)
	}
	for i := range cells {
		c := cells[i].Clone()
		if err := w.Add(c); err != nil {
			t.Fatal(err)
		}
		for _, b := range [][]byte{c.Row, c.Family, c.Qualifier, c.Value} {
			for j := range b {
				b[j] = 0xcc
			}
		}
	}
	if _, err := w.Close(); err != nil {
		t.Fatal(err)
	}
	got, err := scan(open(t, buf.Bytes()), IterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := sameCells(got, cells); err != nil {
		t.Error(err)
	}
}
