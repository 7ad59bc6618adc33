package condition_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"usertrail/internal/extract/condition"
)

// TestTexts shows the result of texts: the Refs of valid conditions, and the error messages
// of the others.
func TestTexts(t *testing.T) {
	s := schema()
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		if strings.Contains(path, "fuzz") {
			return
		}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "where":
				w, err := condition.ParseWhere(d.Input, s)
				if err != nil {
					return told(t, err)
				}
				return fmt.Sprintf("keeps: %s\nreads: %s\n", kindsOf(s, w.Kinds().Has), fieldsOf(s, w.Refs().Fields))
			case "having":
				h, err := condition.ParseHaving(d.Input, s)
				if err != nil {
					return told(t, err)
				}
				return fmt.Sprintf("kinds: %s\nreads: %s\n", kindsOf(s, h.Refs().Kinds.Has), fieldsOf(s, h.Refs().Fields))
			case "sequence":
				q, err := condition.ParseSequence(d.Input, s)
				if err != nil {
					return told(t, err)
				}
				var b strings.Builder
				for _, step := range q.Steps() {
					fmt.Fprintf(&b, "%s %s\n", s.Kinds[step.Kind].Name, step.Within)
				}
				return b.String()
			}
			t.Fatalf("%s is no command", d.Cmd)
			return ""
		})
	})
}

func told(t *testing.T, err error) string {
	if !errors.Is(err, condition.ErrCondition) {
		t.Errorf("%v does not wrap ErrCondition", err)
	}
	return err.Error() + "\n"
}

// TestTextsThatGrowAreRefused uses texts in which each level repeats the level below it.
func TestTextsThatGrowAreRefused(t *testing.T) {
	ranges, chain := "hour", "hour"
	for range 40 {
		ranges = "(" + ranges + ") in 1..2"
		chain = "(1 < (" + chain + ") < 2)"
	}
	for name, text := range map[string]string{
		"ranges": ranges, "chain": chain, "brackets": strings.Repeat("(", 10_000), "long": strings.Repeat("hour > 1 && ", 3000) + "true",
		"nodes": strings.Repeat("1<2&&", 1000) + "true",
	} {
		if _, err := condition.ParseWhere(text, schema()); !errors.Is(err, condition.ErrCondition) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
