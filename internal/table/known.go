package table

import "usertrail/internal/format/manifest"

// Known returns the manifest of a table, or nil if it has none. The caller must not change
// it.
func Known(t Table) *manifest.Table {
	if d, ok := As[Described](t); ok {
		return d.Manifest()
	}
	return nil
}

// IsUnrolled reports whether Unrolled made t.
func IsUnrolled(t Table) bool {
	_, ok := t.(unrolled)
	return ok
}
