package manifest_test

import (
	"fmt"
	"reflect"
	"testing"

	"usertrail/internal/behaviour"
	"usertrail/internal/format/manifest"
	"usertrail/internal/store/dfs/local"
	"usertrail/internal/test/testkit"
)

// TestLedgersShareTheirSchemas reads ledgers of three schemas. After Add, each has the fields that its own load did not read.
func TestLedgersShareTheirSchemas(t *testing.T) {
	schema := func(fields ...string) *behaviour.Schema {
		s := &behaviour.Schema{Zone: "UTC", Kinds: []behaviour.Kind{{ID: 1, Name: "play"}}}
		for _, f := range fields {
			s.Kinds[0].Fields = append(s.Kinds[0].Fields, behaviour.Field{Name: f})
		}
		return s
	}
	now := schema("a", "b", "c")
	dir, sharing := testkit.Scratch(t), new(manifest.Sharing)
	for i, had := range []*behaviour.Schema{schema("a"), schema("a"), schema("a", "b"), now, schema("a"), nil} {
		written := &manifest.Load{Version: manifest.Version, Number: i + 1, Inputs: []manifest.Input{{Path: "x.csv"}}}
		if had != nil {
			written.Table = &manifest.Table{Version: manifest.Version, Family: "d", Schema: had}
		}
		name := fmt.Sprintf("%s/%d.json", dir, i)
		if err := manifest.Write(t.Context(), local.New(), name, written); err != nil {
			t.Fatal(err)
		}
		l := new(manifest.Load)
		if err := manifest.Read(t.Context(), local.New(), name, l); err != nil {
			t.Fatal(err)
		}
		want, err := l.UnreadOf(now)
		if err != nil {
			t.Fatal(err)
		}
		sharing.Add(l)
		for range 2 {
			if got, err := l.UnreadOf(now); err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("ledger %d: %v, %v; want %v", i, got, err, want)
			}
		}
		if m, err := l.Manifest(); m != nil || err != nil {
			t.Errorf("ledger %d: it still has %v, %v", i, m, err)
		}
		l.Table = &manifest.Table{Schema: schema("c")} // the ledger moves to another table
		if got, err := l.UnreadOf(now); err != nil || !reflect.DeepEqual(got, []map[string][]string{{"play": {"a", "b"}}}) {
			t.Errorf("ledger %d in another table: %v, %v; want the fields a and b", i, got, err)
		}
	}
}
