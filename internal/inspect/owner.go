package inspect

import (
	"errors"
	"fmt"
	iofs "io/fs"
	"syscall"

	"usertrail/internal/behaviour"
	"usertrail/internal/format/layout"
	"usertrail/internal/format/manifest"
	"usertrail/internal/store/dfs"
)

// An owner is the table that contains an HFile or a roll. It decodes the file's bytes.
type owner struct {
	dir    string // "" if there is no table around the file
	layout layout.Layout
	schema *behaviour.Schema // nil if dir is empty
}

// owner looks for a table around the file: TABLE/d/000001-0000.hfile. If the file is outside
// its table, or the table's manifest is damaged, owner returns the default layout and no
// names. note is then the reason.
func (l *look) owner() (h owner, note string, err error) {
	if h.layout, err = layout.ByName(layout.Default); err != nil {
		return h, "", err
	}
	dir := above(above(l.path))
	m := new(manifest.Table)
	err = manifest.Read(l.ctx, l.fs, dfs.Join(dir, tableManifest), m)
	if errors.Is(err, iofs.ErrNotExist) {
		return h, "is in no table: names of behaviours and types of fields are not known", nil
	}
	if err == nil {
		err = m.Validate()
	}
	if errors.Is(err, manifest.ErrDamaged) {
		return h, fmt.Sprintf("names of behaviours and types of fields are not known: %v", err), nil
	}
	if err != nil {
		return h, "", fmt.Errorf("read the table's manifest: %w", err)
	}
	own, err := layout.ByName(m.Layout)
	if err != nil {
		return h, fmt.Sprintf("names of behaviours and types of fields are not known: table %s: %v", dir, err), nil
	}
	return owner{dir: dir, layout: own, schema: m.Schema}, "", nil
}

// above returns the directory that contains name, even if name ends in "." or "..".
func above(name string) string {
	switch dfs.Base(name) {
	case ".", "..":
		return dfs.Join(name, "..")
	}
	return dfs.Dir(name)
}

// kindName returns the name of a behaviour by its ID, "" if the table does not have it.
func (h *owner) kindName(id uint16) string {
	if h.schema == nil {
		return ""
	}
	i, ok := h.schema.KindByID(id)
	if !ok {
		return ""
	}
	return h.schema.Kinds[i].Name
}

// user returns the user ID of key, or key itself if the layout cannot decode it.
func (h *owner) user(key []byte) string {
	u, err := h.layout.AppendUser(nil, key)
	if err != nil {
		return binary(key)
	}
	return string(u)
}

// exists reports whether a file or directory is called name. A link to itself exists.
func (l *look) exists(name string) (bool, error) {
	_, err := l.fs.Stat(l.ctx, name)
	if errors.Is(err, iofs.ErrNotExist) {
		return false, nil
	}
	if errors.Is(err, syscall.ELOOP) {
		return true, nil
	}
	return err == nil, err
}
