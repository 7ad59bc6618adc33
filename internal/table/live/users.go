package live

import (
	"bytes"
	"context"

	"usertrail/internal/activity"
	"usertrail/internal/behaviour"
	"usertrail/internal/cell"
	"usertrail/internal/hbase"
	"usertrail/internal/hbase/wire"
	"usertrail/internal/layout"
	"usertrail/internal/pipe"
	"usertrail/internal/split"
	"usertrail/internal/table"
	"usertrail/internal/trail"
)

// Users implements table.Table. Who has rows is known only to the rows: a user that
// is looked for by SeekGE may be there, and may have done everything. Next asks
// the rows, of each for its first key alone.
func (t *Table) Users(ctx context.Context, r split.Region, span behaviour.Span) (table.Users, error) {
	return &users{t: t, ctx: ctx, region: r, anybody: table.NewAnybody(r, t.Info().Schema), span: span}, nil
}

type users struct {
	t       *Table
	ctx     context.Context
	region  split.Region
	anybody table.Anybody
	span    behaviour.Span

	user  table.User
	found chan []table.User // nil until Next is asked
	ended error             // why found was closed; to be read once it is
	batch []table.User
	err   error
}

// SeekGE implements table.Users.
func (u *users) SeekGE(key []byte) bool { return u.err == nil && u.anybody.SeekGE(key, &u.user) }

// Next implements table.Users.
func (u *users) Next() bool {
	if u.found == nil {
		u.found = make(chan []table.User, 4)
		go u.walk(u.found)
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

// User implements table.Users.
func (u *users) User() table.User { return u.user }

// Err implements table.Users.
func (u *users) Err() error { return u.err }

// walk sends the users that have rows in the region. It ends with the context.
func (u *users) walk(found chan<- []table.User) {
	defer close(found)
	w := newRowWalk(u, found)
	s := hbase.Scan{
		Start: u.region.Start, Stop: u.region.End, Columns: u.t.columns(),
		Filter: wire.AllOf(wire.FirstKeyOnly(), wire.KeyOnly(false)),
	}
	err := u.t.client.Scan(u.ctx, u.t.address.Table, s, w.add)
	if err == nil {
		err = w.finish()
	}
	u.ended = u.t.address.explain(err)
}

// userBatch is how many users are handed over together.
const userBatch = 256

// A rowWalk turns the first cells of rows into users.
type rowWalk struct {
	ctx     context.Context
	found   chan<- []table.User
	layout  layout.Layout
	decoder layout.Decoder
	events  trail.Batch // what the decoder made of the user's first cells

	key []byte
	out []table.User
}

func newRowWalk(u *users, found chan<- []table.User) *rowWalk {
	info := u.t.Info()
	kinds := make([]int, len(info.Schema.Kinds))
	for i := range kinds {
		kinds[i] = i
	}
	w := &rowWalk{ctx: u.ctx, found: found, layout: info.Layout}
	w.decoder = w.layout.Decoder(info.Schema, layout.Want{Kinds: kinds, Span: u.span})
	w.begin(nil)
	return w
}

// begin makes ready for a user's rows.
func (w *rowWalk) begin(key []byte) {
	w.key = append(w.key[:0], key...)
	w.events.Reset()
	w.decoder.Into(&w.events, func([]byte) (uint32, bool) { return 0, true })
}

func (w *rowWalk) add(c *cell.Cell) error {
	key := c.Row[:w.layout.UserKeyLen(c.Row)]
	if !bytes.Equal(key, w.key) {
		if err := w.end(); err != nil {
			return err
		}
		w.begin(key)
	}
	return w.decoder.Add(c)
}

// end hands the user over whose rows have come, if they lie in the span.
func (w *rowWalk) end() error {
	if err := w.decoder.Flush(); err != nil {
		return err
	}
	var did activity.Set
	for i := range w.events.Events {
		did |= activity.Of(int(w.events.Events[i].Kind))
	}
	if did == 0 {
		return nil
	}
	w.out = append(w.out, table.User{Key: bytes.Clone(w.key), Did: did, Sure: true})
	if len(w.out) < userBatch {
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

func (w *rowWalk) finish() error {
	if err := w.end(); err != nil {
		return err
	}
	return w.send()
}
