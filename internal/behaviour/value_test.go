package behaviour_test

import (
	"bytes"
	"math"
	"testing"

	"usertrail/internal/behaviour"
)

// TestValuesAreWrittenAsHBaseDoes checks that the bytes are the bytes of HBase's Bytes class,
// so that its shell and its clients can read them.
func TestValuesAreWrittenAsHBaseDoes(t *testing.T) {
	for _, c := range []struct {
		typ  behaviour.Type
		got  []byte
		want string
		text string
	}{
		{behaviour.Int64, behaviour.AppendInt64(nil, 0), "\x00\x00\x00\x00\x00\x00\x00\x00", "0"},
		{behaviour.Int64, behaviour.AppendInt64(nil, -1), "\xff\xff\xff\xff\xff\xff\xff\xff", "-1"},
		{behaviour.Int64, behaviour.AppendInt64(nil, math.MinInt64), "\x80\x00\x00\x00\x00\x00\x00\x00", "-9223372036854775808"},
		{behaviour.Double, behaviour.AppendDouble(nil, 1.5), "\x3f\xf8\x00\x00\x00\x00\x00\x00", "1.5"},
		{behaviour.Double, behaviour.AppendDouble(nil, math.Inf(-1)), "\xff\xf0\x00\x00\x00\x00\x00\x00", "-Inf"},
		{behaviour.Bool, behaviour.AppendBool(nil, true), "\xff", "true"},
		{behaviour.Bool, behaviour.AppendBool(nil, false), "\x00", "false"},
		{behaviour.Day, behaviour.AppendDate(nil, 16314), "\x00\x00\x3f\xba", "2014-09-01"},
		{behaviour.Day, behaviour.AppendDate(nil, -1), "\xff\xff\xff\xff", "1969-12-31"},
		{behaviour.Timestamp, behaviour.AppendInt64(nil, 1409529600000001), "\x00\x05\x01\xf5\xaf\x1b\xc0\x01", "2014-09-01T00:00:00.000001Z"},
		{behaviour.Timestamp, behaviour.AppendInt64(nil, 0), "\x00\x00\x00\x00\x00\x00\x00\x00", "1970-01-01T00:00:00Z"},
		{behaviour.String, []byte("节目"), "节目", "节目"},
	} {
		if string(c.got) != c.want {
			t.Errorf("%s %s is written %x, want %x", c.typ, c.text, c.got, c.want)
		}
		if got := c.typ.Text(c.got); got != c.text {
			t.Errorf("%s %x is shown as %s, want %s", c.typ, c.got, got, c.text)
		}
		if err := c.typ.Check(c.got); err != nil {
			t.Errorf("%s %x: %v", c.typ, c.got, err)
		}
		if n := c.typ.Size(); n != 0 && n != len(c.got) {
			t.Errorf("a %s has %d bytes, its type says %d", c.typ, len(c.got), n)
		}
	}
}

func TestTypes(t *testing.T) {
	for _, typ := range behaviour.Types {
		if !typ.Valid() {
			t.Errorf("%s is not valid", typ)
		}
		bad := bytes.Repeat([]byte{0xab}, typ.Size()+1)
		if err := typ.Check(bad); (err == nil) != (typ == behaviour.String) {
			t.Errorf("%s of %d bytes: %v", typ, len(bad), err)
		}
		if typ != behaviour.String {
			if err := typ.Check(nil); err == nil {
				t.Errorf("%s of no bytes is taken", typ)
			}
			if got := typ.Text([]byte{0xab, 0xcd}); got != "abcd" {
				t.Errorf("a broken %s is shown as %q, want its bytes", typ, got)
			}
		}
	}
	for _, typ := range []behaviour.Type{"", "int", "String", "float"} {
		if typ.Valid() {
			t.Errorf("%q is valid", typ)
		}
	}
}

func FuzzValues(f *testing.F) {
	f.Add(int64(-1), 0.1, true, int32(16314))
	f.Add(int64(math.MaxInt64), math.NaN(), false, int32(math.MinInt32))
	f.Add(int64(0), math.Copysign(0, -1), false, int32(-1))
	f.Fuzz(func(t *testing.T, i int64, d float64, b bool, day int32) {
		kept := []byte("kept")
		if v := behaviour.AppendInt64(kept, i); behaviour.ToInt64(v[4:]) != i {
			t.Errorf("%d comes back as %d", i, behaviour.ToInt64(v[4:]))
		}
		if v := behaviour.AppendDouble(kept, d); math.Float64bits(behaviour.ToDouble(v[4:])) != math.Float64bits(d) {
			t.Errorf("%g comes back as %g", d, behaviour.ToDouble(v[4:]))
		}
		if v := behaviour.AppendBool(kept, b); behaviour.ToBool(v[4:]) != b {
			t.Errorf("%v comes back as %v", b, behaviour.ToBool(v[4:]))
		}
		if v := behaviour.AppendDate(kept, behaviour.Date(day)); behaviour.ToDate(v[4:]) != behaviour.Date(day) {
			t.Errorf("day %d comes back as %d", day, behaviour.ToDate(v[4:]))
		}
	})
}
