package manifest_test

import (
	"reflect"
	"testing"

	"usertrail/internal/behaviour"
	"usertrail/internal/format/manifest"
)

func TestDaysOfTheSameFieldsAreGrouped(t *testing.T) {
	span := func(from, to behaviour.Date) behaviour.Span { return behaviour.Span{From: from, To: to} }
	price, both := map[string]string{"price": "1"}, map[string]string{"price": "1", "note": "2"}
	var none manifest.NoValues
	for _, day := range []struct {
		date   behaviour.Date
		name   string
		fields map[string]string
	}{
		{1, "play", price}, {2, "play", map[string]string{"price": "1"}}, {3, "play", nil}, {4, "play", price}, {5, "play", both}, {6, "play", map[string]string{"price": "3"}}, {1, "order", price},
	} {
		none.Add(none.Group(day.name, day.fields), day.date)
	}
	got := none.List()
	want := []manifest.NoValue{
		{"play", price, []behaviour.Span{span(1, 2), span(4, 4)}}, {"play", both, []behaviour.Span{span(5, 5)}},
		{"play", map[string]string{"price": "3"}, []behaviour.Span{span(6, 6)}}, {"order", price, []behaviour.Span{span(1, 1)}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	if empty := new(manifest.NoValues).List(); empty != nil {
		t.Errorf("%+v, want none", empty)
	}
	days := []manifest.Day{{Date: 1, Behaviour: "play", Records: 3}, {Date: 2, Behaviour: "play"}, {Date: 3, Behaviour: "play", Records: 1}, {Date: 1, Behaviour: "order", Records: 1}}
	of := manifest.FieldsWithoutValue(days, want)
	if len(of) != 2 || of[manifest.DayOf{Date: 1, Behaviour: "play"}] != &want[0] || of[manifest.DayOf{Date: 1, Behaviour: "order"}] != &want[3] {
		t.Errorf("%+v, want the first and the last", of)
	}
}
