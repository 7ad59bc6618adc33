package hbase

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/dustin/go-humanize/english"
	"golang.org/x/sync/semaphore"

	"usertrail/internal/run/ratelimit"
	"usertrail/internal/store/hbase/rpc"
	"usertrail/internal/store/hbase/wire"
)

// A multi sends actions of one table to the servers of their regions, until each
// action has a result or one of them has used up its budget.
//
//	collector ─ load ─▶ attempt ─ a parcel per server ─▶ Multi ─▶ process
//	                       ▲                               │
//	                       └── what failed, by remedy ─────┘
//
// Each batch has a goroutine, so a batch that waits for a region does not delay the
// others. Memory: room bounds the actions, and lanes bound the responses that are not
// processed yet.
type multi struct {
	c    *Client
	t    *table
	what string // "get" or "put"

	ctx    context.Context
	cancel context.CancelCauseFunc
	room   *semaphore.Weighted
	size   int64 // of room

	// appendAction encodes an action. process is called with the results, whose bytes are
	// valid until it returns. Many goroutines call process.
	appendAction func(dst []byte, index uint32, a *action) []byte
	process      func([]actionResult) error
	kind         kind
	divide       func(actions int) int // returns the size of the next Multis after one of that many actions was too large

	mu    sync.Mutex
	lanes map[string]chan struct{}
	under int           // batches under way
	quiet chan struct{} // closed when there are none; nil if no goroutine waits
}

// An actionResult is the server's result of one action.
type actionResult struct {
	*action
	wire.Result
}

func newMulti(ctx context.Context, t *table, what string, k kind, room int64) *multi {
	m := &multi{c: t.c, t: t, what: what, kind: k, room: semaphore.NewWeighted(room), size: room, lanes: map[string]chan struct{}{}}
	m.ctx, m.cancel = context.WithCancelCause(ctx)
	return m
}

// lane returns the places of this multi on a server. A Multi occupies a place until
// its response is processed. A lane has more places than the calls that may be in
// flight, so that the server has work while the client processes responses.
func (m *multi) lane(addr string) chan struct{} {
	m.mu.Lock()
	defer m.mu.Unlock()
	l := m.lanes[addr]
	if l == nil {
		l = make(chan struct{}, m.c.cfg.InFlight+2)
		m.lanes[addr] = l
	}
	return l
}

// dispatch starts actions that have been cut from a collector. It waits until there
// is room for all of them. Actions that need more than the whole room get all of it.
func (m *multi) dispatch(ctx context.Context, actions []action) error {
	if len(actions) == 0 {
		return nil
	}
	var last *load
	var sum int64
	for i := range actions {
		l := actions[i].load
		if l == last {
			continue
		}
		last = l
		l.room, l.weight = m.room, min(l.weight, m.size-sum)
		sum += l.weight
	}
	if err := m.enter(ctx, sum); err != nil {
		return err
	}
	m.start(&batch{actions: actions, retryState: retryState{what: m.what, table: m.t.name}}, 0)
	return nil
}

// enter waits for room.
func (m *multi) enter(ctx context.Context, weight int64) error {
	if m.room.TryAcquire(weight) {
		return nil
	}
	both, cancel := context.WithCancelCause(m.ctx)
	defer cancel(nil)
	defer context.AfterFunc(ctx, func() { cancel(context.Cause(ctx)) })()
	if m.room.Acquire(both, weight) != nil {
		return context.Cause(both)
	}
	return nil
}

// start starts a batch after a pause.
func (m *multi) start(b *batch, wait time.Duration) {
	m.mu.Lock()
	m.under++
	m.mu.Unlock()
	m.c.wg.Go(func() {
		defer m.leave()
		if wait > 0 && b.sleep(m.ctx, m.c, wait) != nil {
			return
		}
		m.attempt(b)
	})
}

func (m *multi) leave() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.under--
	if m.under == 0 && m.quiet != nil {
		close(m.quiet)
		m.quiet = nil
	}
}

// underway returns the number of batches whose actions do not all have a result.
func (m *multi) underway() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.under
}

// wait returns when no batch is under way or when ctx ends.
func (m *multi) wait(ctx context.Context) error {
	m.mu.Lock()
	if m.under == 0 {
		m.mu.Unlock()
		return context.Cause(m.ctx)
	}
	if m.quiet == nil {
		m.quiet = make(chan struct{})
	}
	quiet := m.quiet
	m.mu.Unlock()
	select {
	case <-quiet:
		return context.Cause(m.ctx)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// A parcel is the actions that one Multi sends to one server.
type parcel struct {
	*batch // the batch that had the actions
	server *server
	groups []group
	total  int
}

// A group is a parcel's actions for one region.
type group struct {
	region  *region
	actions []action
	first   int // how many actions precede the group in the parcel
}

// attempt looks up the servers of the actions' regions and sends the actions there.
func (m *multi) attempt(b *batch) {
	if b.moved >= 2 {
		if err := m.t.checkEnabled(m.ctx); err != nil {
			m.cancel(err)
			return
		}
	}
	parcels, homeless, err := m.sort(b)
	if err != nil {
		m.cancel(err)
		return
	}
	if len(homeless) > 0 {
		m.again(b, homeless, nil, nil, 0, errNotOnline)
	}
	for i, p := range parcels {
		if i+1 < len(parcels) {
			m.mu.Lock()
			m.under++
			m.mu.Unlock()
			m.c.wg.Go(func() {
				defer m.leave()
				m.send(p)
			})
			continue
		}
		m.send(p)
	}
}

// sort groups b's actions by server and region. homeless are the actions whose
// region is on no server at the moment.
func (m *multi) sort(b *batch) (parcels []*parcel, homeless []action, err error) {
	var p *parcel
	var g *group
	asked := false
	for _, a := range b.actions {
		if g != nil && g.region.Has(a.row) {
			g.actions = append(g.actions, a)
			continue
		}
		r := m.t.known(a.row)
		if (r == nil || !r.online()) && !asked {
			asked = true // once for the whole batch
			if r, err = m.t.locate(m.ctx, a.row); err != nil && err != errNotOnline {
				return nil, nil, err
			}
		}
		if r == nil || !r.online() {
			homeless = append(homeless, a)
			continue
		}
		p, parcels = parcelFor(parcels, b, m.c.server(r.Server, wire.ClientService))
		g = p.group(r, len(b.actions))
		g.actions = append(g.actions, a)
	}
	for _, p := range parcels {
		for i := range p.groups {
			p.groups[i].first = p.total
			p.total += len(p.groups[i].actions)
		}
	}
	return parcels, homeless, nil
}

func parcelFor(parcels []*parcel, b *batch, s *server) (*parcel, []*parcel) {
	for _, p := range parcels {
		if p.server == s {
			return p, parcels
		}
	}
	p := &parcel{batch: b, server: s}
	return p, append(parcels, p)
}

// group returns the group of a region, with room for n actions if it is the first.
func (p *parcel) group(r *region, n int) *group {
	for i := range p.groups {
		if p.groups[i].region == r {
			return &p.groups[i]
		}
	}
	g := group{region: r}
	if len(p.groups) == 0 {
		g.actions = make([]action, 0, n)
	}
	p.groups = append(p.groups, g)
	return &p.groups[len(p.groups)-1]
}

// send makes the call and handles its response.
func (m *multi) send(p *parcel) {
	lane := m.lane(p.server.addr)
	select {
	case lane <- struct{}{}:
	case <-m.ctx.Done():
		return
	}
	defer func() { <-lane }()
	cost := p.cost()
	if m.c.cfg.Limiter.Wait(m.ctx, cost) != nil {
		return
	}
	r, f, err := p.server.call(m.ctx, request{method: "Multi", param: multiParam{m, p}, cells: p.cells()})
	if m.ctx.Err() != nil {
		if err == nil {
			r.Release()
		}
		return
	}
	if err != nil {
		m.callFailed(p, f, err)
		return
	}
	defer r.Release()
	m.c.cfg.Limiter.Owe(ratelimit.Amount{Bytes: int64(len(r.Param) + len(r.Cells))})
	m.take(p, r, f, cost)
}

// cost returns the amount of work that a parcel requests.
func (p *parcel) cost() (a ratelimit.Amount) {
	for _, g := range p.groups {
		for i := range g.actions {
			x := &g.actions[i]
			a.Bytes += int64(len(x.row) + len(x.cells))
			a.Puts += int64(x.n)
			if x.n == 0 {
				a.Gets++
			}
		}
	}
	return a
}

// units returns the size of a parcel in the units by which calls of kind k are
// compared.
func (k kind) units(a ratelimit.Amount) int {
	if k == multiPuts {
		return int(a.Bytes)
	}
	return int(a.Gets)
}

// multiParam encodes a parcel directly into the request's frame.
type multiParam struct {
	m *multi
	p *parcel
}

func (x multiParam) Append(dst []byte) []byte {
	for i := range x.p.groups {
		g := &x.p.groups[i]
		var mark int
		dst, mark = wire.BeginRegion(dst, g.region.Name)
		for j := range g.actions {
			dst = x.m.appendAction(dst, uint32(j), &g.actions[j])
		}
		dst = wire.EndRegion(dst, mark)
	}
	return dst
}

// cells returns the cell block of a parcel of Puts. It returns nil for Gets.
func (p *parcel) cells() wire.Appender {
	if p.groups[0].actions[0].n == 0 {
		return nil
	}
	return parcelCells{p}
}

type parcelCells struct{ p *parcel }

func (x parcelCells) Append(dst []byte) []byte {
	size := 0
	for _, g := range x.p.groups {
		for i := range g.actions {
			size += len(g.actions[i].cells)
		}
	}
	dst = slices.Grow(dst, size)
	for _, g := range x.p.groups {
		for i := range g.actions {
			dst = append(dst, g.actions[i].cells...)
		}
	}
	return dst
}

// callFailed handles a Multi without a response.
func (m *multi) callFailed(p *parcel, f timing, err error) {
	for i := range p.groups {
		g := &p.groups[i]
		m.again(p.batch, g.actions, g.region, p.server, f.took, err)
	}
}

// A failure lists the actions of a group that failed for the same reason.
type failure struct {
	group   int
	class   string
	err     error
	actions []action
}

// take checks the whole response before it uses any part: each action must have
// exactly one outcome.
func (m *multi) take(p *parcel, r *rpc.Response, f timing, cost ratelimit.Amount) {
	s := scratches.Get().(*scratch)
	defer s.free()
	if err := s.read(p, r); err != nil {
		m.callFailed(p, f, err)
		return
	}
	if len(s.results) > 0 {
		p.server.succeeded(m.kind, f, m.kind.units(cost))
		if err := m.process(s.results); err != nil {
			m.cancel(err)
			return
		}
		for i := range s.results {
			s.results[i].load.done()
		}
	}
	for _, x := range s.failures {
		p.server.refused(f, x.err)
		m.again(p.batch, x.actions, p.groups[x.group].region, p.server, f.took, x.err)
	}
}

// A scratch holds the buffers for reading one response. It is reused.
type scratch struct {
	results  []actionResult
	failures []failure
	seen     []bool
}

var scratches = sync.Pool{New: func() any { return new(scratch) }}

func (s *scratch) free() {
	clear(s.results)
	s.results, s.failures = s.results[:0], s.failures[:0]
	scratches.Put(s)
}

// read divides the results of a Multi into s.results and s.failures.
func (s *scratch) read(p *parcel, r *rpc.Response) error {
	s.seen = slices.Grow(s.seen[:0], p.total)[:p.total]
	clear(s.seen)
	d := wire.DecodeMulti(r.Param, r.Cells)
	for res := (wire.MultiResult{}); d.Next(&res); {
		if res.Region >= len(p.groups) {
			return fmt.Errorf("%w: a result for region %d of %d", wire.ErrMalformed, res.Region, len(p.groups))
		}
		g := &p.groups[res.Region]
		if res.Whole {
			s.rest(p, res.Region, res.Err)
			continue
		}
		if int(res.Index) >= len(g.actions) || s.seen[g.first+int(res.Index)] {
			return fmt.Errorf("%w: action %d of %d has no or several results", wire.ErrMalformed, res.Index, len(g.actions))
		}
		s.seen[g.first+int(res.Index)] = true
		a := &g.actions[res.Index]
		if res.Err != nil {
			s.fail(res.Region, res.Err.Class, res.Err, *a)
			continue
		}
		s.results = append(s.results, actionResult{a, res.Result})
	}
	if err := d.Err(); err != nil {
		return err
	}
	for i := range p.groups {
		s.rest(p, i, errMissing)
	}
	return nil
}

// rest fails the actions of a group that have no result.
func (s *scratch) rest(p *parcel, group int, err error) {
	g := &p.groups[group]
	for i := range g.actions {
		if !s.seen[g.first+i] {
			s.seen[g.first+i] = true
			s.fail(group, "", err, g.actions[i])
		}
	}
}

// fail adds an action to the failure of its group and exception class.
func (s *scratch) fail(group int, class string, err error, a action) {
	for i := range s.failures {
		if f := &s.failures[i]; f.group == group && f.class == class {
			f.actions = append(f.actions, a)
			return
		}
	}
	s.failures = append(s.failures, failure{group, class, err, []action{a}})
}

// again applies the remedy for a failure to actions that were together in b.
func (m *multi) again(b *batch, actions []action, r *region, s *server, took time.Duration, err error) {
	next := &batch{actions: actions, retryState: b.retryState}
	next.what = fmt.Sprintf("%s of %s from %q", m.what, english.Plural(len(actions), "row", ""), actions[0].row)
	next.region, next.server = "", ""
	if r != nil {
		next.region, next.server = r.String(), s.addr
	}
	v := judge(err)
	if r != nil {
		switch v.remedy {
		case relocate, check, lost, reconnect:
			if v.addr != "" {
				m.t.moved(r, v.addr, v.seq)
			} else {
				r.leave()
			}
		}
	}
	if v.throttled && next.throttled > 0 && len(actions) > 1 {
		// A call that needs more than the whole quota never succeeds.
		v.remedy = divide
	}
	if v.remedy == divide {
		m.startDivided(next, len(b.actions), took, v)
		return
	}
	wait, err := next.after(m.c, took, v)
	if err != nil {
		m.cancel(err)
		return
	}
	m.start(next, wait)
}

// startDivided sends actions that were not executed again, in smaller batches. This
// counts as an attempt only if the batch had a single action.
func (m *multi) startDivided(b *batch, together int, took time.Duration, v verdict) {
	size := max(m.divide(together), 1)
	wait := v.wait
	if together > 1 {
		b.spent += took + wait
		b.held = v.throttled
	} else {
		var err error
		if wait, err = b.after(m.c, took, v); err != nil {
			m.cancel(err)
			return
		}
	}
	for part := range slices.Chunk(b.actions, size) {
		m.start(&batch{actions: part, retryState: b.retryState}, wait)
	}
}
