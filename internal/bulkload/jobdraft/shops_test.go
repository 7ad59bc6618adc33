package jobdraft_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"usertrail/internal/test/testkit"
)

// TestAColumnThatIsAddedLaterDoesNotMakeBehavioursOfFolders drafts jobs of the logs of two folders. A column is added in both on
// the last day. Folders are behaviours only if files of two folders have different columns.
func TestAColumnThatIsAddedLaterDoesNotMakeBehavioursOfFolders(t *testing.T) {
	type columns struct{ nord, mitte string }
	same := columns{"amount", "amount"}
	added := columns{"amount,till", "amount,till"}
	const guess = "the paths may name the behaviours, too: mitte, nord"
	for _, c := range []struct {
		name       string
		kind       string // the column that may name the behaviours
		days       []columns
		behaviours []string
		unsure     string
		onlyCSV    bool
	}{
		{"the same columns", "action", []columns{same, same, same}, []string{"Ausfahrt", "Einfahrt", "Zahlung"}, "", false},
		{"a column is added", "action", []columns{same, same, added}, []string{"Ausfahrt", "Einfahrt", "Zahlung"}, guess, false},
		{"a folder is new", "action", []columns{same, {"amount", ""}, added}, []string{"Ausfahrt", "Einfahrt", "Zahlung"}, guess, false},
		{"one folder has a column more", "action", []columns{same, {"amount", "amount,till"}, added}, []string{"Ausfahrt", "Einfahrt", "Zahlung"}, guess, false},
		{"a column that is no behaviour", "lane", []columns{same, same, added}, []string{"mitte", "nord"}, "{behaviour} stands for mitte, nord; if these are no behaviours", false},
		{"folders of other columns", "action", []columns{{"amount", "seat"}, {"amount", "seat"}, {"amount,till", "seat"}}, []string{"mitte", "nord"}, "", true},
	} {
		for _, json := range []bool{false, true} {
			if json && c.onlyCSV {
				continue
			}
			t.Run(fmt.Sprint(c.name, json), func(t *testing.T) {
				dir := t.TempDir()
				write := func(folder string, day int, extra string) {
					if extra == "" {
						return
					}
					header, ending := "time,user_id,"+c.kind+","+extra, ".csv"
					if json {
						header, ending = "", ".jsonl"
					}
					testkit.WriteFile(t, filepath.Join(dir, "logs", folder, fmt.Sprintf("2014-09-%02d%s", day, ending)), lines(header, 90, func(i int) string {
						texts := []string{fmt.Sprintf("2014-09-%02d %02d:%02d:00", day, i/4, i%60), fmt.Sprintf("%06d", i*7%60), []string{"Einfahrt", "Ausfahrt", "Zahlung"}[i%3]}
						for range strings.Split(extra, ",") {
							texts = append(texts, fmt.Sprint(i%9))
						}
						if !json {
							return strings.Join(texts, ",")
						}
						var members []any
						for j, name := range strings.Split("time,user_id,"+c.kind+","+extra, ",") {
							members = append(members, name, texts[j])
						}
						return object(members...)
					}))
				}
				for i, day := range c.days {
					write("nord", i+1, day.nord)
					write("mitte", i+1, day.mitte)
				}
				d := makeDraft(t, dir)
				unsure := strings.Join(d.Unsure, "; ")
				if json && c.unsure == guess { // an action in each record of JSON is no guess
					c.unsure = ""
				}
				if !slices.Equal(d.Behaviours, c.behaviours) || c.unsure == "" && strings.Contains(unsure, "{behaviour} stands for") || !strings.Contains(unsure, c.unsure) {
					t.Errorf("the behaviours are %q\n%s\n%s", d.Behaviours, unsure, d.Text)
				}
			})
		}
	}
}

// TestAFieldDoesNotReplaceTheBehavioursOfPaths has three behaviours by their paths. Two of them have the same columns, and one gets a column
// later. A field has few texts and the name of a column of behaviours.
func TestAFieldDoesNotReplaceTheBehavioursOfPaths(t *testing.T) {
	dir := t.TempDir()
	for day := 1; day <= 4; day++ {
		order := "qty,page"
		if day > 2 {
			order += ",till"
		}
		for name, extra := range map[string]string{"play": "qty,page", "order": order, "visit": "referrer,seconds,screen"} {
			testkit.WriteFile(t, filepath.Join(dir, "logs", fmt.Sprintf("2014-09-%02d", day), name+".csv"), lines("time,user_id,type,"+extra, 60, func(i int) string {
				return fmt.Sprintf("2014-09-%02d %02d:%02d:00,%06d,%s", day, i/4, i%60, i*7%60, []string{"ok", "fail"}[i%2]) + strings.Repeat(fmt.Sprint(",", i), 1+strings.Count(extra, ","))
			}))
		}
	}
	if d := makeDraft(t, dir); !slices.Equal(d.Behaviours, []string{"order", "play", "visit"}) {
		t.Errorf("the behaviours are %q\n%s", d.Behaviours, d.Text)
	}
}
