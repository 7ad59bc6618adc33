package roll

import (
	"bytes"
	"math"

	"usertrail/internal/activity"
	"usertrail/internal/behaviour"
)

// A block iterates over the users of a raw block. It checks everything that it reads:
// every method returns the reason if the block is invalid, and "" if not.
type block struct {
	span behaviour.Span
	ids  int    // number of behaviour IDs of the file
	all  uint64 // the valid kinds, if ids is at most mostInWord

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
	if b.ids > mostInWord {
		return b.lists(e)
	}
	if b.span.From == b.span.To {
		kinds, ok := b.days.uvarint()
		if !ok || kinds == 0 || kinds&^b.all != 0 {
			return otherKinds
		}
		e.Days = append(e.Days[:0], Day{b.span.From, kinds})
		return ""
	}
	return b.dates(e)
}

// Reasons why the days of a user are not valid.
const (
	otherKinds = "kinds that are not in the footer"
	otherDate  = "a date that is not in the footer's span"
	manyDays   = "more days than in the footer"
)

// dates reads the days of the user in a file of more dates than one.
func (b *block) dates(e *Entry) string {
	n, ok := b.days.uvarint()
	if !ok || n >= uint64(b.span.Days()) {
		return manyDays
	}
	e.Days = e.Days[:0]
	date := b.span.From
	for range n + 1 {
		after, ok1 := b.days.uvarint()
		kinds, ok2 := b.days.uvarint()
		if !ok1 || !ok2 || after > uint64(b.span.To-date) || date > b.span.To {
			return otherDate
		}
		if kinds == 0 || kinds&^b.all != 0 {
			return otherKinds
		}
		date += behaviour.Date(after)
		e.Days = append(e.Days, Day{date, kinds})
		date++
	}
	return ""
}

// lists reads the days of the user in a file in which the behaviours of a day are a list.
func (b *block) lists(e *Entry) string {
	e.Days, e.sets = e.Days[:0], e.sets[:0]
	n, after, date := uint64(0), uint64(0), b.span.From
	ok := true
	if b.span.From != b.span.To {
		if n, ok = b.days.uvarint(); !ok || n >= uint64(b.span.Days()) {
			return manyDays
		}
	}
	for range n + 1 {
		if b.span.From != b.span.To {
			if after, ok = b.days.uvarint(); !ok || after > uint64(b.span.To-date) || date > b.span.To {
				return otherDate
			}
		}
		kinds, ok := b.list()
		if !ok {
			return otherKinds
		}
		date += behaviour.Date(after)
		e.Days, e.sets = append(e.Days, Day{Date: date}), append(e.sets, kinds)
		date++
	}
	return ""
}

// list reads the list of behaviours of a day.
func (b *block) list() (out activity.Set, ok bool) {
	n, ok := b.days.uvarint()
	if !ok || n >= uint64(b.ids) {
		return out, false
	}
	next := 0
	for range n + 1 {
		after, ok := b.days.uvarint()
		if !ok || after >= uint64(b.ids-next) {
			return out, false
		}
		out.Add(next + int(after))
		next += int(after) + 1
	}
	return out, true
}

// skipKinds skips the behaviours of n days. ofDate is the number of values before the behaviours
// of each day: 1 if the day has a date.
func (b *block) skipKinds(n int, ofDate int) bool {
	if b.ids <= mostInWord {
		return b.days.skip(n * (1 + ofDate))
	}
	for range n {
		if !b.days.skip(ofDate) {
			return false
		}
		kinds, ok := b.days.uvarint()
		if !ok || kinds >= uint64(b.ids) || !b.days.skip(int(kinds)+1) {
			return false
		}
	}
	return true
}

// skip skips the records and days of the users that seek skipped.
func (b *block) skip() bool {
	n := b.skipped
	b.skipped = 0
	if !b.records.skip(n) {
		return false
	}
	if b.span.From == b.span.To {
		return b.skipKinds(n, 0)
	}
	for range n {
		days, ok := b.days.uvarint()
		if !ok || days >= uint64(b.span.Days()) || !b.skipKinds(int(days)+1, 1) {
			return false
		}
	}
	return true
}
