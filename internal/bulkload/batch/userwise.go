package batch

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"

	"usertrail/internal/behaviour"
	"usertrail/internal/bulkload"
	"usertrail/internal/format/job"
	"usertrail/internal/format/layout"
	"usertrail/internal/table/shuffle"
)

// records iterates over a region's records in order of row and column ID.
type records interface {
	Next() bool
	Row() []byte
	Seq() uint64 // column ID
	Payload() []byte
	Err() error
	// Repeats reports whether the record is a duplicate of another.
	Repeats() bool
}

// orderOf returns a function that iterates over the records of a region. It looks for duplicates only if
// the job names key fields.
func (b *Batch) orderOf(events *lookup) func(*shuffle.Iterator) records {
	t := b.cfg.To
	if !slices.ContainsFunc(t.Unique, job.Unique.Asked) {
		return func(it *shuffle.Iterator) records { return plain{it} }
	}
	return func(it *shuffle.Iterator) records {
		return &userwise{
			it: it, inputs: b.inputs, kinds: t.Schema.Kinds, texts: b.cfg.Job.Format.Texts(), layout: t.Layout, unique: newUnique(t, events), most: b.cfg.UserMemory(),
			group: layout.GroupLen(t.Layout), more: it.Next(),
		}
	}
}

type plain struct{ *shuffle.Iterator }

func (plain) Repeats() bool { return false }

// userwise holds all records of a user whose rows are adjacent, to find duplicates among
// them in the order in which they were delivered, whatever the order of their rows.
type userwise struct {
	it     *shuffle.Iterator
	inputs []*Input
	kinds  []behaviour.Kind // of the table
	texts  texts
	layout layout.Layout
	unique *unique
	most   int64 // bytes of the records of a user
	group  func(row []byte) int
	more   bool // it is at a record that was not taken

	arena []byte
	held  []held // of one user, in order
	at    int
	err   error
}

// held is a record in the arena.
type held struct {
	row, packed [2]int // from and to
	seq         uint64
	input       int
	repeats     bool
}

// Next implements records.
func (u *userwise) Next() bool {
	if u.at++; u.at < len(u.held) {
		return true
	}
	u.arena, u.held, u.at = u.arena[:0], u.held[:0], 0
	if !u.more || u.err != nil {
		return false
	}
	u.take()
	if u.err == nil {
		u.err = u.judge()
	}
	return u.err == nil
}

// take copies the records of the current user into held.
func (u *userwise) take() {
	n := u.group(u.it.Row())
	for u.more && (len(u.held) == 0 || u.group(u.it.Row()) == n && bytes.HasPrefix(u.it.Row(), u.arena[:n])) {
		if u.size() > u.most {
			u.err = u.tooMany()
			return
		}
		input, err := inputOf(u.it.Payload())
		if err != nil {
			u.err = err
			return
		}
		u.held = append(u.held, held{row: u.keep(u.it.Row()), packed: u.keep(u.it.Payload()), seq: u.it.Seq(), input: input})
		u.more = u.it.Next()
	}
	u.err = u.it.Err()
}

// size returns the approximate number of bytes of the user's records and their keys.
func (u *userwise) size() int64 { return heldSize(len(u.arena), len(u.held)) }

func heldSize(bytes, records int) int64 { return int64(2*bytes + 128*records) }

// tooMany returns the error for a user whose records cannot be compared with each other. It
// counts the records that were not taken.
func (u *userwise) tooMany() error {
	id, err := u.layout.AppendUser(nil, u.layout.UserKey(u.it.Row()))
	if err != nil {
		return err
	}
	n := u.group(u.it.Row())
	key := u.arena[:n:n]
	records, size := len(u.held), u.size()
	for more := true; more && u.group(u.it.Row()) == n && bytes.HasPrefix(u.it.Row(), key); more = u.it.Next() {
		records++
		size += heldSize(len(u.it.Row())+len(u.it.Payload()), 1)
	}
	if err := u.it.Err(); err != nil {
		return err
	}
	need := size * bulkload.UserShare
	return fmt.Errorf("%w: user %q: %d records are to be compared by the key fields of unique, which takes more than an eighth of --memory: raise it to %dMiB, or load fewer days at once",
		bulkload.ErrRequest, id, records, (need+1<<20-1)>>20)
}

func (u *userwise) keep(b []byte) [2]int {
	from := len(u.arena)
	u.arena = append(u.arena, b...)
	return [2]int{from, len(u.arena)}
}

func (u *userwise) bytes(x [2]int) []byte { return u.arena[x[0]:x[1]] }

// judge marks the duplicates. A batch's inputs are in order of date and path, and a file's
// column IDs in order of its records.
func (u *userwise) judge() error {
	delivered := make([]*held, len(u.held))
	for i := range u.held {
		delivered[i] = &u.held[i]
	}
	slices.SortFunc(delivered, func(a, b *held) int { return cmp.Or(cmp.Compare(a.input, b.input), cmp.Compare(a.seq, b.seq)) })
	var r behaviour.Record
	for _, h := range delivered {
		index, about, err := unpack(u.bytes(h.packed), &r)
		if err != nil {
			return err
		}
		r.ID = int64(h.seq)
		if in := u.inputs[index]; in.dropped() || in.brought(r.ID, r.Date, u.kinds[r.Kind].Name, u.texts.of(about.text), about.marks) {
			continue
		}
		if h.repeats, err = u.unique.repeats(u.bytes(h.row), &r); err != nil {
			return err
		}
	}
	return nil
}

// Row implements records.
func (u *userwise) Row() []byte { return u.bytes(u.held[u.at].row) }

// Seq implements records.
func (u *userwise) Seq() uint64 { return u.held[u.at].seq }

// Payload implements records.
func (u *userwise) Payload() []byte { return u.bytes(u.held[u.at].packed) }

// Repeats implements records.
func (u *userwise) Repeats() bool { return u.held[u.at].repeats }

// Err implements records.
func (u *userwise) Err() error { return u.err }
