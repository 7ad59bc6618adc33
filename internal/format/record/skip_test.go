package record_test

import (
	"fmt"
	"slices"
	"testing"

	"usertrail/internal/behaviour"
	"usertrail/internal/format/record"
	"usertrail/internal/format/rule"
)

// A skipList lists what a parser does with each record.
type skipList struct{ out []string }

func (s *skipList) Keep(r *behaviour.Record) error {
	s.out = append(s.out, fmt.Sprintf("%d keep %s", r.ID, r.User))
	return nil
}

func (s *skipList) Skip(k *record.Skipped) error {
	s.out = append(s.out, fmt.Sprintf("%d %s %q in line %d: %s", k.Offset, k.Why, k.Kind, k.Line, k.Raw))
	return nil
}

func (s *skipList) Reject(r *record.Reject) error {
	s.out = append(s.out, fmt.Sprintf("%d bad: %s: %v, behaviour %d", r.Offset, r.Reason, r.Err, r.Kind))
	return nil
}

// TestSkippedRecordsHaveAReason reads records that a job does not want. The condition comes
// before the behaviour, and the behaviour before the user.
func TestSkippedRecordsHaveAReason(t *testing.T) {
	r, err := rule.Parse(`method == "PUT" && user == "" || 5 % len(method) == 1`)
	if err != nil {
		t.Fatal(err)
	}
	f := record.Format{
		Schema: &behaviour.Schema{Zone: "UTC", Kinds: []behaviour.Kind{{ID: 1, Name: "open"}, {ID: 2, Name: "buy"}}},
		Syntax: record.CSV, Names: []string{"user", "time", "event", "method"}, Nulls: []string{"NULL"},
		KindColumn: &record.Column{Name: "event"}, KindOf: map[string]int{"open": 0, "buy": 1},
		Kinds: make([]record.Kind, 2), Skip: r,
	}
	for i := range f.Kinds {
		f.Kinds[i] = record.Kind{User: record.Column{Name: "user"}, SkipEmpty: i == 0, Time: record.Time{Column: record.Column{Name: "time"}}}
	}
	p, err := record.NewParser(&f, record.File{Path: "x.csv", Kind: -1}, nil)
	if err != nil {
		t.Fatal(err)
	}
	text := "u1,2014-09-01,open,GET\n" + ",2014-09-01,open,PUT\n" + ",2014-09-01,open,GET\n" + "NULL,2014-09-01,open,GET\n" +
		",2014-09-01,buy,GET\n" + ",2014-09-01,sell,GET\n" + "u2,2014-09-01,,PUT\n" + "u2,2014-09-01,buy,\n" + "u2,x,buy,GETA\n"
	s := &skipList{}
	if err := p.Parse(record.Chunk{Data: []byte(text), Line: 1}, s); err != nil {
		t.Fatal(err)
	}
	want := []string{
		`0 keep u1`, `23 skip condition "" in line 2: ,2014-09-01,open,PUT`, `44 without user "" in line 3: ,2014-09-01,open,GET`,
		`65 without user "" in line 4: NULL,2014-09-01,open,GET`, `90 bad: no user: no text for the user, behaviour 1`,
		`110 unknown behaviour "sell" in line 6: ,2014-09-01,sell,GET`, `131 bad: no behaviour: no text names the behaviour, behaviour -1`,
		`150 bad: bad skip condition: runtime error: integer divide by zero, behaviour -1`, `169 skip condition "" in line 9: u2,x,buy,GETA`,
	}
	if !slices.Equal(s.out, want) {
		t.Errorf("the records are\n%q\nwant\n%q", s.out, want)
	}
}

// TestASkipConditionReadsColumnsOfTheFile refuses a file without a column of the condition.
func TestASkipConditionReadsColumnsOfTheFile(t *testing.T) {
	r, err := rule.Parse(`methode == "PUT"`)
	if err != nil {
		t.Fatal(err)
	}
	f := record.Format{
		Schema: &behaviour.Schema{Zone: "UTC", Kinds: []behaviour.Kind{{ID: 1, Name: "open"}}}, Syntax: record.CSV, Header: true,
		Kinds: []record.Kind{{User: record.Column{Name: "user"}, Time: record.Time{Column: record.Column{Name: "time"}}}}, Skip: r,
	}
	_, err = record.NewParser(&f, record.File{Path: "x.csv"}, []string{"user", "time", "method"})
	if want := `record: parse x.csv: the header does not fit the job: skip: no column "methode" in x.csv, which has "user", "time", "method"`; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}
