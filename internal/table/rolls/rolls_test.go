package rolls_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"usertrail/internal/activity"
	"usertrail/internal/behaviour"
	"usertrail/internal/format/layout"
	"usertrail/internal/format/manifest"
	"usertrail/internal/format/roll"
	"usertrail/internal/split"
	"usertrail/internal/store/dfs"
	"usertrail/internal/store/dfs/local"
	"usertrail/internal/table"
	"usertrail/internal/table/rolls"
	"usertrail/internal/test/testkit"
)

// A line is an entry of a roll.
type line struct {
	user    string
	date    behaviour.Date
	id      uint16
	records int64
}

var (
	day    = behaviour.DateOf(2014, 9, 1)
	span   = behaviour.Span{From: day, To: day + 9}
	ids    = []uint16{3, 5, 9}
	schema = &behaviour.Schema{Zone: "UTC", Kinds: []behaviour.Kind{{ID: 1, Name: "new"}, {ID: 3, Name: "play"}, {ID: 5, Name: "order"}}}
)

// A rollDir is a directory of rolls, and their content.
type rollDir struct {
	t    *testing.T
	dir  string
	said map[string][]line // by name
}

func newRollDir(t *testing.T) *rollDir {
	return &rollDir{t: t, dir: t.TempDir(), said: map[string][]line{}}
}

// write writes a roll of made-up lines.
func (s *rollDir) write(dice *rand.Rand, name string) manifest.File {
	s.t.Helper()
	var lines []line
	for range 1 + dice.IntN(60) {
		lines = append(lines, line{fmt.Sprintf("%d,", dice.IntN(80)), day + behaviour.Date(dice.IntN(10)), ids[dice.IntN(len(ids))], 1 + dice.Int64N(5)})
	}
	slices.SortFunc(lines, func(a, b line) int { return strings.Compare(a.user, b.user) })
	var out bytes.Buffer
	w := roll.NewWriter(&out, ids, span)
	f := manifest.File{Roll: name, First: []byte(lines[0].user), Last: []byte(lines[len(lines)-1].user), Span: behaviour.Span{From: lines[0].date, To: lines[0].date}}
	for _, l := range lines {
		f.Span.From, f.Span.To = min(f.Span.From, l.date), max(f.Span.To, l.date)
		if err := w.Add([]byte(l.user), l.date, slices.Index(ids, l.id), l.records); err != nil {
			s.t.Fatal(err)
		}
	}
	meta, err := w.Close()
	if err != nil {
		s.t.Fatal(err)
	}
	f.Users, f.Records, f.RollSize = meta.Users, meta.Records, int64(out.Len())
	testkit.WriteFile(s.t, filepath.Join(s.dir, name), out.String())
	s.said[name] = lines
	return f
}

// users merges the rolls of q with plain loops.
func (s *rollDir) users(q rolls.Query) []string {
	did, sure := map[string]activity.Set{}, map[string]activity.Set{}
	named := map[string]bool{}
	for i, f := range append(slices.Clip(q.Files), q.Perhaps...) {
		known := i < len(q.Files) && !q.Unsure
		if named[f.Roll] {
			continue
		}
		named[f.Roll] = true
		for _, l := range s.said[f.Roll] {
			k, ok := schema.KindByID(l.id)
			if !ok || !q.Region.Has([]byte(l.user)) || !q.Span.Has(l.date) {
				continue
			}
			did[l.user] = did[l.user].Or(activity.Of(k))
			if known {
				sure[l.user] = sure[l.user].Or(activity.Of(k))
			}
		}
	}
	var out []string
	for _, user := range slices.Sorted(maps.Keys(did)) {
		out = append(out, fmt.Sprintf("%s %v %t", user, did[user], did[user] == sure[user]))
	}
	return out
}

func text(u table.User) string { return fmt.Sprintf("%s %v %t", u.Key, u.Did, u.Sure) }

// TestRowsThatLieApartHideNobody requests the users of a region whose rows lie outside of it:
// in the layout hashed they are where their hashes are.
func TestRowsThatLieApartHideNobody(t *testing.T) {
	hashed, err := layout.ByName("hashed")
	if err != nil {
		t.Fatal(err)
	}
	s := newRollDir(t)
	q := rolls.Query{Layout: hashed, Schema: schema, Span: behaviour.AllDays}
	q.Files = append(q.Files, s.write(rand.New(rand.NewPCG(6, 6)), "apart.roll"))
	q.Files[0].First, q.Files[0].Last = []byte("f000_9_login"), []byte("f0ff_1_login")
	q.Region = split.Region{Start: []byte("2"), End: []byte("4")}
	want := s.users(q)
	r := rolls.New(local.New(), s.dir)
	users, err := r.Users(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for users.Next() {
		got = append(got, text(users.User()))
	}
	if err := errors.Join(users.Err(), users.Close(), r.Close()); err != nil {
		t.Fatal(err)
	}
	if len(want) == 0 || !slices.Equal(got, want) {
		t.Errorf("the users are %q, want %q", got, want)
	}
}

// TestRollsAreMerged compares merged rolls of many queries with plain loops, user by
// user and by searches.
func TestRollsAreMerged(t *testing.T) {
	dice := rand.New(rand.NewPCG(4, 4))
	for range 200 {
		s := newRollDir(t)
		q := rolls.Query{Layout: layout.Reversed{}, Schema: schema, Unsure: dice.IntN(4) == 0}
		for i := range dice.IntN(6) {
			q.Files = append(q.Files, s.write(dice, fmt.Sprintf("%d.roll", i)))
		}
		for i := range dice.IntN(3) {
			q.Perhaps = append(q.Perhaps, s.write(dice, fmt.Sprintf("%d.perhaps", i)))
		}
		if len(q.Files) > 0 && dice.IntN(2) == 0 {
			q.Perhaps = append(q.Perhaps, q.Files[0]) // the load has ended meanwhile
		}
		q.Span = behaviour.Span{From: day + behaviour.Date(dice.IntN(5)), To: day + 5 + behaviour.Date(dice.IntN(5))}
		r := rolls.New(local.New(), s.dir)
		for _, region := range append(split.Points{[]byte("3"), []byte("5,2014"), []byte("60,20140903,00001")}.Regions(), split.Region{}) {
			q.Region = region
			want := s.users(q)
			users, err := r.Users(t.Context(), q)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for i := 0; ; i++ {
				ok := false
				if dice.IntN(2) == 0 && i < len(want) {
					ok = users.SeekGE([]byte(want[i][:strings.IndexByte(want[i], ',')+1]))
				} else {
					ok = users.Next()
				}
				if !ok {
					break
				}
				if users.User().Records < 1 {
					t.Errorf("user %q has %d records", users.User().Key, users.User().Records)
				}
				got = append(got, text(users.User()))
			}
			if err := errors.Join(users.Err(), users.Close()); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got, want) {
				t.Fatalf("%s has the users\n%q, want\n%q", region, got, want)
			}
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestSeeksGoForwardOnly seeks keys that lie before where the walk is.
func TestSeeksGoForwardOnly(t *testing.T) {
	s := newRollDir(t)
	q := rolls.Query{Layout: layout.Reversed{}, Schema: schema, Span: span, Files: []manifest.File{s.write(rand.New(rand.NewPCG(1, 1)), "roll")}}
	want := s.users(q)
	users, err := rolls.New(local.New(), s.dir).Users(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	defer users.Close()
	for i := range want {
		if !users.Next() || text(users.User()) != want[i] {
			t.Fatalf("user %d is %s, want %s", i, text(users.User()), want[i])
		}
		if !users.SeekGE([]byte("0")) || text(users.User()) != want[i] {
			t.Fatalf("a search that lies behind goes from %s to %s", want[i], text(users.User()))
		}
	}
	if users.Next() || users.Err() != nil {
		t.Errorf("after the last user there is %s, %v", users.User().Key, users.Err())
	}
}

// A counter counts the files that are open.
type counter struct {
	dfs.FS
	open atomic.Int64
}

func (c *counter) Open(ctx context.Context, name string) (dfs.File, error) {
	f, err := c.FS.Open(ctx, name)
	if err != nil {
		return nil, err
	}
	c.open.Add(1)
	return &counted{f, c}, nil
}

type counted struct {
	dfs.File
	c *counter
}

func (f *counted) Close() error {
	f.c.open.Add(-1)
	return f.File.Close()
}

// TestFewRollsStayOpen reads many rolls, one after the other and together.
func TestFewRollsStayOpen(t *testing.T) {
	s, dice := newRollDir(t), rand.New(rand.NewPCG(2, 2))
	var all []manifest.File
	for i := range 300 {
		all = append(all, s.write(dice, fmt.Sprintf("%d.roll", i)))
	}
	c := &counter{FS: local.New()}
	r := rolls.New(c, s.dir)
	q := rolls.Query{Layout: layout.Reversed{}, Schema: schema, Span: span}
	count := func() int {
		users, err := r.Users(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for users.Next() {
			n++
		}
		if err := errors.Join(users.Err(), users.Close()); err != nil {
			t.Fatal(err)
		}
		return n
	}
	for i := range all {
		q.Files = all[i : i+1]
		if got, want := count(), len(s.users(q)); got != want {
			t.Errorf("roll %d names %d users, want %d", i, got, want)
		}
	}
	q.Files = all
	if want := s.users(q); count() != len(want) {
		t.Errorf("all together do not name %d users", len(want))
	}
	if n := c.open.Load(); n == 0 || n > 150 {
		t.Errorf("%d rolls are open that nobody reads", n)
	}
	if err := r.Close(); err != nil || c.open.Load() != 0 {
		t.Errorf("in the end %d rolls are open, %v", c.open.Load(), err)
	}
}

// TestARollThatIsMissingIsSaid damages one of two rolls, and then removes it.
func TestARollThatIsMissingIsSaid(t *testing.T) {
	s, dice := newRollDir(t), rand.New(rand.NewPCG(3, 3))
	q := rolls.Query{Layout: layout.Reversed{}, Schema: schema, Span: span, Files: []manifest.File{s.write(dice, "one"), s.write(dice, "two")}}
	r := rolls.New(local.New(), s.dir)
	defer r.Close()
	two := filepath.Join(s.dir, "two")
	was, err := os.ReadFile(two)
	if err != nil {
		t.Fatal(err)
	}
	testkit.WriteFile(t, two, "no roll")
	if _, err := r.Users(t.Context(), q); !errors.Is(err, roll.ErrCorrupt) || !strings.Contains(err.Error(), "two") {
		t.Errorf("a damaged roll: %v, want ErrCorrupt and its name", err)
	}
	if err := os.Remove(filepath.Join(s.dir, "two")); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Users(t.Context(), q); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing roll: %v, want ErrNotExist", err)
	}
	testkit.WriteFile(t, two, string(was))
	users, err := r.Users(t.Context(), q)
	if err != nil {
		t.Fatalf("a roll that is there again: %v", err)
	}
	if err := users.Close(); err != nil {
		t.Error(err)
	}
}

// TestAnotherRollIsRefused puts an intact roll in the place of another one. Its users would hide
// the users of the table.
func TestAnotherRollIsRefused(t *testing.T) {
	s, dice := newRollDir(t), rand.New(rand.NewPCG(5, 5))
	right := s.write(dice, "roll")
	q := rolls.Query{Layout: layout.Reversed{}, Schema: schema, Span: span}
	for what, change := range map[string]func(*manifest.File){
		"another size":       func(f *manifest.File) { f.RollSize++ },
		"other users":        func(f *manifest.File) { f.Users++ },
		"other records":      func(f *manifest.File) { f.Records-- },
		"other dates":        func(f *manifest.File) { f.Span.To = span.To + 1 },
		"another first user": func(f *manifest.File) { f.First = []byte("!,") },
		"another last user":  func(f *manifest.File) { f.Last = []byte("zz,20140901,00001") },
	} {
		f := right
		change(&f)
		q.Files = []manifest.File{f}
		r := rolls.New(local.New(), s.dir)
		if _, err := r.Users(t.Context(), q); !errors.Is(err, table.ErrDamaged) || !strings.Contains(err.Error(), "roll") {
			t.Errorf("%s: %v, want ErrDamaged and the name of the roll", what, err)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
}
