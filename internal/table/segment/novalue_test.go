package segment_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"

	"usertrail/internal/behaviour"
	"usertrail/internal/format/manifest"
	"usertrail/internal/table/segment"
	"usertrail/internal/tally"
)

// TestDaysNameTheFieldsWithoutAValue adds random records to several Tallies, in any order of the days, merges them, and compares the
// fields without a value with a plain count.
func TestDaysNameTheFieldsWithoutAValue(t *testing.T) {
	const load, days = 3, 5
	widths := []int{0, 1, 63, 64, 65, 200}
	schema := &behaviour.Schema{}
	for k, n := range widths {
		kind := behaviour.Kind{ID: uint16(k + 1), Name: fmt.Sprint("b", k)}
		for f := range n {
			kind.Fields = append(kind.Fields, behaviour.Field{Name: fmt.Sprint("f", f)})
		}
		schema.Kinds = append(schema.Kinds, kind)
	}
	by := func(kind, field int) string {
		if field%7 == 3 {
			return "" // the job does not have it
		}
		return fmt.Sprint(kind, ".", field)
	}
	for seed := range uint64(50) {
		dice := rand.New(rand.NewPCG(seed, 0))
		all, valued, records := segment.NewTallies(), map[string]bool{}, map[string]int64{}
		for range 1 + dice.IntN(3) {
			part := segment.NewTallies()
			for range dice.IntN(60) {
				day := segment.Day{Load: load, Date: behaviour.Date(dice.IntN(days)), Kind: dice.IntN(len(widths))}
				values := make([][]byte, widths[day.Kind])
				for i := range values {
					if dice.IntN(4) == 0 {
						values[i] = []byte{} // an empty text is a value
						valued[fmt.Sprint(day.Date, day.Kind, i)] = true
					}
				}
				records[fmt.Sprint(day.Date, day.Kind)]++
				part.AddRecord(day, values)
				part.Add(day, 0, tally.Tally{Cells: 1})
			}
			all.Merge(part)
		}
		got := all.Days(load, schema)
		if len(got) != len(records) {
			t.Fatalf("seed %d: %d days, want %d", seed, len(got), len(records))
		}
		noValue := all.NoValue(load, schema, by)
		none := noValue.Of(got)
		for _, d := range got {
			k, _ := schema.Kind(d.Behaviour)
			want := map[string]string{}
			for i, f := range schema.Kinds[k].Fields {
				if !valued[fmt.Sprint(d.Date, k, i)] && by(k, i) != "" {
					want[f.Name] = by(k, i)
				}
			}
			fields := map[string]string{}
			if n := none[manifest.DayOf{Date: d.Date, Behaviour: d.Behaviour}]; n != nil {
				for f := range noValue.FieldsOf(n) {
					fields[f.Name] = f.By
				}
			}
			if n := records[fmt.Sprint(d.Date, k)]; !maps.Equal(fields, want) || d.Records != n || d.Tally.Cells != n {
				t.Errorf("seed %d, %s on %s: %d records, %d cells, without a value %q, want %d and %q", seed, d.Behaviour, d.Date, d.Records, d.Tally.Cells, fields, n, want)
			}
		}
	}
}
