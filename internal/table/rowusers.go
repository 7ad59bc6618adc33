package table

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"slices"

	"usertrail/internal/activity"
	"usertrail/internal/behaviour"
	"usertrail/internal/format/layout"
	"usertrail/internal/run/pipe"
	"usertrail/internal/split"
)

// Unrolled returns t without its rolls: its Users read the rows.
func Unrolled(t Table) Table { return unrolled{t} }

type unrolled struct{ Table }

// Unwrap implements Wrapper.
func (u unrolled) Unwrap() Table { return u.Table }

// Info implements Table.
func (u unrolled) Info() Info {
	info := u.Table.Info()
	info.Sealed = false
	return info
}

// Users implements Table.
func (u unrolled) Users(ctx context.Context, r split.Region, span behaviour.Span) (Users, error) {
	return RowUsers(ctx, u.Table, r, span), nil
}

// RowUsers returns the users of a region from its rows. SeekGE reads nothing: the user may
// have rows, of every behaviour. Next reads the rows, at most one cell of each.
//
// A user belongs to the region that has its key, even if the region ends between its rows.
func RowUsers(ctx context.Context, t Table, r split.Region, span behaviour.Span) Users {
	ctx, cancel := context.WithCancelCause(ctx)
	return &rowUsers{ctx: ctx, cancel: cancel, t: t, region: r, every: NewAnyUser(r, t.Info().Schema), span: span}
}

type rowUsers struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	t      Table
	region split.Region
	every  AnyUser
	span   behaviour.Span

	user  User
	found chan []User // nil until Next is asked
	ended error       // why found was closed; valid when found is closed
	batch []User
	err   error
}

var errClosed = errors.New("the walk over users is closed")

// SeekGE implements Users.
func (u *rowUsers) SeekGE(key []byte) bool { return u.err == nil && u.every.SeekGE(key, &u.user) }

// Next implements Users.
func (u *rowUsers) Next() bool {
	if u.found == nil {
		u.found = make(chan []User, 4)
		go u.walk(bytes.Clone(u.user.Key))
	}
	for {
		for len(u.batch) > 0 {
			next := u.batch[0]
			u.batch = u.batch[1:]
			if bytes.Compare(next.Key, u.user.Key) > 0 { // not before a user that was sought
				u.user = next
				return true
			}
		}
		batch, ok := <-u.found
		if !ok {
			u.err = u.ended
			return false
		}
		u.batch = batch
	}
}

// User implements Users.
func (u *rowUsers) User() User { return u.user }

// Err implements Users.
func (u *rowUsers) Err() error { return u.err }

// Close implements Users.
func (u *rowUsers) Close() error {
	u.cancel(errClosed)
	if u.found != nil {
		for range u.found { // until the walk has ended
		}
	}
	return nil
}

// walk sends the users of the region from a key on. It ends when the context ends.
func (u *rowUsers) walk(from []byte) {
	defer close(u.found)
	w := &rowWalk{ctx: u.ctx, found: u.found}
	err := u.each(from, w)
	if err == nil {
		err = w.end()
	}
	if err == nil {
		err = w.send()
	}
	u.ended = err
}

// each passes the users of the region from a key on to w.
func (u *rowUsers) each(from []byte, w *rowWalk) error {
	info := u.t.Info()
	reads, err := info.Layout.Reads(info.Schema, layout.Everyone(info.Schema, u.span))
	if err != nil {
		return err
	}
	if !info.Layout.Traits().Together {
		return u.scattered(from, reads, w)
	}
	within := wholeUsers(info.Layout, reads, u.region)
	if bytes.Compare(from, within.Start) > 0 {
		within.Start = from
	}
	return u.rows(within, reads, func(key []byte, kind int) error {
		if bytes.Compare(key, u.region.Start) < 0 {
			return nil // of the region before
		}
		return w.add(key, kind)
	})
}

// rows calls emit with the users and kinds in a range of rows.
func (u *rowUsers) rows(within split.Region, reads *layout.Reads, emit func(key []byte, kind int) error) error {
	q := Query{Ranges: slices.Values([]split.Region{within}), Span: u.span, Hints: Hints{Bounds: within, Fuzzy: reads.Fuzzy, Once: true}}
	return Existing(u.ctx, u.t, q, func(key []byte, _ behaviour.Date, kind int) error { return emit(key, kind) })
}

// scattered passes users whose rows are not adjacent to w, in key order. Each pass over the
// rows collects as many users as fit into memory.
func (u *rowUsers) scattered(from []byte, reads *layout.Reads, w *rowWalk) error {
	for more := true; more; {
		f := firstUsers{most: walkMemory(u.ctx), did: map[string]activity.Set{}}
		err := u.rows(split.Region{}, reads, func(key []byte, kind int) error {
			if u.region.Has(key) && bytes.Compare(key, from) >= 0 {
				f.add(key, activity.Of(kind))
			}
			return nil
		})
		if err != nil {
			return err
		}
		for _, key := range slices.Sorted(maps.Keys(f.did)) {
			if err := w.addAll([]byte(key), f.did[key]); err != nil {
				return err
			}
		}
		from, more = []byte(f.end), f.end != ""
	}
	return nil
}

type walkKey struct{}

// defaultWalk is the memory of a walk in bytes without WithWalkMemory.
const defaultWalk = 8 << 20

// WithWalkMemory returns a context in which RowUsers hold about that many bytes of users
// whose rows are not adjacent. With less memory, they read the rows more often.
func WithWalkMemory(ctx context.Context, bytes int64) context.Context {
	return context.WithValue(ctx, walkKey{}, bytes)
}

func walkMemory(ctx context.Context) int64 {
	if n, ok := ctx.Value(walkKey{}).(int64); ok {
		return n
	}
	return defaultWalk
}

// firstUsers collects users. If they do not fit into memory, it keeps the smallest keys.
type firstUsers struct {
	most int64 // bytes
	did  map[string]activity.Set
	size int64
	end  string // users from this key on were dropped; empty if all users fit
}

// userBytes is the memory of a user without its key: the entry in the map and in the sorted
// slice.
const userBytes = 96

func (f *firstUsers) add(key []byte, did activity.Set) {
	if f.end != "" && string(key) >= f.end {
		return
	}
	had, known := f.did[string(key)]
	if known && had.Or(did) == had {
		return
	}
	f.did[string(key)] = had.Or(did)
	if known {
		return
	}
	if f.size += int64(len(key)) + userBytes; f.size > f.most && len(f.did) > 1 {
		f.halve()
	}
}

// halve drops the users with the greater keys.
func (f *firstUsers) halve() {
	keys := slices.Sorted(maps.Keys(f.did))
	f.end = keys[len(keys)/2]
	for _, key := range keys[len(keys)/2:] {
		delete(f.did, key)
		f.size -= int64(len(key)) + userBytes
	}
}

// wholeUsers extends r to the last row that the last user of r can have.
func wholeUsers(l layout.Layout, reads *layout.Reads, r split.Region) split.Region {
	for n := 1; n < len(r.End); n++ {
		if _, err := l.AppendUser(nil, r.End[:n]); err == nil {
			_, r.End = reads.Bounds(r.End[:n], r.End[:n])
			return r
		}
	}
	return r
}

// userBatch is the number of users in one batch.
const userBatch = 256

// A rowWalk turns rows, in order, into users.
type rowWalk struct {
	ctx   context.Context
	found chan<- []User
	user  User
	out   []User
}

func (w *rowWalk) add(key []byte, kind int) error { return w.addAll(key, activity.Of(kind)) }

func (w *rowWalk) addAll(key []byte, did activity.Set) error {
	if !bytes.Equal(key, w.user.Key) {
		if err := w.end(); err != nil {
			return err
		}
		w.user = User{Key: bytes.Clone(key), Sure: true}
	}
	w.user.Did = w.user.Did.Or(did)
	return nil
}

// end adds the current user to the batch.
func (w *rowWalk) end() error {
	if len(w.user.Key) == 0 {
		return nil
	}
	if w.out = append(w.out, w.user); len(w.out) < userBatch {
		return nil
	}
	return w.send()
}

func (w *rowWalk) send() error {
	if len(w.out) == 0 {
		return nil
	}
	out := w.out
	w.out = nil
	return pipe.Send(w.ctx, w.found, out)
}
