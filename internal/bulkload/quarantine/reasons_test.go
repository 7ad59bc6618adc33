package quarantine

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"usertrail/internal/format/record"
	"usertrail/internal/store/dfs/local"
)

// TestReasonsNamesTheCommonest adds records of four reasons, as one file and as two ranges.
func TestReasonsNamesTheCommonest(t *testing.T) {
	var records []Record
	add := func(line int64, reason record.Reason, detail string) {
		records = append(records, NewRecord("a.csv", &record.Reject{Line: line, Offset: 10 * line, Reason: reason, Err: errors.New(detail), Raw: []byte("x")}))
	}
	add(2, record.NoTime, "no text")
	add(3, record.WrongType, "field n: \"a\u202eb\" is no int64")
	add(4, record.NoUser, "no text for the user")
	add(5, record.TooLong, "more than 9 bytes")
	add(6, record.WrongType, "another detail")
	add(7, record.NoUser, "another detail")
	add(8, record.NoUser, "another detail")
	want := `3 no user (line 4: no text for the user), 2 wrong type (line 3: field n: "a\u202eb" is no int64), 1 no time (line 2: no text)`

	name := filepath.Join(t.TempDir(), "all.jsonl")
	f := NewFile(t.Context(), local.New(), quiet, name, nil)
	defer f.Abort()
	if err := errors.Join(f.Add(1, records[4:]), f.Add(0, records[:4]), f.Commit("")); err != nil {
		t.Fatal(err)
	}
	if got := f.Reasons().String(); got != want {
		t.Errorf("the reasons are\n%s, want\n%s", got, want)
	}
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if at := strings.Index(string(text), `"raw":"x","detail":"no text"`); at < 0 {
		t.Errorf("the text of a record is not before its detail: %s", text)
	}

	first, second := filepath.Join(t.TempDir(), "first.jsonl"), filepath.Join(t.TempDir(), "second.jsonl")
	write(t, first, "", nil, records[:3]...)
	for i := range records[3:] {
		records[3+i].Line -= 4
	}
	write(t, second, "", nil, records[3:]...)
	ranges, err := ReasonsOf(t.Context(), local.New(), []Range{{Name: first}, {Name: second, Before: 4}})
	if err != nil || ranges.String() != want {
		t.Errorf("the reasons of ranges are\n%s, %v, want\n%s", ranges, err, want)
	}
}
