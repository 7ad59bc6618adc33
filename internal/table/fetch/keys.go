package fetch

import (
	"bytes"
	"iter"
)

// Keys holds user keys, ascending and distinct, in one arena. Each key has a flag that is set
// if its user certainly has rows.
type Keys struct {
	data []byte
	ends []uint32
	sure []bool
}

// Add adds a key that comes after all others. It copies key.
func (k *Keys) Add(key []byte, sure bool) {
	k.data = append(k.data, key...)
	k.ends = append(k.ends, uint32(len(k.data)))
	k.sure = append(k.sure, sure)
}

// Sure reports whether it is certain that the user of key i has rows.
func (k *Keys) Sure(i int) bool { return k.sure[i] }

// Len returns the number of keys.
func (k *Keys) Len() int { return len(k.ends) }

// Bytes returns the size of the keys in bytes.
func (k *Keys) Bytes() int { return len(k.data) }

// At returns key i. It is valid as long as k is.
func (k *Keys) At(i int) []byte {
	start := uint32(0)
	if i > 0 {
		start = k.ends[i-1]
	}
	return k.data[start:k.ends[i]:k.ends[i]]
}

// Part returns the keys from index from up to index to, not included.
func (k *Keys) Part(from, to int) *Keys {
	part := new(Keys)
	for i := from; i < to; i++ {
		part.Add(k.At(i), k.sure[i])
	}
	return part
}

// All yields the keys. One is valid as long as k is.
func (k *Keys) All() iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for i := range k.ends {
			if !yield(k.At(i)) {
				return
			}
		}
	}
}

// A finder looks keys up that mostly come one after the other.
type finder struct {
	keys *Keys
	at   int
}

// find returns the index of key, and whether it was found. Before it searches, it tries the
// key that it found last and the next key.
func (f *finder) find(key []byte) (uint32, bool) {
	for range 2 {
		if f.at < f.keys.Len() && bytes.Equal(f.keys.At(f.at), key) {
			return uint32(f.at), true
		}
		f.at++
	}
	lo, hi := 0, f.keys.Len()
	for lo < hi {
		mid := (lo + hi) / 2
		if bytes.Compare(f.keys.At(mid), key) < 0 {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	f.at = lo
	return uint32(lo), lo < f.keys.Len() && bytes.Equal(f.keys.At(lo), key)
}
