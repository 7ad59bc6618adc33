package table

import "usertrail/internal/manifest"

// Known is what loads brought to a table, nil where nothing tells. It must not be
// changed.
func Known(t Table) *manifest.Table {
	if u, ok := t.(unrolled); ok {
		t = u.Table
	}
	if k, ok := t.(interface{ Manifest() *manifest.Table }); ok {
		return k.Manifest()
	}
	return nil
}

// IsUnrolled says whether t is a table without its rolls, as Unrolled makes it.
func IsUnrolled(t Table) bool {
	_, ok := t.(unrolled)
	return ok
}
