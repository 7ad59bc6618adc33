package rowkey_test

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"usertrail/internal/behaviour"
	"usertrail/internal/rowkey"
	"usertrail/internal/test/testkit"
)

// users are IDs that are hard for a key design: prefixes and suffixes of each other, the
// separator and the escape everywhere, every length of code point.
var users = []string{
	"u1", "u10", "1u", "01u", "0", "1", "u", "10", "101", "11",
	",", ",,", "a,", ",a", "a,b", "b,a", "c", "cc", "\\", "\\\\", "\\c", "c\\", ",\\", "\\,", "a\\cb", "a\\\\b",
	"20140901", "u,20140901,00003", ",20140901,00003", "00003",
	"用户", "户用", "用", "用,户", "用户1", "1用户",
	"👩‍👩‍👧", "👧", "👩", "🇨🇳", "🇨", "é", "e\u0301", "\u0301e", "e", "\u0301",
	" ", "  ", " a", "a ", "\t", "\n", "\x00", "\x00\x00", "a\x00", "\x7f", "\u0080", "\uffff", "\U0010ffff", "\ufffd",
	strings.Repeat("x", 255), strings.Repeat("x", 254), strings.Repeat(",", 255), strings.Repeat("\\", 255), strings.Repeat("用", 85), strings.Repeat("👧", 63),
}

func row(k rowkey.Key) []byte { return k.Append(nil) }

func date(t testing.TB, s string) behaviour.Date {
	t.Helper()
	d, err := behaviour.ParseDate(s)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestRowsLookAsDrawn(t *testing.T) {
	for _, c := range []struct {
		user string
		date string
		id   uint16
		want string
	}{
		{"u42", "2014-09-01", 3, "24u,20140901,00003"},
		{"u1", "0001-01-01", 1, "1u,00010101,00001"},
		{"u1", "9999-12-31", 65535, "1u,99991231,65535"},
		{"a,b", "2014-09-01", 3, `b\ca,20140901,00003`},
		{`a\b`, "2014-09-01", 3, `b\\a,20140901,00003`},
		{"用户1", "2014-09-01", 3, "1户用,20140901,00003"},
		{"e\u0301", "2014-09-01", 3, "\u0301e,20140901,00003"},
	} {
		if got := row(rowkey.Key{User: c.user, Date: date(t, c.date), Behaviour: c.id}); string(got) != c.want {
			t.Errorf("%q %s %d is %q, want %q", c.user, c.date, c.id, got, c.want)
		}
	}
}

func TestParseRefusesWhatAppendDidNotMake(t *testing.T) {
	for _, row := range []string{
		"", ",", "u", "u,20140901", "u,20140901,3", ",20140901,00003",
		"u,20140901,00000", "u,20140901,65536", "u,20140901,99999", "u,20140901,0000a", "u,20140901,-0001", "u,20140901, 0003",
		"u,20140931,00003", "u,20140229,00003", "u,19000229,00003", "u,20141301,00003", "u,20140001,00003", "u,20140900,00003", "u,00000101,00003",
		"u,2014-9-1,00003", "u;20140901,00003", "u,20140901;00003", "u,020140901,00003", "u,20140901,000003",
		"a,b,20140901,00003", "a,,20140901,00003", ",,20140901,00003",
		`\,20140901,00003`, `\d,20140901,00003`, `a\,20140901,00003`, `\\\,20140901,00003`, `\C,20140901,00003`,
		"\xff,20140901,00003", "a\xe7\x94,20140901,00003", "\xed\xa0\x80,20140901,00003",
		strings.Repeat("x", 256) + ",20140901,00003",
		strings.Repeat("用", 86) + ",20140901,00003",
	} {
		if k, err := rowkey.Parse([]byte(row)); !errors.Is(err, rowkey.ErrNotRow) {
			t.Errorf("%q parses to %+v, %v; want ErrNotRow", row, k, err)
		}
	}
}

// TestPromises checks the package comment for all pairs of users.
func TestPromises(t *testing.T) {
	type entry struct {
		key rowkey.Key
		row []byte
	}
	var all []entry
	for _, u := range users {
		for _, d := range []string{"0001-01-01", "2013-12-31", "2014-09-01", "2014-09-02", "9999-12-31"} {
			for _, id := range []uint16{1, 9, 10, 65535} {
				k := rowkey.Key{User: u, Date: date(t, d), Behaviour: id}
				all = append(all, entry{k, row(k)})
			}
		}
	}
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	slices.SortFunc(all, func(a, b entry) int { return bytes.Compare(a.row, b.row) })

	ended := map[string]bool{}
	for i := 1; i < len(all); i++ {
		a, b := all[i-1], all[i]
		if a.key.User == b.key.User {
			if cmp.Or(cmp.Compare(a.key.Date, b.key.Date), cmp.Compare(a.key.Behaviour, b.key.Behaviour)) >= 0 {
				t.Errorf("%+v comes before %+v", a.key, b.key)
			}
			continue
		}
		ended[a.key.User] = true
		if ended[b.key.User] {
			t.Errorf("rows of %q are between rows of %q", a.key.User, b.key.User)
		}
		pa, pb := rowkey.AppendPrefix(nil, a.key.User), rowkey.AppendPrefix(nil, b.key.User)
		if bytes.Compare(pa, pb) >= 0 {
			t.Errorf("user %q comes before %q, their prefixes do not", a.key.User, b.key.User)
		}
	}
	if len(ended) != len(users)-1 {
		t.Errorf("%d users came to their end, want all %d but the last", len(ended), len(users))
	}
}

// TestPrefixIsOfOneUser checks that a scan of a prefix returns only the rows of its user.
func TestPrefixIsOfOneUser(t *testing.T) {
	for _, a := range users {
		prefix := rowkey.AppendPrefix(nil, a)
		for _, b := range users {
			r := row(rowkey.Key{User: b, Date: date(t, "2014-09-01"), Behaviour: 3})
			if got, want := bytes.HasPrefix(r, prefix), a == b; got != want {
				t.Errorf("the prefix of %q begins a row of %q: %v", a, b, got)
			}
			if other := rowkey.AppendPrefix(nil, b); a != b && bytes.HasPrefix(other, prefix) {
				t.Errorf("the prefix of %q is a prefix of the prefix of %q", a, b)
			}
		}
	}
}

func TestPartsAddUp(t *testing.T) {
	for _, u := range users {
		d := date(t, "2014-09-01")
		r := row(rowkey.Key{User: u, Date: d, Behaviour: 3})
		prefix := rowkey.AppendPrefix([]byte("kept"), u)[4:]
		if got := rowkey.AppendRest(slices.Clone(prefix), d, 3); !bytes.Equal(got, r) {
			t.Errorf("prefix and rest of %q are %q, the row is %q", u, got, r)
		}
		if got := rowkey.AppendDate(slices.Clone(prefix), d); !bytes.HasPrefix(r, got) {
			t.Errorf("prefix and date of %q are %q, the row is %q", u, got, r)
		}
		if n := rowkey.PrefixLen(r); n != len(prefix) {
			t.Errorf("the prefix of %q has %d bytes, not %d", r, len(prefix), n)
		}
		if got, err := rowkey.ParsePrefix(prefix); string(got) != u || err != nil {
			t.Errorf("the prefix of %q parses to %q, %v", u, got, err)
		}
		if got, err := rowkey.AppendUser([]byte("kept"), prefix); string(got) != "kept"+u || err != nil {
			t.Errorf("AppendUser of %q gives %q, %v", u, got, err)
		}
		if got := rowkey.AppendPrefix(nil, []byte(u)); !bytes.Equal(got, prefix) {
			t.Errorf("as bytes %q has the prefix %q, as a string %q", u, got, prefix)
		}
	}
}

func TestParsePrefixRefusesWhatAppendPrefixDidNotMake(t *testing.T) {
	for _, p := range []string{"", ",", "a", "a,b,", ",,", `\,`, `\x,`, "\xff,", strings.Repeat("x", 256) + ","} {
		if u, err := rowkey.ParsePrefix([]byte(p)); !errors.Is(err, rowkey.ErrNotRow) {
			t.Errorf("%q parses to %q, %v; want ErrNotRow", p, u, err)
		}
	}
}

// TestEveryDayRoundTrips encodes and parses each day that a row can hold. Package rowkey
// parses the digits with its own formula.
func TestEveryDayRoundTrips(t *testing.T) {
	step := testkit.Pick(behaviour.Date(17), 1)
	b := make([]byte, 0, 32)
	for d := behaviour.MinDate; d <= behaviour.MaxDate; d += step {
		b = rowkey.AppendRest(b[:0], d, 7)
		if got, id, err := rowkey.ParseRest(b); got != d || id != 7 || err != nil {
			t.Fatalf("%s, written %q, reads as %s, %d, %v", d, b, got, id, err)
		}
	}
}

// key makes a valid key from arbitrary input, so that no input of the fuzzer is wasted.
func key(user string, date uint32, id uint16) rowkey.Key {
	user = strings.ToValidUTF8(user[:min(len(user), behaviour.MaxUserLen)], "")
	if user == "" {
		user = ","
	}
	const days = uint32(behaviour.MaxDate-behaviour.MinDate) + 1
	return rowkey.Key{User: user, Date: behaviour.MinDate + behaviour.Date(date%days), Behaviour: max(1, id)}
}

func FuzzRoundTrip(f *testing.F) {
	for i, u := range users {
		f.Add(u, uint32(735476+i), uint16(1+i))
	}
	f.Fuzz(func(t *testing.T, user string, date uint32, id uint16) {
		k := key(user, date, id)
		if got, err := rowkey.Parse(row(k)); err != nil || got != k {
			t.Fatalf("%+v, written %q, reads as %+v, %v", k, row(k), got, err)
		}
	})
}

// FuzzParse checks that Append returns the parsed bytes again, and that the parsed key is
// valid.
func FuzzParse(f *testing.F) {
	for _, u := range users {
		f.Add(row(rowkey.Key{User: u, Date: 16314, Behaviour: 3}))
	}
	f.Add([]byte(`\,20140901,00003`))
	f.Add([]byte("u,20140931,00003"))
	f.Fuzz(func(t *testing.T, b []byte) {
		k, err := rowkey.Parse(b)
		if err != nil {
			if !errors.Is(err, rowkey.ErrNotRow) {
				t.Fatalf("%q: %v, which is not ErrNotRow", b, err)
			}
			return
		}
		if !utf8.ValidString(k.User) || len(k.User) > behaviour.MaxUserLen || k.User == "" {
			t.Fatalf("%q reads as the user %q", b, k.User)
		}
		if again := row(k); !bytes.Equal(again, b) {
			t.Fatalf("%q reads as %+v, which is written %q", b, k, again)
		}
	})
}

// FuzzOrder checks that two keys compare as the package comment states, and that a key of a
// third user never sorts between two keys of one user.
func FuzzOrder(f *testing.F) {
	for i, u := range users {
		f.Add(u, users[(i+1)%len(users)], uint32(735476), uint32(735477), uint16(1), uint16(65535))
		f.Add(u, u+",", uint32(735476), uint32(735476), uint16(2), uint16(1))
	}
	f.Fuzz(func(t *testing.T, u, v string, d, e uint32, i, j uint16) {
		a, b, c := key(u, d, i), key(u, e, j), key(v, e, j)
		want := cmp.Or(cmp.Compare(a.Date, b.Date), cmp.Compare(a.Behaviour, b.Behaviour))
		if got := bytes.Compare(row(a), row(b)); got != want {
			t.Fatalf("%q against %q gives %d, want %d", row(a), row(b), got, want)
		}
		if a.User == c.User {
			return
		}
		if bytes.Compare(row(a), row(c)) != bytes.Compare(row(b), row(c)) {
			t.Fatalf("%q stands between %q and %q", row(c), row(a), row(b))
		}
		if got, want := bytes.Compare(row(a), row(c)), bytes.Compare(rowkey.AppendPrefix(nil, a.User), rowkey.AppendPrefix(nil, c.User)); got != want {
			t.Fatalf("%q against %q gives %d, their prefixes %d", row(a), row(c), got, want)
		}
	})
}

func ExampleKey_Append() {
	d, _ := behaviour.ParseDate("2014-09-01")
	fmt.Printf("%s\n", rowkey.Key{User: "u42", Date: d, Behaviour: 3}.Append(nil))
	fmt.Printf("%s\n", rowkey.Key{User: "张,三", Date: d, Behaviour: 3}.Append(nil))
	// Output:
	// 24u,20140901,00003
	// 三\c张,20140901,00003
}

func ExampleParse() {
	k, err := rowkey.Parse([]byte("24u,20140901,00003"))
	fmt.Println(k.User, k.Date, k.Behaviour, err)
	_, err = rowkey.Parse([]byte("24u,20140931,00003"))
	fmt.Println(err)
	// Output:
	// u42 2014-09-01 3 <nil>
	// not a row of the reversed layout: no such date: "20140931"
}

// ExampleAppendDate shows the range of one user's rows of a span: from the first day to the
// day after the last, which is not included.
func ExampleAppendDate() {
	from, _ := behaviour.ParseDate("2014-09-01")
	to, _ := behaviour.ParseDate("2014-09-07")
	prefix := rowkey.AppendPrefix(nil, "u42")
	fmt.Printf("%s\n", rowkey.AppendDate(slices.Clone(prefix), from))
	fmt.Printf("%s\n", rowkey.AppendDate(slices.Clone(prefix), to+1))
	// Output:
	// 24u,20140901
	// 24u,20140908
}

func BenchmarkAppend(b *testing.B) {
	for name, user := range map[string]string{"ascii": "10086000123", "chinese": "用户一二三四", "escaped": "a,b\\c,d"} {
		b.Run(name, func(b *testing.B) {
			k := rowkey.Key{User: user, Date: 16314, Behaviour: 3}
			dst := make([]byte, 0, 64)
			b.SetBytes(int64(len(row(k))))
			for b.Loop() {
				dst = k.Append(dst[:0])
			}
		})
	}
}

func BenchmarkParse(b *testing.B) {
	r := row(rowkey.Key{User: "10086000123", Date: 16314, Behaviour: 3})
	b.SetBytes(int64(len(r)))
	for b.Loop() {
		if _, err := rowkey.Parse(r); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkAppendUser(b *testing.B) {
	for name, user := range map[string]string{"ascii": "10086000123", "chinese": "用户一二三四"} {
		b.Run(name, func(b *testing.B) {
			prefix := rowkey.AppendPrefix(nil, user)
			dst := make([]byte, 0, 64)
			for b.Loop() {
				var err error
				if dst, err = rowkey.AppendUser(dst[:0], prefix); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
