package record

import "testing"

func TestAnIntegerMayBeWrittenWithAnExponent(t *testing.T) {
	for text, want := range map[string]int64{
		"4.0128e+10": 40128000000, "1e3": 1000, "-2.5E2": -250, "7.0": 7, "0.0": 0,
		"9223372036854775807.0": 1<<63 - 1, "120e-1": 12,
	} {
		if got, ok := parseScientific([]byte(text)); !ok || got != want {
			t.Errorf("%s: got %d, %v, want %d", text, got, ok, want)
		}
	}
	for _, text := range []string{"1.5", "1e-1", "1e19", "9223372036854775808.0", "1e999999999", "1e-999999999", "0e999999999", "e5", ".", "", "5", "1/1.", "0x1p3.", "NaN", "inf.e"} {
		if got, ok := parseScientific([]byte(text)); ok {
			t.Errorf("%q: got %d, want none", text, got)
		}
	}
}
