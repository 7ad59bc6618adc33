package rowkey

import (
	"testing"

	"usertrail/internal/behaviour"
)

// TestCivilAgreesWithTheCalendar tries all numbers of four-digit years that are near a day,
// existing days and others.
func TestCivilAgreesWithTheCalendar(t *testing.T) {
	years := 0
	for y := 0; y <= 9999; y++ {
		if y > 5 && y < 9995 && y%4 != 0 && y%100 != 1 { // check all leap years, and enough of the others
			continue
		}
		years++
		for m := 0; m <= 13; m++ {
			for d := 0; d <= 32; d++ {
				got, ok := civil(y*10000 + m*100 + d)
				want := y >= 1 && m >= 1 && m <= 12 && d >= 1 && d <= monthLen(y, m)
				if ok != want {
					t.Fatalf("%04d-%02d-%02d: a date: %v, want %v", y, m, d, ok, want)
				}
				if !ok {
					continue
				}
				if gy, gm, gd := got.Civil(); gy != y || int(gm) != m || gd != d {
					t.Fatalf("%04d-%02d-%02d reads as %s", y, m, d, got)
				}
			}
		}
	}
	if years < 2500 {
		t.Fatalf("only %d years were asked for", years)
	}
	for ymd, want := range map[int]behaviour.Date{10101: behaviour.MinDate, 99991231: behaviour.MaxDate, 19700101: 0} {
		if got, ok := civil(ymd); got != want || !ok {
			t.Errorf("%d is %d, %v; want %d", ymd, got, ok, want)
		}
	}
}

func monthLen(y, m int) int {
	switch m {
	case 4, 6, 9, 11:
		return 30
	case 2:
		if y%4 == 0 && (y%100 != 0 || y%400 == 0) {
			return 29
		}
		return 28
	}
	return 31
}
