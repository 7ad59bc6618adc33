package judge

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/dustin/go-humanize/english"

	"usertrail/internal/extract/footprint"
	"usertrail/internal/extract/memory"
	"usertrail/internal/extract/query"
	"usertrail/internal/format/layout"
	"usertrail/internal/run/pipe"
	"usertrail/internal/run/progress"
	"usertrail/internal/table"
	"usertrail/internal/table/fetch"
	"usertrail/internal/trail"
)

// A Batch is a batch of users after they were judged, in order of their keys.
type Batch struct {
	Trails  *fetch.Trails
	Users   []User
	Events  int            // that were read
	Last    []byte         // key of the last user of the batch
	Foreign layout.Foreign // cells that were skipped
	Piece   int            // to which the batch belongs

	bytes int // of the events that were read
}

// Readers read batches, and judge their users. All workers share them.
type Readers struct {
	query  *query.Query
	table  table.Table
	plan   fetch.Plan
	memory memory.Shares
	layout footprint.Footprint // counts the rows and cells of events
	bounds footprint.Bounds

	existence *existence    // nil if it excludes no user
	screen    *screen       // nil if no user is screened
	full      cost          // the time to read all columns of users
	large     chan struct{} // full while a trail that is larger than a batch is held
}

// NewReaders returns readers of the table t. The error wraps query.ErrWrong if the layout of the
// table does not allow the plan.
func NewReaders(q *query.Query, t table.Table, plan fetch.Plan, m memory.Shares) (*Readers, error) {
	l, s := q.Info.Layout, q.Info.Schema
	if _, err := fetch.NewWhere(l, s, q.Want, plan); err != nil {
		return nil, fmt.Errorf("%w: %w", query.ErrWrong, err)
	}
	bounds, err := footprint.BoundsOf(l, s, q.Window.Of(q.Want))
	if err != nil {
		return nil, err
	}
	r := &Readers{query: q, table: t, plan: plan, memory: m, layout: footprint.New(l, s), bounds: bounds, large: make(chan struct{}, 1)}
	if AsksExistence(q) {
		r.existence = new(existence)
	}
	if Screens(q) {
		r.screen = &screen{want: q.Judges()}
	}
	return r, nil
}

// Begin returns the fetch.Work of one worker. The worker reports its progress to at.
func (r *Readers) Begin(at *progress.Worker) (fetch.Work[*Batch], error) {
	w := &reader{Readers: r, at: at}
	var fields [][]bool
	if r.screen != nil {
		fields = r.screen.want.Fields
	}
	w.filter = newFilter(r.query, r.layout, fields)
	var err error
	if w.whole, err = r.askers(&query.Window{}); err != nil {
		return nil, err
	}
	if !r.query.Window.IsAll() {
		w.near, err = r.askers(&r.query.Window)
	}
	return w.read, err
}

// askers has two Askers for the same events. all reads all columns of the query. few reads only
// the columns of the screen; it is nil without a screen.
type askers struct{ all, few *fetch.Asker }

func (r *Readers) askers(w *query.Window) (a askers, err error) {
	q := r.query
	cfg := fetch.Config{Schema: q.Info.Schema, Layout: q.Info.Layout, Want: w.Of(q.Want), Plan: r.plan, Most: r.memory.Batch}
	if a.all, err = fetch.NewAsker(r.table, cfg); err != nil || r.screen == nil {
		return a, err
	}
	cfg.Want = w.Of(r.screen.want)
	a.few, err = fetch.NewAsker(r.table, cfg)
	return a, err
}

// A reader reads batches and judges their users. It is for one goroutine.
type reader struct {
	*Readers
	whole  askers // read the whole span
	near   askers // read only the window of the query
	filter *filter
	at     *progress.Worker

	foreign layout.Foreign // cells of the current batch
}

// A reading is the way in which some users are read.
type reading struct {
	askers
	large bool // one user, whose trail is larger than a batch
	known bool // all of them did the behaviours that make a user active
	near  bool // only the window is read
}

// reading decides how to read the users of keys. It chooses the window if two conditions hold:
// the window costs less than the whole span, and the events of the window are enough to decide
// who is active. They are enough if the rolls are sure of every user, or if any one behaviour
// makes a user active.
func (r *reader) reading(p *fetch.Batch, keys *fetch.Keys) reading {
	q, sure := r.query, true
	for i := range keys.Len() {
		sure = sure && keys.Sure(i)
	}
	anyTells := q.Window.Newest > 0 && q.Rule.Least == 1 && q.Without.Empty()
	if q.Window.IsAll() || !sure && !anyTells || !r.pays(p) {
		return reading{askers: r.whole, known: q.Info.Sealed}
	}
	return reading{askers: r.near, known: sure, near: true}
}

// read is a fetch.Work. If the trails of the users do not fit in one batch, read reads the
// users in two halves.
func (r *reader) read(ctx context.Context, p *fetch.Batch, emit func(*Batch) error) error {
	s, err := r.readBatch(ctx, p, false)
	switch {
	case err == nil:
		return emit(s)
	case !errors.Is(err, trail.ErrFull):
		return err
	case p.Keys.Len() == 1:
		return r.readLarge(ctx, p, emit)
	}
	for _, second := range []bool{false, true} {
		if err := r.read(ctx, p.Half(second), emit); err != nil {
			return err
		}
	}
	return nil
}

// readLarge reads one user whose trail is larger than a batch. Only one such trail is held at a
// time. readLarge first waits until all batches before it are cut into parts. Therefore the
// trail that is held never waits for another one.
func (r *reader) readLarge(ctx context.Context, p *fetch.Batch, emit func(*Batch) error) error {
	if err := p.Turn(ctx); err != nil {
		return err
	}
	if err := pipe.Send(ctx, r.large, struct{}{}); err != nil {
		return err
	}
	s, err := r.readBatch(ctx, p, true)
	if err != nil {
		<-r.large
		return r.tooMuch(p, err)
	}
	s.Trails.WhenFreed(func() { <-r.large })
	if err := shrink(r.query.Info.Schema, s); err != nil {
		return err
	}
	return emit(s)
}

// tooMuch adds to an error the memory that the trail of the user in p needs.
func (r *reader) tooMuch(p *fetch.Batch, err error) error {
	var much *fetch.TooMuch
	if !errors.As(err, &much) {
		return err
	}
	id, _ := r.query.Info.Layout.AppendUser(nil, p.Keys.At(0))
	if much.Bytes > trail.MaxData {
		return fmt.Errorf("%w: the trail of user %q takes more than the 4 GiB that one user may have: ask for fewer dates or --fields", query.ErrWrong, id)
	}
	more, least := "", ""
	if much.More {
		more, least = "more than ", "more than "
	}
	return fmt.Errorf("%w: the trail of user %q takes %s%s, is held whole, and may take %s of this --memory: raise --memory to %s%s, or ask for fewer dates or --fields",
		query.ErrWrong, id, more, humanize.IBytes(uint64(much.Bytes)), humanize.IBytes(uint64(r.memory.User)), least, memory.Mebibytes(r.memory.Needs(much.Bytes)))
}

// readBatch reads and judges the users of a batch. First it removes the users who cannot be
// active. Then it reads the columns of the screen and removes the users who do not stay. It
// reads all columns of the others. large means that p has one user, whose trail is larger than
// a batch. Then the caller shrinks the trail.
func (r *reader) readBatch(ctx context.Context, p *fetch.Batch, large bool) (*Batch, error) {
	if p.Keys.Len() > 0 {
		r.at.At("a batch of %s, from %q on", english.Plural(p.Keys.Len(), "user", ""), bytes.Clone(p.Keys.At(0)))
		defer r.at.At("waiting for a batch")
	}
	keys, absent, err := r.exist(ctx, p.Keys)
	if err != nil {
		return nil, err
	}
	how := r.reading(p, keys)
	how.large = large
	r.foreign = layout.Foreign{}
	stay, at, left, err := r.screenUsers(ctx, how, keys)
	if err != nil {
		return nil, err
	}
	began := time.Now()
	s, err := r.sift(ctx, how.all, how, stay)
	if err != nil {
		return nil, err
	}
	if !large {
		if err := shrink(r.query.Info.Schema, s); err != nil {
			return nil, err
		}
	}
	if err := identify(r.query.Info.Layout, s); err != nil {
		return nil, err
	}
	r.full.add(stay.Len(), began)
	if at != nil { // make users have indexes of keys, as left and absent have
		for i := range s.Users {
			s.Users[i].user = at[s.Users[i].user]
		}
	}
	s.Users = rejoin(rejoin(s.Users, left), absent)
	s.Last, s.Piece, s.Foreign = p.Keys.At(p.Keys.Len()-1), p.Piece, r.foreign
	return s, nil
}

// sift reads the trails of some users and judges them.
func (r *reader) sift(ctx context.Context, a *fetch.Asker, how reading, keys *fetch.Keys) (*Batch, error) {
	var t *fetch.Trails
	var err error
	if how.large {
		t, err = a.Weighed(ctx, keys, r.memory.User)
	} else {
		t, err = a.Trails(ctx, keys)
	}
	if err != nil {
		return nil, err
	}
	if t.Foreign.Cells > r.foreign.Cells { // a screen reads again what it read
		r.foreign = t.Foreign
	}
	users, err := r.filter.sift(t, how.known)
	if how.near && how.known && !r.query.Conditions.WhereFirst {
		users = absent(users, keys.Len())
	}
	return &Batch{Trails: t, Users: users, Events: len(t.Batch.Events), bytes: t.Batch.Used()}, err
}

// rejoin inserts the users of left into users. Both are in order of their field user. If the
// field is equal in two users, the user of left comes first.
func rejoin(users, left []User) []User {
	if len(left) == 0 {
		return users
	}
	out := make([]User, 0, len(users)+len(left))
	for _, u := range users {
		for len(left) > 0 && left[0].user <= u.user {
			out, left = append(out, left[0]), left[1:]
		}
		out = append(out, u)
	}
	return append(out, left...)
}
