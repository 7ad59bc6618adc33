package manifest

import (
	"slices"

	"usertrail/internal/behaviour"
)

// SetUnread sets the Unread of each file of l to its UnreadOf. A ledger that moves to a table of another schema
// needs it, because it gets another Table.
func (l *Load) SetUnread(schema *behaviour.Schema) error {
	unread, err := l.UnreadOf(schema)
	if err != nil {
		return err
	}
	l.Inputs = slices.Clone(l.Inputs)
	for i := range l.Inputs {
		l.Inputs[i].Unread = unread[i]
	}
	return nil
}

// UnreadOf returns, for each file of l and each behaviour, the fields of schema that l certainly did not
// read: the table or the job had no such field. A file has no entry for a behaviour that l did not request.
func (l *Load) UnreadOf(schema *behaviour.Schema) ([]map[string][]string, error) {
	absent, err := l.absent(schema)
	if err != nil {
		return nil, err
	}
	out := make([]map[string][]string, len(l.Inputs))
	for i := range l.Inputs {
		in := &l.Inputs[i]
		if len(absent) == 0 && len(in.Unread) == 0 {
			continue
		}
		of := map[string][]string{}
		for k := range schema.Kinds {
			kind := &schema.Kinds[k]
			var names []string
			for _, f := range kind.Fields {
				if slices.Contains(absent[kind.Name], f.Name) || slices.Contains(in.Unread[kind.Name], f.Name) {
					names = append(names, f.Name)
				}
			}
			if names != nil && in.Asks(kind.Name) {
				of[kind.Name] = names
			}
		}
		if len(of) > 0 {
			out[i] = of
		}
	}
	return out, nil
}

// absent returns the fields of schema that the table did not have when it took l in, for the behaviours that
// the table had.
func (l *Load) absent(schema *behaviour.Schema) (map[string][]string, error) {
	had, err := l.tableSchema()
	if err != nil || had == nil {
		return nil, err
	}
	return had.Lacks(schema), nil
}

// Asks reports whether the load of in requested a behaviour.
func (in *Input) Asks(name string) bool {
	switch {
	case in.Behaviour != "":
		return in.Behaviour == name
	case in.Part != nil:
		return slices.Contains(in.Part.Behaviours, name)
	}
	return true
}
