package notfound

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"usertrail/internal/extract/userlist"
	"usertrail/internal/format/layout"
)

// TestFindsContinue packs users who were found, part by part, and restores as many parts as
// were finished.
func TestFindsContinue(t *testing.T) {
	dice := rand.New(rand.NewPCG(1, 2))
	var ids []string
	for i := range 300 {
		ids = append(ids, strings.Repeat("x", 1+i%7)+string(rune('a'+i%26))+strings.Repeat("y", i/50))
	}
	users, err := userlist.Read(strings.NewReader(strings.Join(ids, "\n")), "list", layout.Reversed{}, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	for range 100 {
		var f Finds
		var parts [][]byte
		var found []int
		for i := range users.Len() {
			if dice.IntN(3) == 0 {
				f.Add(i)
				found = append(found, i)
			}
			if dice.IntN(20) == 0 {
				parts = append(parts, f.Take())
			}
		}
		parts = append(parts, f.Take())
		s := NewSearch(users)
		var again Finds
		for _, p := range parts {
			if err := again.Restore(s, p); err != nil {
				t.Fatal(err)
			}
		}
		for i := range users.Len() {
			if s.has(i) != slices.Contains(found, i) {
				t.Fatalf("user %d is found: %t", i, s.has(i))
			}
		}
		if again.next != f.next {
			t.Errorf("it goes on at %d, want %d", again.next, f.next)
		}
	}
	for _, packed := range []string{"\xff", strings.Repeat("\xff", 9) + "\x7f"} {
		if err := new(Finds).Restore(NewSearch(users), []byte(packed)); err == nil {
			t.Errorf("%x is taken", packed)
		}
	}
}

// TestOddIDsAreCounted looks at IDs that a spreadsheet may have changed.
func TestOddIDsAreCounted(t *testing.T) {
	var m Count
	for _, id := range []string{"u1", " u1", "u1\t", "u 1", `"u1"`, "'u1", "17.0", "9.00719925474099E+15", "9e15", "1E5x", "E5", "u1.0", ".0", "1.00", "17.05", "u1;u2", "u1,u2", "u1\tu2", "u1|u2", ";", `="0012"`, "u1\r", "u1\ru2", "u1,1\nu2", "\"\nu2"} {
		m.count([]byte(id))
	}
	for _, id := range []string{"Anna\u00a0Müller", "\u200eu1", "u1\u200b", "u\u00ad1", "Anna\u202fM", "Mu\u0308ller", "が", "か\u3099", "\u1112\u1161\u11ab", "山田\u3000太郎", "Müller"} {
		m.count([]byte(id))
	}
	if want := (Count{Users: 36, Blank: 3, Lines: 3, Quoted: 3, Point: 3, Listed: 5, Hidden: 5, Decomposed: 3}); m != want {
		t.Errorf("%+v, want %+v", m, want)
	}
}
