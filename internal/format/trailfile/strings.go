package trailfile

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"unicode/utf8"

	"github.com/parquet-go/parquet-go/encoding/rle"
	"github.com/parquet-go/parquet-go/format"
)

const (
	// A dictionary larger than these limits costs more to look up, and to read, than it
	// saves.
	maxEntries    = 1 << 16
	maxEntryBytes = 4 << 20

	// sampleValues is the number of values that the decision needs whether a column keeps a dictionary.
	sampleValues = 512
)

// sampleRows returns the number of rows at the start of the file that decide whether a column keeps a dictionary. If there are many
// columns, it is less, because the dictionaries of all of them are in memory until then.
func sampleRows(columns int) int { return max(sampleValues, min(8192, 512<<10/columns)) }

// A text holds the values of a string column, as indexes of a dictionary or plain. The types
// that add values find the index. users compares with the previous value, kinds uses the
// number of a behaviour, and words uses a hash.
type text struct {
	entries Bytes   // the dictionary; empty in a plain column
	codes   []int32 // the index of each value; empty in a plain column
	values  plain   // the values of a plain column
	plain   bool
	sorted  bool // the dictionary ascends, and so do the codes
	bytes   int  // total size of the values, repeated ones included

	seen   []uint32
	page   uint32 // the mark in seen for an entry of the current page
	packed []byte
}

// push adds a value that is not in the dictionary. It reports whether the value is
// UTF-8.
func (t *text) push(s []byte) bool {
	if len(s) > maxValueBytes || !utf8.Valid(s) {
		return false
	}
	t.bytes += len(s)
	if t.plain {
		t.values.append(s)
		return true
	}
	t.codes = append(t.codes, int32(t.entries.len()))
	t.entries.Append(s)
	if t.entries.len() > maxEntries || len(t.entries.Data) > maxEntryBytes {
		t.flatten()
	}
	return true
}

// flatten replaces indexes by plain values. The column remains plain until the end of the
// file.
func (t *text) flatten() {
	for _, c := range t.codes {
		t.values.append(t.entries.At(int(c)))
	}
	t.entries, t.codes, t.plain = Bytes{}, nil, true // other columns need the memory
}

func (t *text) len() int {
	if t.plain {
		return t.values.n
	}
	return len(t.codes)
}

func (t *text) size() int {
	if t.plain {
		return t.bytes + 4*t.values.n
	}
	return len(t.codes) * t.width() / 8
}

// width returns the number of bits of an index. It is at least 1, because some readers do not
// accept a width of 0, which would be enough for one entry.
func (t *text) width() int { return max(1, bits.Len(uint(t.entries.len()-1))) }

func (t *text) encoding() format.Encoding {
	if t.plain || t.entries.len() == 0 {
		return format.Plain
	}
	return format.RLEDictionary
}

func (t *text) dictionary(dst []byte) ([]byte, int) {
	if t.plain {
		return dst, 0
	}
	return t.entries.appendPlain(dst, 0, t.entries.len()), t.entries.len()
}

func (t *text) encode(dst []byte, from, to int) []byte {
	if t.plain {
		return t.values.encode(dst, from, to)
	}
	if from == to && t.entries.len() == 0 {
		return dst
	}
	e := rle.Encoding{BitWidth: t.width()}
	// The only possible error is a width beyond 32 bits.
	t.packed, _ = e.EncodeInt32(t.packed, t.codes[from:to])
	return append(append(dst, byte(t.width())), t.packed...)
}

func (t *text) bounds(from, to int) (lo, hi []byte, ok bool) {
	switch {
	case t.plain:
		lo, hi = t.values.bounds(from, to)
	case t.sorted:
		lo, hi = t.entries.At(int(t.codes[from])), t.entries.At(int(t.codes[to-1]))
	case to-from == len(t.codes):
		lo, hi = t.entries.bounds(0, t.entries.len())
	default:
		lo, hi = t.pageBounds(t.codes[from:to])
	}
	return lo, hi, true
}

// pageBounds visits each entry that occurs in codes once.
func (t *text) pageBounds(codes []int32) (lo, hi []byte) {
	if n := t.entries.len(); len(t.seen) < n {
		t.seen, t.page = make([]uint32, n), 0
	}
	t.page++
	lo = t.entries.At(int(codes[0]))
	hi = lo
	for _, c := range codes {
		if t.seen[c] == t.page {
			continue
		}
		t.seen[c] = t.page
		lo, hi = widen(lo, hi, t.entries.At(int(c)))
	}
	return lo, hi
}

func (t *text) compare(a, b []byte) int { return bytes.Compare(a, b) }

func (t *text) reset() {
	t.entries.reset()
	t.values.reset()
	t.codes, t.bytes = t.codes[:0], 0
}

// restart, after reset, prepares for another file. It begins with a dictionary, which is
// small, and other columns need the memory of the values.
func (t *text) restart() { t.plain, t.values = false, plain{} }

// widen returns the bounds lo and hi, widened to include s.
func widen(lo, hi, s []byte) ([]byte, []byte) {
	if bytes.Compare(s, lo) < 0 {
		return s, hi
	}
	if bytes.Compare(s, hi) > 0 {
		return lo, s
	}
	return lo, hi
}

// words is a column of arbitrary strings.
type words struct {
	text
	dict dictionary
}

func newWords() *words {
	w := &words{}
	w.dict.entries = &w.entries
	return w
}

// add adds the valid ones of the strings from up to to of s. It returns the row of a string
// that is not UTF-8, or -1.
func (w *words) add(s *Bytes, valid []bool, from, to int) int {
	for i := from; i < to; i++ {
		if valid[i] && !w.addOne(s.At(i)) {
			return i
		}
	}
	return -1
}

// addAll is add for a column that has no nulls.
func (w *words) addAll(s *Bytes, from, to int) int {
	for i := from; i < to; i++ {
		if !w.addOne(s.At(i)) {
			return i
		}
	}
	return -1
}

func (w *words) addOne(s []byte) bool {
	if w.plain {
		return w.push(s)
	}
	n, fresh := w.dict.number(s)
	if !fresh {
		w.codes = append(w.codes, n)
		w.bytes += len(s)
		return true
	}
	ok := w.push(s)
	if w.plain {
		w.dict.slots = nil
	}
	return ok
}

// judge abandons the dictionary if more than three in four of the values so far are
// different.
func (w *words) judge() {
	if n := len(w.codes); !w.plain && n >= sampleValues && 4*w.entries.len() > 3*n {
		w.flatten()
		w.dict.slots = nil
	}
}

func (w *words) reset() {
	w.text.reset()
	w.dict.reset()
}

// kinds is the column of behaviours. Its dictionary holds only behaviours that occur, because
// bounds are computed from it.
type kinds struct {
	text
	names []string
	code  []int32 // by name the code plus one; 0 if it has not occurred
}

func (k *kinds) add(v []uint16) {
	for _, b := range v {
		if k.code[b] == 0 {
			k.entries.Append([]byte(k.names[b]))
			k.code[b] = int32(k.entries.len())
		}
		k.codes = append(k.codes, k.code[b]-1)
	}
}

func (k *kinds) reset() {
	k.text.reset()
	clear(k.code)
}

func (s *Bytes) reset() { s.Data, s.Off = s.Data[:0], s.Off[:0] }

func (s *Bytes) bounds(from, to int) (lo, hi []byte) {
	lo = s.At(from)
	hi = lo
	for i := from + 1; i < to; i++ {
		lo, hi = widen(lo, hi, s.At(i))
	}
	return lo, hi
}

// appendPlain appends the strings from up to to, each after its length.
func (s *Bytes) appendPlain(dst []byte, from, to int) []byte {
	for i := from; i < to; i++ {
		b := s.At(i)
		dst = append(binary.LittleEndian.AppendUint32(dst, uint32(len(b))), b...)
	}
	return dst
}
