package manifest_test

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"usertrail/internal/behaviour"
	"usertrail/internal/format/manifest"
	"usertrail/internal/store/dfs/local"
	"usertrail/internal/test/testkit"
)

// fieldsOf returns fields of these names, each with a digest.
func fieldsOf(names ...string) []manifest.FieldBy {
	out := make([]manifest.FieldBy, len(names))
	for i, n := range names {
		out[i] = manifest.FieldBy{Name: n, By: "by " + n}
	}
	return out
}

func TestDaysOfTheSameFieldsAreGrouped(t *testing.T) {
	span := func(from, to behaviour.Date) behaviour.Span { return behaviour.Span{From: from, To: to} }
	var none manifest.NoValues
	for _, day := range []struct {
		date   behaviour.Date
		name   string
		fields []manifest.FieldBy
	}{
		{1, "play", fieldsOf("price")}, {2, "play", fieldsOf("price")}, {3, "play", nil}, {4, "play", fieldsOf("price")}, {5, "play", fieldsOf("a", "price", "b", "c")},
		{6, "play", []manifest.FieldBy{{Name: "price", By: "another way"}}}, {1, "order", fieldsOf("price")},
	} {
		none.Add(none.Group(day.name, none.Indexes(slices.Values(day.fields))), day.date)
	}
	got := none.Result()
	want := &manifest.NoValue{
		Fields: append(fieldsOf("price", "a", "b", "c"), manifest.FieldBy{Name: "price", By: "another way"}),
		Days: []manifest.NoValueDays{
			{"play", "0", []behaviour.Span{span(1, 2), span(4, 4)}}, {"play", "0-3", []behaviour.Span{span(5, 5)}},
			{"play", "4", []behaviour.Span{span(6, 6)}}, {"order", "0", []behaviour.Span{span(1, 1)}},
		},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	if empty := new(manifest.NoValues).Result(); empty != nil {
		t.Errorf("%+v, want none", empty)
	}
	days := []manifest.Day{{Date: 1, Behaviour: "play", Records: 3}, {Date: 2, Behaviour: "play"}, {Date: 3, Behaviour: "play", Records: 1}, {Date: 1, Behaviour: "order", Records: 1}}
	of := got.Of(days)
	if len(of) != 2 || of[manifest.DayOf{Date: 1, Behaviour: "play"}] != &got.Days[0] || of[manifest.DayOf{Date: 1, Behaviour: "order"}] != &got.Days[3] {
		t.Errorf("%+v, want the first and the last", of)
	}
	var twice manifest.NoValues
	twice.AddAll(got)
	twice.AddAll(nil)
	twice.AddAll(got)
	if again := twice.Result(); !reflect.DeepEqual(again, want) {
		t.Errorf("added twice: %+v, want %+v", again, want)
	}
}

// TestFieldsWithoutAValueAreKept writes a ledger with random fields without a value, and reads it.
func TestFieldsWithoutAValueAreKept(t *testing.T) {
	dir := testkit.Scratch(t)
	for seed := range uint64(100) {
		dice := rand.New(rand.NewPCG(seed, 0))
		want := map[string][]string{}
		var none manifest.NoValues
		for kind := range 1 + dice.IntN(4) {
			for date := range behaviour.Date(1 + dice.IntN(20)) {
				var names []string
				for i := range 1 + dice.IntN(100) {
					if dice.IntN(3) > 0 {
						names = append(names, fmt.Sprint("f", i))
					}
				}
				name := fmt.Sprint("b", kind)
				none.Add(none.Group(name, none.Indexes(slices.Values(fieldsOf(names...)))), date)
				if names != nil {
					want[fmt.Sprint(name, " ", date)] = slices.Sorted(slices.Values(names))
				}
			}
		}
		file := fmt.Sprintf("%s/%d.json", dir, seed)
		if err := manifest.Write(t.Context(), local.New(), file, &manifest.Load{Version: manifest.Version, Number: 1, NoValue: none.Result()}); err != nil {
			t.Fatal(err)
		}
		l := new(manifest.Load)
		if err := manifest.Read(t.Context(), local.New(), file, l); err != nil {
			t.Fatal(err)
		}
		got := map[string][]string{}
		if l.NoValue != nil {
			for i := range l.NoValue.Days {
				days := &l.NoValue.Days[i]
				var names []string
				for f := range l.NoValue.FieldsOf(days) {
					if f.By != "by "+f.Name {
						t.Errorf("seed %d: %+v has another digest", seed, f)
					}
					names = append(names, f.Name)
				}
				for date := range behaviour.Date(20) {
					if days.Has(date) {
						got[fmt.Sprint(days.Behaviour, " ", date)] = slices.Sorted(slices.Values(names))
					}
				}
			}
		}
		if !maps.EqualFunc(got, want, slices.Equal) {
			t.Errorf("seed %d: %v, want %v", seed, got, want)
		}
	}
}

// TestWrongIndexesAreRefused reads ledgers whose indexes of fields are wrong.
func TestWrongIndexesAreRefused(t *testing.T) {
	file := testkit.Scratch(t) + "/ledger.json"
	for _, x := range []string{"4", "0-4", "2-1", "1 0", "0 0", "0-2 2", "a", "-1", "0-", "1-x", "99999999999"} {
		testkit.WriteFile(t, file, fmt.Sprintf(`{"version": 1, "number": 1, "inputs": [], "days": [], "no_value": {"fields": [%s{"field": "d", "by": "1"}], "days": [{"behaviour": "play", "fields": %q, "days": []}]}}`,
			strings.Repeat(`{"field": "a", "by": "1"}, `, 3), x))
		if err := manifest.Read(t.Context(), local.New(), file, new(manifest.Load)); !errors.Is(err, manifest.ErrDamaged) || !strings.Contains(err.Error(), "the fields without a value of play") {
			t.Errorf("%q: %v, want an error about the fields of play", x, err)
		}
	}
}

// TestFieldsWithoutAValueAreSmall writes the ledger of a night. 100 behaviours share 40 fields, and each has values of four of them.
func TestFieldsWithoutAValueAreSmall(t *testing.T) {
	var none manifest.NoValues
	for k := range 100 {
		var names []string
		for i := range 40 {
			if i%10 != k%10 {
				names = append(names, fmt.Sprint("field_number_", i))
			}
		}
		name := fmt.Sprint("behaviour_", k)
		none.Add(none.Group(name, none.Indexes(slices.Values(fieldsOf(names...)))), 16_000)
	}
	file := testkit.Scratch(t) + "/ledger.json"
	if err := manifest.Write(t.Context(), local.New(), file, &manifest.Load{Version: manifest.Version, Number: 1, NoValue: none.Result()}); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(file); err != nil || info.Size() > 40_000 {
		t.Errorf("the ledger has 3,600 fields, and %v, %v; want at most 40,000 bytes", info, err)
	}
}
