package output

import (
	"testing"
	"testing/synctest"

	"usertrail/internal/extract/judge"
	"usertrail/internal/extract/memory"
	"usertrail/internal/table/fetch"
	"usertrail/internal/trail"
)

// TestPartsOfManyIDsWaitForEachOther cuts users whose IDs are large into parts of two users. While a
// writer holds such a part, the next part gets no more IDs than a light part has.
func TestPartsOfManyIDsWaitForEachOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		parts := make(chan *Part)
		k := &Cutter{parts: parts, sizes: memory.Sizes{PartEvents: 2, PartBytes: 1 << 20}, heavy: make(chan struct{}, 1)}
		u := judge.User{To: 1, ID: make([]byte, memory.HeavyIDs/2+1), Key: []byte("key")}
		added := 0
		go func() {
			defer close(parts)
			for range 6 {
				trails := &fetch.Trails{Batch: new(trail.Batch)}
				trails.Hold()
				if err := k.add(t.Context(), trails, &u); err != nil {
					t.Error(err)
				}
				trails.Release()
				added++
			}
		}()
		for n := range 3 {
			p := <-parts
			synctest.Wait()
			if want := min(6, 2*n+3); added != want {
				t.Errorf("%d users are added while part %d is held, want %d", added, n, want)
			}
			if len(p.users) != 2 {
				t.Errorf("part %d has %d users, want 2", n, len(p.users))
			}
			p.release()
		}
		if _, more := <-parts; more || len(k.heavy) > 0 {
			t.Errorf("there is another part, or %d parts hold their place", len(k.heavy))
		}
	})
}
