// Package trail sorts users' events by time. A trail is the events of one user, sorted
// by (time, behaviour ID, column ID). The order is total, so the same input gives the
// same bytes.
//
// A Batch holds many trails at once, without pointers. A layout's decoder adds events in
// the order in which it reads their cells. Sort then groups them by user and sorts each
// user's events.
package trail

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
)

// ErrFull is wrapped by errors of a batch that has no room for another value or event.
// The remedy is a batch of fewer users.
var ErrFull = errors.New("too much for one batch of users")

// An Event is one event of one user of a Batch.
type Event struct {
	Time int64  // microseconds since 1970-01-01 UTC
	ID   int64  // column ID
	User uint32 // the user's number, chosen by the owner of the batch; Sort sorts by it
	Refs uint32 // index in Batch.Refs of its first value
	Date int32  // local date, days since 1970-01-01
	Kind uint16 // index in the schema's kinds
}

// A Ref is the place of a value in Batch.Data; the zero Ref is null.
type Ref struct {
	End uint32 // one past its last byte; never 0, because Data begins with an unused byte
	Len uint32
}

// MaxData is the largest number of bytes of values in a Batch, because a Ref has 32 bits.
const MaxData = math.MaxUint32

// A Batch holds the events of many users. An event has as many Refs, one after
// the other, as its kind has fields.
type Batch struct {
	Events []Event
	Refs   []Ref
	Data   []byte

	Most int // bytes of all three; 0 is no limit but MaxData

	// Weighs makes Put add the size of a value to Weight instead of storing its bytes.
	// Used counts neither then, and no Ref has a Value.
	Weighs bool
	Weight int
}

// Reset empties b and keeps its memory.
func (b *Batch) Reset() {
	b.Events, b.Refs = b.Events[:0], b.Refs[:0]
	b.Data = append(b.Data[:0], 0)
	b.Weighs, b.Weight = false, 0
}

// Reserve makes room for the given number of bytes of values, so that Put does not have to
// copy earlier ones.
func (b *Batch) Reserve(bytes int) { b.Data = slices.Grow(b.Data, bytes) }

// Put copies a value into b. It fails with ErrFull if b would exceed its limit of bytes.
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

// Sizes of the elements of a batch, in bytes.
const (
	EventBytes = 32
	RefBytes   = 8
)

// Used returns the number of bytes of b that are in use.
func (b *Batch) Used() int {
	return EventBytes*len(b.Events) + RefBytes*len(b.Refs) + len(b.Data)
}

// Nulls adds null Refs for the fields of one event and returns the index of the first.
// It fails with ErrFull if an Event cannot hold that index, or if b would exceed its limit
// of bytes.
func (b *Batch) Nulls(fields int) (uint32, error) {
	first := len(b.Refs)
	if first > math.MaxUint32 || b.exceeds(EventBytes+RefBytes*fields) {
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

// Size returns the memory that b has allocated, in bytes.
func (b *Batch) Size() int64 {
	return int64(cap(b.Events))*EventBytes + int64(cap(b.Refs))*RefBytes + int64(cap(b.Data))
}

// Compare orders the events of one user: by time, kind and column ID. The kinds of a
// schema are sorted by behaviour ID, so they compare like behaviour IDs.
func Compare(a, b *Event) int {
	if c := cmp.Compare(a.Time, b.Time); c != 0 {
		return c
	}
	if c := cmp.Compare(a.Kind, b.Kind); c != 0 {
		return c
	}
	return cmp.Compare(a.ID, b.ID)
}

// Sort sorts b's events by user, and the events of each user into a trail. users must be
// greater than every User.
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

// byUser is a counting sort, because user numbers are dense. If the table was read in one
// pass, they are sorted already.
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
