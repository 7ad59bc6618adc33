package record

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"usertrail/internal/behaviour"
)

// A plan holds the sources of the parts of one kind of behaviour in the records of one file.
type plan struct {
	kind   int
	user   source
	empty  bool // records without a user are skipped
	at     source
	time   timeReader
	bounds bounds
	fields []fieldPlan
}

type fieldPlan struct {
	source
	name string
	code code
	time *timeReader // for a timestamp or date
}

// bounds are the first and the last microsecond of plausible times.
type bounds struct{ first, last int64 }

// boundsOf returns the bounds of times that f reads.
func boundsOf(t *Time, f *timeFormat) bounds {
	b := bounds{math.MinInt64, math.MaxInt64}
	switch {
	case !t.Earliest.IsZero():
		b.first = t.Earliest.UnixMicro()
	case f.perSecond > 0:
		b.first = EpochBegins.UnixMicro()
	}
	if !t.Latest.IsZero() {
		b.last = t.Latest.UnixMicro()
	}
	return b
}

// beyond returns the error for a time that is outside of the bounds.
func (b *bounds) beyond(text []byte, micros int64) error {
	at := func(micros int64) string { return time.UnixMicro(micros).UTC().Format(time.RFC3339) }
	if micros < b.first {
		return fmt.Errorf("%q is %s, and the earliest time is %s (time.earliest)", short(text), at(micros), at(b.first))
	}
	return fmt.Errorf("%q is %s, and the latest time is %s (time.latest)", short(text), at(micros), at(b.last))
}

// wholeLine is the column number of "$line". noColumn is the column number of an optional field whose column the file lacks.
const (
	wholeLine = -1
	noColumn  = -2
)

// A missingColumn is the error of a column that the file lacks.
type missingColumn struct{ error }

// A source is the origin of a text: a column, or a piece of a column.
type source struct {
	column  int
	pattern *regexp.Regexp
}

// A timeReader reads the times of one column.
type timeReader struct {
	*timeFormat
	clock *behaviour.Clock // for texts without a zone
}

// instant reads an instant, as seconds since 1970-01-01 and microseconds after.
func (r *timeReader) instant(t []byte) (seconds, micros int64, ok bool) {
	s, ok := r.read(t)
	if !ok {
		return 0, 0, false
	}
	seconds = s.wall - s.offset
	if !s.zoned {
		seconds = r.clock.Instant(s.wall)
	}
	return seconds, s.micros, seconds >= minSecond && seconds <= maxSecond
}

// micros reads an instant in microseconds.
func (r *timeReader) micros(t []byte) (int64, bool) {
	seconds, micros, ok := r.instant(t)
	return seconds*1_000_000 + micros, ok
}

// date reads a day. It is the day that is written, whatever the zone, or the day of an epoch
// in the column's zone.
func (r *timeReader) date(t []byte) (behaviour.Date, bool) {
	s, ok := r.read(t)
	if !ok {
		return 0, false
	}
	wall := s.wall
	if r.perSecond > 0 {
		wall = r.clock.Wall(wall)
	}
	d := dayOf(wall)
	return d, d >= behaviour.MinDate && d <= behaviour.MaxDate
}

// dayOf returns the day of a local time in seconds.
func dayOf(wall int64) behaviour.Date {
	return behaviour.Date((wall - floorMod(wall, secondsOfDay)) / secondsOfDay)
}

// A planner makes the plans of a file's parser.
type planner struct {
	format *Format
	file   File
	header []string    // names of the columns, nil if they have none
	json   *jsonReader // collects the requested columns
	widest int         // the highest number of the columns requested by number
	needed int         // columns up to the last requested one
	read   []int       // the requested columns; one may occur more than once
	clocks map[*time.Location]*behaviour.Clock
	times  map[timeKey]timeReader
}

// A timeKey identifies the reader of a column of times.
type timeKey struct {
	format string
	zone   *time.Location
	year   int
}

// newPlanner returns the planner of a file of a format.
func newPlanner(f *Format, file File, header []string) *planner {
	return &planner{format: f, file: file, header: header, clocks: map[*time.Location]*behaviour.Clock{}, times: map[timeKey]timeReader{}}
}

// plan makes the plan of one kind.
func (m *planner) plan(kind int) (*plan, error) {
	f := m.format
	if kind >= len(f.Kinds) || kind >= len(f.Schema.Kinds) {
		return nil, fmt.Errorf("no behaviour of number %d", kind)
	}
	k, fields := f.Kinds[kind], f.Schema.Kinds[kind].Fields
	if len(k.Fields) != len(fields) {
		return nil, fmt.Errorf("%d columns for %d fields", len(k.Fields), len(fields))
	}
	out := &plan{kind: kind, empty: k.SkipEmpty}
	var err error
	if out.user, err = m.source(k.User); err != nil {
		return nil, fmt.Errorf("user: %w", err)
	}
	if out.at, err = m.source(k.Time.Column); err != nil {
		return nil, fmt.Errorf("time: %w", err)
	}
	if out.time, err = m.time(k.Time.Format, k.Time.Zone, k.Time.Year); err != nil {
		return nil, fmt.Errorf("time: %w", err)
	}
	out.bounds = boundsOf(&k.Time, out.time.timeFormat)
	for i, c := range k.Fields {
		field, err := m.field(fields[i], c)
		if f.Optional && errors.As(err, new(missingColumn)) {
			field.column, err = noColumn, nil
		}
		if err != nil {
			return nil, fmt.Errorf("field %s: %w", fields[i].Name, err)
		}
		out.fields = append(out.fields, field)
	}
	return out, nil
}

func (m *planner) field(f behaviour.Field, c Column) (fieldPlan, error) {
	out := fieldPlan{name: f.Name}
	var ok bool
	if out.code, ok = codes[f.Type]; !ok {
		return out, fmt.Errorf("unknown type %q", f.Type)
	}
	var err error
	if out.source, err = m.source(c); err != nil {
		return out, err
	}
	if out.code == asTimestamp || out.code == asDate {
		times, err := m.time(c.Format, c.Zone, 0)
		out.time = &times
		return out, err
	}
	return out, nil
}

// time returns the reader of a column of times. A job may have hundreds of behaviours with the same format.
func (m *planner) time(format string, zone *time.Location, year int) (timeReader, error) {
	if zone == nil {
		zone = m.format.zone()
	}
	key := timeKey{format, zone, year}
	if r, ok := m.times[key]; ok {
		return r, nil
	}
	f, err := compileFormat(format)
	if err != nil {
		return timeReader{}, err
	}
	f.zone, f.year, f.runs = zone, int64(year), m.format.Syntax == Blanks
	if !f.hasYear && year == 0 {
		if m.file.Date == nil {
			return timeReader{}, fmt.Errorf("format %q names no year, and neither the job nor the file's path does", format)
		}
		f.near = int64(*m.file.Date)
	}
	m.times[key] = timeReader{f, m.clock(zone)}
	return m.times[key], nil
}

// clock returns the parser's clock of a zone.
func (m *planner) clock(zone *time.Location) *behaviour.Clock {
	c, ok := m.clocks[zone]
	if !ok {
		c = behaviour.NewClock(zone)
		m.clocks[zone] = c
	}
	return c
}

// source finds a column.
func (m *planner) source(c Column) (source, error) {
	n, err := m.column(c.Name)
	return source{column: n, pattern: c.Pattern}, err
}

func (m *planner) column(name string) (int, error) {
	if name == "$line" {
		return wholeLine, nil
	}
	number, byNumber := columnNumber(name)
	switch {
	case m.json != nil && byNumber:
		return 0, fmt.Errorf("column %s of %s: members of an object have no numbers", name, m.file.Path)
	case m.json != nil:
		return m.json.column(name), nil
	case byNumber && m.header != nil && number > len(m.header):
		return 0, missingColumn{fmt.Errorf("no column %s in %s, which has %s", name, m.file.Path, m.columns())}
	case byNumber:
		m.widest, m.needed, m.read = max(m.widest, number), max(m.needed, number), append(m.read, number-1)
		return number - 1, nil
	}
	i := slices.Index(m.header, name)
	if i < 0 {
		return 0, missingColumn{fmt.Errorf("no column %q in %s, which has %s", name, m.file.Path, m.columns())}
	}
	if slices.Contains(m.header[i+1:], name) {
		return 0, fmt.Errorf("column %q occurs twice in %s, which has %s", name, m.file.Path, m.columns())
	}
	m.needed, m.read = max(m.needed, i+1), append(m.read, i)
	return i, nil
}

// columns returns the names of the file's columns.
func (m *planner) columns() string {
	if m.header == nil {
		return "no header (name its columns, or write $1, $2, …)"
	}
	shown := m.header[:min(len(m.header), mostNamed)]
	quoted := make([]string, len(shown))
	for i, n := range shown {
		quoted[i] = strconv.Quote(n[:min(len(n), mostOfName)])
	}
	if more := len(m.header) - len(shown); more > 0 {
		quoted = append(quoted, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(quoted, ", ")
}

// A message names the first columns of a file, and the beginnings of their names.
const (
	mostNamed  = 100
	mostOfName = 255 // bytes
)

// columnNumber reads $1, $2, ….
func columnNumber(name string) (int, bool) {
	digits, ok := strings.CutPrefix(name, "$")
	if !ok {
		return 0, false
	}
	n, err := strconv.Atoi(digits)
	return n, err == nil && n > 0 && digits[0] != '+'
}
