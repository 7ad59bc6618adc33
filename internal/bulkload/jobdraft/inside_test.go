package jobdraft

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"usertrail/internal/store/dfs"
)

func TestSpreadKeepsTheFirstAndTheLast(t *testing.T) {
	all := []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}
	for _, c := range []struct {
		n    int
		want []int
	}{{1, []int{0}}, {2, []int{0, 9}}, {4, []int{0, 3, 6, 9}}, {10, all}, {11, all}} {
		if got := spread(all, c.n); !slices.Equal(got, c.want) {
			t.Errorf("%d of them: %v, want %v", c.n, got, c.want)
		}
	}
}

// TestFoldersThatAreAlikeAreNotAllListed leaves out folders of days, and none that has a
// name of its own.
func TestFoldersThatAreAlikeAreNotAllListed(t *testing.T) {
	var folders []dfs.Info
	for i := range 3 * maxAlike {
		folders = append(folders, dfs.Info{Name: fmt.Sprintf("logs/day-%05d", i), Dir: true})
	}
	folders = append(folders, dfs.Info{Name: "logs/late", Dir: true})
	w := walker{}
	got := w.few(folders)
	if len(got) != maxAlike+1 || w.found.left != 2*maxAlike || got[0] != folders[0] || got[len(got)-1].Name != "logs/late" || got[maxAlike-1] != folders[3*maxAlike-1] {
		t.Errorf("%d are listed, %d left out, from %s to %s", len(got), w.found.left, got[0].Name, got[len(got)-1].Name)
	}
}

func TestZonesOfFullHours(t *testing.T) {
	for hours, want := range map[int]string{0: "UTC", 8: "Asia/Shanghai", 10: "Etc/GMT-10", -7: "Etc/GMT+7"} {
		if got := zoneAt(int64(hours)*3600, nil); got != want {
			t.Errorf("%+d hours are %s, want %s", hours, got, want)
		}
	}
}

// TestEveryFormatWithTheMonthFirstHasATwin asks for a format with the day first for each format with the month first. Only with
// both can init choose the order by the day of the path, or doubt it.
func TestEveryFormatWithTheMonthFirstHasATwin(t *testing.T) {
	turn := strings.NewReplacer("01/02/", "02/01/", "1/2/", "2/1/", "01-02-2006", "02-01-2006")
	for _, l := range layouts {
		if twin := turn.Replace(l); !slices.Contains(layouts, twin) {
			t.Errorf("%q has no twin %q", l, twin)
		}
	}
}
