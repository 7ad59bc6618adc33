package userlist

// blockBits is the binary logarithm of the largest block.
const blockBits = 20

// maxBlocks is the number of blocks that a place can name. They hold 4 GiB.
const maxBlocks = 1 << (32 - blockBits)

// keys holds keys in blocks. More keys need new blocks, and no key moves: a slice that grows is in memory twice.
type keys struct {
	blocks [][]byte
	held   int64 // capacity of all blocks
}

// A place is the place of a key: block<<blockBits | offset in the block, and the length of the key.
type place struct{ at, len uint32 }

// placeBytes is the size of a place.
const placeBytes = 8

// block returns the index of the block.
func (p place) block() int { return int(p.at >> blockBits) }

// add adds a key, and returns its place. The first block has 4 KiB, and each has twice the size of the one before.
func (k *keys) add(key []byte) place {
	n := len(k.blocks)
	if n == 0 || len(k.blocks[n-1])+len(key) > cap(k.blocks[n-1]) {
		size := 1 << min(blockBits, 12+n)
		k.blocks = append(k.blocks, make([]byte, 0, size))
		k.held += int64(size)
		n++
	}
	b := &k.blocks[n-1]
	p := place{uint32(n-1)<<blockBits | uint32(len(*b)), uint32(len(key))}
	*b = append(*b, key...)
	return p
}

// full reports whether the next block might have no place.
func (k *keys) full() bool { return len(k.blocks) >= maxBlocks }

// key returns the key at a place. The caller must not change it.
func (k *keys) key(p place) []byte {
	from := p.at & (1<<blockBits - 1)
	return k.blocks[p.block()][from : from+p.len : from+p.len]
}
