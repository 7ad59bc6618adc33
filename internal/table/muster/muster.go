// Package muster writes the roll of a file while the file's records come, in whatever
// order its layout brings them. Where a user's rows lie together they come in the order
// of the roll; else shuffle sorts them first.
package muster

import (
	"context"
	"encoding/binary"
	"errors"
	"io"

	"usertrail/internal/behaviour"
	"usertrail/internal/format/roll"
	"usertrail/internal/table/shuffle"
)

// A Writer takes records and writes their roll. It is used by one goroutine.
type Writer interface {
	// Add adds records of a user on a date, of the behaviour with index kind in the IDs.
	// It keeps no reference to key.
	Add(key []byte, date behaviour.Date, kind int, records int64) error
	// Close writes what is left and says what is in the roll.
	Close() (roll.Meta, error)
	// Abort lets go of what the writer holds. It does no harm after Close.
	Abort()
}

// Ordered writes to w a roll of users who come in order of their keys.
func Ordered(w io.Writer, ids []uint16, span behaviour.Span) Writer {
	return ordered{roll.NewWriter(w, ids, span)}
}

type ordered struct{ *roll.Writer }

// Abort implements Writer.
func (ordered) Abort() {}

// Unordered writes to w a roll of users who come in any order. They are sorted in the
// memory and the directory of cfg. What ends ctx ends the sorting.
func Unordered(ctx context.Context, w io.Writer, ids []uint16, span behaviour.Span, cfg shuffle.Config) (Writer, error) {
	cfg.Parts, cfg.Shards, cfg.Readers = 1, 1, 1
	s, err := shuffle.New(cfg)
	if err != nil {
		return nil, err
	}
	return &unordered{ctx: ctx, sorter: s, shard: s.Shard(0), to: roll.NewWriter(w, ids, span)}, nil
}

// unordered gives the sorter for each call of Add
//
//	row key | seq date, kind | payload records
type unordered struct {
	ctx    context.Context
	sorter *shuffle.Sorter
	shard  *shuffle.Shard
	to     *roll.Writer
	count  []byte
	closed bool
}

// Add implements Writer.
func (u *unordered) Add(key []byte, date behaviour.Date, kind int, records int64) error {
	u.count = binary.AppendUvarint(u.count[:0], uint64(records))
	return u.shard.Add(u.ctx, 0, key, uint64(uint32(date))<<8|uint64(kind), u.count)
}

// Close implements Writer.
func (u *unordered) Close() (roll.Meta, error) {
	err := u.write()
	u.closed = true
	if err = errors.Join(err, u.sorter.Close(u.ctx)); err != nil {
		return roll.Meta{}, err
	}
	return u.to.Close()
}

func (u *unordered) write() error {
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
		if err := u.to.Add(it.Row(), behaviour.Date(int32(it.Seq()>>8)), int(it.Seq()&0xff), int64(n)); err != nil {
			return err
		}
	}
	return it.Err()
}

// Abort implements Writer.
func (u *unordered) Abort() {
	if !u.closed {
		u.closed = true
		_ = u.sorter.Close(u.ctx) // the runs are swept with what else was begun
	}
}
