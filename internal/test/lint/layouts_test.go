package lint_test

import (
	"fmt"
	"strings"
	"testing"

	"usertrail/internal/behaviour"
	"usertrail/internal/cell"
	"usertrail/internal/format/layout"
	_ "usertrail/internal/format/layout/toy"
	"usertrail/internal/test/document"
)

const layouts = "docs/explanation/layouts.md"

// TestLayoutsDocIsTheToy checks that the Go code of docs/explanation/layouts.md, block by block, is a
// layout that the tests run.
func TestLayoutsDocIsTheToy(t *testing.T) {
	shown := strings.Join(document.Blocks(t, document.Read(t, layouts), "go"), "\n")
	if is := document.Read(t, "internal/format/layout/toy/day.go"); shown != is {
		t.Errorf("%s shows\n%s\nwhich is not internal/format/layout/toy/day.go", layouts, shown)
	}
}

// TestLayoutsDocDrawsEveryLayout compares the drawings with two records as each layout writes
// them.
func TestLayoutsDocDrawsEveryLayout(t *testing.T) {
	text := document.Read(t, layouts)
	var b strings.Builder
	for _, name := range layout.Names() {
		if name == "day" {
			continue // the toy layout
		}
		if !strings.Contains(text, fmt.Sprintf("\n| `%s` |", name)) {
			t.Errorf("the tables of %s have no %s", layouts, name)
		}
		b.WriteString(drawn(t, name))
	}
	if shown := document.Blocks(t, text, "text")[0]; shown != b.String() {
		t.Errorf("%s shows\n%s\nbut they are\n%s", layouts, shown, b.String())
	}
}

// drawn returns the cells of two records, one per line.
func drawn(t *testing.T, name string) string {
	t.Helper()
	l, err := layout.ByName(name)
	if err != nil {
		t.Fatal(err)
	}
	s := &behaviour.Schema{Zone: "UTC", Kinds: []behaviour.Kind{
		{ID: 1, Name: "play", Fields: []behaviour.Field{{Name: "programme", Type: behaviour.String}, {Name: "seconds", Type: behaviour.Int64}}},
		{ID: 4, Name: "login"},
	}}
	day := behaviour.DateOf(2014, 9, 1)
	var b strings.Builder
	for _, r := range []*behaviour.Record{
		{User: []byte("42"), Time: int64(day)*86400e6 + 250, Date: day, ID: 31, Values: [][]byte{[]byte("1937"), behaviour.AppendInt64(nil, 60)}},
		{User: []byte("a_b"), Kind: 1, Time: int64(day) * 86400e6, Date: day, ID: 64},
	} {
		if err := l.Fits(s, r); err != nil {
			fmt.Fprintf(&b, "%-10s %s\n", name, err)
			continue
		}
		e := l.Encoder(s, "d")
		e.Add(r)
		err := e.Cells(l.AppendRow(nil, s, r), func(c *cell.Cell) error {
			line := fmt.Sprintf("%-10s %s   d:%s   %s", name, shell(c.Row), shell(c.Qualifier), shell(c.Value))
			b.WriteString(strings.TrimRight(line, " ") + "\n")
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return b.String()
}

// shell returns bytes in the notation of HBase's shell.
func shell(v []byte) string {
	var b strings.Builder
	for _, c := range v {
		if c < ' ' || c > '~' {
			fmt.Fprintf(&b, `\x%02X`, c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}
