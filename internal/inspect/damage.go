package inspect

import (
	"fmt"

	"usertrail/internal/format/manifest"
	"usertrail/internal/store/dfs"
)

// reasons has the reason why a file with a state is damaged.
var reasons = map[manifest.FileState]string{
	manifest.Missing:    "it is gone",
	manifest.OtherSize:  "its size is not the size in " + extractManifest,
	manifest.OtherBytes: "its digest is not the digest in " + extractManifest,
}

// Damage returns an error if a file of a result or of a table differs from the manifest. For a
// result the error wraps dfs.ErrDamaged, names the first such file, and counts the others. For a
// table it wraps table.ErrDamaged. An older manifest is also damage: the directory of a result then
// holds files that the manifest does not name.
func (r Report) Damage() error {
	if r.damage != nil {
		return fmt.Errorf("inspect %s: %w", r.Path, r.damage)
	}
	var first error
	more := 0
	note := func(name string, s manifest.FileState) {
		why, damaged := reasons[s]
		switch {
		case !damaged:
		case first == nil:
			first = fmt.Errorf("%s: %w: %s", name, dfs.ErrDamaged, why)
		default:
			more++
		}
	}
	if r.Names != nil {
		note(r.Path, r.Names.State)
	}
	if e := r.Extract; e != nil {
		for _, p := range e.Parts {
			note(p.Name, p.State)
		}
		if e.Names != nil {
			note(e.Names.Name, e.Names.State)
		}
		for _, f := range e.AppendedNames {
			note(f.Name, f.State)
		}
	}
	if first == nil {
		first = r.incomplete
	}
	if first == nil {
		return r.foreign()
	}
	if more > 0 {
		first = fmt.Errorf("%w; damaged files in all: %d", first, more+1)
	}
	var foreign []string
	if r.Extract != nil {
		foreign = r.Extract.Foreign
	}
	return fmt.Errorf("inspect %s: %w: %s", r.Path, first, manifest.Again(foreign))
}

// foreign returns an error if the directory of a result holds files that are not of the result.
func (r Report) foreign() error {
	if r.Extract == nil {
		return nil
	}
	err := manifest.ForeignError(r.Extract.Foreign)
	if err != nil {
		err = fmt.Errorf("inspect %s: %w", r.Path, err)
	}
	return err
}
