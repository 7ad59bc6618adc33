package layout

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"usertrail/internal/behaviour"
)

func TestUserKeyIsAsDrawn(t *testing.T) {
	for _, c := range []struct{ user, want string }{
		{"u42", "u42_"}, {"a_b", `a\ub_`}, {`a\`, `a\\_`}, {"_", `\u_`}, {`\u`, `\\u_`}, {`\_`, `\\\u_`}, {"a,b", "a,b_"}, {"张三", "张三_"},
	} {
		key := appendUserKey([]byte("before"), []byte(c.user))
		if string(key) != "before"+c.want {
			t.Errorf("%q has the key %q, want before%s", c.user, key, c.want)
		}
		row := append([]byte(c.want), "2014_play_"...)
		if n := userKeyLen(row); n != len(c.want) {
			t.Errorf("row %q begins with a key of %d bytes, want %d", row, n, len(c.want))
		}
		user, err := parseUserKey([]byte("before"), []byte(c.want))
		if err != nil || string(user) != "before"+c.user {
			t.Errorf("%q is the key of %q, %v; want before%s", c.want, user, err, c.user)
		}
	}
}

func TestUserKeyThatNoUserHas(t *testing.T) {
	for key, why := range map[string]string{
		"": "not a user key", "_": "not a user key", "u": "not a user key", "u__": "not a user key", "_u_": "not a user key", "u_1": "not a user key",
		`\_`: "backslash", `a\_`: "backslash", `\x_`: "backslash", `\\\_`: "backslash",
		"\xff_":                        "UTF-8",
		strings.Repeat("x", 256) + "_": "256 bytes",
	} {
		if user, err := parseUserKey(nil, []byte(key)); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%q is the key of %q, %v; want an error that says %q", key, user, err, why)
		}
	}
	for _, row := range []string{"", "_", "u", "__"} {
		if n := userKeyLen([]byte(row)); n != 0 {
			t.Errorf("row %q begins with a key of %d bytes, want none", row, n)
		}
	}
	if plain, ok := appendUnescaped(nil, []byte("a_b")); ok {
		t.Errorf("a_b is the escaped %q, but holds a separator", plain)
	}
}

// TestUsersDoNotMix sorts rows. The rows of a user are adjacent, and users are in the order of
// their keys, whatever follows the key.
func TestUsersDoNotMix(t *testing.T) {
	var rows []string
	for _, user := range []string{"u1", "u10", "u", "u_", "u_1", `u\`, "u1 ", "u1\x00", "u1\U0010ffff", "_", "__", `\u`} {
		for _, rest := range []string{"", "\x00", "0", "_", "\xff\xff", "1_", "u1_"} {
			rows = append(rows, string(append(appendUserKey(nil, []byte(user)), rest...)))
		}
	}
	slices.Sort(rows)
	var keys []string
	for _, row := range rows {
		key := row[:userKeyLen([]byte(row))]
		if len(keys) == 0 || keys[len(keys)-1] != key {
			keys = append(keys, key)
		}
	}
	if len(keys) != 12 || !slices.IsSorted(keys) {
		t.Errorf("the rows of 12 users come as %q", keys)
	}
}

func FuzzUserKey(f *testing.F) {
	f.Add([]byte("u42_"))
	f.Add([]byte(`a\ub\\_`))
	f.Add([]byte(`\\\_`))
	f.Fuzz(func(t *testing.T, key []byte) {
		user, err := parseUserKey(nil, key)
		if err != nil {
			return
		}
		if len(user) == 0 || len(user) > behaviour.MaxUserLen {
			t.Fatalf("%q is the key of a user of %d bytes", key, len(user))
		}
		if again := appendUserKey(nil, user); !bytes.Equal(again, key) {
			t.Fatalf("%q is the key of %q, whose key is %q", key, user, again)
		}
	})
}
