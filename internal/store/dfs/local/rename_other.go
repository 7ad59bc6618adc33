//go:build !linux

package local

// renameNew renames from to to, which must not exist.
func renameNew(from, to string) error { return renamePortably(from, to) }
