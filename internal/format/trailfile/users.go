package trailfile

import (
	"bytes"
	"fmt"

	"github.com/parquet-go/parquet-go/bloom"
)

// bloomBits is the size of the filter per user. About one in a hundred lookups of an absent user is wrong.
const bloomBits = 10

// users is the column user_id. Rows are in order of user, so an entry of its dictionary is a
// user that differs from the previous one. It needs no hash, and it is the right place to
// check the order.
type users struct {
	text
	first, last []byte // users of the first and last row of the file so far
	time        int64  // of the last row
	started     bool
	hashes      []uint64 // of the users in the group, for the Bloom filter
}

// add adds the users of the rows from up to to. If there are times, they must be in order.
// row is the number of the batch's first row, for errors.
func (u *users) add(user *Bytes, times []int64, from, to int, row int64) error {
	for i := from; i < to; i++ {
		s := user.At(i)
		if u.started && bytes.Equal(s, u.last) {
			if times == nil || times[i] < u.time {
				return outOfOrder(row+int64(i), s, u.last, times, i, u.time)
			}
			u.time = times[i]
			if u.again() {
				continue
			}
		} else if u.started && bytes.Compare(s, u.last) < 0 {
			return outOfOrder(row+int64(i), s, u.last, times, i, u.time)
		}
		if err := u.next(s); err != nil {
			return fmt.Errorf("row %d: %w", row+int64(i), err)
		}
		if times != nil {
			u.time = times[i]
		}
	}
	return nil
}

// again adds the user of the previous row, if that row is in this group.
func (u *users) again() bool {
	if u.len() == 0 {
		return false
	}
	if u.plain {
		u.values.append(u.last)
	} else {
		u.codes = append(u.codes, int32(u.entries.len()-1))
	}
	u.bytes += len(u.last)
	return true
}

// next adds the first row of a user in this group.
func (u *users) next(s []byte) error {
	if !u.push(s) {
		return notText(UserColumn, s)
	}
	if !u.started {
		u.first = append(u.first[:0], s...)
	}
	u.last, u.started = append(u.last[:0], s...), true
	u.hashes = append(u.hashes, bloom.XXH64{}.Sum64(s))
	return nil
}

// filter returns the Bloom filter of the group's users, in the memory of f if it fits.
func (u *users) filter(f bloom.SplitBlockFilter) bloom.SplitBlockFilter {
	n := max(1, bloom.NumSplitBlocksOf(int64(len(u.hashes)), bloomBits))
	f = grow(f[:0], n)
	f.Reset()
	f.InsertBulk(u.hashes)
	return f
}

func (u *users) reset() {
	u.text.reset()
	u.hashes = u.hashes[:0]
}

// restart removes all state of the file.
func (u *users) restart() {
	u.reset()
	u.text.restart()
	u.started = false
	u.first, u.last = u.first[:0], u.last[:0]
}
