package pieces_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"usertrail/internal/bulkload/bulkloadtest"
	"usertrail/internal/format/manifest"
)

// TestEachWayNamesTheSameFieldsWithoutValue loads logs with random nulls in one process, in pieces and in ranges, and compares the fields
// without a value in the ledgers with a plain count.
func TestEachWayNamesTheSameFieldsWithoutValue(t *testing.T) {
	kinds := []string{"play", "order"}
	for seed := range uint64(6) {
		dice := rand.New(rand.NewPCG(seed, 0))
		logs, valued, records := map[string]string{}, map[string]bool{}, map[string]bool{}
		for file := range 3 {
			var b strings.Builder
			for i := range 1 + dice.IntN(12) {
				day, kind := 1+dice.IntN(2), kinds[dice.IntN(2)]
				fmt.Fprintf(&b, `{"user":"u%d","time":"2014-09-%02d 10:00:00","kind":"%s"`, i, day, kind)
				records[fmt.Sprint(day, kind)] = true
				for f := range 3 {
					if dice.IntN(6) == 0 {
						fmt.Fprintf(&b, `,"f%d":"x"`, f)
						valued[fmt.Sprint(day, kind, f)] = true
					}
				}
				b.WriteString("}\n")
			}
			logs[fmt.Sprintf("%d.jsonl", file)] = b.String()
		}
		for _, way := range []string{"load", "pieces", "ranges"} {
			y := bulkloadtest.New(t, "logs: {path: logs/*.jsonl, format: jsonl, behaviour: kind}\nuser: user\nfields: {f0: string, f1: string, f2: string}\nbehaviours: {play: {id: 1}, order: {id: 2}}\n")
			for name, text := range logs {
				y.Write(name, text)
			}
			from, to := bulkloadtest.Date(t, "2014-09-01"), bulkloadtest.Date(t, "2014-09-02")
			if way == "load" {
				y.Load(nil, "2014-09-01", "2014-09-02")
			} else {
				parts := y.Plan(nil, bulkloadtest.PieceSizes[way], "2014-09-01", "2014-09-02")
				y.DoAll(parts)
				y.Commit(nil, parts)
			}
			l := y.Ledgers()[0]
			none := l.NoValue.Of(l.Days)
			for day := from; day <= to; day++ {
				for _, kind := range kinds {
					var want, got []string
					without := map[string]bool{}
					if n := none[manifest.DayOf{Date: day, Behaviour: kind}]; n != nil {
						for f := range l.NoValue.FieldsOf(n) {
							without[f.Name] = f.By != ""
						}
					}
					for f := range 3 {
						name := fmt.Sprint("f", f)
						if key := fmt.Sprint(1+int(day-from), kind); records[key] && !valued[key+fmt.Sprint(f)] {
							want = append(want, name)
						}
						if without[name] {
							got = append(got, name)
						}
					}
					if !reflect.DeepEqual(got, want) {
						t.Errorf("seed %d, %s, %s on %s: %v have no value, want %v", seed, way, kind, day, got, want)
					}
				}
			}
			if n := len(y.Ledgers()); n != 1 {
				t.Errorf("seed %d, %s: %d loads, want one", seed, way, n)
			}
		}
	}
}
