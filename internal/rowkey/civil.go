package rowkey

import "usertrail/internal/behaviour"

// civil returns the date of the digits YYYYMMDD. It runs once for each row read, so it counts
// days itself (Fliegel and Van Flandern's formula, CACM 11(10), 1968). It uses the calendar
// only to check that the day exists.
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

// ymd returns the digits YYYYMMDD of a date, at or after behaviour.MinDate. It runs once for
// each record loaded; the calendar of package time took five times as long. Years are counted
// from March, so that the leap day is their last day, in eras of 400 years (Hinnant,
// "chrono-Compatible Low-Level Date Algorithms", 2013).
func ymd(date behaviour.Date) int {
	z := int(date) + 719468 // days since 0000-03-01
	era, doe := z/146097, z%146097
	yoe := (doe - doe/1460 + doe/36524 - doe/146096) / 365
	doy := doe - (365*yoe + yoe/4 - yoe/100)
	mp := (5*doy + 2) / 153 // month, counted from March
	y, m, d := era*400+yoe, mp+3, doy-(153*mp+2)/5+1
	if m > 12 {
		y, m = y+1, m-12
	}
	return y*10000 + m*100 + d
}
