package sample_test

import (
	"cmp"
	"errors"
	"slices"
	"testing"

	"github.com/cespare/xxhash/v2"

	"usertrail/internal/extract/extracttest"
	"usertrail/internal/extract/query"
	"usertrail/internal/extract/sample"
	"usertrail/internal/extract/userlist"
	"usertrail/internal/test/testworld"
)

// wanted returns the users of a sample by a plain loop: the active users with the smallest hashes.
func wanted(w *testworld.W, q testworld.Query, s sample.Sample) []string {
	var users []string
	for _, r := range w.Oracle(q).Rows {
		users = append(users, r.User)
	}
	slices.Sort(users)
	users = slices.Compact(users)
	hash := func(user string) uint64 {
		d := xxhash.NewWithSeed(s.Seed)
		d.Write([]byte(user))
		return d.Sum64()
	}
	slices.SortFunc(users, func(a, b string) int { return cmp.Compare(hash(a), hash(b)) })
	return users[:min(s.Users, len(users))]
}

// TestASampleIsOfActiveUsers samples the users of worlds in tables of one and many regions, with rolls and
// without, and compares the users with a plain loop.
func TestASampleIsOfActiveUsers(t *testing.T) {
	w := testworld.World(5, 60)
	h := extracttest.Delivered(t, w)
	for _, u := range []extracttest.Turn{{Name: "one", Workers: 1, Memory: 64 << 20, Regions: 1}, {Name: "many", Workers: 2, Memory: 64 << 20, Regions: 7}} {
		h.Load(t, u, w.Span)
		for _, active := range []string{"any", "all"} {
			q := testworld.Query{Span: w.Span, Kinds: w.Names()[:2], Active: active}
			seen := map[string]bool{}
			for _, s := range []sample.Sample{{Users: 3}, {Users: 3, Seed: 7}, {Users: 10}, {Users: 1000}} {
				c, err := h.Config(t.Context(), q, u, "")
				if err != nil {
					t.Fatal(err)
				}
				checked, err := c.NewQuery()
				if err != nil {
					t.Fatal(err)
				}
				list, err := s.Of(t.Context(), checked, c.Table)
				if err != nil {
					t.Fatal(err)
				}
				if err := c.Table.Close(); err != nil {
					t.Error(err)
				}
				want := wanted(w, q, s)
				var ids [][]byte
				for _, id := range want {
					ids = append(ids, []byte(id))
				}
				if len(want) == 0 || list.Digest() != userlist.Of(ids, checked.Info.Layout).Digest() || list.Len() != len(want) {
					t.Errorf("%s, --active %s, %+v: %d users, want %q", u.Name, active, s, list.Len(), want)
				}
				seen[list.Digest()] = true
			}
			if len(seen) < 3 {
				t.Errorf("--active %s: %d different samples; the seeds do not matter", active, len(seen))
			}
		}
	}
}

func TestSamplesOnACommandLine(t *testing.T) {
	for text, want := range map[string]sample.Sample{"sample:20": {Users: 20}, "sample:1:18446744073709551615": {Users: 1, Seed: 1<<64 - 1}} {
		if got, ok, err := sample.Parse(text); got != want || !ok || err != nil {
			t.Errorf("%s: %+v, %t, %v, want %+v", text, got, ok, err, want)
		}
	}
	for _, text := range []string{"sample:", "sample:0", "sample:-1", "sample:100001", "sample:2:", "sample:2:x", "sample:2:-1", "sample:x:1"} {
		if _, ok, err := sample.Parse(text); !ok || !errors.Is(err, query.ErrWrong) {
			t.Errorf("%s: %t, %v, want an error", text, ok, err)
		}
	}
	for _, text := range []string{"all", "-", "users.txt", "./sample:2"} {
		if _, ok, err := sample.Parse(text); ok || err != nil {
			t.Errorf("%s: %t, %v, want no sample", text, ok, err)
		}
	}
}
