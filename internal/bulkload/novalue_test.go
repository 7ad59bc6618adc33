package bulkload

import (
	"log/slog"
	"reflect"
	"slices"
	"strings"
	"testing"

	"usertrail/internal/behaviour"
	"usertrail/internal/format/job"
	"usertrail/internal/format/manifest"
)

// TestFieldsToReport checks which fields without a value a run of several loads reports, and of which it warns.
func TestFieldsToReport(t *testing.T) {
	j, err := job.Parse("job.yaml", []byte("logs: {path: \"logs/{date}.jsonl\", format: jsonl, behaviour: kind}\ntable: t\nfields: {shared: string}\n"+
		"behaviours: {play: {id: 1, fields: {own: string, rare: string}}, order: {id: 2, fields: {other: {type: string, column: own}}}}\n"))
	if err != nil {
		t.Fatal(err)
	}
	// load returns a load of one day. fields have no value.
	load := func(d behaviour.Date, play, order int64, fields map[string][]string) *manifest.Load {
		l := &manifest.Load{Days: []manifest.Day{{Date: d, Behaviour: "play", Records: play}, {Date: d, Behaviour: "order", Records: order}}}
		var none manifest.NoValues
		for name, list := range fields {
			var by []manifest.FieldBy
			for _, f := range list {
				by = append(by, manifest.FieldBy{Name: f, By: j.FieldBy(name, f)})
			}
			none.Add(none.Group(name, none.Indexes(slices.Values(by))), d)
		}
		l.NoValue = none.Result()
		return l
	}
	day := behaviour.Date(16_000)
	of := func(name, field string, records int64, from, to behaviour.Date) NoValue {
		return NoValue{name, field, records, behaviour.Span{From: from, To: to}}
	}
	for name, c := range map[string]struct {
		loads []*manifest.Load
		want  []NoValue
		warns int
	}{
		"none":                      {[]*manifest.Load{load(day, 5, 5, nil)}, nil, 0},
		"few records":               {[]*manifest.Load{load(day, 19, 5, map[string][]string{"play": {"rare"}})}, []NoValue{of("play", "rare", 19, day, day)}, 0},
		"enough records":            {[]*manifest.Load{load(day, 20, 5, map[string][]string{"play": {"rare"}})}, []NoValue{of("play", "rare", 20, day, day)}, 1},
		"two days":                  {[]*manifest.Load{load(day, 30, 5, map[string][]string{"play": {"rare"}}), load(day+2, 40, 5, map[string][]string{"play": {"rare"}})}, []NoValue{of("play", "rare", 70, day, day+2)}, 1},
		"a column of another field": {[]*manifest.Load{load(day, 30, 30, map[string][]string{"play": {"own", "shared"}})}, nil, 0},
		"the column has no value":   {[]*manifest.Load{load(day, 30, 30, map[string][]string{"play": {"own"}, "order": {"other"}})}, []NoValue{of("play", "own", 30, day, day), of("order", "other", 30, day, day)}, 2},
		"no records of the other":   {[]*manifest.Load{load(day, 30, 0, map[string][]string{"play": {"shared"}})}, []NoValue{of("play", "shared", 30, day, day)}, 1},
		"late records":              {[]*manifest.Load{load(day, 49, 5, map[string][]string{"play": {"rare"}}), load(day+1, 1000, 5, nil)}, nil, 0},
		"not late":                  {[]*manifest.Load{load(day, 50, 5, map[string][]string{"play": {"rare"}}), load(day+1, 1000, 5, nil)}, []NoValue{of("play", "rare", 50, day, day)}, 1},
		"a value in a later load":   {[]*manifest.Load{load(day, 50, 5, map[string][]string{"play": {"rare"}}), load(day, 50, 5, nil)}, nil, 0},
		"a value in an earlier one": {[]*manifest.Load{load(day, 50, 5, nil), load(day, 50, 5, map[string][]string{"play": {"rare"}})}, nil, 0},
		"a day in two loads":        {[]*manifest.Load{load(day, 50, 5, map[string][]string{"play": {"own", "rare"}, "order": {"other"}}), load(day, 60, 5, map[string][]string{"play": {"rare"}})}, []NoValue{of("play", "rare", 110, day, day)}, 1},
	} {
		r := Result{Values: NewNoValues(j)}
		for _, l := range c.loads {
			r.AddLoad(l)
		}
		var said strings.Builder
		r.SetNoValue(slog.New(slog.NewTextHandler(&said, nil)))
		if n := strings.Count(said.String(), "level=WARN"); !reflect.DeepEqual(r.NoValue, c.want) || n != c.warns {
			t.Errorf("%s: %+v with %d warnings, want %+v with %d", name, r.NoValue, n, c.want, c.warns)
		}
	}
}
