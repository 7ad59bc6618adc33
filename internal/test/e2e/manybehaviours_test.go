package e2e_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"usertrail/internal/behaviour"
	"usertrail/internal/test/testkit"
)

// A deed is one line of the logs of manyBehaviours.
type deed struct {
	user, day string
	kind      int
}

// manyBehaviours writes logs and a job with the largest number of behaviours to dir. The behaviours
// that users do are spread over all of them.
func manyBehaviours(t *testing.T, dir, layout string) []deed {
	t.Helper()
	rnd := rand.New(rand.NewPCG(5, 6))
	var deeds []deed
	for _, day := range []string{"2014-09-01", "2014-09-02"} {
		var text strings.Builder
		text.WriteString("user_id,time,kind,n\n")
		for i := range 2000 {
			d := deed{fmt.Sprintf("u%02d", rnd.IntN(60)), day, []int{0, 63, 64, 255, 256, 300, 1023}[rnd.IntN(7)]}
			if rnd.IntN(4) == 0 {
				d.kind = rnd.IntN(behaviour.MaxKinds)
			}
			deeds = append(deeds, d)
			fmt.Fprintf(&text, "%s,%s %02d:%02d:%02d,k%d,%d\n", d.user, day, i%24, i/24%60, i%60, d.kind, i)
		}
		write(t, filepath.Join(dir, day+".csv"), text.String())
	}
	job := "logs: {path: \"{date}.csv\", behaviour: kind}\nlayout: " + layout + "\ntable: trails\nfields: {n: int64}\nbehaviours:\n"
	for k := range behaviour.MaxKinds {
		job += fmt.Sprintf("  k%d: {id: %d}\n", k, k+1)
	}
	write(t, filepath.Join(dir, "usertrail.yaml"), job)
	return deeds
}

// TestTablesOfManyBehavioursHaveRightCounts loads 1,024 behaviours in every layout and counts the
// results again.
func TestTablesOfManyBehavioursHaveRightCounts(t *testing.T) {
	for _, layout := range []string{"reversed", "wide", "hashed", "tall", "game"} {
		t.Run(layout, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			deeds := manyBehaviours(t, dir, layout)
			table := filepath.Join(dir, "trails")
			dates := []string{"--from", "2014-09-01", "--to", "2014-09-02", "--quiet"}
			var load struct{ Loaded int }
			command(t, "bulkload", &load, append(dates, "--job", filepath.Join(dir, "usertrail.yaml"))...)
			if load.Loaded != len(deeds) {
				t.Errorf("%d records were loaded, want %d", load.Loaded, len(deeds))
			}
			dates = append(dates, "--table", table, "--users", "all")
			for types, least := range map[string]int{"k0,k64,k256": 3, "k63,k255,k300,k1023": 2, "k1023": 1, "": 1} {
				kinds := askedKinds(types)
				out := filepath.Join(dir, "out-"+types)
				args := append(slices.Clone(dates), "--types", cmp.Or(types, strings.Join(kinds, ",")), "--active", fmt.Sprint("min:", least), "--out", out)
				var ignored struct{}
				command(t, "extract", &ignored, args...)
				got, want := reportedKinds(t, out), countedKinds(deeds, kinds, least)
				if !maps.Equal(got, want) || len(want) == 0 {
					t.Errorf("--types %s --active min:%d has users and events of behaviours\n%v\nwant\n%v", types, least, got, want)
				}
			}
			var ignored struct{}
			command(t, "bulkload", &ignored, "verify", "--table", table, "--quiet")
		})
	}
}

// askedKinds splits --types. The empty text means 12 behaviours from all the table's.
func askedKinds(types string) []string {
	if types != "" {
		return strings.Split(types, ",")
	}
	var all []string
	for k := 0; k < behaviour.MaxKinds; k += 93 {
		all = append(all, fmt.Sprint("k", k))
	}
	return all
}

// reportedKinds returns the users and events of each behaviour that extract report counts.
func reportedKinds(t *testing.T, out string) map[string][2]int {
	t.Helper()
	dir := testkit.Commands(t)
	text, err := exec.CommandContext(t.Context(), filepath.Join(dir, "extract"), "report", out, "--json", "--quiet").Output()
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	var r struct {
		Behaviours []struct {
			Name          string
			Users, Events int
		}
	}
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &r); err != nil {
		t.Fatal(err)
	}
	got := map[string][2]int{}
	for _, b := range r.Behaviours {
		got[b.Name] = [2]int{b.Users, b.Events}
	}
	return got
}

// countedKinds counts the users and events of each behaviour of the active users in the logs.
func countedKinds(deeds []deed, kinds []string, least int) map[string][2]int {
	trails := map[string]map[string]int{}
	for _, d := range deeds {
		if name := "k" + strconv.Itoa(d.kind); slices.Contains(kinds, name) {
			if trails[d.user] == nil {
				trails[d.user] = map[string]int{}
			}
			trails[d.user][name]++
		}
	}
	want := map[string][2]int{}
	for _, name := range kinds {
		want[name] = [2]int{}
	}
	for _, did := range trails {
		if len(did) < least {
			continue
		}
		for name, n := range did {
			want[name] = [2]int{want[name][0] + 1, want[name][1] + n}
		}
	}
	return want
}

func write(t *testing.T, name, text string) {
	t.Helper()
	testkit.WriteFile(t, name, text)
}
