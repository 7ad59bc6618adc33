package extract

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/dustin/go-humanize"

	"usertrail/internal/format/layout"
	"usertrail/internal/run/pipe"
	"usertrail/internal/run/progress"
	"usertrail/internal/table/fetch"
	"usertrail/internal/trail"
)

// A screen first reads only the fields that the judgement of users needs. The reader then
// reads whole only the users who stay, and judges them again by what it has read.
type screen struct {
	want layout.Want
	pass pass
}

// newScreen returns q's screen: nil where a judgement needs all that comes out, or
// where reading few columns is no cheaper than reading all of them.
func newScreen(q *question) *screen {
	want := q.judges()
	if !q.info.Narrow || q.info.Layout.Traits().FieldCells == 0 || !q.conditional() || slices.EqualFunc(want.Fields, q.want.Fields, slices.Equal) {
		return nil
	}
	return &screen{want: want}
}

// A cost is how long users took to read.
type cost struct {
	users, nanos atomic.Int64
}

func (c *cost) add(users int, since time.Time) {
	c.users.Add(int64(users))
	c.nanos.Add(int64(time.Since(since)))
}

// user is how long one takes, in nanoseconds; 0 if none was read.
func (c *cost) user() float64 {
	if n := c.users.Load(); n > 0 {
		return float64(c.nanos.Load()) / float64(n)
	}
	return 0
}

// A pass asks something of users first, so that not all of them are read. The pass is
// skipped if most users stay, or if asking takes as long as reading. The result is the same.
type pass struct {
	cost
	stayed atomic.Int64
}

// trial is how many users a pass is tried on before it is judged by its use.
const trial = 2 << 10

// worth says whether the pass pays, where a user who stays takes as long as whole
// says.
func (p *pass) worth(whole *cost) bool {
	n := p.users.Load()
	if n < trial {
		return true
	}
	read := whole.user()
	return p.user()+read*float64(p.stayed.Load())/float64(n) < read || read == 0
}

// filtered is a batch's users after they were judged, in order of their keys.
type filtered struct {
	trails  *fetch.Trails
	users   []judged       // from and to are events of trails
	events  int            // that were read
	bytes   int            // that these take
	last    []byte         // key of the batch's last user
	foreign layout.Foreign // cells that were skipped
	piece   int            // that the batch belongs to
}

// A reader reads batches and judges their users. It is for one goroutine.
type reader struct {
	q      *question
	whole  askers // of all of the span
	near   askers // of the window
	filter *filter
	at     *progress.Worker

	foreign layout.Foreign // cells of the batch at hand
}

// askers has an asker for everything that has to be read, and one for what the screen
// reads. few is nil without a screen.
type askers struct{ all, few *fetch.Asker }

func newReader(q *question, plan fetch.Plan) (*reader, error) {
	r := &reader{q: q, filter: newFilter(q)}
	var err error
	if r.whole, err = q.askers(plan, &window{}); err != nil || q.window.isAll() {
		return r, err
	}
	r.near, err = q.askers(plan, &q.window)
	return r, err
}

func (q *question) askers(plan fetch.Plan, w *window) (a askers, err error) {
	cfg := fetch.Config{Schema: q.info.Schema, Layout: q.info.Layout, Want: w.of(q.want), Plan: plan, Most: q.userBatchBytes}
	if a.all, err = fetch.NewAsker(q.table, cfg); err != nil || q.screen == nil {
		return a, err
	}
	cfg.Want = w.of(q.screen.want)
	a.few, err = fetch.NewAsker(q.table, cfg)
	return a, err
}

// A reading is how some users are read.
type reading struct {
	askers
	fat   bool // one, who is too much for a batch
	known bool // they did what makes users active
	near  bool // of the window alone
}

// reading decides how to read the users of keys. It reads only the window if that costs less
// and decides who is active: if the rolls are sure of every user, or if any one behaviour
// makes a user active. Otherwise it reads the whole span.
func (r *reader) reading(p *fetch.Batch, keys *fetch.Keys) reading {
	q, sure := r.q, true
	for i := range keys.Len() {
		sure = sure && keys.Sure(i)
	}
	anyTells := q.window.newest > 0 && q.rule.Least == 1 && q.without == 0
	if q.window.isAll() || !sure && !anyTells || !q.pays(p) {
		return reading{askers: r.whole, known: q.info.Sealed}
	}
	return reading{askers: r.near, known: sure, near: true}
}

// read is a fetch.Work. Users whose trails are too much for one batch are read in two
// halves.
func (r *reader) read(ctx context.Context, p *fetch.Batch, emit func(*filtered) error) error {
	s, err := r.readBatch(ctx, p, false)
	switch {
	case err == nil:
		return emit(s)
	case !errors.Is(err, trail.ErrFull):
		return err
	case p.Keys.Len() == 1:
		return r.readFat(ctx, p, emit)
	}
	for _, second := range []bool{false, true} {
		if err := r.read(ctx, p.Half(second), emit); err != nil {
			return err
		}
	}
	return nil
}

// readFat reads one user who is too much for a batch. One such trail is held at a time: its
// turn comes when all before it is cut into parts, so that none waits for another.
func (r *reader) readFat(ctx context.Context, p *fetch.Batch, emit func(*filtered) error) error {
	if err := p.Turn(ctx); err != nil {
		return err
	}
	if err := pipe.Send(ctx, r.q.fat, struct{}{}); err != nil {
		return err
	}
	s, err := r.readBatch(ctx, p, true)
	if err != nil {
		<-r.q.fat
		return r.q.tooMuch(p, err)
	}
	s.trails.WhenFreed(func() { <-r.q.fat })
	if err := r.q.shrink(s); err != nil {
		return err
	}
	return emit(s)
}

// tooMuch says of an error how much memory the trail of the user in p wants.
func (q *question) tooMuch(p *fetch.Batch, err error) error {
	var much *fetch.TooMuch
	if !errors.As(err, &much) {
		return err
	}
	id, _ := q.info.Layout.AppendUser(nil, p.Keys.At(0))
	if much.Bytes > trail.MaxData {
		return fmt.Errorf("%w: the trail of user %q takes more than the 4 GiB that one user may have: ask for fewer dates or --fields", ErrQuestion, id)
	}
	more, least := "", ""
	if much.More {
		more, least = "more than ", "more than "
	}
	return fmt.Errorf("%w: the trail of user %q takes %s%s, is held whole, and may take %s of this --memory: raise --memory to %s%s, or ask for fewer dates or --fields",
		ErrQuestion, id, more, humanize.IBytes(uint64(much.Bytes)), humanize.IBytes(uint64(q.userBytes)), least, mebibytes(memoryFor(much.Bytes, q.users.Bytes())))
}

// mebibytes is so many bytes, rounded up, as --memory takes them.
func mebibytes(n int64) string { return fmt.Sprintf("%dMiB", (n+1<<20-1)>>20) }

// readBatch reads and judges the users of a batch: who cannot be active goes first, then who
// does not stay by what judges need; of the others everything is read.
// One whose trail is too much for a batch is read alone, and not shrunk.
func (r *reader) readBatch(ctx context.Context, p *fetch.Batch, fat bool) (*filtered, error) {
	if p.Keys.Len() > 0 {
		r.at.At("a batch of %d users, from %q on", p.Keys.Len(), bytes.Clone(p.Keys.At(0)))
		defer r.at.At("waiting for a batch")
	}
	keys, absent, err := r.exist(ctx, p.Keys)
	if err != nil {
		return nil, err
	}
	how := r.reading(p, keys)
	how.fat = fat
	r.foreign = layout.Foreign{}
	stay, left, err := r.screen(ctx, how, keys)
	if err != nil {
		return nil, err
	}
	began := time.Now()
	s, err := r.sift(ctx, how.all, how, stay)
	if err != nil {
		return nil, err
	}
	if !fat {
		if err := r.q.shrink(s); err != nil {
			return nil, err
		}
	}
	r.q.whole.add(stay.Len(), began)
	s.users = rejoin(rejoin(s.users, left), absent)
	s.last, s.piece, s.foreign = p.Keys.At(p.Keys.Len()-1), p.Piece, r.foreign
	return s, nil
}

// screen returns the keys of those who may stay, and the others.
func (r *reader) screen(ctx context.Context, how reading, keys *fetch.Keys) (stay *fetch.Keys, left []judged, err error) {
	if how.few == nil || keys.Len() == 0 || !r.q.screen.pass.worth(&r.q.whole) {
		return keys, nil, nil
	}
	began := time.Now()
	s, err := r.sift(ctx, how.few, how, keys)
	if err != nil {
		return nil, nil, err
	}
	s.trails.Release()
	stay = new(fetch.Keys)
	for _, u := range s.users {
		if u.to > u.from {
			stay.Add(keys.At(u.user), keys.Sure(u.user))
		} else {
			u.from, u.to, u.user = 0, 0, stay.Len()
			left = append(left, u)
		}
	}
	r.q.screen.pass.stayed.Add(int64(stay.Len()))
	r.q.screen.pass.add(keys.Len(), began)
	return stay, left, nil
}

// sift reads the trails of some users and judges them.
func (r *reader) sift(ctx context.Context, a *fetch.Asker, how reading, keys *fetch.Keys) (*filtered, error) {
	var t *fetch.Trails
	var err error
	if how.fat {
		t, err = a.Weighed(ctx, keys, r.q.userBytes)
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
	if how.near && how.known && !r.q.asked.WhereFirst {
		users = absent(users, keys.Len())
	}
	return &filtered{trails: t, users: users, events: len(t.Batch.Events), bytes: t.Batch.Used()}, err
}

// rejoin puts users who did not stay back to their places: before the one of users
// whose number they bear.
func rejoin(users, left []judged) []judged {
	if len(left) == 0 {
		return users
	}
	out := make([]judged, 0, len(users)+len(left))
	for _, u := range users {
		for len(left) > 0 && left[0].user <= u.user {
			out, left = append(out, left[0]), left[1:]
		}
		out = append(out, u)
	}
	return append(out, left...)
}
