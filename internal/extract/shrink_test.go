package extract

import (
	"slices"
	"testing"

	"usertrail/internal/behaviour"
	"usertrail/internal/table"
	"usertrail/internal/table/fetch"
	"usertrail/internal/trail"
)

// TestWhatDoesNotComeOutIsNotHeld shrinks a batch of two users with a hundred behaviours
// each. Two behaviours of the first user come out, and one of the second.
func TestWhatDoesNotComeOutIsNotHeld(t *testing.T) {
	q := &question{info: table.Info{Schema: &behaviour.Schema{Kinds: []behaviour.Kind{
		{Name: "ping"}, {Name: "play", Fields: []behaviour.Field{{Name: "programme"}, {Name: "channel"}}},
	}}}}
	b := new(trail.Batch)
	b.Reset()
	for i := range 200 {
		e := trail.Event{Time: int64(i), User: uint32(i / 100), Kind: uint8(i % 2), Refs: uint32(len(b.Refs))}
		if e.Kind == 1 {
			ref, err := b.Put([]byte{byte(i)})
			if err != nil {
				t.Fatal(err)
			}
			b.Refs = append(b.Refs, ref, trail.Ref{})
		}
		b.Events = append(b.Events, e)
	}
	s := &filtered{trails: &fetch.Trails{Batch: b}, users: []judged{{from: 2, to: 4}, {from: 7, to: 7}, {from: 199, to: 200}}, events: 200}
	if err := q.shrink(s); err != nil {
		t.Fatal(err)
	}
	var times []int64
	for _, u := range s.users {
		for _, e := range s.trails.Batch.Events[u.from:u.to] {
			times = append(times, e.Time)
			refs := q.refs(s.trails.Batch, &e)
			if e.Kind == 1 && (string(s.trails.Batch.Value(refs[0])) != string([]byte{byte(e.Time)}) || s.trails.Batch.Value(refs[1]) != nil) {
				t.Errorf("the values of the play at %d are %q and %q", e.Time, s.trails.Batch.Value(refs[0]), s.trails.Batch.Value(refs[1]))
			}
		}
	}
	if !slices.Equal(times, []int64{2, 3, 199}) || s.trails.Batch.Size() > 200 {
		t.Errorf("left are the behaviours at %d, in %d bytes", times, s.trails.Batch.Size())
	}
	whole := s.trails.Batch
	if err := q.shrink(s); err != nil || s.trails.Batch != whole {
		t.Error("what comes out whole was copied")
	}
}
