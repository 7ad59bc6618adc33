package table

import "usertrail/internal/format/manifest"

// Known returns the manifest of a table, or nil if it has none. The caller must not change
// it.
func Known(t Table) *manifest.Table {
	if u, ok := t.(unrolled); ok {
		t = u.Table
	}
	if k, ok := t.(interface{ Manifest() *manifest.Table }); ok {
		return k.Manifest()
	}
	return nil
}

// IsUnrolled reports whether Unrolled made t.
func IsUnrolled(t Table) bool {
	_, ok := t.(unrolled)
	return ok
}
