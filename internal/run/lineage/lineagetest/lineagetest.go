// Package lineagetest checks OpenLineage events against the JSON schemas of the OpenLineage
// project. The folder spec has the schemas that events of usertrail name, unchanged, from
// https://github.com/OpenLineage/OpenLineage at 8f02abfb, under the Apache License 2.0.
package lineagetest

import (
	"bytes"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

//go:embed spec
var spec embed.FS

// loaded returns a compiler that has all schemas of spec, and loads no other.
var loaded = sync.OnceValues(func() (*jsonschema.Compiler, error) {
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	c.UseLoader(jsonschema.SchemeURLLoader{})
	files, err := spec.ReadDir("spec")
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		text, err := spec.ReadFile("spec/" + f.Name())
		if err != nil {
			return nil, err
		}
		schema, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.Name(), err)
		}
		id, _ := schema.(map[string]any)["$id"].(string)
		if err := c.AddResource(id, schema); err != nil {
			return nil, fmt.Errorf("%s: %w", f.Name(), err)
		}
	}
	return c, nil
})

// mu guards the compiler, which is not safe for concurrent use.
var mu sync.Mutex

// compile returns the schema of an address, such as the value of a member _schemaURL.
func compile(address string) (*jsonschema.Schema, error) {
	mu.Lock()
	defer mu.Unlock()
	c, err := loaded()
	if err != nil {
		return nil, err
	}
	return c.Compile(address)
}

// Check returns an error unless event is one JSON object that fits the schema it names, and all
// its facets fit theirs.
func Check(event []byte) error {
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(event))
	if err != nil {
		return err
	}
	o, ok := v.(map[string]any)
	if !ok {
		return errors.New("the event is no object")
	}
	return errors.Join(fits(o, "schemaURL"), checkFacets(o))
}

// fits validates an object against the schema that its member names.
func fits(o map[string]any, member string) error {
	address, _ := o[member].(string)
	schema, err := compile(address)
	if err == nil {
		err = schema.Validate(o)
	}
	if err != nil {
		text, _ := json.Marshal(o)
		return fmt.Errorf("%s: %w", text, err)
	}
	return nil
}

// checkFacets validates every facet below v. A facet is a member that names its schema.
func checkFacets(v any) error {
	var errs []error
	switch v := v.(type) {
	case map[string]any:
		for name, member := range v {
			if facet, ok := member.(map[string]any); ok && facet["_schemaURL"] != nil {
				errs = append(errs, checkFacet(name, facet))
			}
			errs = append(errs, checkFacets(member))
		}
	case []any:
		for _, member := range v {
			errs = append(errs, checkFacets(member))
		}
	}
	return errors.Join(errs...)
}

// checkFacet validates a facet, and its name: the document of a schema has a property with the
// name that the facet must have.
func checkFacet(name string, facet map[string]any) error {
	if err := fits(facet, "_schemaURL"); err != nil {
		return err
	}
	document, _, _ := strings.Cut(facet["_schemaURL"].(string), "#")
	schema, err := compile(document)
	if err == nil && schema.Properties[name] == nil {
		err = fmt.Errorf("%s has no facet %q", document, name)
	}
	return err
}
