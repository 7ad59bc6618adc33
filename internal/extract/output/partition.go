package output

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"

	"golang.org/x/sync/errgroup"

	"usertrail/internal/behaviour"
	"usertrail/internal/extract/memory"
	"usertrail/internal/extract/query"
	"usertrail/internal/format/manifest"
	"usertrail/internal/format/trailfile"
	"usertrail/internal/run/breakpoint"
	"usertrail/internal/store/dfs"
	"usertrail/internal/table/fetch"
	"usertrail/internal/table/shuffle"
	"usertrail/internal/trail"
)

const (
	// mostTogether is the largest number of parts of the Cutter that become one part in
	// directories, however many directories there are.
	mostTogether = 128
	// sortParts is the largest number of leaves that are written at once.
	sortParts = 16
)

// Files estimates the number of files of a result with so many events. values is the number of values
// of the column that partitions the result, 0 if no column does.
func Files(events, values int64, s memory.Sizes) int64 {
	ceil := func(n, by int64) int64 { return (n + by - 1) / by }
	if values == 0 {
		return max(1, ceil(events, s.PartEvents))
	}
	return values * ceil(events, s.PartEvents*min(values, mostTogether))
}

// Partitions describes a result that is divided into directories.
type Partitions struct {
	Query  *query.Query
	Sink   Sink
	Number int // of the first part
	FS     dfs.FS
	Dir    string // where events are sorted
	Memory memory.Shares
	Sizes  memory.Sizes
}

// A partitioner writes the parts of a result that is divided into directories. A part
// has a leaf, which is a file, for each value of the column that partitions. The partitioner
// collects parts of the Cutter until each of its leaves has about Sizes.PartEvents events,
// Sizes.PartBytes of values or Sizes.PartIDs of IDs. So a result has few leaves. Shuffle sorts the events:
//
//	part value modulo sortParts | row value, user ID | seq place in the user's trail |
//	payload column ID, times of steps, behaviour.AppendPacked
//
// It receives the parts of the Cutter in their order, and is for one goroutine.
type partitioner struct {
	Partitions
	sorter *shuffle.Sorter
	shard  *shuffle.Shard
	free   chan *leafWriter

	value  func(*trail.Event) int32
	called func(value int32) string

	number int
	users  int64
	events int64
	bytes  int64                         // of their values
	ids    int64                         // bytes of the users' IDs, in each leaf
	found  []byte                        // users, as notfound.Finds packs them
	leaves map[int32]*manifest.TrailPart // by value
	had    map[int32]bool                // values of the current user

	row, payload []byte
	rec          behaviour.Record
}

// A leafWriter writes leaves, one after the other.
type leafWriter struct {
	*Writer
	batch trail.Batch // of one event
	rec   behaviour.Record
	user  named
}

// newPartitioner returns a partitioner, which must be closed.
func newPartitioner(ctx context.Context, cfg *Partitions) (*partitioner, error) {
	p := &partitioner{Partitions: *cfg, number: cfg.Number, leaves: map[int32]*manifest.TrailPart{}, had: map[int32]bool{}}
	p.value = func(e *trail.Event) int32 { return e.Date }
	p.called = func(v int32) string { return behaviour.Date(v).String() }
	if p.Query.Output.Partition == trailfile.BehaviourColumn {
		index, names := indexes(p.Query), p.Query.Names()
		p.value = func(e *trail.Event) int32 { return int32(index[e.Kind]) }
		p.called = func(v int32) string { return names[v] }
	}
	if err := p.FS.Remove(ctx, p.Dir); err != nil { // of a run that was killed
		return nil, err
	}
	var err error
	p.sorter, err = shuffle.New(shuffle.Config{FS: p.FS, Dir: p.Dir, Memory: p.Memory.Sort, Parts: sortParts, Shards: 1, Readers: p.Memory.Workers})
	if err != nil {
		return nil, err
	}
	p.shard = p.sorter.Shard(0)
	p.free = make(chan *leafWriter, p.Memory.Workers)
	for range p.Memory.Workers {
		p.free <- &leafWriter{Writer: NewWriter(p.Query, p.Sizes)}
	}
	return p, nil
}

// close removes the events that are sorted.
func (p *partitioner) close(ctx context.Context) error {
	return errors.Join(p.sorter.Close(ctx), p.FS.Remove(context.WithoutCancel(ctx), p.Dir))
}

// take adds a part of the Cutter. If it ends a part of the partitioner, take writes that part.
func (p *partitioner) take(ctx context.Context, cut *Part) error {
	err := p.add(ctx, cut)
	cut.release()
	if err != nil {
		return err
	}
	leaves := min(int64(len(p.leaves)), mostTogether)
	large := p.events >= leaves*p.Sizes.PartEvents || p.bytes >= leaves*int64(p.Sizes.PartBytes) || p.ids >= leaves*int64(p.Sizes.PartIDs)
	if p.events == 0 || !large && !cut.ends {
		return nil
	}
	return p.write(ctx, cut)
}

// add adds the events of a part of the Cutter to the sorter.
func (p *partitioner) add(ctx context.Context, cut *Part) error {
	for i := range cut.users {
		u := &cut.users[i]
		p.row = append(append(p.row[:0], 0, 0, 0, 0), u.id...)
		clear(p.had)
		for i, events := 0, u.events(); i < len(events); i++ {
			v := p.value(&events[i])
			l := p.leaves[v]
			if l == nil {
				l = new(manifest.TrailPart)
				p.leaves[v] = l
			}
			if !p.had[v] {
				p.had[v] = true
				l.Users++
				p.ids += int64(len(u.id))
			}
			l.Events++
			binary.BigEndian.PutUint32(p.row, uint32(v)^1<<31)
			p.pack(u, &events[i])
			if err := p.shard.Add(ctx, int(uint32(v)%sortParts), p.row, uint64(i), p.payload); err != nil {
				return err
			}
		}
	}
	p.found = append(p.found, cut.found...)
	p.users += int64(len(cut.users))
	p.events += cut.events
	p.bytes += int64(cut.bytes)
	return nil
}

// pack makes the payload of an event of u. It has the values of the result.
func (p *partitioner) pack(u *named, e *trail.Event) {
	p.payload = binary.BigEndian.AppendUint64(p.payload[:0], uint64(e.ID))
	for _, t := range u.steps {
		p.payload = binary.BigEndian.AppendUint64(p.payload, uint64(t))
	}
	b := u.trails.Batch
	p.rec.Kind, p.rec.Time, p.rec.Date, p.rec.Values = int(e.Kind), e.Time, behaviour.Date(e.Date), p.rec.Values[:0]
	for i, out := range p.Query.Fields[e.Kind] {
		var v []byte
		if out {
			v = b.Value(b.Refs[int(e.Refs)+i])
		}
		p.rec.Values = append(p.rec.Values, v)
	}
	p.payload = behaviour.AppendPacked(p.payload, &p.rec)
}

// write writes the leaves of the part that ends with cut.
func (p *partitioner) write(ctx context.Context, cut *Part) error {
	name := p.Query.Output.PartName(p.number)
	if err := p.sorter.Finish(ctx); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(p.Memory.Workers)
	for n := range sortParts {
		g.Go(func() error {
			w := <-p.free
			defer func() { p.free <- w }()
			return p.writeLeaves(gctx, w, n, name)
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	r := Record{Number: p.number, Users: p.users, Events: p.events, Last: cut.last, Counts: cut.counts, Found: bytes.Clone(p.found)}
	for _, v := range slices.SortedFunc(maps.Keys(p.leaves), cmp.Compare[int32]) {
		r.Files = append(r.Files, *p.leaves[v])
	}
	if err := p.Sink.Done(ctx, r); err != nil {
		return err
	}
	breakpoint.Reach(breakpoint.Part)
	p.number, p.users, p.events, p.bytes, p.ids = p.number+1, 0, 0, 0, 0
	p.found = p.found[:0]
	clear(p.leaves)
	return p.sorter.Reset(ctx)
}

// writeLeaves writes the leaves of part n of the sorter.
func (p *partitioner) writeLeaves(ctx context.Context, w *leafWriter, n int, name string) (err error) {
	it, err := p.sorter.Part(ctx, n)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, it.Close()) }()
	for more := it.Next(); more; {
		v := valueOf(it)
		name := dfs.Join(trailfile.Folder(p.Query.Output.Partition, p.called(v)), name)
		f, err := w.writeFile(ctx, p.Sink, name, func() error {
			for ; more && valueOf(it) == v; more = it.Next() {
				if err := w.add(it); err != nil {
					return err
				}
			}
			return it.Err()
		})
		if err != nil {
			return fmt.Errorf("write %s: %w", name, err)
		}
		l := p.leaves[v] // of this goroutine alone
		f.Users, f.Events = l.Users, l.Events
		*l = f
	}
	return it.Err()
}

// valueOf returns the value of the current event.
func valueOf(it *shuffle.Iterator) int32 { return int32(binary.BigEndian.Uint32(it.Row()) ^ 1<<31) }

// add writes the current event of it.
func (w *leafWriter) add(it *shuffle.Iterator) error {
	id := it.Row()[4:]
	if !bytes.Equal(id, w.user.id) || w.user.trails == nil {
		w.user = named{id: append(w.user.id[:0], id...), trails: &fetch.Trails{Batch: &w.batch}, steps: make([]int64, w.q.StepCount())}
	}
	b := it.Payload()
	e := trail.Event{ID: int64(binary.BigEndian.Uint64(b))}
	b = b[8:]
	for i := range w.user.steps {
		w.user.steps[i] = int64(binary.BigEndian.Uint64(b))
		b = b[8:]
	}
	if err := w.rec.Unpack(b); err != nil {
		return err
	}
	e.Kind, e.Time, e.Date = uint16(w.rec.Kind), w.rec.Time, int32(w.rec.Date)
	w.batch.Reset()
	w.batch.Refs = w.batch.Refs[:0]
	for _, v := range w.rec.Values {
		var ref trail.Ref
		if v != nil {
			var err error
			if ref, err = w.batch.Put(v); err != nil {
				return err
			}
		}
		w.batch.Refs = append(w.batch.Refs, ref)
	}
	if err := w.long.row(&w.Writer.batch, &w.user, &e); err != nil {
		return err
	}
	return w.flush(w.most)
}
