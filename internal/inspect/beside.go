package inspect

import (
	"errors"
	"fmt"
	iofs "io/fs"

	"usertrail/internal/behaviour"
	"usertrail/internal/format/layout"
	"usertrail/internal/format/manifest"
	"usertrail/internal/store/dfs"
)

// A home is the table that contains a file of cells or users. The home decodes the
// file's bytes.
type home struct {
	dir    string // "" if there is no table around the file
	layout layout.Layout
	schema *behaviour.Schema // nil then
}

// home looks for a table around the file: TABLE/d/000001-0000.hfile. A file may
// have been copied away, and one whose manifest is damaged must be seen all the
// more; then the default layout is tried and names stay unknown, and note says
// why.
func (l *look) home() (h home, note string, err error) {
	if h.layout, err = layout.ByName(layout.Default); err != nil {
		return h, "", err
	}
	dir := above(above(l.path))
	m := new(manifest.Table)
	err = manifest.Read(l.ctx, l.fs, dfs.Join(dir, tableManifest), m)
	if errors.Is(err, iofs.ErrNotExist) {
		return h, "lies in no table: names of behaviours and types of fields are not known", nil
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
	return home{dir: dir, layout: own, schema: m.Schema}, "", nil
}

// above is the directory that name lies in, also where the name does not say.
func above(name string) string {
	switch dfs.Base(name) {
	case ".", "..":
		return dfs.Join(name, "..")
	}
	return dfs.Dir(name)
}

// kindName names a behaviour by its ID, "" if the table does not.
func (h *home) kindName(id uint16) string {
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
func (h *home) user(key []byte) string {
	u, err := h.layout.AppendUser(nil, key)
	if err != nil {
		return binary(key)
	}
	return string(u)
}

// exists reports whether something is called name.
func (l *look) exists(name string) (bool, error) {
	_, err := l.fs.Stat(l.ctx, name)
	if errors.Is(err, iofs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}
