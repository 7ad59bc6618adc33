// Package trail puts users' behaviours in order of time. A trail is one user's
// behaviours in order of (time, behaviour ID, column ID): a total order, so the
// same input gives the same bytes.
//
// Trails are held many at a time, in a Batch without pointers: a layout's
// decoder adds events as it meets their cells, in any order; Sort then brings
// users side by side and each user's events in order.
package trail

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
)

// ErrFull is wrapped where a batch cannot take a value or an event more. A batch
// of fewer users can.
var ErrFull = errors.New("too much for one batch of users")

// An Event is one behaviour of one user of a Batch.
type Event struct {
	Time int64  // microseconds since 1970-01-01 UTC
	ID   int64  // column ID
	User uint32 // what the batch's owner calls the user; ascending users come in order
	Refs uint32 // index in Batch.Refs of its first value
	Date int32  // local date, days since 1970-01-01
	Kind uint8  // index in the schema's kinds
}

// A Ref is where a value lies in Batch.Data; the zero Ref is null.
type Ref struct {
	End uint32 // one past its last byte; never 0, since Data begins with a byte of its own
	Len uint32
}

// MaxData is how many bytes of values a Batch can hold: a Ref has 32 bits.
const MaxData = math.MaxUint32

// A Batch holds the events of many users. An event has as many Refs, one after
// the other, as its kind has fields.
type Batch struct {
	Events []Event
	Refs   []Ref
	Data   []byte

	Most int // bytes of all three; 0 is no limit but MaxData

	// Weighs makes Put count a value's bytes in Weight instead of keeping them. Neither
	// are part of Used then, and no Ref has a Value.
	Weighs bool
	Weight int
}

// Reset empties b and keeps its memory.
func (b *Batch) Reset() {
	b.Events, b.Refs = b.Events[:0], b.Refs[:0]
	b.Data = append(b.Data[:0], 0)
	b.Weighs, b.Weight = false, 0
}

// Reserve makes room for values of so many bytes, so that Put does not copy those it has
// taken before.
func (b *Batch) Reserve(bytes int) { b.Data = slices.Grow(b.Data, bytes) }

// Put copies a value into b. It fails with ErrFull where b would hold more bytes
// than it may.
func (b *Batch) Put(v []byte) (Ref, error) {
	if b.Weighs {
		b.Weight += len(v)
		return Ref{End: uint32(len(v)) + 1, Len: uint32(len(v))}, nil
	}
	if len(b.Data) == 0 {
		b.Data = append(b.Data, 0)
	}
	if len(v) > MaxData-len(b.Data) || b.exceeds(len(v)) {
		return Ref{}, fmt.Errorf("%w: a value of %d bytes after %d events of %d bytes", ErrFull, len(v), len(b.Events), b.Used())
	}
	b.Data = append(b.Data, v...)
	return Ref{End: uint32(len(b.Data)), Len: uint32(len(v))}, nil
}

func (b *Batch) exceeds(more int) bool { return b.Most > 0 && b.Used()+more > b.Most }

// Sizes of what a batch is made of, in bytes.
const (
	eventBytes = 32
	refBytes   = 8
)

// Used is how many bytes of b are in use.
func (b *Batch) Used() int {
	return eventBytes*len(b.Events) + refBytes*len(b.Refs) + len(b.Data)
}

// Nulls adds Refs of an event whose kind has so many fields, all null, and returns
// the index of the first. It fails with ErrFull where an Event cannot hold that index,
// and where b would hold more bytes than it may.
func (b *Batch) Nulls(fields int) (uint32, error) {
	first := len(b.Refs)
	if first > math.MaxUint32 || b.exceeds(eventBytes+refBytes*fields) {
		return 0, fmt.Errorf("%w: one more event after %d of %d bytes", ErrFull, len(b.Events), b.Used())
	}
	b.Refs = slices.Grow(b.Refs, fields)[:first+fields]
	clear(b.Refs[first:])
	return uint32(first), nil
}

// Value returns the bytes of r, valid until Reset, or nil if r is null.
func (b *Batch) Value(r Ref) []byte {
	if r.End == 0 {
		return nil
	}
	return b.Data[r.End-r.Len : r.End : r.End]
}

// Size is the memory that b holds, in bytes.
func (b *Batch) Size() int64 {
	return int64(cap(b.Events))*eventBytes + int64(cap(b.Refs))*refBytes + int64(cap(b.Data))
}

// Compare is the order of a trail. Kinds of a schema stand in order of behaviour
// ID, so they compare as the IDs do.
func Compare(a, b *Event) int {
	if c := cmp.Compare(a.Time, b.Time); c != 0 {
		return c
	}
	if c := cmp.Compare(a.Kind, b.Kind); c != 0 {
		return c
	}
	return cmp.Compare(a.ID, b.ID)
}

// Sort orders b's events by user, and each user's into a trail. users is one
// more than the largest User.
func (b *Batch) Sort(users int) {
	b.Events = byUser(b.Events, users)
	for i := 0; i < len(b.Events); {
		j := i + 1
		for j < len(b.Events) && b.Events[j].User == b.Events[i].User {
			j++
		}
		one := b.Events[i:j]
		less := func(a, b Event) int { return Compare(&a, &b) }
		if !slices.IsSortedFunc(one, less) {
			slices.SortFunc(one, less)
		}
		i = j
	}
}

// byUser is a counting sort: users are dense, and already in order where their
// table was read in one pass.
func byUser(events []Event, users int) []Event {
	if slices.IsSortedFunc(events, func(a, b Event) int { return cmp.Compare(a.User, b.User) }) {
		return events
	}
	at := make([]int, users+1)
	for i := range events {
		at[events[i].User+1]++
	}
	for i := 1; i < len(at); i++ {
		at[i] += at[i-1]
	}
	out := make([]Event, len(events))
	for i := range events {
		u := events[i].User
		out[at[u]] = events[i]
		at[u]++
	}
	return out
}
