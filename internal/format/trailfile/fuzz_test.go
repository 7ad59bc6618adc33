package trailfile_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"usertrail/internal/behaviour"
	"usertrail/internal/format/trailfile"
	"usertrail/internal/test/testkit"
)

// FuzzRoundTrip generates a schema, rows and options, and reads the written file back. The
// strings are pieces of text.
func FuzzRoundTrip(f *testing.F) {
	f.Add(uint64(1), uint16(0), uint16(10), uint16(100), "")
	f.Add(uint64(2), uint16(300), uint16(100), uint16(1), "节目, and more")
	f.Add(uint64(3), uint16(999), uint16(1000), uint16(300), "\U0010ffff\U0010ffff\ud7ff")
	f.Add(uint64(4), uint16(50), uint16(7), uint16(60000), "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa")
	f.Fuzz(func(t *testing.T, seed uint64, n, groupRows, pageBytes uint16, text string) {
		r := rand.New(rand.NewPCG(seed, 1))
		var fields []behaviour.Field
		for i := range r.IntN(5) {
			fields = append(fields, behaviour.Field{Name: string(rune('a' + i)), Type: behaviour.Types[r.IntN(len(behaviour.Types))]})
		}
		s := trailfile.Long([]string{"login", "order", "play", "visit"}, r.IntN(2), fields)
		rows := people(seed, s, int(n)%1000, r.Float64())
		for i := range rows {
			for f := range rows[i].fields {
				if _, ok := rows[i].fields[f].(string); ok && r.IntN(2) == 0 {
					rows[i].fields[f] = string(bytes.ToValidUTF8([]byte(text[:r.IntN(len(text)+1)]), []byte("?")))
				}
			}
		}
		o := trailfile.Options{GroupRows: int(groupRows), PageBytes: int(pageBytes), GroupBytes: r.IntN(100_000), GroupMemory: r.IntN(200_000)}
		data, _ := write(t, s, o, rows, 1+r.IntN(500))
		got := libraryRows(t, open(t, data))
		if len(got) != len(rows) {
			t.Fatalf("%d rows, want %d", len(got), len(rows))
		}
		for i := range got {
			for col, v := range got[i] {
				if want := rows[i].column(s, col); !same(v, want) {
					t.Fatalf("row %d, column %d: %v, want %v", i, col, v, want)
				}
			}
		}
	})
}

// FuzzWriteBatch writes a batch of any shape, which must succeed or return an error.
func FuzzWriteBatch(f *testing.F) {
	s := everyType()
	f.Add(3, []byte("alicebob"), []byte{0, 5, 5, 8}, []byte{0, 1, 2}, []byte("abc"), []byte{0, 1, 2, 3}, true)
	f.Add(1, []byte("a"), []byte{0, 200}, []byte{9}, []byte{0xff}, []byte{1, 0}, false)
	f.Add(-1, []byte{}, []byte{}, []byte{}, []byte{}, []byte{}, true)
	f.Fuzz(func(t *testing.T, rows int, users, userOff, kinds, text, textOff []byte, valid bool) {
		n := min(max(rows, 0), 100)
		codes := make([]uint16, len(kinds))
		for i, k := range kinds {
			codes[i] = uint16(k)
		}
		b := batch(s, nil, 0)
		b.Rows = min(rows, 100)
		for i := range b.Columns {
			v := &b.Columns[i]
			v.Valid, v.Int, v.Double, v.Small, v.Code = make([]bool, n), make([]int64, n), make([]float64, n), make([]int32, n), codes
			v.Str = trailfile.Bytes{Data: text, Off: offsets(textOff)}
			for j := range v.Valid {
				v.Valid[j] = valid
			}
		}
		b.Columns[0].Str = trailfile.Bytes{Data: users, Off: offsets(userOff)}
		var buf bytes.Buffer
		w, err := trailfile.NewWriter(&buf, s, trailfile.Options{GroupRows: 5})
		if err != nil {
			t.Fatal(err)
		}
		written := w.Write(b)
		meta, closed := w.Close()
		if (written == nil) != (closed == nil) {
			t.Fatalf("write said %v, close %v", written, closed)
		}
		if closed == nil && int(meta.Rows) != len(libraryRows(t, open(t, buf.Bytes()))) {
			t.Errorf("%d rows by the writer, another number by the reader", meta.Rows)
		}
	})
}

func offsets(b []byte) []uint32 {
	out := make([]uint32, len(b))
	for i := range b {
		out[i] = uint32(b[i])
	}
	return out
}

// FuzzOpen damages a file in one place. Inspecting it must return a result or an error.
func FuzzOpen(f *testing.F) {
	s := everyType()
	good, _ := write(f, s, trailfile.Options{GroupRows: 20, PageBytes: 50}, people(1, s, 50, 0.3), 50)
	f.Add(0, byte(0))
	f.Add(4, byte(1))
	for i := 8; i < len(good); i += 97 {
		f.Add(i, byte(i))
	}
	for i := range 9 {
		f.Add(len(good)-1-i, byte(0x80))
	}
	f.Fuzz(func(t *testing.T, at int, flip byte) {
		data := bytes.Clone(good)
		if at < 0 || at >= len(data) {
			data = data[:max(0, min(len(data), at%len(data)))]
		} else {
			data[at] ^= flip
		}
		file, err := trailfile.Open(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			return
		}
		_, err1 := file.Info()
		rows, err2 := file.Head(100)
		if at >= 0 && at < len(good) && flip == 0 && (err1 != nil || err2 != nil || len(rows) != 50) {
			t.Errorf("an undamaged file: %d rows, %v, %v", len(rows), err1, err2)
		}
	})
}

// FuzzOpenFormats damages a file of any format in one place, or truncates it there.
// Inspecting it must return a result or an error.
func FuzzOpenFormats(f *testing.F) {
	s := everyType()
	c := sample{schema: s, opts: trailfile.Options{GroupRows: 20}, rows: people(1, s, 50, 0.3)}
	var good [][]byte
	for i := range formats {
		data, _ := formats[i].write(f, c, 50)
		good = append(good, data)
		for at := 0; at < len(data); at += 211 {
			f.Add(i, at, byte(1+at%255), at%2 == 0)
		}
		for at := range 12 {
			f.Add(i, len(data)-1-at, byte(0x80), false)
		}
	}
	f.Fuzz(func(t *testing.T, format, at int, flip byte, cut bool) {
		format &= 3
		data := bytes.Clone(good[format])
		if at < 0 || at >= len(data) {
			return
		}
		data[at] ^= flip
		if cut {
			data = data[:at]
		}
		r, err := formats[format].reader(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			return
		}
		_, err1 := r.Info()
		rows, err2 := r.Head(100)
		if flip == 0 && !cut && (err1 != nil || err2 != nil || len(rows) != 50) {
			t.Errorf("an undamaged file: %d rows, %v, %v", len(rows), err1, err2)
		}
	})
}

// TestAFooterLongerThanItsFileIsRefused checks that the error occurs before memory is
// allocated.
func TestAFooterLongerThanItsFileIsRefused(t *testing.T) {
	s := everyType()
	data, _ := write(t, s, trailfile.Options{}, people(1, s, 50, 0.3), 50)
	length := data[len(data)-8 : len(data)-4]
	for _, more := range []uint32{uint32(len(data)) - 11, 1 << 31, math.MaxUint32} {
		binary.LittleEndian.PutUint32(length, more)
		_, err := trailfile.Open(bytes.NewReader(data), int64(len(data)))
		if want := fmt.Sprintf("trailfile: open: damaged file: the footer has %d bytes, in a file of %d", more, len(data)); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// TestNoDamageAsksForMuchMemory damages each byte of a file in the formats that store
// lengths, or each eleventh byte unless the run covers everything. A reader must not allocate
// more than the size of the file justifies.
func TestNoDamageAsksForMuchMemory(t *testing.T) {
	s := everyType()
	c := sample{schema: s, opts: trailfile.Options{GroupRows: 20}, rows: people(1, s, 50, 0.3)}
	const most = 64 << 20
	for _, f := range formats[:2] {
		t.Run(f.name, func(t *testing.T) {
			data, _ := f.write(t, c, 50)
			for at := 0; at < len(data); at += testkit.Pick(11, 1) {
				for _, flip := range []byte{0x7f, 0x80, 0x01}[:testkit.Pick(1, 3)] {
					data[at] ^= flip
					if n := allocated(func() { look(f, data) }); n > most {
						t.Errorf("byte %d of %d flipped by %#x: %d bytes are allocated", at, len(data), flip, n)
					}
					data[at] ^= flip
				}
			}
		})
	}
}

// look opens a file and reads the same parts as inspect.
func look(f kind, data []byte) {
	r, err := f.reader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return
	}
	_, _ = r.Info()
	_, _ = r.Head(100)
}

// TestDamagedBytesOfAPageAskForLittleMemory damages the compressed bytes of pages: snappy that
// begins with a size of 4 GiB, and LZ4 that never ends. The library would allocate that size,
// or double a buffer until the memory is used up.
func TestDamagedBytesOfAPageAskForLittleMemory(t *testing.T) {
	s := everyType()
	good, _ := write(t, s, trailfile.Options{Codec: trailfile.Snappy}, people(1, s, 50, 0.3), 50)
	for _, c := range []struct {
		codec format.CompressionCodec
		last  byte // of the damage
	}{{format.Snappy, 0x0f}, {format.Lz4Raw, 0xff}} {
		data := damagedPages(t, good, c.codec, []byte{0xff, 0xff, 0xff, 0xff, c.last})
		f, err := trailfile.Open(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			t.Fatal(err)
		}
		for name, read := range map[string]func() error{
			"inspect": func() error { _, err := f.Head(100); return err },
			"a list":  func() error { return f.IDs("user_id", math.MaxInt64, func([]byte) error { return nil }) },
			"rows":    func() error { return allRows(f) },
		} {
			var err error
			if n := allocated(func() { err = read() }); n > 64<<20 || err == nil || !strings.Contains(err.Error(), "damaged file: a page at offset ") {
				t.Errorf("%s, %s: %d bytes are allocated, and the error is %v", c.codec, name, n, err)
			}
		}
	}
}

// damagedPages returns a file in which the first page of each column begins with other bytes,
// and whose footer names a codec.
func damagedPages(t *testing.T, good []byte, codec format.CompressionCodec, begin []byte) []byte {
	t.Helper()
	data, md := bytes.Clone(good), open(t, good).Metadata()
	for g := range md.RowGroups {
		for i := range md.RowGroups[g].Columns {
			m := &md.RowGroups[g].Columns[i].MetaData
			m.Codec = codec
			at := m.DataPageOffset
			if m.DictionaryPageOffset > 0 {
				at = min(at, m.DictionaryPageOffset)
			}
			_, size := pageHeader(t, good[at:])
			copy(data[int(at)+size:], begin)
		}
	}
	footer, err := thrift.Marshal(new(thrift.CompactProtocol), md)
	if err != nil {
		t.Fatal(err)
	}
	end := len(data) - 8 - int(binary.LittleEndian.Uint32(data[len(data)-8:]))
	data = append(data[:end], footer...)
	return append(binary.LittleEndian.AppendUint32(data, uint32(len(footer))), "PAR1"...)
}

func allRows(f *trailfile.File) error {
	r, err := f.Rows()
	if err != nil {
		return err
	}
	defer r.Close()
	for {
		if _, err := r.Next(); err != nil {
			return err
		}
	}
}

// allocated returns the number of bytes that do allocates.
func allocated(do func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	do()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}
