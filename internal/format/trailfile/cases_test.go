package trailfile_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"usertrail/internal/behaviour"
	"usertrail/internal/format/trailfile"
)

// A sample is a file that readers are known to interpret differently, or that is hard to
// write correctly.
type sample struct {
	name   string
	schema trailfile.Schema
	opts   trailfile.Options
	rows   []row
}

// samples returns all samples. Every reader gets the same samples, and no test changes them.
var samples = sync.OnceValue(makeSamples)

func makeSamples() []sample {
	every := everyType()
	manyPages := trailfile.Options{GroupRows: 3000, PageBytes: 700}
	all := []sample{
		{"no rows", every, trailfile.Options{}, nil},
		{"one row", every, trailfile.Options{}, people(1, every, 1, 0)},
		{"one row of nulls", every, trailfile.Options{}, people(1, every, 1, 1)},
		{"no fields", trailfile.Long([]string{"play"}, 0, nil), trailfile.Options{}, people(2, trailfile.Long([]string{"play"}, 0, nil), 100, 0)},
		{"many pages", every, manyPages, people(3, every, 5000, 0.3)},
		{"many pages, snappy", every, trailfile.Options{Codec: trailfile.Snappy, GroupRows: 3000, PageBytes: 700}, people(4, every, 3100, 0.3)},
		{"many pages, none", every, trailfile.Options{Codec: trailfile.None, GroupRows: 3000, PageBytes: 700}, people(5, every, 3100, 0.3)},
		{"a page a row", every, trailfile.Options{GroupRows: 64, PageBytes: 1}, people(6, every, 200, 0.5)},
		{"no nulls", every, manyPages, people(7, every, 3100, 0)},
		{"all null", every, manyPages, people(8, every, 3100, 1)},
		{"null first", every, manyPages, nullsAt(people(9, every, 3100, 0), func(i int) bool { return i%100 == 0 })},
		{"null last", every, manyPages, nullsAt(people(10, every, 3100, 0), func(i int) bool { return i%100 == 99 })},
		{"null pages", every, manyPages, nullsAt(people(11, every, 6000, 0), func(i int) bool { return i/1000%2 == 0 })},
		{"one value", every, manyPages, nullsAt(people(12, every, 6000, 0), func(i int) bool { return i != 4321 })},
		{"all but one value", every, manyPages, nullsAt(people(13, every, 6000, 0), func(i int) bool { return i == 4321 })},
		{"one user", every, trailfile.Options{GroupRows: 500}, oneUser(people(14, every, 2000, 0.2))},
		{"one user a row", every, trailfile.Options{GroupRows: 2500}, userEach(people(15, every, 6000, 0.9))},
		{"groups by bytes", every, trailfile.Options{GroupBytes: 5000}, people(16, every, 3000, 0.2)},
	}
	return slices.Concat(all, stringSamples(), shapeSamples())
}

// shapeSamples returns samples of other schemas than the one with one row per event and all
// its columns.
func shapeSamples() []sample {
	pages := trailfile.Options{GroupRows: 3000, PageBytes: 700}
	kinds, every := []string{"login", "order", "play", "visit"}, []behaviour.Field{}
	for _, t := range behaviour.Types {
		every = append(every, behaviour.Field{Name: "f_" + string(t), Type: t})
	}
	steps, wide := trailfile.Long(kinds, 3, every), trailfile.Wide(kinds, trailfile.WideColumns, 2)
	of := func(name string, s trailfile.Schema, rows []row) sample { return sample{name, s, pages, rows} }
	return []sample{
		of("steps", steps, people(20, steps, 3100, 0.3)),
		of("by date", steps.Without("date"), people(21, steps.Without("date"), 3100, 0.3)),
		of("by behaviour", steps.Without("behaviour"), people(22, steps.Without("behaviour"), 3100, 0.3)),
		of("wide", wide, userEach(people(23, wide, 5000, 0.3))),
		of("wide, without rows", wide, nil),
		of("wide, without steps", trailfile.Wide(kinds[:1], trailfile.WideColumns, 0), userEach(people(24, trailfile.Wide(kinds[:1], trailfile.WideColumns, 0), 100, 0))),
	}
}

// stringSamples returns samples of one string column and one double column.
func stringSamples() []sample {
	s := trailfile.Long([]string{"play"}, 0, []behaviour.Field{{Name: "s", Type: behaviour.String}, {Name: "d", Type: behaviour.Double}})
	with := func(n int, s func(i int) any, d func(i int) any) []row {
		rows := make([]row, n)
		for i := range rows {
			rows[i] = row{user: fmt.Sprintf("u%07d", i/20), date: int32(i % 3), time: int64(i), id: int64(i), fields: []any{s(i), d(i)}}
		}
		return rows
	}
	number := func(i int) any { return float64(i) }
	text := func(i int) any { return "x" }
	unique := func(i int) any { return fmt.Sprintf("%d is seen only once", i) }
	long := strings.Repeat("节", 21)
	pages := trailfile.Options{PageBytes: 2000, GroupRows: 5000}
	return []sample{
		{"different strings", s, pages, with(6000, unique, number)},
		{"different strings, late", s, trailfile.Options{GroupRows: 20_000}, with(25_000, func(i int) any {
			if i < 9000 || i > 21_000 {
				return "same"
			}
			return fmt.Sprintf("%0400d", i) // 11,000 of these exceed the limit of a dictionary
		}, number)},
		{"different strings at first", s, trailfile.Options{}, with(9000, func(i int) any { return fmt.Sprint("v", min(i, 5000)) }, number)},
		{"large dictionary", s, trailfile.Options{GroupRows: 25_000}, with(30_000, func(i int) any {
			if i < 9000 {
				return fmt.Sprint("v", i%3000)
			}
			return fmt.Sprint("v", i*7919%15_000)
		}, number)},
		{"empty strings", s, pages, with(3000, func(i int) any { return "" }, number)},
		{"strings that need quotes", s, pages, with(300, func(i int) any {
			return []any{nil, "", " ", "a,b", `"`, `a"b"`, "two\nlines", "two\r\nlines", "\r", "\t", "\x00\x1f\\", "null", "NaN", "007", "\u2028", "'"}[i%16]
		}, number)},
		{"long strings", s, pages, with(200, func(i int) any { return strings.Repeat("ab", i*3) }, number)},
		{"long strings, one beginning", s, pages, with(200, func(i int) any { return long + strings.Repeat("é", i) }, number)},
		{"greatest strings", s, pages, with(200, func(i int) any { return strings.Repeat("\U0010ffff", 10+i) }, number)},
		{"before the surrogates", s, pages, with(200, func(i int) any { return strings.Repeat("\ud7ff", 20+i) }, number)},
		{"not a number", s, pages, with(3000, text, func(i int) any { return []any{nil, math.NaN(), 1.5, -2.5, math.Inf(1)}[i%5] })},
		{"zeros", s, pages, with(3000, text, func(i int) any { return []any{nil, 0.0, math.Copysign(0, -1)}[i%3] })},
		{"infinities", s, pages, with(3000, text, func(i int) any { return []any{math.Inf(-1), math.Inf(1), 0.5}[i%3] })},
	}
}

func nullsAt(rows []row, null func(i int) bool) []row {
	for i := range rows {
		if null(i) {
			rows[i].fields = make([]any, len(rows[i].fields))
		}
	}
	return rows
}

func oneUser(rows []row) []row {
	slices.SortFunc(rows, func(a, b row) int { return int(a.time/1000 - b.time/1000) })
	for i := range rows {
		rows[i].user, rows[i].time = "only", rows[0].time+int64(i/3)
	}
	return rows
}

func userEach(rows []row) []row {
	for i := range rows {
		rows[i].user = fmt.Sprintf("nobody twice %09d", i)
	}
	return rows
}
