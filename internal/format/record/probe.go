package record

import (
	"bytes"
	"time"

	"usertrail/internal/behaviour"
)

// The functions below are for callers that have a file and no Format yet. They read texts
// as a Parser would, a piece at a time.

// probeLine is the longest record that Rows accepts. It limits the cost of a quote that is
// never closed.
const probeLine = 64 << 10

// Rows cuts the beginning of a file's text into at most limit rows of columns. Empty lines
// are not rows. final is set if text is the whole file; otherwise Rows omits the last line.
// bad counts the records with wrong quotes, which are not rows.
func Rows(text []byte, syntax Syntax, delimiter string, limit int, final bool) (rows [][]string, bad int) {
	text = bytes.TrimPrefix(text, []byte(mark))
	c := cutter{quotes: syntax == CSV, delimiter: []byte(delimiter), maxLine: probeLine}
	s := newSplitter(syntax, c.delimiter)
	for len(text) > 0 && len(rows)+bad < limit {
		size, content, wrong := c.record(text, final)
		if size == 0 {
			break
		}
		rec := unmarked(text[:content])
		text = text[size:]
		switch {
		case wrong != "":
			bad++
		case len(rec) == 0 || syntax == Blanks && len(bytes.Trim(rec, " \t")) == 0:
		default:
			s.split(rec, c.quotes && bytes.IndexByte(rec, '"') >= 0)
			rows = append(rows, s.names())
		}
	}
	return rows, bad
}

// A Member is a member of a JSON object, or of an object in it.
type Member struct {
	Name  string // a.b is member b of member a
	Text  string // as a column of that name would have it
	first byte   // of the value
}

// Null reports whether the member's value is null.
func (m Member) Null() bool { return m.first == 'n' }

// Quoted reports whether the member's value is a text of JSON.
func (m Member) Quoted() bool { return m.first == '"' }

// Members returns the members of a line of jsonl in their order. A member whose value is
// an object is replaced by the members of the object.
func Members(line []byte) ([]Member, error) {
	v, err := jsonObject(line)
	if err != nil {
		return nil, err
	}
	return appendMembers(nil, "", v), nil
}

func appendMembers(out []Member, within string, v []byte) []Member {
	for at := firstMember(v); v[at] != '}'; {
		key, value, end := memberAt(v, at)
		at = nextMember(v, end)
		name := within + string(key)
		if value[0] == '{' {
			out = appendMembers(out, name+".", value)
			continue
		}
		out = append(out, Member{Name: name, Text: string(appendValue(nil, value)), first: value[0]})
	}
	return out
}

// Reads reports whether a text is a value of t. t is not a timestamp and not a date.
func Reads(t behaviour.Type, text string) bool {
	p := Parser{}
	_, ok := p.value(&fieldPlan{code: codes[t]}, []byte(text))
	return ok
}

// A Written is a time as it is written.
type Written struct {
	Wall   int64 // the local time, in seconds since 1970-01-01 00:00:00
	Zoned  bool  // the text has the clock's offset, as an epoch does
	Offset int64 // in seconds east of UTC, if Zoned
}

// Day returns the written day.
func (w Written) Day() behaviour.Date { return dayOf(w.Wall) }

// TimeReader returns a function that reads times of a format. A time without a year gets the
// year in which it is nearest to near. Only one goroutine may use the function.
func TimeReader(format string) (func(text string, near behaviour.Date) (Written, bool), error) {
	f, err := compileFormat(format)
	if err != nil {
		return nil, err
	}
	f.zone = time.UTC
	return func(text string, near behaviour.Date) (Written, bool) {
		f.near = int64(near)
		s, ok := f.read([]byte(text))
		if at := s.wall - s.offset; at < minSecond || at > maxSecond {
			ok = false
		}
		return Written{Wall: s.wall, Zoned: s.zoned, Offset: s.offset}, ok
	}, nil
}
