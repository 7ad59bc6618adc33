package job

import (
	"math"
	"slices"
	"strings"

	"usertrail/internal/behaviour"
	"usertrail/internal/format/record"
)

// The default columns of the user and the time.
const (
	defaultUser = "user_id"
	defaultTime = "time"
)

// typeHints maps the type names of other systems to our types.
var typeHints = map[string]behaviour.Type{
	"text": behaviour.String, "str": behaviour.String, "varchar": behaviour.String,
	"int": behaviour.Int64, "integer": behaviour.Int64, "int32": behaviour.Int64, "long": behaviour.Int64, "bigint": behaviour.Int64,
	"float": behaviour.Double, "float64": behaviour.Double, "real": behaviour.Double, "number": behaviour.Double, "decimal": behaviour.Double,
	"boolean": behaviour.Bool, "datetime": behaviour.Timestamp, "time": behaviour.Timestamp, "day": behaviour.Day,
}

// readBehaviours reads all behaviours, in the order of the file.
func (b *builder) readBehaviours(root object) {
	all := root.get("behaviours")
	if !all.given() {
		all.wrong("missing: what the users did")
		return
	}
	entries := all.entries()
	if all.isObject() && len(entries) == 0 {
		all.wrong("names no behaviour")
	}
	if len(entries) > behaviour.MaxKinds {
		all.wrong("%d behaviours: at most %d in one table", len(entries), behaviour.MaxKinds)
	}
	user, time := root.get("user"), root.get("time")
	seen := kindsSeen{ids: map[uint16]string{}, paths: map[string]string{}, types: map[string]fieldSeen{}, folds: map[string]string{}}
	for _, name := range behaviour.Reserved {
		seen.folds[behaviour.Fold(name)] = name
	}
	b.readShared(root.get("fields"), &seen)
	for _, e := range entries {
		if err := behaviour.CheckName(e.name); err != nil {
			e.wrong("%v", err)
			continue
		}
		if o, ok := e.object(behaviourLevel); ok {
			b.kinds = append(b.kinds, b.readKind(e.name, o, user, time, &seen))
		}
	}
}

// kindsSeen holds the values that must be different, or equal, among behaviours.
type kindsSeen struct {
	ids   map[uint16]string    // behaviour by ID
	paths map[string]string    // behaviour by text in a path
	types map[string]fieldSeen // type by name of field
	folds map[string]string    // name of a field, or of a column in behaviour.Reserved, by its Fold
}

type fieldSeen struct {
	behaviour string
	typ       behaviour.Type
}

func (b *builder) readKind(name string, o object, user, time value, seen *kindsSeen) kind {
	k := kind{schema: behaviour.Kind{Name: name}, required: o.get("required"), least: o.get("min_records"), other: o.get("other")}
	k.schema.ID = readID(name, o.get("id"), seen)
	k.schema.As = readShort(name, o.get("as"))
	k.settings.Path = readPathName(name, o, seen)
	k.settings.Required, _ = k.required.truth()
	k.settings.MinRecords = b.job.MinRecords
	if n, ok := k.least.whole(0, math.MaxInt32); ok {
		k.settings.MinRecords = int64(n)
	}
	b.readUser(firstGiven(o.get("user"), user), &k.record)
	k.record.Time = b.readTime(firstGiven(o.get("time"), time))
	k.schema.Fields, k.record.Fields = slices.Clone(b.shared), slices.Clone(b.sharedColumns)
	for _, e := range o.get("fields").entries() {
		if f, c, ok := b.readField(name, e, seen); ok {
			k.setField(f, c)
		}
	}
	k.settings.Unique = readUnique(o.get("unique"), k.schema.Fields)
	return k
}

// readShared reads the fields that all behaviours have.
func (b *builder) readShared(v value, seen *kindsSeen) {
	for _, e := range v.entries() {
		if f, c, ok := b.readField("the job's fields", e, seen); ok {
			b.shared, b.sharedColumns = append(b.shared, f), append(b.sharedColumns, c)
		}
	}
}

// setField adds a field of the behaviour. It replaces the column of a field of this name that all
// behaviours have.
func (k *kind) setField(f behaviour.Field, c record.Column) {
	i := slices.IndexFunc(k.schema.Fields, func(other behaviour.Field) bool { return other.Name == f.Name })
	if i >= 0 {
		k.record.Fields[i] = c
		return
	}
	k.schema.Fields = append(k.schema.Fields, f)
	k.record.Fields = append(k.record.Fields, c)
}

func firstGiven(a, b value) value {
	if a.given() {
		return a
	}
	return b
}

func readID(name string, v value, seen *kindsSeen) uint16 {
	if !v.given() {
		v.wrong("missing: a number from 1 to %d that stands for %s in the table permanently", behaviour.MaxID, name)
		return 0
	}
	n, ok := v.whole(1, behaviour.MaxID)
	if !ok {
		return 0
	}
	id := uint16(n)
	if other, taken := seen.ids[id]; taken {
		v.wrong("%d is the id of %s already", id, other)
		return id
	}
	seen.ids[id] = name
	return id
}

// readShort reads the short name of a behaviour. Schema.Validate compares it with other names.
func readShort(name string, v value) string {
	s, ok := v.word()
	switch {
	case !ok || s == name:
		return ""
	case !behaviour.IsWord(s):
		v.wrong("%q is not a letter, then letters, digits and _: conditions write it without quotes", s)
		return ""
	}
	return s
}

// readPathName reads the text that names the behaviour in a path.
func readPathName(name string, o object, seen *kindsSeen) string {
	v := o.get("path")
	s, ok := v.word()
	switch {
	case !ok:
		s = name
	case strings.Contains(s, "/"):
		v.wrong("%q holds a slash: it is only what {behaviour} stands for in logs.path", s)
		return s
	}
	if other, taken := seen.paths[s]; taken {
		v.wrong("%s stands for %s in a path already", s, other)
		return s
	}
	seen.paths[s] = name
	return s
}

// readField reads a field, which is its type alone, or its type and its column.
func (b *builder) readField(of string, e entry, seen *kindsSeen) (behaviour.Field, record.Column, bool) {
	f := behaviour.Field{Name: e.name, Type: behaviour.String}
	switch {
	case !behaviour.IsWord(e.name):
		e.wrong("a field's name is a letter, then letters, digits and _; with another name for the field, column: %s still finds it", e.name)
		return f, record.Column{}, false
	case slices.Contains(behaviour.Reserved, e.name):
		e.wrong("every trail has a column %s of its own: give the field another name and say column: %s", e.name, e.name)
		return f, record.Column{}, false
	}
	if !seen.checkCase(e) {
		return f, record.Column{}, false
	}
	typ, c := e.value, record.Column{Name: e.name}
	var format, zone value
	if e.isObject() {
		o, _ := e.object(fieldLevel)
		typ, format, zone = o.get("type"), o.get("format"), o.get("zone")
		c = b.column(o, e.name)
	} else {
		b.checkColumn(e.value, e.name)
	}
	if s, ok := typ.text(); ok {
		f.Type = readType(typ, s)
	}
	if ofTimes(format, "format", f.Type) {
		c.Format = b.timeFormat(format, false)
	}
	if ofTimes(zone, "zone", f.Type) {
		c.Zone, _ = zone.zone()
	}
	if first, ok := seen.types[f.Name]; ok && first.typ != f.Type {
		typ.wrong("%s here, but %s in %s: a field is one column of the result and has one type", f.Type, first.typ, first.behaviour)
	} else {
		seen.types[f.Name] = fieldSeen{of, f.Type}
	}
	return f, c, true
}

// checkCase rejects a field whose name differs only in case from another column of a result.
// DuckDB would read the wrong column, and Spark would read none.
func (seen *kindsSeen) checkCase(e entry) bool {
	fold := behaviour.Fold(e.name)
	was, ok := seen.folds[fold]
	switch {
	case !ok:
		seen.folds[fold] = e.name
	case slices.Contains(behaviour.Reserved, was):
		e.wrong("every trail has a column %s of its own, which differs only in case, and DuckDB and Spark ignore case: give the field another name and say column: %s", was, e.name)
		return false
	case was != e.name:
		e.wrong("it differs from the field %s only in case, and DuckDB and Spark ignore case: call it %s, or give it another name, and say column: %s", was, was, e.name)
		return false
	}
	return true
}

func readType(v value, s string) behaviour.Type {
	if t := behaviour.Type(s); t.Valid() {
		return t
	}
	if hint, ok := typeHints[strings.ToLower(s)]; ok {
		v.wrong("%q is no type, write %s", s, hint)
		return hint
	}
	names := make([]string, len(behaviour.Types))
	for i, t := range behaviour.Types {
		names[i] = string(t)
	}
	v.wrong("%q is no type, %s", s, behaviour.Instead(s, names))
	return behaviour.String
}

// readUnique reads the fields whose combination must not repeat.
func readUnique(v value, fields []behaviour.Field) Unique {
	var u Unique
	var names []string
	for _, f := range fields {
		names = append(names, f.Name)
	}
	for _, item := range v.items() {
		s, ok := item.text()
		i := slices.Index(names, s)
		switch {
		case !ok:
		case i >= 0 && !slices.Contains(u.Fields, i):
			u.Fields = append(u.Fields, i)
		case i < 0 && (s == "user" || s == "user_id") && !u.User:
			u.User = true
		case i < 0 && s == "time" && !u.Time:
			u.Time = true
		case i >= 0 || s == "user" || s == "user_id" || s == "time":
			item.wrong("%s occurs twice", s)
		default:
			item.wrong("%q is no field of this behaviour, %s", s, behaviour.Instead(s, append(names, "user", "time")))
		}
	}
	slices.Sort(u.Fields)
	return u
}
