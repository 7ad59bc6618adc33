package files

import "usertrail/internal/format/manifest"

// Files returns the table's HFiles, each with its roll. The caller must not change them.
func (t *Table) Files() []manifest.File { return t.Manifest().Files }
