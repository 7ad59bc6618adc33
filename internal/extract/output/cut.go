package output

import (
	"context"
	"math"
	"slices"

	"usertrail/internal/extract/judge"
	"usertrail/internal/extract/memory"
	"usertrail/internal/extract/notfound"
	"usertrail/internal/extract/query"
	"usertrail/internal/format/trailfile"
	"usertrail/internal/run/pipe"
	"usertrail/internal/split"
	"usertrail/internal/table/fetch"
	"usertrail/internal/trail"
)

// A Part has the trails of some users, in order of their keys. It becomes a file.
type Part struct {
	number int
	trails []*fetch.Trails // held until the part is written
	users  []named
	events int64
	bytes  int          // of their values
	ids    int          // bytes of the users' IDs
	memory int          // bytes of the events, values and references to values
	last   []byte       // key: each user up to it is in this part or an earlier one, or is not in the result
	counts judge.Counts // of all users that were read, up to that one
	found  []byte       // users found by their rows since the part before, as notfound.Finds packs them
	ends   bool         // it is the last part of its piece, or of the result

	before  <-chan struct{} // closed when the part before it is in the stream; nil if it is the first
	written chan struct{}   // closed when it is in the stream
}

// release releases the trails and the IDs of the part.
func (p *Part) release() {
	for _, t := range p.trails {
		t.Release()
	}
	p.trails, p.users = nil, nil
}

// A named trail is the trail of the user id: the events from from to to, not included, of a batch.
type named struct {
	id       []byte
	trails   *fetch.Trails
	from, to int
	steps    []int64 // times of the steps of the sequence, in µs
}

func (u *named) events() []trail.Event { return u.trails.Batch.Events[u.from:u.to] }

// A Cutter divides the stream of trails into parts. A part ends with the user with whom it has
// Sizes.PartEvents events, Sizes.PartBytes bytes of values, Sizes.PartIDs bytes of IDs or Sizes.PartMemory bytes of all, or with
// wideCells values of a wide result. So parts depend only on the trails. If the query is cut into pieces, a part also ends with its piece. A
// Cutter is for one goroutine.
type Cutter struct {
	parts       chan<- *Part
	sizes       memory.Sizes
	most        int   // users of a part
	fields      []int // by kind: number of its fields
	partitioned bool  // the result is divided into directories

	number int
	part   *Part
	turn   chan struct{} // Part.written of the part before
	piece  int           // of the last batch
	read   []byte        // key of the last user of that batch
	counts judge.Counts  // of all users that were read
	found  *notfound.Search
	cursor *notfound.Cursor
	finds  notfound.Finds
}

// wideCells is the number of values in a part of a wide result, about.
const wideCells = 4 << 20

// mostUsers returns the number of users in a part of the result of q.
func mostUsers(q *query.Query) int {
	if q.Output.Shape != trailfile.WideShape {
		return math.MaxInt
	}
	return max(1, wideCells/len(q.Schema.Columns))
}

// NewCutter returns a Cutter for the result of q. It sends parts to parts, and marks the users that
// were found by their rows in found.
func NewCutter(q *query.Query, sizes memory.Sizes, found *notfound.Search, parts chan<- *Part) *Cutter {
	fields := make([]int, len(q.Info.Schema.Kinds))
	for i, kind := range q.Info.Schema.Kinds {
		fields[i] = len(kind.Fields)
	}
	return &Cutter{
		parts: parts, sizes: sizes, most: mostUsers(q), fields: fields, partitioned: q.Output.Partition != "",
		found: found, cursor: found.Region(split.Region{}),
	}
}

// Resume continues after a part that an earlier run completed. The caller passes these parts in
// their order, before it calls Take.
func (k *Cutter) Resume(r *Record) error {
	k.number, k.counts = r.Number+1, r.Counts
	return k.finds.Restore(k.found, r.Found)
}

// Counts returns the counts of all users that were read.
func (k *Cutter) Counts() *judge.Counts { return &k.counts }

// Take adds the users of a batch, and releases its trails.
func (k *Cutter) Take(ctx context.Context, s *judge.Batch) error {
	defer s.Trails.Release()
	if s.Piece != k.piece {
		if err := k.rest(ctx); err != nil {
			return err
		}
		k.piece = s.Piece
	}
	for i := range s.Users {
		u := &s.Users[i]
		k.counts.Count(u)
		if u.Found {
			if i := k.cursor.Mark(u.Key); i >= 0 {
				k.finds.Add(i)
			}
		}
		if u.To == u.From {
			continue
		}
		if err := k.add(ctx, s.Trails, u); err != nil {
			return err
		}
	}
	if p := k.part; p != nil && len(p.trails) > 0 && p.trails[len(p.trails)-1] == s.Trails {
		s.Trails.Settle() // the memory of a part that has not ended is bounded like the part
	}
	k.counts.Foreign.Add(s.Foreign)
	k.read = append(k.read[:0], s.Last...)
	s.Trails.Keys = nil // the parts that hold the trails have the IDs
	return nil
}

// add adds the trail of a user to the current part, and ends a part that is full.
func (k *Cutter) add(ctx context.Context, trails *fetch.Trails, u *judge.User) error {
	p := k.begin()
	if n := len(p.trails); n == 0 || p.trails[n-1] != trails {
		trails.Hold()
		p.trails = append(p.trails, trails)
	}
	p.users = append(p.users, named{u.ID, trails, u.From, u.To, u.Steps})
	p.events += int64(u.To - u.From)
	p.bytes += u.Bytes
	p.memory += u.Bytes + k.overhead(trails.Batch.Events[u.From:u.To])
	p.ids += len(u.ID)
	if p.events < k.sizes.PartEvents && p.bytes < k.sizes.PartBytes && p.ids < k.sizes.PartIDs && p.memory < k.sizes.PartMemory && len(p.users) < k.most {
		return nil
	}
	return k.end(ctx, u.Key, false)
}

// begin returns the current part. It begins one if there is none.
func (k *Cutter) begin() *Part {
	if k.part == nil {
		k.part = &Part{number: k.number, before: k.turn, written: make(chan struct{})}
		k.number, k.turn = k.number+1, k.part.written
	}
	return k.part
}

// overhead returns the bytes of events and of the references to their values.
func (k *Cutter) overhead(events []trail.Event) int {
	refs := 0
	for i := range events {
		refs += k.fields[events[i].Kind]
	}
	return trail.EventBytes*len(events) + trail.RefBytes*refs
}

// end ends the part. ends reports whether its piece ends, too. All users up to the user with
// the key through are counted, and no user after it.
func (k *Cutter) end(ctx context.Context, through []byte, ends bool) error {
	p := k.part
	k.part = nil
	p.ends = ends
	p.counts = k.counts
	p.counts.Steps = slices.Clone(k.counts.Steps)
	p.last = append(p.last, through...)
	p.found = k.finds.Take()
	return pipe.Send(ctx, k.parts, p)
}

// rest ends the current part, if there is one. The counts of the part include users who were read
// after its last user and are not in the result. If the result is partitioned, rest sends a part
// even if there is no current part. The partitioner may hold earlier parts, and this part shows
// it that the piece has ended.
func (k *Cutter) rest(ctx context.Context) error {
	if k.part == nil && !k.partitioned {
		return nil
	}
	k.begin()
	return k.end(ctx, k.read, true)
}

// Finish ends the last part. A whole result without users is one part without rows, so that its
// reader finds the columns. A result in directories without users has no part.
func (k *Cutter) Finish(ctx context.Context, whole bool) error {
	if k.part == nil && k.number == 0 && whole && !k.partitioned {
		return pipe.Send(ctx, k.parts, k.begin())
	}
	return k.rest(ctx)
}
