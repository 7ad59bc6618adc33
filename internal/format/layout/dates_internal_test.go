package layout

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"usertrail/internal/behaviour"
)

// TestDatesAreThoseOfTheZone draws times around each other, and around the hours in
// which clocks are changed: at midnight in Sao Paulo, and past it in St. John's, where
// a date comes twice.
func TestDatesAreThoseOfTheZone(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 2))
	for _, zone := range []string{"UTC", "Asia/Shanghai", "Europe/Berlin", "America/Sao_Paulo", "America/St_Johns", "Pacific/Apia", "Africa/Monrovia"} {
		loc, err := time.LoadLocation(zone)
		if err != nil {
			t.Fatal(err)
		}
		d := dates{zone: zone}
		near := make([]int64, 0, 200)
		for at := time.Date(1850, 1, 1, 0, 0, 0, 0, loc); at.Year() < 2100 && len(near) < cap(near); {
			_, at = at.ZoneBounds()
			if at.IsZero() {
				break
			}
			near = append(near, at.UnixMicro())
		}
		near = append(near, 0, time.Date(1, 1, 1, 0, 0, 0, 0, loc).UnixMicro(), time.Date(9999, 12, 31, 23, 0, 0, 0, loc).UnixMicro())
		for range 20_000 {
			micros := near[r.IntN(len(near))] + r.Int64N(172_800_000_000) - 86_400_000_000
			got, err := d.at(micros)
			if want := behaviour.DateAt(micros, loc); err != nil || got != want {
				t.Fatalf("%s: %d is %s, %v; want %s", zone, micros, got, err, want)
			}
		}
	}
}

func TestDatesOfAnUnknownZoneAreAnError(t *testing.T) {
	d := dates{zone: "Middle/Earth"}
	for range 2 {
		if date, err := d.at(0); err == nil || !strings.Contains(err.Error(), "Middle/Earth") {
			t.Errorf("got %s, %v; want an error that names the zone", date, err)
		}
	}
}
