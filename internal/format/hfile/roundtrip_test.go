package hfile

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"testing"

	"usertrail/internal/cell"
	"usertrail/internal/test/testkit"
)

var (
	allCodecs    = []Codec{Plain, GZ, Snappy, LZ4, ZSTD, ZSTDPlain}
	allEncodings = []Encoding{NoEncoding, Prefix, Diff, FastDiff, RowIndex}
	allBlooms    = []BloomType{NoBloom, RowBloom, RowColBloom, PrefixBloom}
)

// eachOption calls f with every codec, encoding and filter, with and without tags and write
// numbers, and with an index of several levels.
func eachOption(t *testing.T, f func(t *testing.T, opt Options)) {
	for _, codec := range allCodecs {
		for _, encoding := range allEncodings {
			for i, bloom := range allBlooms {
				opt := Options{
					Codec: codec, Encoding: encoding, Bloom: bloom, BloomPrefix: 3,
					BlockSize: 2000, IndexChunk: 300, indexMinEntries: 3,
					ShortIndexKeys: i%2 == 0, Tags: i < 2, MVCC: i%3 == 0,
				}
				t.Run(fmt.Sprintf("%s/%s/%s", codec, encoding, bloom), func(t *testing.T) { f(t, opt) })
			}
		}
	}
}

func TestReadsWhatItWrites(t *testing.T) {
	cells := madeUp(1, 600)
	eachOption(t, func(t *testing.T, opt Options) {
		b, meta := writeMeta(t, opt, cells)
		if !bytes.Equal(b, write(t, opt, cells)) {
			t.Error("the same cells made other bytes the second time")
		}
		r := open(t, b)
		want := without(cells, opt)
		got, err := scan(r, IterOptions{ReadAhead: 4000})
		if err != nil {
			t.Fatal(err)
		}
		if err := sameCells(got, want); err != nil {
			t.Error(err)
		}
		got = nil
		err = r.Verify(func(c *cell.Cell) error {
			got = append(got, *c.Clone())
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := sameCells(got, want); err != nil {
			t.Errorf("verify: %v", err)
		}
		last := cells[len(cells)-1].Row
		if meta.Cells != int64(len(cells)) || r.Cells() != meta.Cells || meta.Size != int64(len(b)) ||
			!bytes.Equal(meta.FirstRow, cells[0].Row) || !bytes.Equal(meta.LastRow, last) ||
			!bytes.Equal(r.FirstRow(), cells[0].Row) || !bytes.Equal(r.LastRow(), last) {
			t.Errorf("meta %+v, reader from %x to %x", meta, r.FirstRow(), r.LastRow())
		}
		if r.Bloom() != opt.Bloom || r.Encoding() != opt.Encoding || r.Codec() != opt.Codec {
			t.Errorf("the reader says filter %s, encoding %s and codec %s", r.Bloom(), r.Encoding(), r.Codec())
		}
	})
}

// TestEncodersFollowTheDrawing compares each encoder with the slow one. The blocks begin at
// arbitrary cells.
func TestEncodersFollowTheDrawing(t *testing.T) {
	for seed := range uint64(testkit.Pick(4, 20)) {
		cells := madeUp(seed, 300)
		for _, tl := range []tail{{}, {mvcc: true}, {tags: true, mvcc: true}} {
			for from := 0; from < len(cells); from += 50 {
				for _, encoding := range allEncodings {
					fast, slow := newEncoder(encoding, tl), &slowEncoder{encoding: encoding, tail: tl}
					got, want := encodeAll(fast, cells[from:]), encodeAll(slow, cells[from:])
					if !bytes.Equal(got, want) {
						t.Fatalf("%s: seed %d, cells from %d: they differ at byte %d", encoding, seed, from, commonPrefix(got, want))
					}
					if fast.filled() != slow.filled() {
						t.Fatalf("%s: seed %d, cells from %d: filled with %d bytes, want %d", encoding, seed, from, fast.filled(), slow.filled())
					}
				}
			}
		}
	}
}

func TestSameRowIsNeverWrong(t *testing.T) {
	cells := madeUp(2, 500)
	for _, encoding := range allEncodings {
		it := open(t, write(t, Options{Encoding: encoding, BlockSize: 900}, cells)).Iterator(IterOptions{})
		same := 0
		for i, ok := 0, it.First(); ok; i, ok = i+1, it.Next() {
			want := i > 0 && bytes.Equal(cells[i].Row, cells[i-1].Row)
			if it.SameRow() != want {
				t.Fatalf("%s: cell %d: same row is %t", encoding, i, it.SameRow())
			}
			if want {
				same++
			}
		}
		if same == 0 {
			t.Errorf("%s: no two cells of one row", encoding)
		}
	}
}

func TestIndexLevels(t *testing.T) {
	cells := bloomRows(3000)
	for want, chunk := range map[int]int{1: 1 << 20, 2: 4000, 3: 400, 4: 150} {
		opt := Options{BlockSize: 600, IndexChunk: chunk, indexMinEntries: 3, ShortIndexKeys: true}
		r := open(t, write(t, opt, cells))
		if r.Trailer().Levels != want {
			t.Errorf("chunks of %d made %d levels, want %d", chunk, r.Trailer().Levels, want)
		}
		if err := r.Verify(nil); err != nil {
			t.Errorf("%d levels: %v", want, err)
		}
		if (want > 1) != (len(r.middle) == midKeyLen) {
			t.Errorf("%d levels: middle of the file %x", want, r.middle)
		}
	}
}

func TestEmptyFile(t *testing.T) {
	for _, codec := range allCodecs {
		b, meta := writeMeta(t, Options{Codec: codec, Bloom: RowBloom}, nil)
		r := open(t, b)
		it := r.Iterator(IterOptions{})
		if meta.Cells != 0 || r.Cells() != 0 || it.First() || it.Next() || it.SeekGE([]byte("a")) || it.Err() != nil {
			t.Errorf("%s: meta %+v, %d cells, %v", codec, meta, r.Cells(), it.Err())
		}
		if err := r.Verify(nil); err != nil {
			t.Errorf("%s: %v", codec, err)
		}
	}
}

// TestManyIterators runs goroutines that share a Reader and its Bloom filter.
func TestManyIterators(t *testing.T) {
	cells := madeUp(4, 2000)
	r := open(t, write(t, Options{Codec: ZSTD, Bloom: RowBloom, BlockSize: 1000, IndexChunk: 500}, cells))
	errs := make(chan error)
	const goroutines = 4
	for range goroutines {
		go func() { errs <- readAll(r, cells) }()
	}
	for range goroutines {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
}

func readAll(r *Reader, cells []cell.Cell) error {
	got, err := scan(r, IterOptions{ReadAhead: 10000})
	if err != nil {
		return err
	}
	for _, c := range cells {
		if has, err := r.MayContain(c.Row); err != nil || !has {
			return fmt.Errorf("row %x: %t, %v", c.Row, has, err)
		}
	}
	return sameCells(got, without(cells, Options{}))
}

// TestLargeBlock uses a payload of several chunks in Hadoop's framing.
func TestLargeBlock(t *testing.T) {
	c := cell.Cell{Row: []byte("r"), Type: cell.Put, Value: bytes.Repeat([]byte("0123456789abcdef!"), 50_000)}
	for i := range c.Value {
		c.Value[i] ^= byte(i * i >> 7)
	}
	for _, codec := range allCodecs {
		got, err := scan(open(t, write(t, Options{Codec: codec}, []cell.Cell{c})), IterOptions{})
		if err != nil {
			t.Fatalf("%s: %v", codec, err)
		}
		if err := sameCells(got, []cell.Cell{c}); err != nil {
			t.Errorf("%s: the value came back changed", codec)
		}
	}
}

func TestTimeRange(t *testing.T) {
	cells := three()
	r := open(t, write(t, Options{Created: 77}, cells))
	if from, to := r.TimeRange(); from != 999 || to != 1000 {
		t.Errorf("times from %d to %d, want 999 to 1000", from, to)
	}
	info := r.Info()
	want := map[string][]byte{
		infoTimeRange:    append(be64(999), be64(1000)...),
		infoEarliestPut:  be64(999),
		infoDeleteFamily: be64(0),
		infoCreated:      be64(77),
		infoBulkTime:     be64(77),
		infoMajor:        {0xff},
		infoNotMinor:     {0},
		infoAvgKeyLen:    be32(19),
		infoAvgValueLen:  be32(2),
		infoEncoding:     []byte("FAST_DIFF"),
	}
	for name, v := range want {
		if !bytes.Equal(info[name], v) {
			t.Errorf("%s is %x, want %x", name, info[name], v)
		}
	}
	deletion := cell.Cell{Row: []byte("row3"), Family: []byte("c"), Time: 1500, Type: cell.DeleteFamily}
	info = open(t, write(t, Options{}, append(slices.Clone(cells), deletion))).Info()
	if !bytes.Equal(info[infoTimeRange], append(be64(0), be64(1500)...)) || !bytes.Equal(info[infoDeleteFamily], be64(1)) {
		t.Errorf("with a deletion: time range %x, deletions %x", info[infoTimeRange], info[infoDeleteFamily])
	}
}

// TestTimeRangesAreRead reads time ranges as loads and as servers write them.
func TestTimeRangesAreRead(t *testing.T) {
	for what, c := range map[string]struct {
		b    []byte
		want timeRange
	}{
		"two numbers":         {append(be64(-5), be64(7)...), timeRange{-5, 7}},
		"a message":           {[]byte("PBUF\x08\x07\x10\x80\x01"), timeRange{7, 128}},
		"a message's half":    {[]byte("PBUF\x08\x07"), timeRange{7, math.MaxInt64}},
		"a message of others": {[]byte("PBUF\x18\x07"), allTimes},
	} {
		if got, err := parseTimeRange(c.b); err != nil || got != c.want {
			t.Errorf("%s: %v, %v; want %v", what, got, err, c.want)
		}
	}
	for _, wrong := range []string{"", "12345678", "PBUF\x08"} {
		if got, err := parseTimeRange([]byte(wrong)); err == nil {
			t.Errorf("%q: %v, want an error", wrong, got)
		}
	}
}
