package userlist_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"usertrail/internal/behaviour"
	"usertrail/internal/extract/userlist"
	"usertrail/internal/format/layout"
	"usertrail/internal/split"
	"usertrail/internal/store/dfs/local"
)

func TestListsOfUsersAreReadStrictly(t *testing.T) {
	long := strings.Repeat("x", behaviour.MaxUserLen)
	for text, says := range map[string]string{
		"a\n\n  \nb\r\na\n":             "",
		"\ufeffa\nb":                    "",
		long + "\n":                     "",
		long + "x\n":                    "line 1 is longer",
		"a\n\xff\n":                     "line 2 is not UTF-8: convert the list, for example by iconv -f windows-1252 -t utf-8",
		"PK\x03\x04\x14\x00\x00\n":      "people.txt: the list is a workbook or a zip file: save it as CSV UTF-8, and write --users FILE.csv:COLUMN",
		"\xff\xfea\x00\n\x00":           "begins with the byte order mark of utf-16: convert the list, for example by iconv -f utf-16 -t utf-8",
		"\xfe\xff\x00a\x00\n":           "iconv -f utf-16 ",
		"\xff\xfe\x00\x00a\x00\x00\x00": "iconv -f utf-32 ",
		strings.Repeat("y", 3<<20):      "line 1 is longer",
		strings.Repeat("a\nb\n", 1e5):   "",
		numbered(1e5):                   "do not fit in memory",
	} {
		_, err := userlist.Read(strings.NewReader(text), "people.txt", layout.Reversed{}, 1<<20)
		if says == "" && err != nil || says != "" && (!errors.Is(err, userlist.ErrList) || !strings.Contains(err.Error(), says) || !strings.Contains(err.Error(), "people.txt")) {
			t.Errorf("%.20q…: %v, want %q", text, err, says)
		}
	}
}

// numbered returns a list of n different users.
func numbered(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%d\n", i)
	}
	return b.String()
}

// TestMembersAreThoseOfTheirRange writes a list and reads it by ranges that cover all keys.
// Each user must be in exactly one of them.
func TestMembersAreThoseOfTheirRange(t *testing.T) {
	fs, name := local.New(), filepath.Join(t.TempDir(), "users")
	rng := rand.New(rand.NewPCG(7, 7))
	for n := range 50 {
		all, err := userlist.Read(strings.NewReader(numbered(rng.IntN(300))), "list", layout.Reversed{}, 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		ranges := ranges(rng, all)
		f, err := fs.Create(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(all.Write(f), f.Commit()); err != nil {
			t.Fatal(err)
		}
		in, err := fs.Open(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		var keys []string
		for i, m := range userlist.Cut(all, ranges) {
			some, err := m.Read(in, name, 1<<20)
			if err != nil {
				t.Fatalf("%d: range %d of %d: %v", n, i, len(ranges), err)
			}
			for j := range some.Len() {
				if key := some.Key(j); !ranges[i].Has(key) {
					t.Errorf("%d: %x is not in %s", n, key, ranges[i])
				}
				keys = append(keys, string(some.Key(j)))
			}
			if m.Sum = all.Digest(); some.Len() < all.Len() {
				if _, err := m.Read(in, name, 1<<20); err == nil || !strings.Contains(err.Error(), "plan again") {
					t.Errorf("%d: members of another list are read: %v", n, err)
				}
			}
		}
		if !slices.Equal(keys, keysOf(all)) {
			t.Errorf("%d: %d users in %d ranges, want %d, each once", n, len(keys), len(ranges), all.Len())
		}
		in.Close()
	}
}

// ranges returns ranges that together cover all keys. They end at users and between users.
func ranges(rng *rand.Rand, all *userlist.List) []split.Region {
	points := map[string]bool{}
	for range rng.IntN(8) {
		if n := all.Len(); n > 0 {
			key := string(all.Key(rng.IntN(n)))
			points[key+strings.Repeat("\x00", rng.IntN(2))] = true
		}
	}
	var cuts split.Points
	for p := range points {
		cuts = append(cuts, []byte(p))
	}
	slices.SortFunc(cuts, slices.Compare)
	return cuts.Regions()
}

func keysOf(u *userlist.List) (keys []string) {
	for i := range u.Len() {
		keys = append(keys, string(u.Key(i)))
	}
	return keys
}

// TestAListIsInMemoryOnce reads a list with long IDs, each many times and in any order, within a little more memory than its
// distinct IDs need.
func TestAListIsInMemoryOnce(t *testing.T) {
	const users, each = 3000, 40
	rng := rand.New(rand.NewPCG(5, 5))
	var ids []string
	size := int64(0)
	for i := range users {
		id := fmt.Sprintf("%d-%s", i, strings.Repeat("x", 100+rng.IntN(100)))
		size += int64(len(id))
		for range each {
			ids = append(ids, id)
		}
	}
	rng.Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
	list, err := userlist.Read(strings.NewReader(strings.Join(ids, "\n")), "list", layout.Tall{}, 3*size)
	if err != nil {
		t.Fatal(err)
	}
	keys := keysOf(list)
	if list.Len() != users || !slices.IsSorted(keys) || len(slices.Compact(keys)) != users {
		t.Errorf("%d users, sorted %t; want %d", list.Len(), slices.IsSorted(keys), users)
	}
	if most := size + 8*users + 1<<20; list.Bytes() > most {
		t.Errorf("the list takes %d bytes, want at most %d", list.Bytes(), most)
	}
	if _, err := userlist.Read(strings.NewReader(strings.Join(ids, "\n")), "list", layout.Tall{}, size); !errors.Is(err, userlist.ErrList) {
		t.Errorf("%v, want that the list does not fit", err)
	}
}
