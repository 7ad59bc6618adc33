package trailfile_test

import (
	"strings"
	"testing"

	"usertrail/internal/format/trailfile"
)

// TestShapesAreKnownByColumns lists columns of files. Wide files have any of the columns for each behaviour.
func TestShapesAreKnownByColumns(t *testing.T) {
	for columns, want := range map[string]trailfile.Shape{
		"user_id play_count play_first play_last play_days": trailfile.WideShape,
		"user_id play_count order_count":                    trailfile.WideShape,
		"user_id tv_play_first tv_play_days step_1 step_2":  trailfile.WideShape,
		"user_id _count":                             trailfile.WideShape,
		"user_id date time behaviour id":             trailfile.LongShape,
		"user_id time behaviour id step_1 programme": trailfile.LongShape,
		"user_id":                                   "",
		"user_id step_1":                            "",
		"user_id play_count order_days":             "",
		"user_id play_count age":                    "",
		"user_id play_days play_count":              "",
		"user_id play_count play_first order_count": "",
		"user_id play_count step_2":                 "",
		"name play_count":                           "",
	} {
		if got, ok := trailfile.ShapeOf(strings.Fields(columns)); got != want || ok != (want != "") {
			t.Errorf("%s: %q, %t, want %q", columns, got, ok, want)
		}
	}
}
