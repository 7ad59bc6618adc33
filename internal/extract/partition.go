package extract

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
	"usertrail/internal/format/manifest"
	"usertrail/internal/format/trailfile"
	"usertrail/internal/run/breakpoint"
	"usertrail/internal/store/dfs"
	"usertrail/internal/table/fetch"
	"usertrail/internal/table/shuffle"
	"usertrail/internal/trail"
)

const (
	// mostTogether is how many parts' behaviours go into one part of an answer that is
	// laid into directories, however many of them there are.
	mostTogether = 128
	// sortParts is how many leaves may be written at once.
	sortParts = 16
	// sortName is the folder beside the parts where they are sorted.
	sortName = "_sort"
)

// sortMemory is what leaves are sorted in at most, in bytes. Tests have less.
var sortMemory int64 = 16 << 20

// A partitioner writes the parts of a result that is divided into directories. A part
// has a leaf, which is a file, for each value of the column that partitions. The partitioner
// collects parts of the partCutter until its leaves have about partEvents behaviours or partBytes
// of values each, so that there are few leaves. Shuffle sorts it:
//
//	part value modulo sortParts | row value, user ID | seq place in the user's trail |
//	payload column ID, times of steps, behaviour.AppendPacked
//
// It takes the partCutter's parts in their order, and is for one goroutine.
type partitioner struct {
	q      *question
	out    outlet
	dir    string
	fs     dfs.FS
	sorter *shuffle.Sorter
	shard  *shuffle.Shard
	free   chan *leafWriter

	value  func(*trail.Event) int32
	called func(value int32) string

	number int
	users  int64
	events int64
	bytes  int64                         // of their values
	found  []byte                        // of users, as finds packs them
	leaves map[int32]*manifest.TrailPart // by value
	had    map[int32]bool                // values of the user at hand

	row, payload []byte
	rec          behaviour.Record
}

// A leafWriter writes leaves, one after the other.
type leafWriter struct {
	*partWriter
	batch trail.Batch // of one event
	rec   behaviour.Record
	user  named
}

// newPartitioner returns what writes parts to s.
func newPartitioner(ctx context.Context, q *question, s *staging) (*partitioner, error) {
	p := &partitioner{q: q, out: s, fs: s.fs, dir: dfs.Join(s.dir, sortName), number: s.count(), leaves: map[int32]*manifest.TrailPart{}, had: map[int32]bool{}}
	p.value = func(e *trail.Event) int32 { return e.Date }
	p.called = func(v int32) string { return behaviour.Date(v).String() }
	if q.output.Partition == trailfile.BehaviourColumn {
		index, names := q.indexes(), q.names()
		p.value = func(e *trail.Event) int32 { return int32(index[e.Kind]) }
		p.called = func(v int32) string { return names[v] }
	}
	if err := p.fs.Remove(ctx, p.dir); err != nil { // of a run that was killed
		return nil, err
	}
	var err error
	p.sorter, err = shuffle.New(shuffle.Config{FS: p.fs, Dir: p.dir, Memory: q.sortBytes, Parts: sortParts, Shards: 1, Readers: q.workers})
	if err != nil {
		return nil, err
	}
	p.shard = p.sorter.Shard(0)
	p.free = make(chan *leafWriter, q.workers)
	for range q.workers {
		p.free <- &leafWriter{partWriter: newPartWriter(q)}
	}
	return p, nil
}

// close lets go of what is sorted.
func (p *partitioner) close(ctx context.Context) error {
	return errors.Join(p.sorter.Close(ctx), p.fs.Remove(context.WithoutCancel(ctx), p.dir))
}

// take adds a part of the partCutter. If it ends a part of the partitioner, take writes that part.
func (p *partitioner) take(ctx context.Context, cut *part) error {
	err := p.add(ctx, cut)
	for _, t := range cut.trails {
		t.Release()
	}
	if err != nil {
		return err
	}
	leaves := min(int64(len(p.leaves)), mostTogether)
	large := p.events >= leaves*int64(partEvents) || p.bytes >= leaves*int64(partBytes)
	if p.events == 0 || !large && !cut.ends {
		return nil
	}
	return p.write(ctx, cut)
}

// add adds the behaviours of the partCutter's part to the sorter.
func (p *partitioner) add(ctx context.Context, cut *part) error {
	var err error
	for _, u := range cut.users {
		if p.row, err = p.q.info.Layout.AppendUser(append(p.row[:0], 0, 0, 0, 0), u.key()); err != nil {
			return err
		}
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
			}
			l.Events++
			binary.BigEndian.PutUint32(p.row, uint32(v)^1<<31)
			p.pack(&u, &events[i])
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

// pack makes the payload of one of u's behaviours. It has the values that come out.
func (p *partitioner) pack(u *slice, e *trail.Event) {
	p.payload = binary.BigEndian.AppendUint64(p.payload[:0], uint64(e.ID))
	for _, t := range u.steps {
		p.payload = binary.BigEndian.AppendUint64(p.payload, uint64(t))
	}
	b := u.trails.Batch
	p.rec.Kind, p.rec.Time, p.rec.Date, p.rec.Values = int(e.Kind), e.Time, behaviour.Date(e.Date), p.rec.Values[:0]
	for i, out := range p.q.fields[e.Kind] {
		var v []byte
		if out {
			v = b.Value(b.Refs[int(e.Refs)+i])
		}
		p.rec.Values = append(p.rec.Values, v)
	}
	p.payload = behaviour.AppendPacked(p.payload, &p.rec)
}

// write writes the leaves of the part that ends with cut.
func (p *partitioner) write(ctx context.Context, cut *part) error {
	name := p.q.output.partName(p.number)
	if err := p.sorter.Finish(ctx); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(p.q.workers)
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
	r := partRecord{Number: p.number, Users: p.users, Events: p.events, Last: cut.last, Counts: cut.counts, Found: bytes.Clone(p.found)}
	for _, v := range slices.SortedFunc(maps.Keys(p.leaves), cmp.Compare[int32]) {
		r.Files = append(r.Files, *p.leaves[v])
	}
	if err := p.out.done(ctx, r); err != nil {
		return err
	}
	breakpoint.Reach(breakpoint.Part)
	p.number, p.users, p.events, p.bytes = p.number+1, 0, 0, 0
	p.found = p.found[:0]
	clear(p.leaves)
	return p.sorter.Reset(ctx)
}

// writeLeaves writes the leaves of one of the sorter's parts.
func (p *partitioner) writeLeaves(ctx context.Context, w *leafWriter, n int, name string) (err error) {
	it, err := p.sorter.Part(ctx, n)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, it.Close()) }()
	for more := it.Next(); more; {
		v := valueOf(it)
		name := dfs.Join(p.q.output.Partition+"="+p.called(v), name)
		f, err := w.writeFile(ctx, p.out, name, func() error {
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

func valueOf(it *shuffle.Iterator) int32 { return int32(binary.BigEndian.Uint32(it.Row()) ^ 1<<31) }

// add writes the behaviour at hand.
func (w *leafWriter) add(it *shuffle.Iterator) error {
	id := it.Row()[4:]
	if !bytes.Equal(id, w.user.id) || w.user.trails == nil {
		w.user = named{id: append(w.user.id[:0], id...), slice: slice{trails: &fetch.Trails{Batch: &w.batch}, steps: make([]int64, w.q.stepCount())}}
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
	e.Kind, e.Time, e.Date = uint8(w.rec.Kind), w.rec.Time, int32(w.rec.Date)
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
	if err := w.long.row(&w.partWriter.batch, &w.user, &e); err != nil {
		return err
	}
	return w.flush(batchRows)
}
