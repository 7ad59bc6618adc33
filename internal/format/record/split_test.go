package record

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// TestSplitCountsTheColumnsThatAreNotWanted splits made-up records and compares with a splitter that keeps all
// columns.
func TestSplitCountsTheColumnsThatAreNotWanted(t *testing.T) {
	dice := rand.New(rand.NewPCG(7, 1))
	for _, c := range []struct {
		syntax    Syntax
		delimiter string
	}{{CSV, ","}, {CSV, "||"}, {TSV, "\t"}, {TSV, "::"}, {Blanks, ""}} {
		all, part := newSplitter(c.syntax, []byte(c.delimiter)), newSplitter(c.syntax, []byte(c.delimiter))
		for range 2000 {
			rec := madeUpColumns(dice, c.syntax, c.delimiter)
			quoted := c.syntax == CSV && bytes.IndexByte(rec, '"') >= 0
			all.split(rec, quoted)
			want := all.names()
			if all.count != len(want) {
				t.Fatalf("%s: %q: count %d of %d columns", c.syntax, rec, all.count, len(want))
			}
			part.wanted = dice.IntN(len(want) + 2)
			part.split(rec, quoted)
			if got := part.names(); part.count != len(want) || !slices.Equal(got, want[:min(part.wanted, len(want))]) {
				t.Fatalf("%s: %q: the first %d columns are %q of %d, want %q of %d", c.syntax, rec, part.wanted, got, part.count, want[:min(part.wanted, len(want))], len(want))
			}
		}
	}
}

// madeUpColumns returns a record whose quotes are right.
func madeUpColumns(dice *rand.Rand, syntax Syntax, delimiter string) []byte {
	if syntax == Blanks {
		delimiter = []string{" ", "\t", "  "}[dice.IntN(3)]
	}
	columns := make([]string, 1+dice.IntN(6))
	for i := range columns {
		columns[i] = strings.Repeat("x", dice.IntN(3))
		if syntax == CSV && dice.IntN(3) == 0 {
			columns[i] = `"` + []string{"", delimiter, `""`, "a\nb"}[dice.IntN(4)] + columns[i] + `"`
		}
	}
	return []byte(strings.Join(columns, delimiter))
}

// TestMemoryOfManyColumns checks that the memory of a parser depends on the length of a record and on the requested
// columns, and not on how many values the record has.
func TestMemoryOfManyColumns(t *testing.T) {
	const many = 500_000
	start := "u1%[1]s2014-09-01 10:00:00%[1]sA%[1]s1"
	for syntax, rec := range map[Syntax]string{
		CSV:    fmt.Sprintf(start, ",") + strings.Repeat(",7", many),
		TSV:    fmt.Sprintf(start, "\t") + strings.Repeat("\t7", many),
		Blanks: strings.ReplaceAll(fmt.Sprintf(start, " "), "01 10", "01T10") + strings.Repeat(" 7", many),
		JSONL:  `{"user":"u1","time":"2014-09-01 10:00:00","title":"A","seconds":1,"v":[7` + strings.Repeat(",7", many) + `],"w":{"n":0` + strings.Repeat(`,"":7`, many/5) + `}}`,
	} {
		t.Run(string(syntax), func(t *testing.T) {
			f := plays()
			f.Syntax, f.Header, f.MaxLine = syntax, false, 4<<20
			if syntax != JSONL {
				f.Kinds[0].User.Name, f.Kinds[0].Time.Name = "$1", "$2"
				f.Kinds[0].Fields = []Column{{Name: "$3"}, {Name: "$4"}}
			}
			p, err := NewParser(f, playFile("a"), nil)
			if err != nil {
				t.Fatal(err)
			}
			n, data := &counter{}, []byte(rec)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			err = p.Parse(Chunk{Data: data, Line: 1}, n)
			runtime.ReadMemStats(&after)
			if err != nil || n.kept != 1 {
				t.Fatalf("%d records kept, %d rejected, %v", n.kept, n.rejected, err)
			}
			if bytes := after.TotalAlloc - before.TotalAlloc; bytes > 64<<10 {
				t.Errorf("%d bytes were allocated for a record of %d bytes", bytes, len(rec))
			}
		})
	}
}
