package testworld

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"usertrail/internal/behaviour"
)

const (
	second = 1_000_000 // in microseconds
	heavy  = 60        // number of acts of a busy user
)

// live generates the acts of a user. One user in eight has none, and some have many.
func (w *W) live(r *rand.Rand, user string) {
	n := 0
	switch r.IntN(8) {
	case 0:
	case 1:
		n = heavy + r.IntN(heavy)
	default:
		n = 1 + r.IntN(12)
	}
	habits := 1 + r.IntN(len(kinds)) // so that most users do not have every kind
	instants := w.instants(r)
	for range n {
		a := &act{user: user, kind: (r.IntN(habits) + len(user)) % len(kinds), micros: w.moment(r, instants)}
		if w.quiet(w.date(a), a.kind) {
			continue
		}
		a.fields = w.fields(r, a.kind)
		w.acts = append(w.acts, a)
		if r.IntN(10) == 0 { // the same act again, to the microsecond
			again := *a
			w.acts = append(w.acts, &again)
		}
	}
}

// quiet reports whether no user has acts of a kind on a day.
func (w *W) quiet(d behaviour.Date, kind int) bool {
	return mix(w.Seed, 4, uint64(d), uint64(kind))%6 == 0
}

// instants returns a few times at which a user has many acts: random ones, the first and last
// of a day, and neighbours within a millisecond.
func (w *W) instants(r *rand.Rand) []int64 {
	day := w.Span.From + behaviour.Date(1+r.IntN(w.Span.Days()-1))
	midnight := day.Start(w.zone).UnixMicro()
	any := w.any(r)
	return []int64{any, any + 1, any + 999, midnight, midnight - 1, midnight + 1, midnight - second}
}

func (w *W) moment(r *rand.Rand, instants []int64) int64 {
	at := w.any(r)
	if r.IntN(3) == 0 {
		at = instants[r.IntN(len(instants))]
	}
	// In the repeated hour, the local time is ambiguous.
	for !w.readable(at) {
		at += 3600 * second
	}
	return min(at, w.end()-1)
}

// any returns a random time of the span, mostly a whole second.
func (w *W) any(r *rand.Rand) int64 {
	begin := w.Span.From.Start(w.zone).UnixMicro()
	at := begin + r.Int64N(w.end()-begin)
	if r.IntN(3) > 0 {
		at -= at % second
	}
	return at
}

func (w *W) end() int64 { return (w.Span.To + 1).Start(w.zone).UnixMicro() }

// readable reports whether at can be computed from its local text. It cannot if the clock
// shows the same text half an hour or an hour before or after.
func (w *W) readable(at int64) bool {
	local := time.UnixMicro(at).In(w.zone)
	for _, apart := range []time.Duration{-time.Hour, -time.Hour / 2, time.Hour / 2, time.Hour} {
		if local.Add(apart).Format(time.DateTime) == local.Format(time.DateTime) {
			return false
		}
	}
	return true
}

func (w *W) fields(r *rand.Rand, kind int) []field {
	out := make([]field, len(kinds[kind].Fields))
	for i, f := range kinds[kind].Fields {
		if r.IntN(5) > 0 { // otherwise null
			out[i] = w.value(r, f.Type)
		}
	}
	return out
}

// texts are values that are difficult for readers of csv.
var texts = []string{
	"甄嬛传 第7集", "a,b", `say "no"`, "two\nlines", "crlf\r\nhere", " leading", "trailing ", ",", `"`, "'", "NULL", "null", "\\N", "0", "😀", "x",
	"\u2028", "\t", "=1+1", strings.Repeat("长", 300), "{date}", "-",
}

// value generates a value in both of its forms.
func (w *W) value(r *rand.Rand, t behaviour.Type) field {
	switch t {
	case behaviour.Int64:
		n := []int64{0, -1, 1, 3600, 1<<63 - 1, -1 << 63, r.Int64()}[r.IntN(7)]
		return same(strconv.FormatInt(n, 10))
	case behaviour.Double:
		f := []float64{0, -0.5, 3.25, 1e300, 5e-324, 0.1, r.NormFloat64()}[r.IntN(7)]
		return same(strconv.FormatFloat(f, 'g', -1, 64))
	case behaviour.Bool:
		return same(strconv.FormatBool(r.IntN(2) == 0))
	case behaviour.Day:
		return same([]string{"1969-12-31", "2000-02-29", "2014-09-01", "9999-12-31", "0001-01-01"}[r.IntN(5)])
	case behaviour.Timestamp:
		at := w.any(r)
		for !w.readable(at) {
			at += 3600 * second
		}
		return field{written: w.local(at), shown: shownTime(at)}
	default:
		return same(texts[r.IntN(len(texts))])
	}
}

func same(s string) field { return field{s, s} }

const stampLayout = "2006-01-02 15:04:05.999999"

// local returns a time in the form of most files.
func (w *W) local(micros int64) string {
	return time.UnixMicro(micros).In(w.zone).Format(stampLayout)
}

// shownTime returns a time in the form of a result.
func shownTime(micros int64) string {
	return time.UnixMicro(micros).UTC().Format("2006-01-02T15:04:05.999999Z")
}

// date returns the day of an act.
func (w *W) date(a *act) behaviour.Date {
	y, m, d := time.UnixMicro(a.micros).In(w.zone).Date()
	return behaviour.DateOf(y, m, d)
}

func (a *act) String() string {
	return fmt.Sprintf("%q %s %s", a.user, kinds[a.kind].Name, shownTime(a.micros))
}
