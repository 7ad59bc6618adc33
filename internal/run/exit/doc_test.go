package exit_test

import (
	"os"
	"regexp"
	"slices"
	"strconv"
	"testing"

	"usertrail/internal/run/exit"
)

// TestStatusPage compares the first table of docs/reference/exit-status.md with the statuses.
func TestStatusPage(t *testing.T) {
	page, err := os.ReadFile("../../../docs/reference/exit-status.md")
	if err != nil {
		t.Fatal(err)
	}
	want := []exit.Status{exit.OK, exit.Failed, exit.Usage, exit.TooBad, exit.NoInput, exit.There, exit.NotNow, exit.Nothing, exit.Gone}
	var got []exit.Status
	for _, m := range regexp.MustCompile(`(?m)^\| (\d+) \|`).FindAllSubmatch(page, len(want)) {
		status, err := strconv.Atoi(string(m[1]))
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, exit.Status(status))
	}
	if !slices.Equal(got, want) {
		t.Errorf("docs/reference/exit-status.md lists %d, want %d", got, want)
	}
}
