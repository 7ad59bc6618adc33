package column_test

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"usertrail/internal/column"
)

func TestQualifiersLookAsDrawn(t *testing.T) {
	for _, c := range []struct {
		field string
		id    int64
		want  string
	}{
		{"programme", 42, "programme,\x00\x00\x00\x00\x00\x00\x00*"},
		{"节目", math.MaxInt64, "节目,\x7f\xff\xff\xff\xff\xff\xff\xff"},
		{column.Marker, 0, "_,\x00\x00\x00\x00\x00\x00\x00\x00"},
	} {
		got := column.Append([]byte("kept"), c.field, c.id)
		if string(got) != "kept"+c.want {
			t.Errorf("%s of %d is %q, want %q", c.field, c.id, got, c.want)
		}
		if !bytes.HasPrefix(got[4:], column.AppendPrefix(nil, c.field)) {
			t.Errorf("%q does not begin with its prefix", got)
		}
	}
}

func TestParseRefusesWhatAppendDidNotMake(t *testing.T) {
	const id = "\x00\x00\x00\x00\x00\x00\x00*"
	for _, q := range []string{
		"", id, "," + id, "a" + id, "a;" + id, "a,b," + id, ",a," + id, "a,," + id,
		"a,\x80\x00\x00\x00\x00\x00\x00\x00", "a,\xff\xff\xff\xff\xff\xff\xff\xff", "a,1234567", "a,123456789",
	} {
		if f, n, err := column.Parse([]byte(q)); err == nil {
			t.Errorf("%q parses to %q, %d", q, f, n)
		}
	}
}

func TestIDIsAPlace(t *testing.T) {
	for _, number := range []uint32{0, 1, 7, column.Numbers - 1} {
		for _, offset := range []int64{0, 1, 1 << 20, column.MaxOffset} {
			id := column.ID(number, offset)
			if n, o := column.Place(id); id < 0 || n != number || o != offset {
				t.Errorf("file %d offset %d has the ID %d, which is file %d offset %d", number, offset, id, n, o)
			}
		}
	}
	if column.ID(column.Numbers-1, column.MaxOffset) != math.MaxInt64 {
		t.Error("the last place is not the last ID: bits are lost")
	}
}

func FuzzRoundTrip(f *testing.F) {
	f.Add("programme", uint32(3), int64(42))
	f.Add("节目", uint32(column.Numbers-1), int64(column.MaxOffset))
	f.Fuzz(func(t *testing.T, field string, number uint32, offset int64) {
		number, offset = number%column.Numbers, offset&column.MaxOffset
		if field == "" || strings.ContainsRune(field, column.Separator) {
			return
		}
		id := column.ID(number, offset)
		got, back, err := column.Parse(column.Append(nil, field, id))
		if string(got) != field || back != id || err != nil {
			t.Fatalf("%s of %d comes back as %s of %d, %v", field, id, got, back, err)
		}
		if n, o := column.Place(back); n != number || o != offset {
			t.Fatalf("file %d offset %d comes back as %d, %d", number, offset, n, o)
		}
	})
}

func FuzzParse(f *testing.F) {
	f.Add(column.Append(nil, "programme", 42))
	f.Add([]byte("a,b,12345678"))
	f.Fuzz(func(t *testing.T, q []byte) {
		field, id, err := column.Parse(q)
		if err == nil && !bytes.Equal(column.Append(nil, string(field), id), q) {
			t.Fatalf("%q parses to %q of %d, which is written otherwise", q, field, id)
		}
	})
}

// FuzzOrder checks that qualifiers of one field sort like their IDs, and that qualifiers of
// two fields never mix.
func FuzzOrder(f *testing.F) {
	f.Add("play", "playlist", int64(1), int64(256))
	f.Add("a", "a_", int64(255), int64(math.MaxInt64))
	f.Fuzz(func(t *testing.T, a, b string, i, j int64) {
		i, j = i&math.MaxInt64, j&math.MaxInt64
		if a == "" || b == "" || strings.ContainsRune(a+b, column.Separator) {
			return
		}
		ai, aj, bj := column.Append(nil, a, i), column.Append(nil, a, j), column.Append(nil, b, j)
		if got, want := bytes.Compare(ai, aj), cmp.Compare(i, j); got != want {
			t.Fatalf("%q against %q gives %d, want %d", ai, aj, got, want)
		}
		if a != b && bytes.Compare(ai, bj) != bytes.Compare(aj, bj) {
			t.Fatalf("%q stands between %q and %q", bj, ai, aj)
		}
	})
}

// TestPrefixesSortAsNames uses the names that a schema allows: letters of any script, digits
// and underscores. All of them sort after the separator.
func TestPrefixesSortAsNames(t *testing.T) {
	names := []string{"a", "a0", "a_", "aa", "ab", "A", "节", "节目", "节0", "é", "z", column.Marker}
	for _, a := range names {
		for _, b := range names {
			if got, want := bytes.Compare(column.AppendPrefix(nil, a), column.AppendPrefix(nil, b)), cmp.Compare(a, b); got != want {
				t.Errorf("prefixes of %s and %s compare as %d, their names as %d", a, b, got, want)
			}
		}
	}
}

func TestNumbersDependOnThePathAlone(t *testing.T) {
	all := func(uint32) bool { return true }
	// These numbers must never change, because the column IDs of tables are made from them.
	for path, want := range map[string]uint32{
		"":                    30992793,
		"2014-09-01/play.csv": 22478605,
		"节目/播放 1.csv.gz":      32814660,
	} {
		got, err := column.Number(path, all)
		if err != nil || got != want {
			t.Errorf("%q asks for %d, %v; want %d", path, got, err, want)
		}
	}
}

func TestNumbersThatCollide(t *testing.T) {
	const path = "2014-09-01/play.csv"
	wish, err := column.Number(path, func(uint32) bool { return true })
	if err != nil {
		t.Fatal(err)
	}
	taken := map[uint32]bool{}
	for i := range uint32(5) {
		got, err := column.Number(path, func(n uint32) bool { return !taken[n] })
		if want := (wish + i) % column.Numbers; got != want || err != nil {
			t.Errorf("with %d numbers taken, %d, %v; want %d", i, got, err, want)
		}
		taken[got] = true
	}
	// The search wraps around: it finds the last free number wherever it is.
	last := (wish + column.Numbers - 1) % column.Numbers
	if got, err := column.Number(path, func(n uint32) bool { return n == last }); got != last || err != nil {
		t.Errorf("the last free number: %d, %v; want %d", got, err, last)
	}
	if n, err := column.Number(path, func(uint32) bool { return false }); err == nil {
		t.Errorf("all are taken, and there is %d", n)
	}
}

// TestManyFilesGetDifferentNumbers assigns numbers as a table's ledger does.
func TestManyFilesGetDifferentNumbers(t *testing.T) {
	taken := map[uint32]string{}
	moved := 0
	for day := range 3650 {
		for _, kind := range []string{"play", "order", "visit", "login"} {
			path := fmt.Sprintf("day %d/%s.csv", day, kind)
			asked := 0
			n, err := column.Number(path, func(n uint32) bool { asked++; return taken[n] == "" })
			if err != nil || n >= column.Numbers {
				t.Fatalf("%s: %d, %v", path, n, err)
			}
			if asked > 1 {
				moved++
			}
			taken[n] = path
		}
	}
	// By the birthday paradox, about 3 pairs of 14600 files have the same number among 2^25.
	if len(taken) != 14600 || moved > 30 {
		t.Errorf("%d files have %d numbers, %d of them not the one asked for", 14600, len(taken), moved)
	}
}

func TestPrefixes(t *testing.T) {
	got, err := column.Prefixes([]string{"playlist", "play", "a", "play", "_"})
	want := [][]byte{[]byte("_,"), []byte("a,"), []byte("play,"), []byte("playlist,")}
	if err != nil || !slices.EqualFunc(got, want, bytes.Equal) {
		t.Errorf("got %q, %v; want %q", got, err, want)
	}
	if got, err := column.Prefixes(nil); err != nil || len(got) != 0 {
		t.Errorf("of no fields: %q, %v", got, err)
	}
}

// TestPrefixTrap uses names for which HBase's filter would lose the columns of the second
// field. No schema has such names, but Prefixes must detect them.
func TestPrefixTrap(t *testing.T) {
	if got, err := column.Prefixes([]string{"play,list", "play"}); err == nil || !strings.Contains(err.Error(), "beginning of") {
		t.Errorf("got %q, %v; want an error", got, err)
	}
}

// TestNoPrefixBeginsAnother generates fields from few letters, so that many are prefixes of
// others.
func TestNoPrefixBeginsAnother(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		var fields []string
		for range 20 {
			f := make([]byte, 1+rng.IntN(4))
			for i := range f {
				f[i] = "ab_0"[rng.IntN(4)]
			}
			fields = append(fields, string(f))
		}
		prefixes, err := column.Prefixes(fields)
		if err != nil {
			t.Fatalf("%q: %v", fields, err)
		}
		for i, p := range prefixes {
			for j, q := range prefixes {
				if i != j && bytes.HasPrefix(q, p) {
					t.Fatalf("%q begins %q", p, q)
				}
			}
		}
	}
}

func ExampleAppend() {
	q := column.Append(nil, "programme", column.ID(3, 42))
	fmt.Printf("%q\n", q)
	field, id, _ := column.Parse(q)
	number, offset := column.Place(id)
	fmt.Printf("%s of the record at byte %d of file %d\n", field, offset, number)
	// Output:
	// "programme,\x00\x00\x00\xc0\x00\x00\x00*"
	// programme of the record at byte 42 of file 3
}

func ExamplePrefixes() {
	prefixes, _ := column.Prefixes([]string{"playlist", "play"})
	fmt.Printf("%q\n", prefixes)
	// Output:
	// ["play," "playlist,"]
}
