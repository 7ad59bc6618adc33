package behaviour

// FieldNames returns the fields of the given kinds, each with its behaviour: play.seconds.
func (s *Schema) FieldNames(kinds []int) []string {
	var names []string
	for _, k := range kinds {
		for _, f := range s.Kinds[k].Fields {
			names = append(names, s.Kinds[k].Name+"."+f.Name)
		}
	}
	return names
}

// Select returns the kinds with the given names, each once and in ascending order. No names
// mean all kinds. The error for an unknown name is a text to follow "the table has".
func (s *Schema) Select(names []string) ([]int, error) {
	chosen := make([]bool, len(s.Kinds))
	for _, name := range names {
		k, ok := s.Find(name)
		if !ok {
			return nil, s.Unknown(name)
		}
		chosen[k] = true
	}
	var kinds []int
	for k := range s.Kinds {
		if len(names) == 0 || chosen[k] {
			kinds = append(kinds, k)
		}
	}
	return kinds, nil
}

// Choose returns, by kind of s and field, whether names select the field. A name is NAME
// or BEHAVIOUR.NAME; no names select all fields of the given kinds. If none of the kinds
// has a name, Choose returns that name and false.
func (s *Schema) Choose(kinds []int, names []string) (chosen [][]bool, unknown string, ok bool) {
	chosen = make([][]bool, len(s.Kinds))
	for k := range s.Kinds {
		chosen[k] = make([]bool, len(s.Kinds[k].Fields))
	}
	for _, k := range kinds {
		for i := range chosen[k] {
			chosen[k][i] = len(names) == 0
		}
	}
	for _, name := range names {
		some := false
		for _, k := range kinds {
			for i, f := range s.Kinds[k].Fields {
				if name == f.Name || name == s.Kinds[k].Name+"."+f.Name || name == s.Kinds[k].As+"."+f.Name {
					chosen[k][i], some = true, true
				}
			}
		}
		if !some {
			return nil, name, false
		}
	}
	return chosen, "", true
}
