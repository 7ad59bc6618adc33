package manifest

import (
	"encoding/json"
	"fmt"
)

// NoValues are the fields of a behaviour of which no record of a Day has a value. Each field has a digest of the settings
// by which the job read it. A NoValues is the text of their JSON object, because many days of a ledger have the same fields.
type NoValues string

// NoValuesOf returns the NoValues of fields with their digests.
func NoValuesOf(fields map[string]string) NoValues {
	if len(fields) == 0 {
		return ""
	}
	text, err := json.Marshal(fields) // it sorts the fields
	if err != nil {
		panic(fmt.Sprintf("manifest: texts that are no JSON: %v", err)) // every text is
	}
	return NoValues(text)
}

// Fields returns the fields with their digests. The caller may change the map.
func (n NoValues) Fields() map[string]string {
	if n == "" {
		return nil
	}
	var out map[string]string
	if err := json.Unmarshal([]byte(n), &out); err != nil {
		panic(fmt.Sprintf("manifest: NoValues %q: %v", string(n), err)) // both makers of a NoValues check it
	}
	return out
}

// Both returns the fields that are in n and in o.
func (n NoValues) Both(o NoValues) NoValues {
	if n == o {
		return n
	}
	fields, others := n.Fields(), o.Fields()
	for name := range fields {
		if _, ok := others[name]; !ok {
			delete(fields, name)
		}
	}
	return NoValuesOf(fields)
}

// Either returns the fields that are in n or in o. A field that is in both has its digest in o.
func (n NoValues) Either(o NoValues) NoValues {
	if n == o || o == "" {
		return n
	}
	fields := n.Fields()
	if fields == nil {
		return o
	}
	for name, by := range o.Fields() {
		fields[name] = by
	}
	return NoValuesOf(fields)
}

// MarshalJSON implements json.Marshaler.
func (n NoValues) MarshalJSON() ([]byte, error) {
	if n == "" {
		return []byte("{}"), nil
	}
	return []byte(n), nil
}

// UnmarshalJSON implements json.Unmarshaler.
func (n *NoValues) UnmarshalJSON(b []byte) error {
	var fields map[string]string
	if err := json.Unmarshal(b, &fields); err != nil {
		return err
	}
	*n = NoValuesOf(fields)
	return nil
}
