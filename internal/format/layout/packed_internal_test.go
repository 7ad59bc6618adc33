package layout

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"testing"

	"usertrail/internal/trail"
)

// unpacked are the values that unpack finds, nil where they are null.
func unpacked(packed []byte, has []bool) ([][]byte, error) {
	var b trail.Batch
	b.Reset()
	b.Refs = append(b.Refs, trail.Ref{}) // of another event
	first, err := unpack(&b, packed, has)
	if err != nil {
		if len(b.Refs) != 1 {
			return nil, fmt.Errorf("%w, and %d values too many", err, len(b.Refs)-1)
		}
		return nil, err
	}
	if first != 1 || len(b.Refs) != 1+len(has) {
		return nil, fmt.Errorf("values %d to %d, want %d from 1 on", first, len(b.Refs), len(has))
	}
	var values [][]byte
	for _, r := range b.Refs[first:] {
		values = append(values, b.Value(r))
	}
	return values, nil
}

func all(n int) []bool {
	has := make([]bool, n)
	for i := range has {
		has[i] = true
	}
	return has
}

func TestPackedRecordIsAsDrawn(t *testing.T) {
	long := bytes.Repeat([]byte{'x'}, 127)
	for _, c := range []struct {
		values [][]byte
		want   string
	}{
		{nil, ""},
		{[][]byte{nil, nil}, ""},
		{[][]byte{{}}, "01"},
		{[][]byte{nil, {}}, "00 01"},
		{[][]byte{[]byte("ab"), nil, {0xff}, nil}, "03 61 62 00 02 ff"},
		{[][]byte{long}, "80 01" + strings.Repeat(" 78", 127)},
	} {
		got := appendPacked([]byte{0xee}, c.values)
		if want, _ := hex.DecodeString("ee" + strings.ReplaceAll(c.want, " ", "")); !bytes.Equal(got, want) {
			t.Errorf("packed %q is % x, want ee %s", c.values, got, c.want)
		}
	}
}

func TestPackedRecordIsReadWithLaterFields(t *testing.T) {
	packed := appendPacked(nil, [][]byte{[]byte("a"), nil, {}, nil})
	for n := 3; n < 6; n++ {
		got, err := unpacked(packed, all(n))
		want := [][]byte{[]byte("a"), nil, {}, nil, nil, nil}[:n]
		if err != nil || !same(got, want) {
			t.Errorf("with %d fields: %q, %v; want %q", n, got, err, want)
		}
	}
	if got, err := unpacked(nil, nil); err != nil || len(got) != 0 {
		t.Errorf("without fields: %q, %v; want none", got, err)
	}
}

func TestPackedFieldsNotAskedForAreNull(t *testing.T) {
	packed := appendPacked(nil, [][]byte{[]byte("a"), []byte("b"), []byte("c")})
	got, err := unpacked(packed, []bool{false, true, false})
	if want := [][]byte{nil, []byte("b"), nil}; err != nil || !same(got, want) {
		t.Errorf("got %q, %v; want %q", got, err, want)
	}
}

func TestDamagedPackedRecordIsRefused(t *testing.T) {
	for what, packed := range map[string]string{
		"a field longer than what is left": "03 61",
		"a length that does not end":       "80",
		"a length beyond 64 bits":          "ff ff ff ff ff ff ff ff ff 7f",
		"a length in too many bytes":       "81 00",
		"a null in too many bytes":         "80 00",
		"a null at the end":                "02 61 00",
		"more fields than there are":       "01 01 01 01",
		"a length of 64 GiB":               "ff ff ff ff ff 01 61",
	} {
		b, err := hex.DecodeString(strings.ReplaceAll(packed, " ", ""))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := unpacked(b, all(3)); !errors.Is(err, errPacked) {
			t.Errorf("%s: got %q, %v; want %v", what, got, err, errPacked)
		}
	}
}

// same reports whether values are equal. Null and empty differ.
func same(a, b [][]byte) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if (a[i] == nil) != (b[i] == nil) || !bytes.Equal(a[i], b[i]) {
			return false
		}
	}
	return true
}

// FuzzUnpack checks that accepted bytes have no other packed form, and that fields which are not
// requested do not change the requested ones.
func FuzzUnpack(f *testing.F) {
	f.Add([]byte{}, uint(0), uint64(0))
	f.Add(appendPacked(nil, [][]byte{[]byte("a"), nil, {}}), uint(3), uint64(5))
	f.Add(appendPacked(nil, [][]byte{nil, bytes.Repeat([]byte{'x'}, 300)}), uint(9), uint64(2))
	f.Add([]byte("\x80\x00"), uint(2), uint64(0))
	f.Fuzz(func(t *testing.T, packed []byte, fields uint, asked uint64) {
		has := all(int(fields % 64))
		values, err := unpacked(packed, has)
		if err == nil {
			if again := appendPacked(nil, values); !bytes.Equal(again, packed) {
				t.Errorf("% x has the values %q, which are packed % x", packed, values, again)
			}
		} else if !errors.Is(err, errPacked) {
			t.Fatal(err)
		}
		for i := range has {
			has[i] = asked>>i&1 == 1
			if err == nil && !has[i] {
				values[i] = nil
			}
		}
		some, err2 := unpacked(packed, has)
		if (err == nil) != (err2 == nil) || err == nil && !same(some, values) {
			t.Errorf("% x: of the fields %t %q, %v; want %q, %v", packed, has, some, err2, values, err)
		}
	})
}
