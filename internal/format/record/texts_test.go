package record

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"usertrail/internal/behaviour"
)

// TestTextsAreAsTheDocsSay reads the examples in the table of docs/reference/job.md.
func TestTextsAreAsTheDocsSay(t *testing.T) {
	docs, err := os.ReadFile("../../../docs/reference/job.md")
	if err != nil {
		t.Fatal(err)
	}
	row := regexp.MustCompile("(?m)^\\| `(int64|double|bool)` \\| (.*) \\| (.*) \\|$")
	example := regexp.MustCompile("`([^`]+)`")
	rows := row.FindAllStringSubmatch(string(docs), -1)
	if len(rows) != 3 {
		t.Fatalf("%d rows of types", len(rows))
	}
	for _, r := range rows {
		for i, want := range []bool{true, false} {
			for _, e := range example.FindAllStringSubmatch(r[2+i], -1) {
				text := strings.Trim(e[1], `"`)
				if _, ok := new(Parser).value(&fieldPlan{code: codes[behaviour.Type(r[1])]}, []byte(text)); ok != want {
					t.Errorf("%s %q is read: %t, the docs say %t", r[1], text, ok, want)
				}
			}
		}
	}
}
