package output

import (
	"testing"

	"usertrail/internal/extract/judge"
	"usertrail/internal/extract/memory"
	"usertrail/internal/table/fetch"
	"usertrail/internal/trail"
)

// TestPartsEndByTheirSizes cuts users of one event each. A part ends with the user with whom it has
// enough events, bytes of values or bytes of IDs.
func TestPartsEndByTheirSizes(t *testing.T) {
	const each = 100
	for name, x := range map[string]struct {
		sizes memory.Sizes
		want  int // users in a part
	}{
		"events": {memory.Sizes{PartEvents: 3, PartBytes: 1000, PartIDs: 1000, PartMemory: 1000}, 3},
		"values": {memory.Sizes{PartEvents: 10, PartBytes: each + 1, PartIDs: 1000, PartMemory: 1000}, 2},
		"IDs":    {memory.Sizes{PartEvents: 10, PartBytes: 1000, PartIDs: 3*each + 1, PartMemory: 1000}, 4},
		"memory": {memory.Sizes{PartEvents: 10, PartBytes: 1000, PartIDs: 1000, PartMemory: 2*(each+32+3*8) + 1}, 3},
		"users":  {memory.Sizes{PartEvents: 10, PartBytes: 1000, PartIDs: 1000, PartMemory: 5000}, 6},
	} {
		t.Run(name, func(t *testing.T) {
			const users = 12
			parts := make(chan *Part, users)
			k := &Cutter{parts: parts, sizes: x.sizes, most: 6, fields: []int{3}}
			u := judge.User{To: 1, ID: make([]byte, each), Key: []byte("key"), Bytes: each}
			for range users {
				trails := &fetch.Trails{Batch: &trail.Batch{Events: make([]trail.Event, 1)}}
				trails.Hold()
				if err := k.add(t.Context(), trails, &u); err != nil {
					t.Fatal(err)
				}
				trails.Release()
			}
			close(parts)
			n := 0
			for p := range parts {
				n++
				if len(p.users) != x.want {
					t.Errorf("part %d has %d users, want %d", p.number, len(p.users), x.want)
				}
			}
			if n != users/x.want {
				t.Errorf("there are %d parts of %d users, want %d", n, x.want, users/x.want)
			}
		})
	}
}
