package record_test

import (
	"fmt"
	"io"
	"strings"
	"time"

	"usertrail/internal/behaviour"
	"usertrail/internal/format/record"
)

// A printer is a sink that prints.
type printer struct{}

func (printer) Keep(r *behaviour.Record) error {
	fmt.Printf("keep %s on %s, at offset %d: programme %s\n", r.User, r.Date, r.ID, r.Values[0])
	return nil
}

func (printer) Skip(*record.Skipped) error { return nil }

func (printer) Reject(r *record.Reject) error {
	fmt.Println(r)
	return nil
}

// A file of two plays. One play has no user.
func Example() {
	day := behaviour.DateOf(2014, time.September, 1)
	file := record.File{Path: "2014-09-01/play.csv", Date: &day, Kind: 0}
	format := &record.Format{
		Schema: &behaviour.Schema{Zone: "UTC", Kinds: []behaviour.Kind{
			{ID: 1, Name: "play", Fields: []behaviour.Field{{Name: "programme", Type: behaviour.String}}},
		}},
		Syntax: record.CSV,
		Header: true,
		Kinds: []record.Kind{{
			User:   record.Column{Name: "user_id"},
			Time:   record.Time{Column: record.Column{Name: "time"}},
			Fields: []record.Column{{Name: "programme"}},
		}},
	}
	text := "user_id,time,programme\nu42,2014-09-01 20:00:00,News\n,2014-09-01 20:00:01,News\n"

	reader, err := record.Open(strings.NewReader(text), file, format)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer reader.Close()
	parser, err := record.NewParser(format, file, reader.Header())
	if err != nil {
		fmt.Println(err)
		return
	}
	for buf := make([]byte, 0, 1<<20); ; {
		chunk, err := reader.Next(buf)
		if err == io.EOF {
			return
		}
		if err == nil {
			err = parser.Parse(chunk, printer{})
		}
		if err != nil {
			fmt.Println(err)
			return
		}
	}
	// Output:
	// keep u42 on 2014-09-01, at offset 23: programme News
	// record: 2014-09-01/play.csv:3: no user: no text for the user (offset 52)
}
