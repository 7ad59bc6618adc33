package trailfile

import (
	"fmt"
	"slices"
	"unicode/utf8"

	"usertrail/internal/behaviour"
)

// A Schema says which columns a trail file has after the five that every one has.
type Schema struct {
	Kinds  []string          // names of behaviours; Batch.Behaviour is an index in it
	Fields []behaviour.Field // in the order in which they stand in the file
}

// SchemaVersion is the value of the key trail.version in a file's metadata. It
// changes when a column that every trail has changes its name, type or meaning.
const SchemaVersion = "1"

const versionKey = "trail.version"

// createdBy is the writer's name in the footer. Readers trust the statistics of
// a writer whose name they do not know to have been wrong.
const createdBy = "usertrail version " + SchemaVersion

// validate reports what keeps s from being the schema of a file.
func (s Schema) validate() error {
	if len(s.Kinds) > behaviour.MaxKinds {
		return fmt.Errorf("trailfile: %d behaviours: at most %d in one file", len(s.Kinds), behaviour.MaxKinds)
	}
	for _, k := range s.Kinds {
		if !utf8.ValidString(k) {
			return fmt.Errorf("trailfile: behaviour %q is not UTF-8", k)
		}
	}
	seen := map[string]bool{}
	for _, f := range s.Fields {
		switch {
		case slices.Contains(behaviour.Reserved, f.Name):
			return fmt.Errorf("trailfile: field %s: every trail has a column of that name", f.Name)
		case seen[f.Name]:
			return fmt.Errorf("trailfile: field %s stands twice", f.Name)
		case f.Name == "" || !utf8.ValidString(f.Name):
			return fmt.Errorf("trailfile: field %q: a name is text, and not empty", f.Name)
		case !f.Type.Valid():
			return fmt.Errorf("trailfile: field %s: unknown type %q", f.Name, f.Type)
		}
		seen[f.Name] = true
	}
	return nil
}
