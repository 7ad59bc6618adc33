package rowkey

import (
	"testing"

	"usertrail/internal/behaviour"
)

func TestDigitsOfADateAreTheCalendars(t *testing.T) {
	for d := behaviour.MinDate; d <= behaviour.MaxDate; d++ {
		y, m, day := d.Civil()
		got := ymd(d)
		if want := y*10000 + int(m)*100 + day; got != want {
			t.Fatalf("date %d: got %d, want %d", d, got, want)
		}
		if back, ok := civil(got); !ok || back != d {
			t.Fatalf("%d: back %d, %v, want %d", got, back, ok, d)
		}
	}
}
