package shuffle

// An arena holds records in slabs of one size, so that nothing is copied as it
// grows and the garbage collector finds no pointers in it. A record larger than
// a slab has a slab of its own.
type arena struct {
	size  int      // of a slab
	slabs [][]byte // with records in them
	spare [][]byte // to be used next
	cur   int      // slab that is being filled
	used  int      // bytes used of it
	held  int64    // bytes of slabs and spare
	live  int64    // bytes of slabs
}

// A position in an arena is the number of a slab and an offset in it.
const (
	posBits  = 40
	slabBits = 23
	maxSlab  = 1 << slabBits
	maxSlabs = 1 << (posBits - slabBits)
)

// newArena returns an arena for a share of the memory. A slab has at most a sixteenth of share,
// because on average half of a slab is not used. A slab has at least 256 bytes.
func newArena(share int64) arena {
	return arena{size: int(min(maxSlab, max(share/16, 256)))}
}

// alloc returns n bytes and their position. It returns false if the arena would hold more than
// limit bytes or maxSlabs slabs. With force the arena may hold more than limit bytes, and alloc only
// releases spare slabs beyond limit.
func (a *arena) alloc(n int, limit int64, force bool) ([]byte, uint64, bool) {
	if len(a.slabs) > 0 && n <= a.size-a.used && len(a.slabs[a.cur]) == a.size {
		return a.take(n)
	}
	if len(a.slabs) == maxSlabs {
		return nil, 0, false
	}
	size := max(n, a.size)
	reuse := size == a.size && len(a.spare) > 0
	if !reuse {
		a.trim(limit - int64(size))
		if !force && a.held+int64(size) > limit {
			return nil, 0, false
		}
	}
	a.slabs = append(a.slabs, a.slab(size, reuse))
	a.live += int64(size)
	if size > a.size {
		pos := uint64(len(a.slabs)-1) << slabBits
		return a.slabs[len(a.slabs)-1], pos, true
	}
	a.cur, a.used = len(a.slabs)-1, 0
	return a.take(n)
}

func (a *arena) slab(size int, reuse bool) []byte {
	if reuse {
		b := a.spare[len(a.spare)-1]
		a.spare = a.spare[:len(a.spare)-1]
		return b
	}
	a.held += int64(size)
	return make([]byte, size)
}

// take returns the next n bytes of the slab that is being filled.
func (a *arena) take(n int) ([]byte, uint64, bool) {
	b := a.slabs[a.cur][a.used : a.used+n]
	pos := uint64(a.cur)<<slabBits | uint64(a.used)
	a.used += n
	return b, pos, true
}

// at returns the bytes from a position to the end of its slab.
func (a *arena) at(ref uint64) []byte {
	return a.slabs[ref>>slabBits&(maxSlabs-1)][ref&(maxSlab-1):]
}

// trim releases spare slabs until the arena holds at most limit bytes, or no slab is spare.
func (a *arena) trim(limit int64) {
	for len(a.spare) > 0 && a.held > limit {
		n := len(a.spare) - 1
		a.spare[n] = nil
		a.spare = a.spare[:n]
		a.held -= int64(a.size)
	}
}

// clear forgets all records and keeps the slabs of the usual size.
func (a *arena) clear() {
	for i, b := range a.slabs {
		if len(b) == a.size {
			a.spare = append(a.spare, b)
		} else {
			a.held -= int64(len(b))
		}
		a.slabs[i] = nil
	}
	a.slabs = a.slabs[:0]
	a.cur, a.used, a.live = 0, 0, 0
}
