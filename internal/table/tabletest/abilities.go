package tabletest

import (
	"maps"
	"reflect"
	"slices"
	"testing"

	"usertrail/internal/table"
)

// An ability is one of the interfaces that table.As finds.
type ability struct {
	has func(table.Table) bool
	// whole means that the ability includes table.Table. A decorator never passes it on.
	whole bool
}

func abilityOf[T any]() ability {
	return ability{
		has:   func(t table.Table) bool { _, ok := table.As[T](t); return ok },
		whole: reflect.TypeFor[T]().Implements(reflect.TypeFor[table.Table]()),
	}
}

// abilities are all abilities of tables, by name.
var abilities = map[string]ability{
	"BegunByPuts":   abilityOf[table.BegunByPuts](),
	"Changing":      abilityOf[table.Changing](),
	"Described":     abilityOf[table.Described](),
	"Expiring":      abilityOf[table.Expiring](),
	"Exporter":      abilityOf[table.Exporter](),
	"FaultFinder":   abilityOf[table.FaultFinder](),
	"FileChecker":   abilityOf[table.FileChecker](),
	"Filed":         abilityOf[table.Filed](),
	"HandedOver":    abilityOf[table.HandedOver](),
	"Hiding":        abilityOf[table.Hiding](),
	"HidingSampled": abilityOf[table.HidingSampled](),
	"LeftBehind":    abilityOf[table.LeftBehind](),
	"Loader":        abilityOf[table.Loader](),
	"Losing":        abilityOf[table.Losing](),
	"Metered":       abilityOf[table.Metered](),
	"Putter":        abilityOf[table.Putter](),
	"StagedReader":  abilityOf[table.StagedReader](),
	"Stager":        abilityOf[table.Stager](),
	"Throttled":     abilityOf[table.Throttled](),
}

// decorators are the decorators of package table, alone and around each other.
var decorators = map[string]func(table.Table) table.Table{
	"Unrolled":              table.Unrolled,
	"Unrolled and Unrolled": func(t table.Table) table.Table { return table.Unrolled(table.Unrolled(t)) },
}

// Abilities checks that a table has the abilities in want, and no others. A decorated table has the
// same abilities, except those that include table.Table, because the decorator changes the table's
// users. Abilities calls no method of the table, so the table may be a zero value.
func Abilities(t *testing.T, of table.Table, want ...string) {
	t.Helper()
	check := func(what string, of table.Table, expected func(name string) bool) {
		t.Helper()
		for _, name := range slices.Sorted(maps.Keys(abilities)) {
			if got := abilities[name].has(of); got != expected(name) {
				t.Errorf("%s is %s: %t, want %t", what, name, got, !got)
			}
		}
	}
	for _, name := range want {
		if _, known := abilities[name]; !known {
			t.Errorf("%q is no ability", name)
		}
	}
	has := func(name string) bool { return slices.Contains(want, name) }
	check("the table", of, has)
	for name, decorate := range decorators {
		check("the table behind "+name, decorate(of), func(name string) bool { return has(name) && !abilities[name].whole })
	}
}
