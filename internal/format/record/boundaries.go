package record

import (
	"bytes"
	"io"
	"math"
	"math/bits"
)

// maxBroken is the maximum number of records with wrong quotes that Begins measures. It may
// have to scan up to MaxLine for each of them.
const maxBroken = 4096

// boundaries are the places around an offset where a record may begin. Places count from the first byte that is
// looked through.
//
// A record of several lines has at most maxLine bytes and its line end. A record that began
// before the text therefore ends within that many bytes, and a line begins at its end. One of
// the lines that begin within these bytes is surely the beginning of a record, and so are
// all records that follow it. Two candidates are joined when the records after them reach
// the same place.
type boundaries struct {
	cut    cutter
	in     io.ReaderAt
	step   int   // bytes to read at a time
	window int   // bytes that a record with its line end may have
	from   int64 // offset of the text in the file
	at     int
	end    int  // of the text
	final  bool // the file has no more text

	begins places
	open   int // how many of begins are not yet followed
	line   int // the last candidate
	data   []byte
	base   int // the place of data
}

// first follows all candidates until they meet, and returns the first such place at or after
// at.
func (b *boundaries) first() (place int, sure bool, err error) {
	if b.from == 0 {
		if err := b.beginning(); err != nil {
			return 0, false, err
		}
	}
	broken := 0
	for n := 0; ; n++ {
		if n, err = b.next(n); err != nil {
			return 0, false, err
		}
		switch {
		case n <= b.end && n >= b.at && b.open == 1:
			return n, true, nil
		case n >= b.end:
			return 0, false, nil
		}
		size, bad, err := b.measure(n)
		if err != nil {
			return 0, false, err
		}
		if bad != "" {
			broken++
		}
		if size == 0 || broken > maxBroken {
			return 0, false, nil
		}
		b.open--
		b.add(n + size)
	}
}

// beginning makes the first record of the file the only candidate.
func (b *boundaries) beginning() error {
	b.line = b.at
	for len(b.data) < min(len(mark), b.end) {
		if err := b.more(0); err != nil {
			return err
		}
	}
	n := 0
	if bytes.HasPrefix(b.data, []byte(mark)) {
		n = len(mark)
	}
	b.add(n)
	return nil
}

func (b *boundaries) add(n int) {
	if !b.begins.has(n) {
		b.begins.add(n)
		b.open++
	}
}

// next returns the first place of begins that is n or more, or a place beyond the text.
func (b *boundaries) next(n int) (int, error) {
	for {
		next, read := b.begins.next(n), b.base+len(b.data)
		if next <= read || read == b.end {
			return next, nil
		}
		if err := b.more(read); err != nil {
			return 0, err
		}
	}
}

// measure returns the size of the record at a place, 0 if the text does not show it.
func (b *boundaries) measure(n int) (size int, bad Reason, err error) {
	for {
		ended := b.base+len(b.data) == b.end
		size, _, bad = b.cut.record(b.data[n-b.base:], b.final && ended)
		if size > 0 || ended {
			return size, bad, nil
		}
		if err := b.more(n); err != nil {
			return 0, "", err
		}
	}
}

// more reads more of the text, and drops the bytes before place n. The lines that begin up to at, and the first line
// after it, are candidates.
func (b *boundaries) more(n int) error {
	kept := b.data[n-b.base:]
	data, want := b.data, len(kept)+max(b.step, len(kept))
	if len(kept) >= 2*b.step && len(kept) < b.window {
		want = b.window + b.step // a buffer that doubles would be larger
	}
	if want = min(want, b.end-n); want > cap(data) {
		data = make([]byte, want)
	} else {
		data = data[:want]
	}
	fresh := data[copy(data, kept):]
	b.data, b.base = data, n
	place := n + len(data) - len(fresh)
	if got, err := b.in.ReadAt(fresh, b.from+int64(place)); got < len(fresh) {
		return cutShort(err)
	}
	for b.line < b.at {
		next := bytes.IndexByte(fresh, '\n')
		if next < 0 {
			break
		}
		place += next + 1
		fresh = fresh[next+1:]
		b.line = place
		b.add(place)
	}
	return nil
}

// places are a set of offsets in a text.
type places []uint64

// newPlaces returns an empty set of offsets less than size.
func newPlaces(size int) places { return make(places, size/64+1) }

func (p places) has(n int) bool { return p[n/64]>>(n%64)&1 == 1 }
func (p places) add(n int)      { p[n/64] |= 1 << (n % 64) }

// next returns the first offset that is n or more. If there is none, it returns an offset beyond the set.
func (p places) next(n int) int {
	for i := n / 64; i < len(p); i++ {
		word := p[i]
		if i == n/64 {
			word &= math.MaxUint64 << (n % 64)
		}
		if word != 0 {
			return i*64 + bits.TrailingZeros64(word)
		}
	}
	return len(p) * 64
}
