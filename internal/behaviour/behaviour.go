// Package behaviour defines the schema of users' behaviours: the kinds of behaviour, the
// typed fields of each kind, and the Record, which is one event on its way from the
// delivered line to the cells of its row and back.
//
// A field's value is stored as the bytes of its cell (see Type). A value is parsed once,
// when the line is read, and formatted only when it is shown.
package behaviour

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Limits of a schema. A row has five digits for the behaviour ID.
const (
	MaxKinds   = 1024
	MaxID      = 65535
	MaxUserLen = 255 // bytes of a user ID
)

// A Field is one typed property of a kind of behaviour.
type Field struct {
	Name string `json:"name"`
	Type Type   `json:"type"`
}

// A Kind is one kind of behaviour: play, order, visit, login.
type Kind struct {
	ID     uint16  `json:"id"` // the behaviour ID, 1..65535, which is part of the row
	Name   string  `json:"name"`
	As     string  `json:"as,omitempty"` // a short name for queries, which is a word
	Fields []Field `json:"fields,omitempty"`
}

// A Schema describes the behaviours of a table.
type Schema struct {
	Zone  string `json:"zone"`  // IANA name; a behaviour's date is its local date in this zone
	Kinds []Kind `json:"kinds"` // in order of ID
}

// A Record is one event. Its byte slices belong to the function that made it. The comment of
// that function states how long they are valid.
type Record struct {
	User   []byte
	Kind   int      // index in Schema.Kinds
	Time   int64    // microseconds since 1970-01-01 UTC
	Date   Date     // local date of Time in the schema's zone
	ID     int64    // column ID, unique in a date and kind
	Values [][]byte // one for each field of the kind, in the form of its cell; nil is null
}

// Kind returns the index of the kind called name.
func (s *Schema) Kind(name string) (int, bool) {
	i := slices.IndexFunc(s.Kinds, func(k Kind) bool { return k.Name == name })
	return i, i >= 0
}

// Find returns the index of the kind that a query names, by its name or by its short name.
func (s *Schema) Find(name string) (int, bool) {
	if i, ok := s.Kind(name); ok || name == "" {
		return i, ok
	}
	i := slices.IndexFunc(s.Kinds, func(k Kind) bool { return k.As == name })
	return i, i >= 0
}

// KindByID returns the index of the kind with a behaviour ID.
func (s *Schema) KindByID(id uint16) (int, bool) {
	return slices.BinarySearchFunc(s.Kinds, id, func(k Kind, id uint16) int { return int(k.ID) - int(id) })
}

// Names returns the names of all kinds, in order of ID.
func (s *Schema) Names() []string {
	names := make([]string, len(s.Kinds))
	for i, k := range s.Kinds {
		names[i] = k.Name
	}
	return names
}

// IDs returns the IDs of all kinds, in ascending order.
func (s *Schema) IDs() []uint16 {
	ids := make([]uint16, len(s.Kinds))
	for i, k := range s.Kinds {
		ids[i] = k.ID
	}
	return ids
}

// Columns returns the fields of the given kinds, each name once: the fields of the
// first kind, then the new fields of the second kind, and so on.
func (s *Schema) Columns(kinds []int) []Field {
	var out []Field
	seen := map[string]bool{}
	for _, k := range kinds {
		for _, f := range s.Kinds[k].Fields {
			if !seen[f.Name] {
				seen[f.Name] = true
				out = append(out, f)
			}
		}
	}
	return out
}

// Merge returns s with the new kinds and fields of next. If next changes the zone, or the
// ID, name or type of a kind or field of s, Merge returns an error, because cells that are
// already written would be misread.
func (s *Schema) Merge(next *Schema) (*Schema, error) {
	if s.Zone != next.Zone {
		return nil, fmt.Errorf("the table's zone is %s, the job's is %s: dates in the table would not agree: write the zone of the table, or load into a new table", s.Zone, next.Zone)
	}
	out := &Schema{Zone: s.Zone, Kinds: slices.Clone(s.Kinds)}
	for _, k := range next.Kinds {
		i, ok := s.Kind(k.Name)
		if !ok {
			if j, taken := s.KindByID(k.ID); taken {
				return nil, fmt.Errorf("behaviour %s: id %d is %s in the table: keep that name, or choose another id for a new behaviour", k.Name, k.ID, s.Kinds[j].Name)
			}
			if err := s.mayRename(&k); err != nil {
				return nil, err
			}
			out.Kinds = append(out.Kinds, k)
			continue
		}
		old := &out.Kinds[i]
		if old.ID != k.ID {
			return nil, fmt.Errorf("behaviour %s: id %d, but %d in the table: write the id of the table", k.Name, k.ID, old.ID)
		}
		fields, err := mergeFields(old.Fields, k.Fields)
		if err != nil {
			return nil, fmt.Errorf("behaviour %s: %w", k.Name, err)
		}
		if err := s.mayRename(&k); err != nil {
			return nil, err
		}
		old.Fields, old.As = fields, cmp.Or(k.As, old.As)
	}
	if err := s.sameCase(next); err != nil {
		return nil, err
	}
	slices.SortFunc(out.Kinds, func(a, b Kind) int { return int(a.ID) - int(b.ID) })
	return out, out.Validate()
}

// Lacks returns, for each kind that both schemas have, the fields of other that s does not have. It returns
// nil if there are none.
func (s *Schema) Lacks(other *Schema) map[string][]string {
	var out map[string][]string
	for _, k := range other.Kinds {
		i, ok := s.Kind(k.Name)
		if !ok {
			continue
		}
		for _, f := range k.Fields {
			if slices.ContainsFunc(s.Kinds[i].Fields, func(o Field) bool { return o.Name == f.Name }) {
				continue
			}
			if out == nil {
				out = map[string][]string{}
			}
			out[k.Name] = append(out[k.Name], f.Name)
		}
	}
	return out
}

// mayRename returns an error if a name of k is the short name of another kind of s: a query would mean
// another behaviour from then on.
func (s *Schema) mayRename(k *Kind) error {
	for i := range s.Kinds {
		old := &s.Kinds[i]
		switch {
		case old.As == "" || old.Name == k.Name:
		case old.As == k.As:
			return fmt.Errorf("behaviour %s: the short name %s means %s in the table: choose another name for as", k.Name, k.As, old.Name)
		case old.As == k.Name:
			return fmt.Errorf("behaviour %s: this is the short name of %s in the table: choose another name for the behaviour", k.Name, old.Name)
		}
	}
	return nil
}

// Fold returns the name of a column for readers that ignore case, such as DuckDB and Spark.
// Two names with the same Fold cannot be in one result.
func Fold(name string) string { return strings.ToLower(strings.ToUpper(name)) }

// sameCase returns an error if a field of next differs only in case from a field of s. The
// fields of s are not compared with each other, because tables of older versions may have
// such fields.
func (s *Schema) sameCase(next *Schema) error {
	have := map[string]string{} // maps the Fold of a field to the field
	exact := map[string]bool{}
	for _, k := range s.Kinds {
		for _, f := range k.Fields {
			have[Fold(f.Name)], exact[f.Name] = f.Name, true
		}
	}
	for _, k := range next.Kinds {
		for _, f := range k.Fields {
			if was, ok := have[Fold(f.Name)]; ok && !exact[f.Name] {
				return fmt.Errorf("behaviour %s: field %s: the table has %s, which differs only in case: call the field %s and name its column with the key column, or give it another name", k.Name, f.Name, was, was)
			}
		}
	}
	return nil
}

// mergeFields keeps the table's fields in their order. The first field marks every record, so
// it remains the first.
func mergeFields(old, next []Field) ([]Field, error) {
	out := slices.Clone(old)
	for _, f := range next {
		i := slices.IndexFunc(old, func(o Field) bool { return o.Name == f.Name })
		switch {
		case i < 0 && len(old) == 0 && len(out) == 0, i < 0:
			out = append(out, f)
		case old[i].Type != f.Type:
			return nil, fmt.Errorf("field %s is %s, but %s in the table: undo the change, or give the field another name", f.Name, f.Type, old[i].Type)
		}
	}
	return out, nil
}

// Reserved are the columns that every trail has. A field cannot have one of these names. The
// names of a job's fields must also differ from them in more than case.
var Reserved = []string{"user_id", "date", "time", "behaviour", "id"}

// Validate returns the first error in s.
func (s *Schema) Validate() error {
	if len(s.Kinds) == 0 {
		return fmt.Errorf("no behaviours")
	}
	if len(s.Kinds) > MaxKinds {
		return fmt.Errorf("%d behaviours: at most %d in one table", len(s.Kinds), MaxKinds)
	}
	names, types := map[string]bool{}, map[string]Type{}
	if err := s.validateShort(); err != nil {
		return err
	}
	for i, k := range s.Kinds {
		if err := CheckName(k.Name); err != nil {
			return fmt.Errorf("behaviour %q: %w", k.Name, err)
		}
		if names[k.Name] {
			return fmt.Errorf("behaviour %s occurs twice", k.Name)
		}
		names[k.Name] = true
		if k.ID == 0 {
			return fmt.Errorf("behaviour %s: id is not in 1..%d", k.Name, MaxID)
		}
		if i > 0 && s.Kinds[i-1].ID >= k.ID {
			return fmt.Errorf("behaviours %s and %s: ids %d and %d are not ascending", s.Kinds[i-1].Name, k.Name, s.Kinds[i-1].ID, k.ID)
		}
		if err := validateFields(k, types); err != nil {
			return fmt.Errorf("behaviour %s: %w", k.Name, err)
		}
	}
	return nil
}

// validateShort checks that each short name is a word, and means one kind.
func (s *Schema) validateShort() error {
	seen := map[string]string{}
	for _, k := range s.Kinds {
		seen[k.Name] = k.Name
	}
	for _, k := range s.Kinds {
		other, taken := seen[k.As]
		switch {
		case k.As == "":
		case !IsWord(k.As):
			return fmt.Errorf("behaviour %s: the short name %q is not a letter, then letters, digits and _", k.Name, k.As)
		case taken:
			return fmt.Errorf("behaviour %s: the short name %s means %s already: choose another name for as", k.Name, k.As, other)
		default:
			seen[k.As] = k.Name
		}
	}
	return nil
}

// validateFields checks k's fields. It checks against types that a field has one type
// wherever its name appears, because it is one column of the result.
func validateFields(k Kind, types map[string]Type) error {
	mine := map[string]bool{}
	for _, f := range k.Fields {
		if !IsWord(f.Name) {
			return fmt.Errorf("field %q: a name is a letter, then letters, digits and _", f.Name)
		}
		if slices.Contains(Reserved, f.Name) {
			return fmt.Errorf("field %s: every trail has a column of that name; give the field another", f.Name)
		}
		if mine[f.Name] {
			return fmt.Errorf("field %s occurs twice", f.Name)
		}
		mine[f.Name] = true
		if !f.Type.Valid() {
			return fmt.Errorf("field %s: unknown type %q", f.Name, f.Type)
		}
		if t, ok := types[f.Name]; ok && t != f.Type {
			return fmt.Errorf("field %s is %s here and %s in another behaviour: one column cannot be both", f.Name, f.Type, t)
		}
		types[f.Name] = f.Type
	}
	return nil
}
