package roll

import (
	"bytes"
	"math"

	"usertrail/internal/behaviour"
)

// A block iterates over the users of a raw block. It checks everything that it reads:
// every method returns the reason if the block is invalid, and "" if not.
type block struct {
	span behaviour.Span
	all  uint64 // the valid kinds

	left    int // users not yet read
	skipped int // users whose records and days have not been read yet
	user    []byte

	shared, lengths, rest, records, days stream
}

// begin moves to the first user of raw.
func (b *block) begin(raw []byte, users int64) string {
	s := stream(raw)
	n := s.number(uint64(len(raw)))
	var sizes [4]uint64
	for i := range sizes {
		sizes[i] = s.number(uint64(len(raw)))
	}
	b.shared, b.lengths = s.bytes(sizes[0]), s.bytes(sizes[1])
	b.rest, b.records = s.bytes(sizes[2]), s.bytes(sizes[3])
	b.days = s
	if s == nil {
		return "columns longer than the block"
	}
	if int64(n) != users {
		return "not as many users as in the index"
	}
	b.left, b.skipped, b.user = int(n), 0, b.user[:0]
	return ""
}

// head reads the lengths and the rest of the next user.
func (b *block) head() (shared int, rest []byte, why string) {
	s, ok1 := b.shared.uvarint()
	n, ok2 := b.lengths.uvarint()
	if !ok1 || !ok2 || s > MaxUser || n > MaxUser || n > uint64(len(b.rest)) || n == 0 {
		return 0, nil, "a user that is cut short"
	}
	rest = b.rest[:n]
	b.rest = b.rest[n:]
	b.left--
	return int(s), rest, ""
}

// next reads the next user. There must be one.
func (b *block) next(e *Entry) string {
	shared, rest, why := b.head()
	if why != "" {
		return why
	}
	if !follows(b.user, shared, rest) {
		return "users out of order"
	}
	b.user = append(b.user[:shared], rest...)
	return b.value(e)
}

// seek moves to the first user that is not less than target, and reports whether there is
// one. The current user must be less than target.
//
// Users on the way are not assembled. While the last user shares match bytes with target, a
// user that shares more bytes with its predecessor is less than target too, and a user that
// shares fewer is greater.
func (b *block) seek(target []byte, e *Entry) (found bool, why string) {
	match := common(b.user, target)
	for b.left > 0 {
		shared, rest, why := b.head()
		if why != "" {
			return false, why
		}
		if shared > match {
			b.skipped++
			continue
		}
		if shared == match && bytes.Compare(rest, target[match:]) < 0 {
			match += common(rest, target[match:])
			b.skipped++
			continue
		}
		b.user = append(append(b.user[:0], target[:shared]...), rest...)
		return true, b.value(e)
	}
	return false, ""
}

// value reads the records and days of the user.
func (b *block) value(e *Entry) string {
	if b.skipped > 0 && !b.skip() {
		return "records or days are missing"
	}
	n, ok := b.records.uvarint()
	if !ok || n == 0 || n > math.MaxInt64 {
		return "a number of records that is none"
	}
	e.User, e.Records = b.user, int64(n)
	if b.span.From == b.span.To {
		kinds, ok := b.days.uvarint()
		if !ok || kinds == 0 || kinds&^b.all != 0 {
			return "kinds that are not in the footer"
		}
		e.Days = append(e.Days[:0], Day{b.span.From, kinds})
		return ""
	}
	return b.dates(e)
}

// dates reads the days of the user in a file of more dates than one.
func (b *block) dates(e *Entry) string {
	n, ok := b.days.uvarint()
	if !ok || n >= uint64(b.span.Days()) {
		return "more days than in the footer"
	}
	e.Days = e.Days[:0]
	date := b.span.From
	for range n + 1 {
		after, ok1 := b.days.uvarint()
		kinds, ok2 := b.days.uvarint()
		if !ok1 || !ok2 || after > uint64(b.span.To-date) || date > b.span.To {
			return "a date that is not in the footer's span"
		}
		if kinds == 0 || kinds&^b.all != 0 {
			return "kinds that are not in the footer"
		}
		date += behaviour.Date(after)
		e.Days = append(e.Days, Day{date, kinds})
		date++
	}
	return ""
}

// skip skips the records and days of the users that seek skipped.
func (b *block) skip() bool {
	n := b.skipped
	b.skipped = 0
	if !b.records.skip(n) {
		return false
	}
	if b.span.From == b.span.To {
		return b.days.skip(n)
	}
	for range n {
		days, ok := b.days.uvarint()
		if !ok || days >= uint64(b.span.Days()) || !b.days.skip(2*int(days+1)) {
			return false
		}
	}
	return true
}
