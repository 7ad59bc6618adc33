package bulkloadtest

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"usertrail/internal/behaviour"
	"usertrail/internal/cell"
	"usertrail/internal/format/manifest"
	"usertrail/internal/split"
	"usertrail/internal/store/dfs/dfstest"
	"usertrail/internal/store/dfs/local"
	"usertrail/internal/table"
	"usertrail/internal/table/catalog"
	"usertrail/internal/table/files"
)

// Cells returns the cells of the table as sorted lines.
func (y *Fixture) Cells() []string {
	y.T.Helper()
	t, err := y.Store.Open(y.T.Context())
	if err != nil {
		y.T.Fatal(err)
	}
	defer t.Close()
	var out []string
	err = t.Read(y.T.Context(), table.Query{
		Ranges: func(yield func(split.Region) bool) { yield(split.Region{}) },
		Span:   behaviour.AllDays,
	}, func(c *cell.Cell) error {
		out = append(out, fmt.Sprintf("%q %q %d %q", c.Row, c.Qualifier, c.Time, c.Value))
		return nil
	})
	if err != nil {
		y.T.Fatal(err)
	}
	slices.Sort(out)
	return out
}

// Known returns the delivered files in the ledgers, sorted, and the days of all ledgers, added up.
func (y *Fixture) Known() (inputs []string, days map[string]manifest.Day) {
	y.T.Helper()
	days = map[string]manifest.Day{}
	for _, l := range y.Ledgers() {
		for _, in := range l.Inputs {
			b, err := json.Marshal(in)
			if err != nil {
				y.T.Fatal(err)
			}
			inputs = append(inputs, string(b))
		}
		for _, d := range l.Days {
			sum := days[d.Behaviour+d.Date.String()]
			sum.Date, sum.Behaviour = d.Date, d.Behaviour
			sum.Records += d.Records
			sum.Tally.Add(d.Tally)
			days[d.Behaviour+d.Date.String()] = sum
		}
	}
	slices.Sort(inputs)
	return inputs, days
}

// Bad returns the quarantine files by name.
func (y *Fixture) Bad() map[string]string {
	y.T.Helper()
	out := map[string]string{}
	all, err := filepath.Glob(filepath.Join(y.Store.Dir, "quarantine", "*"))
	if err != nil {
		y.T.Fatal(err)
	}
	for _, name := range all {
		b, err := os.ReadFile(name)
		if err != nil {
			y.T.Fatal(err)
		}
		out[filepath.Base(name)] = string(b)
	}
	return out
}

// Same fails the test unless both tables have the same cells, ledgers, bad records and trails.
func (y *Fixture) Same(other *Fixture) {
	y.T.Helper()
	if got, want := y.Cells(), other.Cells(); !slices.Equal(got, want) {
		y.T.Errorf("the table of pieces has %d cells, of one load %d: %s", len(got), len(want), Difference(got, want))
	}
	inputs, days := y.Known()
	wantInputs, wantDays := other.Known()
	if !slices.Equal(inputs, wantInputs) {
		y.T.Errorf("the delivered files in the ledgers are\n%s\nwant\n%s", strings.Join(inputs, "\n"), strings.Join(wantInputs, "\n"))
	}
	if fmt.Sprint(days) != fmt.Sprint(wantDays) {
		y.T.Errorf("the days are\n%v\nwant\n%v", days, wantDays)
	}
	if got, want := y.Bad(), other.Bad(); fmt.Sprint(got) != fmt.Sprint(want) {
		y.T.Errorf("bad records are\n%q\nwant\n%q", got, want)
	}
	if !slices.Equal(y.Trails(true), other.Trails(true)) {
		y.T.Error("the users' trails differ")
	}
}

// Difference describes the first cell that differs.
func Difference(got, want []string) string {
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			return fmt.Sprintf("cell %d is %s, want %s", i, got[i], want[i])
		}
	}
	return fmt.Sprintf("%d cells, want %d", len(got), len(want))
}

// Swept fails the test if files of a plan are left, except the files that the manifest names and the record of the plan.
func (y *Fixture) Swept() {
	y.T.Helper()
	if left, err := os.ReadDir(filepath.Join(y.Store.Dir, "plans")); err == nil && len(left) > 0 {
		y.T.Errorf("plans are left: %v", left)
	}
	t, err := y.Store.Open(y.T.Context())
	if err != nil {
		y.T.Fatal(err)
	}
	defer t.Close()
	if _, err := t.Recover(y.T.Context()); err != nil {
		y.T.Fatal(err)
	}
	named := map[string]bool{}
	for _, f := range t.(*files.Table).Files() {
		named[f.Name], named[f.Roll] = true, true
		if plan, _, ok := catalog.OfPlan(f.Name); ok {
			named[catalog.PlanOfLoad(f.Load, plan)] = true
		}
	}
	for name := range dfstest.Snapshot(y.T, local.New(), y.Store.Dir) {
		name = strings.TrimPrefix(strings.TrimPrefix(name, y.Store.Dir), "/")
		if strings.HasPrefix(name, "pieces/") && strings.Contains(filepath.Base(name), ".") && !named[name] {
			y.T.Errorf("%s is left, and the manifest does not name it", name)
		}
	}
}
