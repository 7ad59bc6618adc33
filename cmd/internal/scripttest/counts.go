package scripttest

import (
	"encoding/json"
	"maps"
	"reflect"
	"testing"

	"github.com/spf13/cobra"

	"usertrail/cmd/internal/cli"
	"usertrail/internal/run/outcome"
)

// names lists the counts that metrics, run logs and events have.
var names = []outcome.Name{
	outcome.Read, outcome.Loaded, outcome.Quarantined, outcome.Duplicate, outcome.Skipped, outcome.Records, outcome.Cells,
	outcome.Files, outcome.HFiles, outcome.Already, outcome.Missing, outcome.Failed, outcome.Bytes,
	outcome.Users, outcome.Found, outcome.Active, outcome.Kept, outcome.Events,
}

// CheckCounts compares the counts of the results of all commands below root, and of others, with
// the numbers in their last lines. Every result is checked with zero fields and with other ones.
func CheckCounts(t *testing.T, env *cli.Env, root *cobra.Command, others ...outcome.Result) {
	t.Helper()
	results := others
	for _, c := range append(root.Commands(), root) {
		if r, ok := env.Nothing(c); ok {
			results = append(results, r)
		}
	}
	for _, r := range results {
		v := reflect.New(reflect.TypeOf(r)).Elem()
		compareCounts(t, v.Interface().(outcome.Result))
		next := 0
		fill(v, &next)
		compareCounts(t, v.Interface().(outcome.Result))
	}
}

// fill sets the numbers of a struct and of its embedded structs, all to different values, and
// makes its lists of failures two long.
func fill(v reflect.Value, next *int) {
	*next++
	switch v.Kind() {
	case reflect.Int, reflect.Int32, reflect.Int64:
		v.SetInt(int64(*next))
	case reflect.Uint32, reflect.Uint64:
		v.SetUint(uint64(*next))
	case reflect.Float64:
		v.SetFloat(float64(*next) + 0.5)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), next)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
	case reflect.Struct:
		for i := range v.NumField() {
			f := v.Type().Field(i)
			embeds := f.Anonymous && (f.Type.Kind() == reflect.Struct || f.Type.Kind() == reflect.Pointer)
			number := f.Type.Kind() != reflect.Struct && f.Type.Kind() != reflect.Pointer && f.Type.Kind() != reflect.Slice
			if v.Field(i).CanSet() && (embeds || number || f.Name == "Failed") {
				fill(v.Field(i), next)
			}
		}
	}
}

// compareCounts compares the counts of one result with the numbers in its JSON.
func compareCounts(t *testing.T, r outcome.Result) {
	t.Helper()
	b, err := json.Marshal(r)
	if err != nil {
		t.Errorf("%T: %v", r, err)
		return
	}
	var line map[string]any
	if err := json.Unmarshal(b, &line); err != nil {
		t.Errorf("%T: %v", r, err)
		return
	}
	want := outcome.Counts{}
	for _, n := range names {
		switch v := line[string(n)].(type) {
		case float64:
			want[n] = v
		case []any:
			want[n] = float64(len(v))
		}
	}
	if got := r.Counted(); !maps.Equal(got, want) {
		t.Errorf("%T counts %v, its last line %s has %v", r, got, b, want)
	}
}
