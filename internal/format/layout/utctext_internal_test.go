package layout

import (
	"bytes"
	"strings"
	"testing"

	"usertrail/internal/behaviour"
)

func TestUTCTextIsAsDrawn(t *testing.T) {
	for _, c := range []struct {
		micros int64
		want   string
	}{
		{1_364_774_400_000_000, "2013-04-01 00:00:00"},
		{1_364_774_400_999_999, "2013-04-01 00:00:00"},
		{0, "1970-01-01 00:00:00"},
		{-1, "1969-12-31 23:59:59"},
		{951_827_696_000_000, "2000-02-29 12:34:56"},
		{minUTCText, "0001-01-01 00:00:00"},
		{maxUTCText, "9999-12-31 23:59:59"},
	} {
		if err := fitsUTCText(c.micros); err != nil {
			t.Errorf("%d: %v", c.micros, err)
		}
		got := appendUTCText(nil, c.micros)
		if string(got) != c.want {
			t.Errorf("%d is %q, want %q", c.micros, got, c.want)
		}
		back, ok := parseUTCText(got)
		if less := c.micros - back; !ok || less < 0 || less >= 1e6 {
			t.Errorf("%q is %d, %v; want the second of %d", got, back, ok, c.micros)
		}
	}
	for _, micros := range []int64{minUTCText - 1, maxUTCText + 1} {
		if err := fitsUTCText(micros); err == nil || !strings.Contains(err.Error(), "1 to 9999") {
			t.Errorf("%d: %v; want an error that says which years there are", micros, err)
		}
	}
}

func TestTextThatIsNoTime(t *testing.T) {
	for _, text := range []string{
		"", "2013-04-01", "2013-04-01T00:00:00", "2013-04-01 00:00:0", "2013-04-01 00:00:00 ", "2013-04-01 00:00:60", "2013-04-01 00:60:00",
		"2013-04-01 24:00:00", "2013-04-31 00:00:00", "2013-02-29 00:00:00", "1900-02-29 00:00:00", "2013-13-01 00:00:00", "2013-00-01 00:00:00",
		"2013-04-00 00:00:00", "0000-01-01 00:00:00", "2013-04-01 00-00:00", "2013-04-+1 00:00:00", "2013-04-01 0 :00:00",
	} {
		if micros, ok := parseUTCText([]byte(text)); ok {
			t.Errorf("%q is taken for %d", text, micros)
		}
	}
}

func TestDigits(t *testing.T) {
	for text, want := range map[string]int64{"0000000000000000000": 0, "0000000000000000042": 42, "9223372036854775807": 1<<63 - 1} {
		got, ok := parseID([]byte(text))
		if back := appendDigits(nil, uint64(got), idDigits); !ok || got != want || string(back) != text {
			t.Errorf("%q is the ID %d, %v, and that is %q", text, got, ok, back)
		}
	}
	for _, text := range []string{"", "42", "9223372036854775808", "9999999999999999999", "-000000000000000001", "00000000000000000042", "000000000000000004x"} {
		if id, ok := parseID([]byte(text)); ok {
			t.Errorf("%q is taken for the ID %d", text, id)
		}
	}
}

// FuzzUTCText checks that an accepted text is the text of a time, and that texts sort as their
// times.
func FuzzUTCText(f *testing.F) {
	f.Add([]byte("2013-04-01 00:00:00"), int64(0))
	f.Add([]byte("2000-02-29 23:59:59"), int64(-1))
	f.Fuzz(func(t *testing.T, text []byte, other int64) {
		micros, ok := parseUTCText(text)
		if !ok {
			return
		}
		if again := appendUTCText(nil, micros); !bytes.Equal(again, text) {
			t.Fatalf("%q is %d, which is %q", text, micros, again)
		}
		other = minUTCText + int64(uint64(other)%uint64(maxUTCText-minUTCText))
		second := behaviour.Millis(behaviour.Millis(other)) * 1e6
		if got := bytes.Compare(text, appendUTCText(nil, other)); got < 0 != (micros < second) || got > 0 != (micros > second) {
			t.Fatalf("%q and %q compare as %d", text, appendUTCText(nil, other), got)
		}
	})
}
