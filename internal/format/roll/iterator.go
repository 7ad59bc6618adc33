package roll

import (
	"bytes"

	"usertrail/internal/activity"
	"usertrail/internal/run/invariants"
)

// An Iterator iterates over the users of a roll in order, from the first user or from the
// user that SeekGE finds. It reads only the blocks that it needs. When it moves to the next
// block, it also reads some blocks ahead. While it moves forward, it reads each block once.
// Only one goroutine may use it.
type Iterator struct {
	r     *Reader
	err   error
	entry Entry

	at    int // the loaded block, -1 before the first
	block block
	valid bool // entry is a user of the block

	// If floor is set, every user before entry sorts before floor. A search for a user from
	// floor to entry therefore ends at entry.
	floor    []byte
	hasFloor bool

	raw    []byte
	window window
}

// Iterator returns an Iterator before the first user.
func (r *Reader) Iterator() *Iterator {
	it := &Iterator{r: r, at: -1}
	it.block.span = r.meta.Span
	it.block.ids, it.block.all = len(r.meta.IDs), activity.First(min(len(r.meta.IDs), mostInWord)).Word()
	return it
}

// Entry returns the current user, valid until the next call of Next or SeekGE.
func (it *Iterator) Entry() *Entry { return &it.entry }

// Err returns the error for which Next or SeekGE returned false, or nil if no user was left.
func (it *Iterator) Err() error { return it.err }

// Next moves to the next user.
func (it *Iterator) Next() bool {
	it.spoilEntry()
	it.valid, it.hasFloor = false, false
	if it.err != nil {
		return false
	}
	for it.block.left == 0 {
		if !it.load(it.at + 1) {
			return false
		}
	}
	return it.done(it.block.next(&it.entry))
}

// SeekGE moves to the first user that does not sort before user, forward or backward. Seeking
// users in order is cheapest.
func (it *Iterator) SeekGE(user []byte) bool {
	if it.err != nil {
		return false
	}
	if it.stays(user) {
		return true
	}
	it.spoilEntry()
	if !it.forward(user) && !it.load(it.r.blockOf(user)) {
		it.valid = false
		return false
	}
	found, why := it.block.seek(user, &it.entry)
	if why != "" || found {
		it.setFloor(user)
		return it.done(why)
	}
	if !it.Next() { // move to the first user of the next block
		return false
	}
	it.setFloor(user)
	return true
}

// spoilEntry overwrites the entry if invariants are on, so that tests notice a caller that kept
// it.
func (it *Iterator) spoilEntry() {
	if !invariants.Enabled || !it.valid {
		return
	}
	kept := it.entry.User
	it.block.user = bytes.Clone(kept)
	it.entry.User = it.block.user
	invariants.Mangle(kept)
	clear(it.entry.Days)
	clear(it.entry.sets)
}

// stays reports whether a search for user ends at the current user.
func (it *Iterator) stays(user []byte) bool {
	if !it.valid {
		return false
	}
	c := bytes.Compare(user, it.entry.User)
	return c == 0 || c < 0 && it.hasFloor && bytes.Compare(it.floor, user) <= 0
}

// forward reports whether user is in the range of the loaded block and after the
// Iterator's position.
func (it *Iterator) forward(user []byte) bool {
	return it.valid && it.at == it.r.blockOf(user) && bytes.Compare(it.entry.User, user) < 0
}

func (it *Iterator) setFloor(user []byte) {
	it.floor, it.hasFloor = append(it.floor[:0], user...), true
}

// load moves before the first user of block i. It returns false if there is no such block, or
// on an error.
func (it *Iterator) load(i int) bool {
	it.valid = false
	if i >= len(it.r.blocks) {
		return false
	}
	if i != it.at {
		on := it.at >= 0 && i == it.at+1
		it.at = -1
		stored, err := it.window.block(it.r, i, on)
		if err == nil {
			it.raw, err = it.r.decode(i, stored, it.raw)
		}
		if it.err = err; err != nil {
			return false
		}
		it.at = i
	}
	if why := it.block.begin(it.raw, it.r.blocks[i].users); why != "" {
		it.err = it.r.corrupt(i, "%s", why)
		return false
	}
	return true
}

// done ends a step. The Iterator is at a user, or why is the reason why it is not.
func (it *Iterator) done(why string) bool {
	if why != "" {
		it.err = it.r.corrupt(it.at, "%s", why)
	}
	it.valid = why == ""
	return it.valid
}
