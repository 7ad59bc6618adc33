package files

import "usertrail/internal/manifest"

// Files are the table's HFiles, each with its roll. They must not be changed.
func (t *Table) Files() []manifest.File { return t.Manifest().Files }
