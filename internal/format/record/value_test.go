package record

import (
	"math"
	"strconv"
	"strings"
	"testing"
)

// FuzzInt64 checks that integers are read as strconv reads them, in the same range.
func FuzzInt64(f *testing.F) {
	for _, s := range []string{"", "0", "-0", "+5", "-", "9223372036854775807", "9223372036854775808", "-9223372036854775808", "-9223372036854775809", "00012", "1_000", "0x1", " 1", "1.0", "99999999999999999999999"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, ok := parseInt64([]byte(s))
		want, err := strconv.ParseInt(s, 10, 64)
		if ok != (err == nil) || ok && got != want {
			t.Fatalf("%q: got %d %v, strconv %d %v", s, got, ok, want, err)
		}
	})
}

// FuzzDouble checks that doubles are read as strconv reads them, to the bit. Only hexadecimal
// numbers are not accepted.
func FuzzDouble(f *testing.F) {
	for _, s := range []string{"", "0", "-0", "3.99", "-3.990", "1e5", "1.5E-3", "NaN", "-inf", "Infinity", "+1.5", ".5", "5.", "-", ".", "1.2.3", "123456789012345.6", "999999999999999", "0.000000000000001", "1e309", "4.9e-324", "0x1p4", "1_0.5", "--1", "-.5", "12345678901234567"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, ok := parseDouble([]byte(s))
		want, err := strconv.ParseFloat(s, 64)
		if strings.ContainsAny(s, "xX_") {
			if ok {
				t.Fatalf("%q: got %g, want nothing", s, got)
			}
			return
		}
		if ok != (err == nil) || ok && math.Float64bits(got) != math.Float64bits(want) {
			t.Fatalf("%q: got %g %v, strconv %g %v", s, got, ok, want, err)
		}
	})
}

func TestBool(t *testing.T) {
	for s, want := range map[string]string{
		"true": "true", "TRUE": "true", "t": "true", "T": "true", "1": "true", "Yes": "true", "false": "false", "False": "false", "f": "false", "0": "false", "NO": "false",
		"": "", "2": "", "y": "", "truex": "", "tru": "", "on": "", "falsely": "", " 1": "",
	} {
		got := ""
		if v, ok := parseBool([]byte(s)); ok {
			got = strconv.FormatBool(v)
		}
		if got != want {
			t.Errorf("%q: got %q, want %q", s, got, want)
		}
	}
}
