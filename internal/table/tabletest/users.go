package tabletest

import (
	"bytes"
	"slices"
	"testing"

	"usertrail/internal/activity"
	"usertrail/internal/behaviour"
	"usertrail/internal/split"
	"usertrail/internal/table"
)

// did returns the behaviours of a region's users within a span, by user key.
func (w *world) did(r split.Region, span behaviour.Span) map[string]activity.Set {
	out := map[string]activity.Set{}
	for _, e := range entriesOf(w.rows) {
		if r.Has(e.user) && span.Has(e.date) {
			out[string(e.user)] = out[string(e.user)].Or(activity.Of(e.kind))
		}
	}
	return out
}

// walk returns the users of a region with their behaviours, and their keys in the order in which
// the table returns them.
func walk(t *testing.T, from table.Table, r split.Region, span behaviour.Span) (map[string]activity.Set, []string) {
	t.Helper()
	users, err := from.Users(t.Context(), r, span)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]activity.Set{}
	var keys []string
	daily, _ := users.(table.Daily)
	for users.Next() {
		u := users.User()
		if daily != nil {
			checkDays(t, &u, daily.Days(), span)
		}
		out[string(u.Key)] = u.Did
		keys = append(keys, string(u.Key))
		if u.Records < 0 {
			t.Errorf("user %q has %d records", u.Key, u.Records)
		}
	}
	if err := users.Err(); err != nil {
		t.Fatal(err)
	}
	if err := users.Close(); err != nil {
		t.Error(err)
	}
	return out, keys
}

// checkDays checks the days of a user: they have the user's behaviours, and no day is empty.
func checkDays(t *testing.T, u *table.User, days []activity.Set, span behaviour.Span) {
	t.Helper()
	var did activity.Set
	for _, d := range days {
		did = did.Or(d)
	}
	if did != u.Did || len(days) == 0 || slices.Contains(days, activity.Set{}) {
		t.Errorf("%s: user %q did %v, and on the days %v", span, u.Key, u.Did, days)
	}
}

// testUsers checks that no user and no behaviour is missing, that the table returns each user once and in
// order, and that no user is in another region.
func testUsers(t *testing.T, w *world, from table.Table) {
	regions, err := table.UserRegions(t.Context(), from)
	if err != nil {
		t.Fatal(err)
	}
	for _, region := range append(regions, split.Region{}) {
		for day := range behaviour.Date(5) {
			for _, span := range []behaviour.Span{allDays, {From: firstDay + day, To: firstDay + day}, {From: firstDay + day, To: lastDay}} {
				want := w.did(region, span)
				got, keys := walk(t, from, region, span)
				if !slices.IsSorted(keys) || len(slices.Compact(slices.Clone(keys))) != len(keys) {
					t.Fatalf("users of %s come as %q, want each once and in order", region, keys)
				}
				for key, did := range want {
					if got[key].And(did) != did {
						t.Errorf("%s, %s: user %q did %v, want at least %v", region, span, key, got[key], did)
					}
				}
				for _, key := range keys {
					if !region.Has([]byte(key)) {
						t.Errorf("%s: user %q is of another region", region, key)
					}
				}
			}
		}
	}
	none := behaviour.Span{From: lastDay + 100, To: lastDay + 101}
	if got, _ := walk(t, from, split.Region{}, none); len(w.did(split.Region{}, none)) != 0 || len(got) > len(w.did(split.Region{}, allDays)) {
		t.Errorf("on days without rows there are %d users", len(got))
	}
}

// testUsersSeek iterates by seeks and steps, and compares the users with the list of all users. A seek may
// return the user of the sought key although it is not certain that the table has this user.
func testUsersSeek(t *testing.T, w *world, from table.Table) {
	_, all := walk(t, from, split.Region{}, allDays)
	for range 100 {
		users, err := from.Users(t.Context(), split.Region{}, allDays)
		if err != nil {
			t.Fatal(err)
		}
		for next := 0; next <= len(all); next++ { // the user that a step must find
			ok, sought := false, ""
			if next == len(all) || w.dice.IntN(2) == 0 {
				ok = users.Next()
			} else {
				next += w.dice.IntN(min(5, len(all)-next))
				key := []byte(all[next])
				if w.dice.IntN(3) == 0 { // just past that user, so at the one after
					key = append(bytes.Clone(key), 0)
					next++
				}
				ok, sought = users.SeekGE(key), string(key)
			}
			if u := users.User(); ok && !u.Sure {
				if got := string(u.Key); got < sought || next < len(all) && got > all[next] {
					t.Fatalf("at user %d: sought %q, got %q", next, sought, got)
				}
				if next == len(all) || string(u.Key) != all[next] {
					next-- // a step goes to the user that is there
				}
				continue
			}
			if want := next < len(all); ok != want {
				t.Fatalf("at user %d of %d: %t, want %t (%v)", next, len(all), ok, want, users.Err())
			}
			if ok && string(users.User().Key) != all[next] {
				t.Fatalf("at user %d: %q, want %q", next, users.User().Key, all[next])
			}
		}
		if err := users.Err(); err != nil {
			t.Fatal(err)
		}
		if err := users.Close(); err != nil {
			t.Error(err)
		}
	}
}
