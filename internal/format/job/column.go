package job

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"usertrail/internal/behaviour"
	"usertrail/internal/format/record"
	"usertrail/internal/format/rule"
)

// numberedColumn matches a column by its number. $line is the whole line.
var numberedColumn = regexp.MustCompile(`^\$[1-9][0-9]*$`)

// readUser reads the column that holds the user, and whether records without a user are
// skipped.
func (b *builder) readUser(v value, k *record.Kind) {
	if !v.isObject() {
		k.User = b.columnAlone(v, defaultUser)
		return
	}
	o, _ := v.object(userLevel)
	k.User = b.column(o, defaultUser)
	if s, ok := o.get("empty").oneOf("value of empty", []string{"bad", "skip"}); ok {
		k.SkipEmpty = s == "skip"
	}
}

// readSkip reads the condition of records that are skipped.
func (b *builder) readSkip() {
	v := b.logs.get("skip")
	s, ok := v.word()
	if !ok {
		return
	}
	r, err := rule.Parse(s)
	if err != nil {
		v.wrong("%v", err)
		return
	}
	for _, c := range r.Columns() {
		b.checkColumn(v, c)
	}
	b.job.Format.Skip = r
}

// readTime reads the column that holds the time, and the format of the time.
func (b *builder) readTime(v value) record.Time {
	if !v.isObject() {
		return record.Time{Column: b.columnAlone(v, defaultTime)}
	}
	o, _ := v.object(timeLevel)
	t := record.Time{Column: b.column(o, defaultTime)}
	t.Zone, _ = o.get("zone").zone()
	t.Year, _ = o.get("year").whole(1, 9999)
	t.Format = b.timeFormat(o.get("format"), o.get("year").given())
	b.readBounds(o, &t)
	return t
}

// readBounds reads the bounds of plausible times. A day without a time means all of the day.
func (b *builder) readBounds(o object, t *record.Time) {
	zone := t.Zone
	if zone == nil {
		zone = b.job.Format.Zone
	}
	earliest, latest := o.get("earliest"), o.get("latest")
	if begins, _, ok := earliest.instants(zone); ok {
		if t.Earliest = begins; begins.IsZero() {
			t.Earliest = begins.Add(time.Microsecond) // the zero time would be the default
		}
	}
	if _, ends, ok := latest.instants(zone); ok {
		t.Latest = ends
	}
	if !t.Earliest.IsZero() && !t.Latest.IsZero() && t.Latest.Before(t.Earliest) {
		latest.wrong("it is before earliest: every record would be bad")
	}
}

// column reads the keys column and pattern. If the job has no column, it returns the column
// called otherwise.
func (b *builder) column(o object, otherwise string) record.Column {
	c := record.Column{Name: otherwise}
	at := o.get("column")
	if s, ok := at.word(); ok {
		c.Name = s
	}
	b.checkColumn(at, c.Name)
	pattern := o.get("pattern")
	s, ok := pattern.word()
	if !ok {
		return c
	}
	re, err := regexp.Compile(s)
	if err != nil {
		pattern.wrong("%s", strings.TrimPrefix(err.Error(), "error parsing regexp: "))
		return c
	}
	c.Pattern = re
	return c
}

// columnAlone reads a column's name that is given in place of an object.
func (b *builder) columnAlone(v value, otherwise string) record.Column {
	s, ok := v.word()
	if !ok {
		s = otherwise
	}
	if ok || !v.given() {
		b.checkColumn(v, s)
	}
	return record.Column{Name: s}
}

// checkColumn reports a column that the files cannot have.
func (b *builder) checkColumn(v value, column string) {
	byNumber := numberedColumn.MatchString(column)
	switch {
	case column == "$line":
	case byNumber && b.job.Format.Syntax == record.JSONL:
		v.wrong("column %s: in jsonl columns have names and no numbers", column)
	case byNumber:
	case b.numbered:
		v.wrong("column %s: without a header, logs.names says what the columns are called; or write $1, $2, …", column)
	case len(b.names) > 0 && !slices.Contains(b.names, column):
		v.wrong("column %q is not in logs.names, %s", column, behaviour.Instead(column, b.names))
	}
}
