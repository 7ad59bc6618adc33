package condition

import (
	"math"
	"time"

	"github.com/cespare/xxhash/v2"

	"usertrail/internal/behaviour"
)

// boxes caches values in interfaces, as the virtual machine needs them. A value in an interface
// needs memory of its own, and the values of a field repeat. Each value has one place in the
// cache, and replaces the value that was there.
type boxes struct {
	wholes  [boxCount]box[int]
	numbers [boxCount]box[uint64]
	texts   [boxCount]box[string]
	days    [boxCount]box[behaviour.Date]
}

// boxCount is a power of two. It was measured with seconds of an hour.
const boxCount = 1 << 10

// maxBoxedText is the longest text that is kept, in bytes.
const maxBoxedText = 64

type box[K comparable] struct {
	key   K
	value any
}

func (b *boxes) whole(v int) any {
	x := &b.wholes[uint(v)%boxCount]
	if x.key != v || x.value == nil {
		x.key, x.value = v, v
	}
	return x.value
}

func (b *boxes) number(v float64) any {
	bits := math.Float64bits(v)
	x := &b.numbers[bits*0x9e3779b97f4a7c15>>32%boxCount]
	if x.key != bits || x.value == nil {
		x.key, x.value = bits, v
	}
	return x.value
}

func (b *boxes) text(v []byte) any {
	if len(v) > maxBoxedText {
		return string(v)
	}
	x := &b.texts[xxhash.Sum64(v)%boxCount]
	if x.key != string(v) || x.value == nil {
		x.key = string(v)
		x.value = x.key
	}
	return x.value
}

// day returns the time at which a date begins.
func (b *boxes) day(d behaviour.Date, zone *time.Location) any {
	x := &b.days[uint32(d)%boxCount]
	if x.key != d || x.value == nil {
		x.key, x.value = d, d.Start(zone)
	}
	return x.value
}
