package segment

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"usertrail/internal/behaviour"
	"usertrail/internal/format/roll"
	"usertrail/internal/store/dfs/local"
	"usertrail/internal/table/shuffle"
)

// TestRollIsTheSameInAnyOrder adds the same records in order and shuffled, in memory for few
// of them. Both rolls have the same bytes, and no temporary file remains.
func TestRollIsTheSameInAnyOrder(t *testing.T) {
	dice := rand.New(rand.NewPCG(1, 1))
	span := behaviour.Span{From: 16000, To: 16009}
	type record struct {
		key     string
		date    behaviour.Date
		kind    int
		records int64
	}
	var all []record
	for i := range 20000 {
		for range 1 + dice.IntN(3) {
			all = append(all, record{fmt.Sprintf("u%05d_", i), span.From + behaviour.Date(dice.IntN(10)), dice.IntN(4), 1 + dice.Int64N(1000)})
		}
	}
	ids := []uint16{1, 2, 3, 9}
	var want, got bytes.Buffer
	sorted := orderedRoll{roll.NewWriter(&want, ids, span)}
	dir := t.TempDir()
	mixed, err := newUnorderedRoll(t.Context(), &got, ids, span, shuffle.Config{FS: local.New(), Dir: dir, Memory: 256 << 10})
	if err != nil {
		t.Fatal(err)
	}
	defer mixed.Abort()
	for _, r := range all {
		if err := sorted.Add([]byte(r.key), r.date, r.kind, r.records); err != nil {
			t.Fatal(err)
		}
	}
	for _, i := range dice.Perm(len(all)) {
		r := all[i]
		if err := mixed.Add([]byte(r.key), r.date, r.kind, r.records); err != nil {
			t.Fatal(err)
		}
	}
	a, err := sorted.Close()
	if err != nil {
		t.Fatal(err)
	}
	b, err := mixed.Close()
	if err != nil {
		t.Fatal(err)
	}
	if a.Users != 20000 || a.Users != b.Users || a.Records != b.Records || !bytes.Equal(want.Bytes(), got.Bytes()) {
		t.Errorf("the roll of shuffled users has %d users and %d records in %d bytes; in order it has %d, %d, %d",
			b.Users, b.Records, got.Len(), a.Users, a.Records, want.Len())
	}
	left, err := local.New().List(t.Context(), dir)
	if err != nil || len(left) > 0 {
		t.Errorf("files remain: %v, %v", left, err)
	}
}
