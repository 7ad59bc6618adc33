package notfound

import (
	"math/rand/v2"
	"slices"
	"strconv"
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

// TestLostZerosAreCounted looks at IDs that are shorter than the IDs that were found.
func TestLostZerosAreCounted(t *testing.T) {
	numbers := func(from, n int) (ids []string) {
		for i := range n {
			ids = append(ids, strconv.Itoa(from+i))
		}
		return ids
	}
	for _, c := range []struct {
		found, lost []string
		short       int64
		width       int
	}{
		{[]string{"0001000"}, []string{"1007", "42", "0042", "x7", "10001007", "1000107"}, 2, 7},
		{[]string{"0001000", "2001000"}, []string{"1007"}, 1, 7},
		{[]string{"0001000", "20010"}, []string{"1007"}, 0, mixed},
		{[]string{"0001000", "u001000"}, []string{"1007"}, 0, mixed},
		{numbers(1000, enough), []string{"107"}, 1, 4},
		{numbers(1000, enough-1), []string{"107"}, 0, 0},
		{numbers(995, enough), []string{"107"}, 0, mixed},
		{nil, []string{"107"}, 0, 0},
	} {
		l := layout.Reversed{}
		users, err := userlist.Read(strings.NewReader(strings.Join(append(c.lost, c.found...), "\n")), "list", l, 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		s := NewSearch(users)
		for i := range users.Len() {
			id, err := l.AppendUser(nil, users.Key(i))
			if err != nil {
				t.Fatal(err)
			}
			if slices.Contains(c.found, string(id)) {
				s.mark(i)
			}
		}
		m, err := s.Count(l)
		if want := (Count{Users: int64(len(c.lost)), Short: c.short, Width: c.width}); err != nil || m != want {
			t.Errorf("found %q, not found %q: %+v, %v, want %+v", c.found, c.lost, m, err, want)
		}
	}
}

// TestLostZerosOfPiecesAreOneNote adds the counts of pieces.
func TestLostZerosOfPiecesAreOneNote(t *testing.T) {
	for _, c := range []struct {
		widths []int
		note   string
	}{
		{[]int{7, 0, 7}, "3 of the IDs that were not found have fewer digits than the IDs that were found, which have 7: a spreadsheet may have removed zeros at the beginning: write the IDs with them, unless the table has such IDs"},
		{[]int{7, mixed, 0}, ""},
		{[]int{0, mixed, 7}, ""},
		{[]int{7, 6, 7}, ""},
	} {
		var all Count
		for _, w := range c.widths {
			all.Add(&Count{Users: 1, Short: 1, Width: w})
		}
		if notes := all.Notes(9, ""); strings.Join(notes[1:], "") != c.note {
			t.Errorf("%v: %q, want %q", c.widths, notes[1:], c.note)
		}
	}
}
