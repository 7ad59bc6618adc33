package manifest

import (
	"errors"
	"fmt"
	iofs "io/fs"
	"strings"
)

// The names in these files must be names below the folder that the file describes. A user
// may have edited the file, or copied it from another folder. The checks keep programs from
// reading, replacing or removing files outside the folder.

// below returns an error if name is not a path below a folder: an absolute path, or a path with
// an empty part or "..".
func below(what, name string) error {
	if !iofs.ValidPath(name) || name == "." {
		return fmt.Errorf("%w: %s is %q, which is no name below its folder", ErrDamaged, what, name)
	}
	return nil
}

// plain returns an error if name is not the name of a file in the folder itself.
func plain(what, name string) error {
	if err := below(what, name); err != nil || !strings.Contains(name, "/") {
		return err
	}
	return fmt.Errorf("%w: %s is %q, which is no plain name", ErrDamaged, what, name)
}

// checkFiles returns an error for the first file whose name is not valid.
func checkFiles(files []File) error {
	for i := range files {
		f := &files[i]
		if f.Name != "" {
			if err := below("the name of a file", f.Name); err != nil {
				return err
			}
		}
		if err := below("the roll of a file", f.Roll); err != nil {
			return err
		}
	}
	return nil
}

func (t *Table) check() error {
	if err := plain("its family", t.Family); err != nil {
		return err
	}
	for _, l := range t.Loads {
		if err := below(fmt.Sprintf("the ledger of load %d", l.Number), l.Name); err != nil {
			return err
		}
	}
	return checkFiles(t.Files)
}

func (l *Load) check() error {
	err := l.NoValue.check()
	for i := range l.Inputs {
		err = errors.Join(err, l.Inputs[i].RereadNoValue.check())
	}
	if err != nil || l.Table == nil {
		return err
	}
	return l.Table.check()
}

func (b *Begun) check() error {
	for i := range b.Rolls {
		if err := checkFiles([]File{b.Rolls[i].File}); err != nil {
			return err
		}
	}
	return nil
}

func (h *Handover) check() error {
	if h.Load == nil || h.Table == nil || len(h.Table.Loads) == 0 {
		return fmt.Errorf("%w: its load or its table is missing", ErrDamaged)
	}
	for i := range h.Files {
		if err := below("the name of a staged file", h.Files[i].Name); err != nil {
			return err
		}
	}
	return h.Table.check()
}

func (r *Retired) check() error {
	for _, f := range r.Files {
		if err := below("the name of a retired file", f.Name); err != nil {
			return err
		}
	}
	if r.Undrop != nil {
		return checkFiles(r.Undrop.Files)
	}
	return nil
}

func (p *Plan) check() error { return plain("its plan", p.ID) }

func (r *Report) check() error {
	err := errors.Join(plain("its plan", r.Plan), checkFiles(r.Files), r.NoValue.check())
	for i := range r.Inputs {
		if bad := r.Inputs[i].Bad; bad != "" && err == nil {
			err = below("a file of bad records", bad)
		}
	}
	return err
}

func (c *Converted) check() error { return checkFiles(c.Files) }

func (e *Extract) check() error {
	for i := range e.Parts {
		if err := below("the name of a part", e.Parts[i].Name); err != nil {
			return err
		}
	}
	return nil
}
