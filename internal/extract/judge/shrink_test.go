package judge

import (
	"slices"
	"testing"

	"usertrail/internal/behaviour"
	"usertrail/internal/table/fetch"
	"usertrail/internal/trail"
)

// TestWhatDoesNotComeOutIsNotHeld shrinks a batch of two users with a hundred behaviours
// each. Two behaviours of the first user come out, and one of the second.
func TestWhatDoesNotComeOutIsNotHeld(t *testing.T) {
	schema := &behaviour.Schema{Kinds: []behaviour.Kind{
		{Name: "ping"}, {Name: "play", Fields: []behaviour.Field{{Name: "programme"}, {Name: "channel"}}},
	}}
	b := new(trail.Batch)
	b.Reset()
	for i := range 200 {
		e := trail.Event{Time: int64(i), User: uint32(i / 100), Kind: uint16(i % 2), Refs: uint32(len(b.Refs))}
		if e.Kind == 1 {
			ref, err := b.Put([]byte{byte(i)})
			if err != nil {
				t.Fatal(err)
			}
			b.Refs = append(b.Refs, ref, trail.Ref{})
		}
		b.Events = append(b.Events, e)
	}
	s := &Batch{Trails: &fetch.Trails{Batch: b}, Users: []User{{From: 2, To: 4}, {From: 7, To: 7}, {From: 199, To: 200}}, Events: 200}
	if err := shrink(schema, s); err != nil {
		t.Fatal(err)
	}
	var times []int64
	for _, u := range s.Users {
		for _, e := range s.Trails.Batch.Events[u.From:u.To] {
			times = append(times, e.Time)
			refs := refsOf(schema, s.Trails.Batch, &e)
			if e.Kind == 1 && (string(s.Trails.Batch.Value(refs[0])) != string([]byte{byte(e.Time)}) || s.Trails.Batch.Value(refs[1]) != nil) {
				t.Errorf("the values of the play at %d are %q and %q", e.Time, s.Trails.Batch.Value(refs[0]), s.Trails.Batch.Value(refs[1]))
			}
		}
	}
	if !slices.Equal(times, []int64{2, 3, 199}) || s.Trails.Batch.Size() > 200 {
		t.Errorf("left are the behaviours at %d, in %d bytes", times, s.Trails.Batch.Size())
	}
	whole := s.Trails.Batch
	if err := shrink(schema, s); err != nil || s.Trails.Batch != whole {
		t.Error("what comes out whole was copied")
	}
}
