package condition

import (
	"bytes"
	"cmp"
	"math"
	"regexp"
	"slices"
	"strings"
	"sync"

	"usertrail/internal/behaviour"
	"usertrail/internal/trail"
)

// distinctName is the name with which the parser reads count(distinct FIELD).
const distinctName = "count_distinct"

// quoted matches a text in quotes.
const quoted = "\"(?:[^\"\\\\]|\\\\.)*\"|'(?:[^'\\\\]|\\\\.)*'|`[^`]*`"

// distinctCall matches the beginning of a count(distinct FIELD). It also matches a text in quotes, so that
// text in quotes is not mistaken for one.
var distinctCall = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(quoted + `|\bcount\s*\(\s*(?i:distinct)\s+[\p{L}_$\[]`)
})

// parseable returns text with count_distinct(FIELD) for each count(distinct FIELD). Everything else keeps
// its place.
func parseable(text string) string {
	return distinctCall().ReplaceAllStringFunc(text, func(s string) string {
		if s[0] != 'c' {
			return s
		}
		runes := []rune(s)
		call := distinctName + "("
		return call + strings.Repeat(" ", len(runes)-len(call)-1) + string(runes[len(runes)-1])
	})
}

// A distinct counts the distinct values of one field. It holds no values, but their places in the batch
// of the user's trail, or numbers of 64 bits.
type distinct struct {
	field  uint32
	typ    behaviour.Type
	batch  *trail.Batch
	texts  []trail.Ref
	others []uint64
}

// maxKept is the capacity, in values, that a distinct keeps for the next user.
const maxKept = 1 << 16

// begin implements accumulator.
func (d *distinct) begin() {
	if cap(d.texts) > maxKept || cap(d.others) > maxKept {
		d.texts, d.others = nil, nil
	}
	d.batch, d.texts, d.others = nil, d.texts[:0], d.others[:0]
}

// add implements accumulator. It keeps b until begin.
func (d *distinct) add(b *trail.Batch, ev *trail.Event) error {
	ref := b.Refs[ev.Refs+d.field]
	v := b.Value(ref)
	if v == nil {
		return nil
	}
	if n := d.typ.Size(); n != len(v) && n != 0 {
		return broken(d.typ, v)
	}
	d.batch = b
	if d.typ == behaviour.String {
		if len(d.texts) == cap(d.texts) {
			d.compact()
		}
		d.texts = append(d.texts, ref)
		return nil
	}
	if len(d.others) == cap(d.others) {
		d.compact()
	}
	d.others = append(d.others, bitsOf(d.typ, v))
	return nil
}

// bitsOf returns a number that is the same for equal values. All NaN are equal, and so are 0 and -0.
func bitsOf(t behaviour.Type, v []byte) uint64 {
	switch t {
	case behaviour.Int64, behaviour.Timestamp:
		return uint64(behaviour.ToInt64(v))
	case behaviour.Day:
		return uint64(behaviour.ToDate(v))
	case behaviour.Bool:
		if behaviour.ToBool(v) {
			return 1
		}
		return 0
	}
	f := behaviour.ToDouble(v)
	switch {
	case math.IsNaN(f):
		return math.Float64bits(math.NaN())
	case f == 0:
		return 0
	}
	return math.Float64bits(f)
}

// compact removes repeated values. If this frees less than half of the room, it makes more room, so that
// a value is sorted a few times at most.
func (d *distinct) compact() {
	d.count()
	d.texts, d.others = roomy(d.texts), roomy(d.others)
}

func roomy[T any](list []T) []T {
	if len(list) > cap(list)/2 {
		return slices.Grow(list, len(list)+1)
	}
	return list
}

// count removes repeated values, and returns the number of the others.
func (d *distinct) count() int {
	order := func(a, b trail.Ref) int { return bytes.Compare(d.batch.Value(a), d.batch.Value(b)) }
	slices.SortFunc(d.texts, order)
	d.texts = slices.CompactFunc(d.texts, func(a, b trail.Ref) bool { return order(a, b) == 0 })
	slices.SortFunc(d.others, cmp.Compare[uint64])
	d.others = slices.Compact(d.others)
	return len(d.texts) + len(d.others)
}
