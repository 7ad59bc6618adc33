package table

import (
	"bytes"
	"context"
	"errors"
	"slices"

	"usertrail/internal/activity"
	"usertrail/internal/behaviour"
	"usertrail/internal/layout"
	"usertrail/internal/pipe"
	"usertrail/internal/split"
)

// Unrolled is a table without its rolls: who has rows, the rows alone tell.
func Unrolled(t Table) Table { return unrolled{t} }

type unrolled struct{ Table }

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

// RowUsers are the users of a region as its rows tell them. One that is looked for by
// SeekGE may be there, and may have done everything. Next asks the rows, and of each
// for no more than that it is there.
//
// A user is in the region that has its key, also where the region ends between its
// rows.
func RowUsers(ctx context.Context, t Table, r split.Region, span behaviour.Span) Users {
	ctx, cancel := context.WithCancelCause(ctx)
	return &rowUsers{ctx: ctx, cancel: cancel, t: t, region: r, anybody: NewAnybody(r, t.Info().Schema), span: span}
}

type rowUsers struct {
	ctx     context.Context
	cancel  context.CancelCauseFunc
	t       Table
	region  split.Region
	anybody Anybody
	span    behaviour.Span

	user  User
	found chan []User // nil until Next is asked
	ended error       // why found was closed; to be read once it is
	batch []User
	err   error
}

var errClosed = errors.New("the walk over users is closed")

// SeekGE implements Users.
func (u *rowUsers) SeekGE(key []byte) bool { return u.err == nil && u.anybody.SeekGE(key, &u.user) }

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

// walk sends the users of the region, from a key on. It ends with the context.
func (u *rowUsers) walk(from []byte) {
	defer close(u.found)
	within := wholeUsers(u.t.Info().Layout, u.region)
	if bytes.Compare(from, within.Start) > 0 {
		within.Start = from
	}
	q := Query{Ranges: slices.Values([]split.Region{within}), Bounds: within, Span: u.span, Once: true}
	w := &rowWalk{ctx: u.ctx, found: u.found}
	err := Existing(u.ctx, u.t, q, func(key []byte, _ behaviour.Date, kind int) error {
		if bytes.Compare(key, u.region.Start) < 0 {
			return nil // of the region before
		}
		return w.add(key, kind)
	})
	if err == nil {
		err = w.end()
	}
	if err == nil {
		err = w.send()
	}
	u.ended = err
}

// wholeUsers is a region up to the last row of the last user whose key it has.
func wholeUsers(l layout.Layout, r split.Region) split.Region {
	for n := 1; n < len(r.End); n++ {
		if _, err := l.AppendUser(nil, r.End[:n]); err == nil {
			r.End = l.AppendStop(nil, r.End[:n], behaviour.Span{From: behaviour.MinDate, To: behaviour.MaxDate})
			return r
		}
	}
	return r
}

// userBatch is how many users are handed over together.
const userBatch = 256

// A rowWalk turns rows, in order, into users.
type rowWalk struct {
	ctx   context.Context
	found chan<- []User
	user  User
	out   []User
}

func (w *rowWalk) add(key []byte, kind int) error {
	if !bytes.Equal(key, w.user.Key) {
		if err := w.end(); err != nil {
			return err
		}
		w.user = User{Key: bytes.Clone(key), Sure: true}
	}
	w.user.Did |= activity.Of(kind)
	return nil
}

// end hands the user over whose rows have come.
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
