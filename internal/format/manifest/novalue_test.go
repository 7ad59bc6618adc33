package manifest_test

import (
	"encoding/json"
	"maps"
	"testing"

	"usertrail/internal/format/manifest"
)

func TestNoValuesHaveTheirFields(t *testing.T) {
	fields := map[string]string{"price": "1a", `"<長安>`: "", "": "2b"}
	n := manifest.NoValuesOf(fields)
	if got := n.Fields(); !maps.Equal(got, fields) {
		t.Errorf("fields %v, want %v", got, fields)
	}
	text, err := json.Marshal(manifest.Day{NoValue: n})
	if err != nil {
		t.Fatal(err)
	}
	var d manifest.Day
	if err := json.Unmarshal(text, &d); err != nil || d.NoValue != n {
		t.Errorf("%s is read as %q, %v, want %q", text, d.NoValue, err, n)
	}
	for _, none := range []manifest.NoValues{"", manifest.NoValuesOf(nil)} {
		if none != "" || none.Fields() != nil {
			t.Errorf("no fields are %q, %v", none, none.Fields())
		}
	}
	for _, damaged := range []string{`7`, `"price"`, `{"price": 1}`, `["price"]`} {
		if err := json.Unmarshal([]byte(damaged), &n); err == nil {
			t.Errorf("%s is read without an error", damaged)
		}
	}
}

func TestNoValuesOfTwoLoads(t *testing.T) {
	of := func(pairs ...string) manifest.NoValues {
		fields := map[string]string{}
		for i := 0; i < len(pairs); i += 2 {
			fields[pairs[i]] = pairs[i+1]
		}
		return manifest.NoValuesOf(fields)
	}
	for _, c := range []struct{ a, b, both, either manifest.NoValues }{
		{of(), of(), of(), of()},
		{of("k", "1"), of(), of(), of("k", "1")},
		{of(), of("k", "1"), of(), of("k", "1")},
		{of("k", "1"), of("k", "1"), of("k", "1"), of("k", "1")},
		{of("k", "1"), of("k", "2"), of("k", "1"), of("k", "2")},
		{of("k", "1", "l", "1"), of("l", "1", "m", "1"), of("l", "1"), of("k", "1", "l", "1", "m", "1")},
	} {
		if both, either := c.a.Both(c.b), c.a.Either(c.b); both != c.both || either != c.either {
			t.Errorf("%q and %q: both %q, either %q, want %q and %q", c.a, c.b, both, either, c.both, c.either)
		}
	}
}
