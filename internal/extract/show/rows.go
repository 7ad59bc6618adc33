package show

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"time"

	"usertrail/internal/behaviour"
)

// instant is the format of times for programs: UTC, with no more digits than needed.
const instant = "2006-01-02T15:04:05.999999Z"

// JSON writes one object per line for each event. The names are the columns of an extract.
// Null fields are omitted, and so are doubles that JSON cannot represent, such as NaN.
type JSON struct {
	w     io.Writer
	asked *Asked
	line  bytes.Buffer
	enc   *json.Encoder
}

// NewJSON returns a JSON that writes to w.
func NewJSON(w io.Writer) *JSON {
	j := &JSON{w: w}
	j.enc = json.NewEncoder(&j.line)
	j.enc.SetEscapeHTML(false)
	return j
}

// Begin implements Writer.
func (j *JSON) Begin(a *Asked) error {
	j.asked = a
	return nil
}

// Add implements Writer.
func (j *JSON) Add(b *Behaviour) error {
	j.line.Reset()
	j.line.WriteByte('{')
	if err := j.put("user_id", j.asked.User); err != nil {
		return err
	}
	for _, p := range []struct {
		name  string
		value any
	}{
		{"date", behaviour.Date(b.Date).String()},
		{"time", time.UnixMicro(b.Time).UTC().Format(instant)},
		{"behaviour", j.asked.Schema.Kinds[b.Kind].Name},
		{"id", b.ID},
	} {
		if err := j.put(p.name, p.value); err != nil {
			return err
		}
	}
	for i := range j.asked.Fields {
		f := &j.asked.Fields[i]
		value := jsonValue(f.Type, f.Of(b))
		if value == nil {
			continue
		}
		if err := j.put(f.Name, value); err != nil {
			return err
		}
	}
	_, err := j.w.Write(commandless(append(j.line.Bytes(), "}\n"...)))
	return err
}

// put appends a member.
func (j *JSON) put(name string, value any) error {
	if j.line.Len() > 1 {
		j.line.WriteByte(',')
	}
	for i, part := range []any{name, value} {
		if i > 0 {
			j.line.WriteByte(':')
		}
		if err := j.enc.Encode(part); err != nil {
			return fmt.Errorf("show: %s: %w", name, err)
		}
		j.line.Truncate(j.line.Len() - 1) // the line end that Encode writes
	}
	return nil
}

// End implements Writer.
func (j *JSON) End() error { return nil }

// jsonValue returns a value for JSON, nil for none.
func jsonValue(t behaviour.Type, v []byte) any {
	if v == nil || t.Check(v) != nil {
		return nil
	}
	switch t {
	case behaviour.Int64:
		return behaviour.ToInt64(v)
	case behaviour.Bool:
		return behaviour.ToBool(v)
	case behaviour.Double:
		d := behaviour.ToDouble(v)
		if math.IsNaN(d) || math.IsInf(d, 0) {
			return nil
		}
		return d
	}
	return t.Text(v)
}

// commandless escapes the control characters that JSON allows in a string but that control a
// terminal: DEL, and U+0080 to U+009F, which have two bytes in UTF-8.
func commandless(line []byte) []byte {
	if bytes.IndexByte(line, 0x7f) < 0 && bytes.IndexByte(line, 0xc2) < 0 {
		return line
	}
	out := make([]byte, 0, len(line)+16)
	for i := 0; i < len(line); i++ {
		switch {
		case line[i] == 0x7f:
			out = append(out, `\u007f`...)
		case line[i] == 0xc2 && i+1 < len(line) && line[i+1] < 0xa0:
			i++
			out = append(append(out, `\u00`...), strconv.FormatUint(uint64(line[i]), 16)...)
		default:
			out = append(out, line[i])
		}
	}
	return out
}

// CSV writes RFC 4180 with a header line. The columns are the columns of an extract. Null and
// the empty string are both empty.
type CSV struct {
	w     *csv.Writer
	plain bool
	asked *Asked
	row   []string
}

// NewCSV returns a CSV that writes to w. If plain is set, the output is safe for a terminal:
// it has no control characters.
func NewCSV(w io.Writer, plain bool) *CSV { return &CSV{w: csv.NewWriter(w), plain: plain} }

// Begin implements Writer.
func (c *CSV) Begin(a *Asked) error {
	c.asked = a
	names := append([]string(nil), behaviour.Reserved...)
	for _, f := range a.Fields {
		names = append(names, f.Name)
	}
	return c.w.Write(names)
}

// Add implements Writer.
func (c *CSV) Add(b *Behaviour) error {
	c.row = append(c.row[:0], c.asked.User, behaviour.Date(b.Date).String(), time.UnixMicro(b.Time).UTC().Format(instant),
		c.asked.Schema.Kinds[b.Kind].Name, strconv.FormatInt(b.ID, 10))
	for i := range c.asked.Fields {
		f := &c.asked.Fields[i]
		text := ""
		if v := f.Of(b); v != nil {
			text = f.Type.Text(v)
		}
		c.row = append(c.row, text)
	}
	if c.plain {
		for i := range c.row {
			c.row[i] = Plain(c.row[i])
		}
	}
	return c.w.Write(c.row)
}

// End implements Writer.
func (c *CSV) End() error {
	c.w.Flush()
	return c.w.Error()
}
