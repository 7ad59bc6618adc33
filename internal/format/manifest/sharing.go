package manifest

import (
	"encoding/json"
	"fmt"
	"sync"

	"usertrail/internal/behaviour"
)

// A Sharing makes ledgers share the memory of equal values. A table has a ledger for each night, and most nights have the same
// job and schema. The zero Sharing has no values.
type Sharing struct {
	texts   TextList
	schemas map[string]*schemaText // by their text
}

// Add replaces values of l, which was read, by equal values of earlier ledgers. Of the manifest in l, it keeps only the schema:
// the Manifest of l is nil then.
func (s *Sharing) Add(l *Load) {
	s.texts.Share(l)
	var t struct {
		Schema json.RawMessage `json:"schema"`
	}
	if l.encoded == nil || json.Unmarshal(l.encoded, &t) != nil || len(t.Schema) == 0 {
		return // Manifest returns the error
	}
	schema := s.schemas[string(t.Schema)]
	if schema == nil {
		if s.schemas == nil {
			s.schemas = map[string]*schemaText{}
		}
		schema = &schemaText{text: string(t.Schema)}
		s.schemas[schema.text] = schema
	}
	l.encoded, l.schema = nil, schema
}

// A schemaText is the JSON of a schema. A load needs few of the schemas of its ledgers, so they are decoded later.
type schemaText struct {
	text   string
	decode sync.Once
	schema *behaviour.Schema
	err    error
}

// tableSchema returns the schema of the table that took l in. It returns nil if an older version wrote the ledger.
func (l *Load) tableSchema() (*behaviour.Schema, error) {
	x := l.schema
	if x == nil || l.Table != nil {
		t, err := l.Manifest()
		if t == nil {
			return nil, err
		}
		return t.Schema, err
	}
	x.decode.Do(func() { x.err = json.Unmarshal([]byte(x.text), &x.schema) })
	if x.err != nil {
		return nil, fmt.Errorf("ledger of load %d: %w: %w", l.Number, damaged(l), x.err)
	}
	return x.schema, nil
}
