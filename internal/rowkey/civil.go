package rowkey

import "usertrail/internal/behaviour"

// civil is the date of the digits YYYYMMDD. It runs once for each row read, so
// it counts days itself (Fliegel and Van Flandern's formula, CACM 11(10), 1968)
// and asks the calendar only whether the day exists.
func civil(ymd int) (behaviour.Date, bool) {
	y, m, d := ymd/10000, ymd/100%100, ymd%100
	if y < 1 || m < 1 || m > 12 || d < 1 || d > 31 {
		return 0, false
	}
	a := (m - 14) / 12
	julian := (1461*(y+4800+a))/4 + (367*(m-2-12*a))/12 - (3*((y+4900+a)/100))/4 + d - 32075
	date := behaviour.Date(julian - 2440588)
	if d > 28 {
		if _, _, back := date.Civil(); back != d {
			return 0, false
		}
	}
	return date, true
}
