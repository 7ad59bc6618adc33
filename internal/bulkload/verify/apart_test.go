package verify_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/cespare/xxhash/v2"

	"usertrail/internal/behaviour"
	"usertrail/internal/bulkload/verify"
	"usertrail/internal/format/roll"
	"usertrail/internal/store/dfs/dfstest"
	"usertrail/internal/test/testkit"
	"usertrail/internal/test/testworld"
)

// manyUsers returns a fixture of a table in one file, in which each of many users has one play, on one of
// three days. One more user has an order.
func manyUsers(t *testing.T, layout string, users int) *fixture {
	t.Helper()
	day := behaviour.DateOf(2014, 9, 1)
	h := &fixture{dir: testkit.Scratch(t), w: &testworld.W{Span: behaviour.Span{From: day, To: day + 2}}}
	h.is(t, "logs: logs/{date}/{behaviour}.csv\ntable: trails\nlayout: "+layout+"\nbehaviours: {play: {id: 1}, order: {id: 2}}\n")
	h.job.Table.Regions = 1
	for n := range 3 {
		var plays strings.Builder
		plays.WriteString("user_id,time\n")
		for i := n; i < users; i += 3 {
			fmt.Fprintf(&plays, "%0100d,%s 08:00:00\n", i, day+behaviour.Date(n))
		}
		h.deliver(t, fmt.Sprintf("%s/play.csv", day+behaviour.Date(n)), plays.String())
	}
	h.deliver(t, day.String()+"/order.csv", fmt.Sprintf("user_id,time\nzz,%s 08:00:00\n", day))
	h.load(t)
	return h
}

// reroll replaces the roll of the table's file. The new roll has the same users, except that change
// changes the day and the kind of the fourth user, or leaves the user out. reroll updates the manifest to
// match. It returns the name of the roll and the user.
func (h *fixture) reroll(t *testing.T, change func(day *behaviour.Date, kind *int) bool) (name string, user []byte) {
	t.Helper()
	m := h.manifest(t)
	f := &m.Files[0]
	b := read(t, h.path(f.Roll))
	r, err := roll.Open(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	w := roll.NewWriter(&out, r.Meta().IDs, r.Meta().Span)
	it := r.Iterator()
	for n := 0; it.Next(); n++ {
		e := it.Entry()
		day, kind := e.Days[0].Date, 0
		if e.Kinds(0).Has(1) {
			kind = 1
		}
		if n == 3 {
			user = bytes.Clone(e.User)
			if !change(&day, &kind) {
				continue
			}
		}
		if err := w.Add(e.User, day, kind, e.Records); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.Close(); errors.Join(err, it.Err()) != nil {
		t.Fatal(err, it.Err())
	}
	write(t, h.path(f.Roll), out.Bytes())
	f.RollSum = fmt.Sprintf("%016x", xxhash.Sum64(out.Bytes()))
	h.setManifest(t, m)
	return f.Roll, user
}

// TestAUserWhoDiffersIsNamed changes one user of a roll. The rows of a user are adjacent in one layout,
// and apart in the other.
func TestAUserWhoDiffersIsNamed(t *testing.T) {
	for _, layout := range []string{"reversed", "hashed"} {
		for what, change := range map[string]func(*behaviour.Date, *int) bool{
			"a missing user": func(*behaviour.Date, *int) bool { return false },
			"another day": func(d *behaviour.Date, _ *int) bool {
				*d = behaviour.DateOf(2014, 9, 1) + (*d-behaviour.DateOf(2014, 9, 1)+1)%3
				return true
			},
			"another kind": func(_ *behaviour.Date, kind *int) bool { *kind = 1; return true },
			"nothing":      func(*behaviour.Date, *int) bool { return true },
		} {
			h := manyUsers(t, layout, 20)
			name, user := h.reroll(t, change)
			r, err := h.verify(t)
			if what == "nothing" {
				if err != nil {
					t.Errorf("%s: %s changed: %v, %+v", layout, what, err, r.Files)
				}
				continue
			}
			if !errors.Is(err, verify.ErrDiffers) || len(r.Files) != 1 || r.Files[0].Name != name || !strings.Contains(r.Files[0].Why.Error(), fmt.Sprintf("%q", user)) {
				t.Errorf("%s: %s: %v, %v; want %s to be named, and the user %q", layout, what, err, r.Files, name, user)
			}
		}
	}
}

// TestUsersApartAreComparedInLittleMemory verifies a table with 10 MB of user keys. The heap must not
// hold them.
func TestUsersApartAreComparedInLittleMemory(t *testing.T) {
	h := manyUsers(t, "hashed", 100_000)
	heap := dfstest.NewReadHeap(h.store().FS)
	_, err := h.verify(t, func(c *verify.Config) {
		s := h.store()
		s.FS = heap
		c.Store = s
	})
	if n := heap.Grown(); err != nil || n < 0 || n > 3<<20 {
		t.Errorf("%v; the heap has %d KiB more than before", err, n>>10)
	}
}
