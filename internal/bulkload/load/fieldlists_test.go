package load_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"usertrail/internal/bulkload"
	"usertrail/internal/format/layout"
	"usertrail/internal/run/piece"
	"usertrail/internal/store/dfs/local"
)

// fieldLists are the fields of successive jobs. The table has the fields of all jobs, in the
// order in which they first appeared.
var (
	fieldLists = [][]string{{"a", "b"}, {"a", "c", "b"}, {"z", "a", "b"}, {"b", "a"}, {"b"}, {"y", "z", "c", "b", "a"}, {"x"}}
	tableOrder = []string{"a", "b", "c", "z", "y", "x"}
)

// listJob is a job of plays that have fields.
func listJob(syntax, layout string, fields []string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "logs: {path: \"logs/{date}/{behaviour}.log\", format: %s, max_bad: 50%%}\nlayout: %s\nuser: user\n", syntax, layout)
	b.WriteString("behaviours:\n  play:\n    id: 1\n    fields:\n")
	for _, f := range fields {
		fmt.Fprintf(&b, "      %s: string\n", f)
	}
	return b.String()
}

// listLog is a file of four records; the third has a time that is none. All have every
// field, in an order of the file's own. trails are the good records, with the fields that
// the job has, and corrected is the bad one.
func listLog(syntax string, day int, fields []string) (text string, trails []string, corrected string) {
	columns := []string{"z", "a", "x", "c", "b", "y"}
	if syntax == "csv" {
		text = "user,time," + strings.Join(columns, ",") + "\n"
	}
	for n := range 4 {
		when := fmt.Sprintf("2014-09-%02d 10:00:0%d", day, n)
		line := fmt.Sprintf("%d 2014-09-%02d %sZ play", 11+n, day, strings.Replace(when, " ", "T", 1))
		for _, f := range tableOrder {
			if slices.Contains(fields, f) {
				line += fmt.Sprintf(" %s=%s%d.%d", f, f, day, n)
			}
		}
		if n == 2 {
			corrected, when = line, "never"
		} else {
			trails = append(trails, line)
		}
		text += listRecord(syntax, fmt.Sprint(11+n), when, columns, fmt.Sprintf("%d.%d", day, n))
	}
	return text, trails, corrected
}

// listRecord is a record with a value in each column.
func listRecord(syntax, user, when string, columns []string, value string) string {
	var b strings.Builder
	if syntax == "csv" {
		fmt.Fprintf(&b, "%s,%s", user, when)
		for _, c := range columns {
			fmt.Fprintf(&b, ",%s%s", c, value)
		}
		return b.String() + "\n"
	}
	fmt.Fprintf(&b, `{"user":%q,"time":%q`, user, when)
	for _, c := range columns {
		fmt.Fprintf(&b, `,%q:%q`, c, c+value)
	}
	return b.String() + "}\n"
}

// TestValuesStayUnderTheirFields loads and replays by jobs whose fields were inserted,
// dropped and reordered, in every layout.
func TestValuesStayUnderTheirFields(t *testing.T) {
	for _, name := range layout.Names() {
		for _, syntax := range []string{"csv", "jsonl"} {
			t.Run(name+" "+syntax, func(t *testing.T) {
				y := newFixture(t, listJob(syntax, name, fieldLists[0]))
				var want []string
				for i, fields := range fieldLists {
					day := fmt.Sprintf("2014-09-%02d", i+1)
					file := day + "/play.log"
					y.is(listJob(syntax, name, fields))
					text, trails, corrected := listLog(syntax, i+1, fields)
					y.write(file, text)
					y.wantCounts(y.load(nil, day, day), 4, 3, 1, 0, 0)
					y.correct(file, "never", day+" 10:00:02")
					y.wantCounts(y.replay(nil, file), 1, 1, 0, 0, 0)
					want = append(append(want, trails...), corrected)
				}
				y.wantTrails(want...)
			})
		}
	}
}

// TestPutsKeepValuesUnderTheirFields is the same test for a table in HBase that is loaded by
// puts.
func TestPutsKeepValuesUnderTheirFields(t *testing.T) {
	p := newHBaseFixture(t)
	files := newFixture(t, twoKinds)
	var want []string
	for i, fields := range fieldLists {
		day := fmt.Sprintf("2014-09-%02d", i+1)
		text, trails, _ := listLog("csv", i+1, fields)
		want = append(want, trails...)
		for _, y := range []*fixture{p.fixture, files} {
			y.is(listJob("csv", layout.Default, fields))
			y.write(day+"/play.log", text)
		}
		files.load(nil, day, day)
		if r, err := p.puts(t.Context(), day, day, 2); err != nil || r.Loaded != 3 {
			t.Fatalf("%d records were put, %v; want 3", r.Loaded, err)
		}
	}
	files.wantTrails(want...)
	got := p.cells()
	slices.Sort(got)
	if held := files.cells(); !slices.Equal(got, held) {
		t.Errorf("puts make\n%s\nwant what files hold\n%s", strings.Join(got, "\n"), strings.Join(held, "\n"))
	}
}

// TestAnImportRefusesOtherFieldOrders: what an import takes over says by place which value
// is whose, so the two tables must have a behaviour's fields in one order.
func TestAnImportRefusesOtherFieldOrders(t *testing.T) {
	for _, x := range []struct {
		there, brought []string
		fits           bool
	}{
		{[]string{"a", "b"}, []string{"b", "a"}, false},
		{[]string{"a", "c"}, []string{"a", "b"}, false},
		{[]string{"a", "b", "c"}, []string{"a", "b"}, true},
		{[]string{"a"}, []string{"a", "b"}, true},
	} {
		t.Run(fmt.Sprint(x.there, x.brought), func(t *testing.T) {
			p := newHBaseFixture(t)
			there, _, _ := listLog("csv", 1, x.there)
			brought, _, _ := listLog("csv", 2, x.brought)
			p.write("2014-09-01/play.log", there)
			p.write("2014-09-02/play.log", brought)
			p.is(listJob("csv", layout.Default, x.brought))
			p.load(nil, "2014-09-02", "2014-09-02")
			p.is(listJob("csv", layout.Default, x.there))
			if _, err := p.puts(t.Context(), "2014-09-01", "2014-09-01", 1); err != nil {
				t.Fatal(err)
			}
			before := p.cells()
			_, err := p.imports(local.New())
			if x.fits {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			if !errors.Is(err, bulkload.ErrRequest) || !strings.Contains(err.Error(), "behaviour play") || !strings.Contains(err.Error(), "from the logs") {
				t.Errorf("%v, want ErrRequest about the fields of play", err)
			}
			if !slices.Equal(p.cells(), before) {
				t.Error("the table changed")
			}
		})
	}
}

// TestPiecesFollowTheTablesFields: a load that comes between the pieces and their commit
// gives the table a field where the pieces have another.
func TestPiecesFollowTheTablesFields(t *testing.T) {
	for _, name := range layout.Names() {
		t.Run(name, func(t *testing.T) {
			y := newFixture(t, twoKinds)
			var want []string
			for i, fields := range [][]string{{"a"}, {"a", "c"}, {"a", "b"}} {
				text, trails, _ := listLog("csv", i+1, fields)
				y.write(fmt.Sprintf("2014-09-%02d/play.log", i+1), text)
				want = append(want, trails...)
			}
			y.is(listJob("csv", name, []string{"a"}))
			y.load(nil, "2014-09-01", "2014-09-01")
			y.jobIs(listJob("csv", name, []string{"a", "b"}))
			parts := y.plan(nil, 1<<20, "2014-09-03", "2014-09-03")
			y.doAll(parts)
			y.is(listJob("csv", name, []string{"a", "c"}))
			y.load(nil, "2014-09-02", "2014-09-02")
			y.commit(piece.ErrMissing, parts)
			y.doAll(parts)
			y.commit(nil, parts)
			y.wantTrails(want...)
		})
	}
}
