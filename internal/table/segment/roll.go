package segment

import (
	"context"
	"encoding/binary"
	"errors"
	"io"

	"usertrail/internal/behaviour"
	"usertrail/internal/format/roll"
	"usertrail/internal/table/shuffle"
)

// A rollWriter writes the roll of the records that are added. One goroutine uses it.
type rollWriter interface {
	// Add adds records of a user on a date, of the behaviour with index kind in the IDs.
	// It keeps no reference to key.
	Add(key []byte, date behaviour.Date, kind int, records int64) error
	// Close writes the rest of the roll and describes the roll.
	Close() (roll.Meta, error)
	// Abort releases memory and files. It does nothing after Close.
	Abort()
}

// An orderedRoll writes a roll of users that are added in order of their keys.
type orderedRoll struct{ *roll.Writer }

// Abort implements rollWriter.
func (orderedRoll) Abort() {}

// An unorderedRoll sorts users that are added in any order, and then writes their roll. For
// each call of Add, the sorter gets
//
//	row key | seq date, kind | payload records
type unorderedRoll struct {
	ctx    context.Context
	sorter *shuffle.Sorter
	shard  *shuffle.Shard
	to     *roll.Writer
	count  []byte
	closed bool
}

// newUnorderedRoll returns a writer that sorts in the memory and the directory of cfg. The
// sorting stops when ctx ends.
func newUnorderedRoll(ctx context.Context, w io.Writer, ids []uint16, span behaviour.Span, cfg shuffle.Config) (*unorderedRoll, error) {
	cfg.Parts, cfg.Shards, cfg.Readers = 1, 1, 1
	s, err := shuffle.New(cfg)
	if err != nil {
		return nil, err
	}
	return &unorderedRoll{ctx: ctx, sorter: s, shard: s.Shard(0), to: roll.NewWriter(w, ids, span)}, nil
}

// kindBits is the number of bits of a kind in a DaySeq.
const kindBits = 16

// DaySeq returns a number that sorts by date and kind, for a sorter's seq.
func DaySeq(date behaviour.Date, kind int) uint64 {
	return uint64(uint32(date))<<kindBits | uint64(kind)
}

// ParseDaySeq is the inverse of DaySeq.
func ParseDaySeq(seq uint64) (behaviour.Date, int) {
	return behaviour.Date(int32(seq >> kindBits)), int(seq & (1<<kindBits - 1))
}

// Add implements rollWriter.
func (u *unorderedRoll) Add(key []byte, date behaviour.Date, kind int, records int64) error {
	u.count = binary.AppendUvarint(u.count[:0], uint64(records))
	return u.shard.Add(u.ctx, 0, key, DaySeq(date, kind), u.count)
}

// Close implements rollWriter.
func (u *unorderedRoll) Close() (roll.Meta, error) {
	err := u.write()
	u.closed = true
	if err = errors.Join(err, u.sorter.Close(u.ctx)); err != nil {
		return roll.Meta{}, err
	}
	return u.to.Close()
}

// write adds the sorted users to the roll.
func (u *unorderedRoll) write() error {
	if err := u.sorter.Finish(u.ctx); err != nil {
		return err
	}
	it, err := u.sorter.Part(u.ctx, 0)
	if err != nil {
		return err
	}
	defer it.Close()
	for it.Next() {
		n, _ := binary.Uvarint(it.Payload())
		date, kind := ParseDaySeq(it.Seq())
		if err := u.to.Add(it.Row(), date, kind, int64(n)); err != nil {
			return err
		}
	}
	return it.Err()
}

// Abort implements rollWriter.
func (u *unorderedRoll) Abort() {
	if !u.closed {
		u.closed = true
		_ = u.sorter.Close(u.ctx) // the program sweeps files that could not be removed
	}
}
