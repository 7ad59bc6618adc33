package trailfile_test

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"

	"usertrail/internal/behaviour"
	"usertrail/internal/format/trailfile"
	"usertrail/internal/format/trailfile/arrowfile"
	"usertrail/internal/format/trailfile/textfile"
)

// A joined writer writes many parts into one file.
type joined interface {
	Write(b *trailfile.Batch) error
	Break() error
	Close() (trailfile.Meta, error)
}

// joinedWriters begins a file of many parts in each format.
var joinedWriters = map[string]func(w io.Writer, s trailfile.Schema) (joined, error){
	"parquet": func(w io.Writer, s trailfile.Schema) (joined, error) {
		return trailfile.NewWriter(w, s, trailfile.Options{Parts: true})
	},
	"arrow": func(w io.Writer, s trailfile.Schema) (joined, error) { return arrowfile.NewStream(w, s) },
	"csv":   func(w io.Writer, s trailfile.Schema) (joined, error) { return textfile.NewWriter(w, s, textfile.CSV) },
	"jsonl": func(w io.Writer, s trailfile.Schema) (joined, error) { return textfile.NewWriter(w, s, textfile.JSON) },
	"excel": func(w io.Writer, s trailfile.Schema) (joined, error) { return textfile.NewWriter(w, s, textfile.Excel) },
}

func partsSchema() trailfile.Schema {
	return trailfile.Long([]string{"play"}, 0, []behaviour.Field{{Name: "title", Type: behaviour.String}})
}

func played(user string, time int64) row { return row{user: user, time: time, fields: []any{"news"}} }

// TestRowsAreSortedInAPartOnly writes a user before the last user of the part before.
func TestRowsAreSortedInAPartOnly(t *testing.T) {
	s := partsSchema()
	for name, begin := range joinedWriters {
		var file bytes.Buffer
		w, err := begin(&file, s)
		if err != nil {
			t.Fatal(err)
		}
		for _, user := range []string{"b", "a", "a"} {
			if err := w.Write(batch(s, []row{played(user, 1), played(user, 2)}, 0)); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if err := w.Break(); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		if _, err := w.Close(); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if name == "csv" && strings.Count(file.String(), "user_id") != 1 {
			t.Errorf("csv has not one header:\n%s", file.String())
		}

		w, err = begin(io.Discard, s)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Write(batch(s, []row{played("b", 1)}, 0)); err != nil {
			t.Fatal(err)
		}
		if err := w.Write(batch(s, []row{played("a", 1)}, 0)); err == nil || !strings.Contains(err.Error(), "out of order") {
			t.Errorf("%s: a user before the last one, in one part: %v", name, err)
		}
		if err := w.Break(); err == nil {
			t.Errorf("%s: a part with an error ends without one", name)
		}
	}
}

// TestSeveralWritersMakeOneFile writes each part of a file with a writer that has written another part or none. The
// parts one after the other are the file of one writer.
func TestSeveralWritersMakeOneFile(t *testing.T) {
	type divided interface {
		joined
		Reset(w io.Writer)
		Continue(w io.Writer)
	}
	s := partsSchema()
	write := func(w joined, user string) {
		t.Helper()
		if user != "" {
			if err := w.Write(batch(s, []row{played(user, 1), played(user, 2)}, 0)); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Break(); err != nil {
			t.Fatal(err)
		}
	}
	for name, begin := range joinedWriters {
		if name == "parquet" {
			continue
		}
		for _, users := range [][]string{{"b", "a", "", "c"}, {"", "a"}, {""}} {
			var want, got bytes.Buffer
			one, err := begin(&want, s)
			if err != nil {
				t.Fatal(err)
			}
			var several [2]divided
			for i := range several {
				w, err := begin(io.Discard, s)
				if err != nil {
					t.Fatal(err)
				}
				several[i] = w.(divided)
			}
			several[0].Reset(&got)
			for i, user := range users {
				write(one, user)
				w := several[i%2]
				if i > 0 {
					w.Continue(&got)
				}
				write(w, user)
			}
			if _, err := one.Close(); err != nil {
				t.Fatal(err)
			}
			several[1].Continue(&got)
			if _, err := several[1].Close(); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got.Bytes(), want.Bytes()) {
				t.Errorf("%s, parts of %q: several writers make\n%q, one writer makes\n%q", name, users, got.Bytes(), want.Bytes())
			}
		}
	}
}

func TestAPartOfParquetIsARowGroup(t *testing.T) {
	s := partsSchema()
	var file bytes.Buffer
	w, err := trailfile.NewWriter(&file, s, trailfile.Options{Parts: true})
	if err != nil {
		t.Fatal(err)
	}
	for i := range trailfile.MaxPartGroups {
		if err := w.Write(batch(s, []row{played(fmt.Sprint(i), int64(i))}, 0)); err != nil {
			t.Fatal(err)
		}
		if err := w.Break(); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Break(); err != nil {
		t.Errorf("an empty part: %v", err)
	}
	if err := w.Write(batch(s, []row{played("more", 1)}, 0)); err != nil {
		t.Fatal(err)
	}
	if err := w.Break(); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("more than %d row groups", trailfile.MaxPartGroups)) {
		t.Errorf("one row group too many: %v", err)
	}
	if meta, _ := w.Close(); meta.Groups != trailfile.MaxPartGroups {
		t.Errorf("the file has %d row groups", meta.Groups)
	}

	one, err := trailfile.NewWriter(&file, s, trailfile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := one.Break(); err == nil {
		t.Error("a file of one part takes another one")
	}
}
