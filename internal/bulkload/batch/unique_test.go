package batch_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"usertrail/internal/bulkload/bulkloadtest"
)

// TestUniqueKeepsTheFirstDelivered loads the same files night by night, all at once and by
// pieces. Whatever the cut, of records that agree the first stays, in order of the file's
// date, its path and the place in it.
func TestUniqueKeepsTheFirstDelivered(t *testing.T) {
	const text = `
logs: {path: "logs/{date}/{behaviour}.*.csv"}
user: user
behaviours:
  play: {id: 1, unique: [title], fields: {title: string, seconds: int64}}
`
	const nights = 4
	y := bulkloadtest.New(t, text)
	dice := rand.New(rand.NewPCG(21, 4))
	var want []string
	seen := map[string]bool{}
	line := 0
	for night := 1; night <= nights; night++ {
		for file := range 3 {
			b := new(strings.Builder)
			fmt.Fprintln(b, "user,time,title,seconds")
			for range 12 {
				user, title, day := dice.IntN(4), dice.IntN(3), max(1, night-dice.IntN(2))
				line++
				fmt.Fprintf(b, "%d,2014-09-%02d 10:00:00,%d,%d\n", user, day, title, line)
				if key := fmt.Sprint(user, title, day); !seen[key] {
					seen[key] = true
					want = append(want, fmt.Sprintf("%d 2014-09-%02d 2014-09-%02dT10:00:00Z play title=%d seconds=%d", user, day, day, title, line))
				}
			}
			y.Write(fmt.Sprintf("2014-09-%02d/play.%d.csv", night, file), b.String())
		}
	}
	slices.Sort(want)
	from, to := "2014-09-01", fmt.Sprintf("2014-09-%02d", nights)
	for what, load := range map[string]func(y *bulkloadtest.Fixture){
		"night by night": func(y *bulkloadtest.Fixture) {
			for night := 1; night <= nights; night++ {
				day := fmt.Sprintf("2014-09-%02d", night)
				y.Load(nil, day, day)
			}
		},
		"in one run": func(y *bulkloadtest.Fixture) { y.Load(nil, from, to) },
		"by pieces": func(y *bulkloadtest.Fixture) {
			parts := y.Plan(nil, 1, from, to)
			y.DoAll(parts)
			y.Commit(nil, parts)
		},
	} {
		one := *y
		one.Store.Dir = y.Dir + "/" + strings.ReplaceAll(what, " ", "-")
		load(&one)
		got := one.Trails(false)
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%s the table holds\n%s\nwant\n%s", what, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}
