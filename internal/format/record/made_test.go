package record

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"usertrail/internal/behaviour"
)

// zone loads a time zone.
func zone(t testing.TB, name string) *time.Location {
	t.Helper()
	z, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return z
}

// plays returns the format of the logs that most tests read: a user, a time, a title and a
// number.
func plays() *Format {
	return &Format{
		Schema: &behaviour.Schema{Zone: "UTC", Kinds: []behaviour.Kind{{ID: 1, Name: "play", Fields: []behaviour.Field{
			{Name: "title", Type: behaviour.String}, {Name: "seconds", Type: behaviour.Int64},
		}}}},
		Zone:   time.UTC,
		Syntax: CSV,
		Header: true,
		Slack:  1,
		Kinds: []Kind{{
			User:   Column{Name: "user"},
			Time:   Time{Column: Column{Name: "time"}},
			Fields: []Column{{Name: "title"}, {Name: "seconds"}},
		}},
	}
}

// theFirst is the date of the generated logs.
var theFirst = behaviour.DateOf(2014, time.September, 1)

func playFile(path string) File { return File{Path: path, Date: &theFirst} }

const header = "user,time,title,seconds\n"

// A list is a sink that stores what it receives, with one line per record.
type list struct {
	format *Format
	lines  []string
	at     []int64  // offset of each
	raw    []string // the text of bad records, "" for others
}

func (l *list) add(at int64, raw, format string, args ...any) {
	l.lines = append(l.lines, fmt.Sprintf(format, args...))
	l.at = append(l.at, at)
	l.raw = append(l.raw, raw)
}

func (l *list) Keep(r *behaviour.Record) error {
	var b strings.Builder
	for i, f := range l.format.Schema.Kinds[r.Kind].Fields {
		text := "null"
		if r.Values[i] != nil {
			text = fmt.Sprintf("%q", f.Type.Text(r.Values[i]))
		}
		fmt.Fprintf(&b, " %s=%s", f.Name, text)
	}
	at := time.UnixMicro(r.Time).UTC().Format("2006-01-02T15:04:05.999999")
	l.add(r.ID, "", "keep %d: %s %q %s %s%s", r.ID, l.format.Schema.Kinds[r.Kind].Name, r.User, at, r.Date, b.String())
	return nil
}

func (l *list) Skip(*Skipped) error {
	l.add(-1, "", "skip")
	return nil
}

func (l *list) Reject(r *Reject) error {
	l.add(r.Offset, string(r.Raw), "reject %d line %d: %s: %v", r.Offset, r.Line, r.Reason, r.Err)
	return nil
}

// readAll reads a file in chunks of a size. If an error occurs, it also returns the records
// before the error.
func readAll(r io.Reader, file File, f *Format, size int) (*list, error) {
	l := &list{format: f}
	in, err := Open(r, file, f)
	if err != nil {
		return l, err
	}
	defer in.Close()
	p, err := NewParser(f, file, in.Header())
	if err != nil {
		return l, err
	}
	buf := make([]byte, 0, size)
	for {
		c, err := in.Next(buf)
		if errors.Is(err, io.EOF) && err == io.EOF {
			return l, nil
		}
		if err != nil {
			return l, err
		}
		if err := p.Parse(c, l); err != nil {
			return l, err
		}
	}
}

// read reads a text without errors as a file.
func read(t testing.TB, text string, file File, f *Format, size int) *list {
	t.Helper()
	l, err := readAll(strings.NewReader(text), file, f, size)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// wantLines compares the result for a file, line by line.
func wantLines(t testing.TB, got *list, want ...string) {
	t.Helper()
	if strings.Join(got.lines, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n\t%s\nwant\n\t%s", strings.Join(got.lines, "\n\t"), strings.Join(want, "\n\t"))
	}
}

// slowly returns one byte at a time, and the end only after the last byte.
type slowly struct{ r *bytes.Reader }

func (s slowly) Read(p []byte) (int, error) {
	if len(p) > 1 {
		p = p[:1]
	}
	return s.r.Read(p)
}
