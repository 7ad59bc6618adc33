package manifest_test

import (
	"slices"
	"testing"

	"usertrail/internal/behaviour"
	"usertrail/internal/format/manifest"
)

// TestDaysWithoutAValueAreNotGiven reads a file again for a field that has no value on the second day.
func TestDaysWithoutAValueAreNotGiven(t *testing.T) {
	var none manifest.NoValues
	none.AddSpans("play", manifest.FieldBy{Name: "price", By: "a"}, []behaviour.Span{{From: 2, To: 2}})
	in := &manifest.Input{Path: "a", Reread: map[string][]string{"play": {"k", "price"}}, RereadNoValue: none.Result()}
	for _, c := range []struct {
		field string
		date  behaviour.Date
		name  string
		want  bool
	}{{"price", 1, "play", true}, {"price", 2, "play", false}, {"k", 2, "play", true}, {"price", 2, "order", false}, {"m", 1, "play", false}} {
		if got := in.Gave(c.field, c.date, c.name); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
	again := *in
	again.RereadNoValue = nil
	if in.HasReread(&again) {
		t.Error("a reread without a value on a day has the values of another one")
	}
	same := *in
	same.RereadNoValue = &manifest.NoValue{Fields: slices.Clone(in.RereadNoValue.Fields), Days: slices.Clone(in.RereadNoValue.Days)}
	if !in.HasReread(&same) || !again.HasReread(in) {
		t.Error("a reread does not have its own values")
	}
}
