package output

import (
	"time"

	"usertrail/internal/behaviour"
	"usertrail/internal/format/trailfile"
)

// localColumns is the number of columns that localTimes fills in a row of an event: the local time and
// its offset.
const localColumns = 2

// localTimes makes the local times of a zone.
type localTimes struct {
	clock  *behaviour.Clock
	offset int64  // of the last time, in seconds
	text   []byte // of offset
}

func newLocalTimes(zone *time.Location) *localTimes {
	return &localTimes{clock: behaviour.NewClock(zone), text: appendOffset(nil, 0)}
}

// wall returns the local time of an instant, both in microseconds.
func (l *localTimes) wall(instant int64) int64 {
	wall, _ := l.clock.WallMicros(instant)
	return wall
}

// add appends the local time of an instant and its offset to their columns.
func (l *localTimes) add(c []trailfile.Values, instant int64) {
	wall, offset := l.clock.WallMicros(instant)
	if offset != l.offset {
		l.offset, l.text = offset, appendOffset(l.text[:0], offset)
	}
	c[0].Int = append(c[0].Int, wall)
	c[1].Str.Append(l.text)
}

// appendOffset appends an offset in seconds east of UTC in the form of ISO 8601, such as +08:00. The
// offsets of local mean time have seconds: +08:05:43.
func appendOffset(dst []byte, offset int64) []byte {
	at := time.Unix(0, 0).In(time.FixedZone("", int(offset)))
	form := "-07:00"
	if offset%60 != 0 {
		form = "-07:00:00"
	}
	return at.AppendFormat(dst, form)
}
