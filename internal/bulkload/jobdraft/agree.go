package jobdraft

import (
	"cmp"

	"usertrail/internal/behaviour"
)

// agreeUsers replaces the user of a kind by the user of most kinds, if the kind's user is a
// guess and the kind has this column. The column is then no field.
func (g *guessed) agreeUsers() {
	most := usual(g.kinds, func(k kind) string { return k.userSource.key() }).userSource
	if most.column == "" || most.pattern != "" {
		return
	}
	for i := range g.kinds {
		k := &g.kinds[i]
		if k.userSource.unsure == "" && k.userSource.column != "" || k.userSource.key() == most.key() {
			continue
		}
		for j, f := range k.fields {
			if f.column == most.column {
				k.fields[j] = field{name: fieldNameOf(k.userSource.column), column: k.userSource.column, typ: behaviour.String, unsure: "it may be the user"}
				k.userSource = most
				break
			}
		}
	}
}

// agreeCase makes the names of fields equal if they differ only in case. All these fields get
// the name of the first.
func (g *guessed) agreeCase() {
	names := map[string]string{}
	for i := range g.kinds {
		for j := range g.kinds[i].fields {
			f := &g.kinds[i].fields[j]
			fold := behaviour.Fold(f.name)
			if _, ok := names[fold]; !ok {
				names[fold] = f.name
			}
			f.name = names[fold]
		}
	}
}

// agreeTypes makes the type of a field equal in all behaviours that have the field.
func (g *guessed) agreeTypes() {
	types := map[string]field{}
	for _, k := range g.kinds {
		for _, f := range k.fields {
			was, ok := types[f.name]
			switch {
			case !ok, was.unsure != "" && f.unsure == "":
				types[f.name] = f
			case f.unsure != "" || was.typ == f.typ && was.format == f.format:
			default:
				was.typ, was.format = wider(was, f), ""
				was.unsure = "behaviours differ in it"
				types[f.name] = was
			}
		}
	}
	for i := range g.kinds {
		for j := range g.kinds[i].fields {
			f := &g.kinds[i].fields[j]
			t := types[f.name]
			f.typ = t.typ
			if t.typ == behaviour.Timestamp || t.typ == behaviour.Day {
				f.format = t.format
			} else {
				f.format = ""
			}
			if t.unsure != "" {
				f.unsure = t.unsure
			}
		}
	}
}

// wider is a type that holds the values of both fields.
func wider(a, b field) behaviour.Type {
	number := func(t behaviour.Type) bool { return t == behaviour.Int64 || t == behaviour.Double }
	if number(a.typ) && number(b.typ) {
		return behaviour.Double
	}
	return behaviour.String
}

// usual returns the value that most elements have, the first such value if there are several.
func usual[T any, K cmp.Ordered](all []T, key func(T) K) (first T) {
	count := map[K]int{}
	for _, v := range all {
		count[key(v)]++
	}
	best := 0
	for _, v := range all {
		if n := count[key(v)]; n > best {
			best, first = n, v
		}
	}
	return first
}
