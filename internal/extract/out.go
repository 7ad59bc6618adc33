package extract

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	iofs "io/fs"
	"regexp"
	"slices"
	"strings"

	"usertrail/internal/format/manifest"
	"usertrail/internal/store/dfs"
	"usertrail/internal/table"
)

// CheckOut reports why c.Out cannot be made. It reads no row and no list, and changes
// nothing. Its error wraps ErrQuestion where no result may ever be, and fs.ErrExist where
// something is that is not to be replaced: anything without c.Overwrite, and with it
// anything but an empty directory and a result without files of others.
func CheckOut(ctx context.Context, c *Config) error {
	if c.Stream != nil {
		return nil
	}
	if err := c.checkPlace(ctx); err != nil {
		return err
	}
	p := placeOf(c.FS, c.Out)
	if err := p.checkStaging(ctx); err != nil {
		return err
	}
	if c.Overwrite {
		return p.checkOld(ctx)
	}
	there, err := isThere(ctx, c.FS, c.Out)
	if err != nil {
		return fmt.Errorf("look for --out: %w", err)
	}
	if there {
		return fmt.Errorf("--out %s: %w; choose another, or say --overwrite", c.Out, iofs.ErrExist)
	}
	return nil
}

// CheckOutForPlan is CheckOut for Plan. An Out that pieces made is left to Plan, which
// finds out whether it is the result of the same plan.
func CheckOutForPlan(ctx context.Context, c *Config) error {
	return checkOutBut(ctx, c, func(m *manifest.Extract) bool { return m.Plan != "" })
}

// CheckOutForRun is CheckOut for Run. If Out is a result, it leaves the check to Run, which
// finds out whether the result is from the same query.
func CheckOutForRun(ctx context.Context, c *Config) error {
	if c.Overwrite {
		return CheckOut(ctx, c)
	}
	return checkOutBut(ctx, c, func(*manifest.Extract) bool { return true })
}

// checkOutBut is CheckOut, but lets an Out pass that is a result for which passes is true.
func checkOutBut(ctx context.Context, c *Config, passes func(*manifest.Extract) bool) error {
	err := CheckOut(ctx, c)
	if !errors.Is(err, iofs.ErrExist) {
		return err
	}
	m, failed := placeOf(c.FS, c.Out).answered(ctx)
	switch {
	case failed != nil:
		return failed
	case m == nil || !passes(m):
		return err
	}
	return nil
}

// already returns what c.Out holds if it is the result of the same query to the same version
// of the table. Otherwise it returns the zero Result. It also does so if the table has no
// version, because then nothing shows whether the table has changed.
func (q *question) already(ctx context.Context, c *Config) Result {
	if c.Stream != nil || c.Overwrite || c.PieceSize > 0 || !pinned(c) || q.info.Version == "" {
		return Result{}
	}
	m, err := placeOf(c.FS, c.Out).answered(ctx)
	if err != nil || m == nil || m.Plan != "" || m.Table != q.info.Address || m.TableVersion != q.info.Version || m.Unrolled != table.IsUnrolled(q.table) {
		return Result{}
	}
	was, err := json.Marshal(m.Question)
	if err != nil {
		return Result{}
	}
	if asked, err := json.Marshal(q.manifest()); err != nil || !bytes.Equal(was, asked) {
		return Result{}
	}
	r := result(m, c.Out, 0)
	r.Already = true
	return r
}

// maxName is how many bytes a name in a directory can have, on HDFS and on the usual local
// file systems.
const maxName = 255

// fits reports a name in out that is too long, also for the hidden directory next to out.
func fits(out string) error {
	last := dfs.Base(beside(strings.TrimRight(out, "/"), placeEnding))
	if len(last) > maxName {
		return fmt.Errorf("%w: --out %s: the last name has more than %d bytes: write a shorter one", ErrQuestion, out, maxName-len(".")-len(placeEnding))
	}
	for name := range strings.SplitSeq(out, "/") {
		if len(name) > maxName {
			return fmt.Errorf("%w: --out %s: the name %s has more than %d bytes: write a shorter one", ErrQuestion, out, name, maxName)
		}
	}
	return nil
}

// checkPlace reports a place where no result may be.
func (c *Config) checkPlace(ctx context.Context) error {
	switch dfs.Base(c.Out) {
	case "":
		return fmt.Errorf("%w: --out %q is no directory that can be made: name another", ErrQuestion, c.Out)
	case ".", "..":
		return fmt.Errorf("%w: --out %s: write the name of the directory itself", ErrQuestion, c.Out)
	}
	if err := fits(c.Out); err != nil {
		return err
	}
	twofold, err := dfs.Twofold(ctx, c.FS, c.Out)
	if err != nil {
		return fmt.Errorf("look for --out: %w", err)
	}
	if twofold {
		return fmt.Errorf("%w: --out %s: what .. means behind a link is not clear: name the directory without it", ErrQuestion, c.Out)
	}
	for _, home := range c.Homes {
		if err := c.apart(ctx, home); err != nil {
			return err
		}
	}
	around, err := manifest.Around(ctx, c.FS, c.Out)
	if err != nil {
		return fmt.Errorf("look for --out: %w", err)
	}
	if around != "" {
		return fmt.Errorf("%w: --out %s is inside the table %s, whose next load would remove it: name another", ErrQuestion, c.Out, around)
	}
	if !c.Overwrite {
		return nil
	}
	for _, name := range append(slices.Clone(c.Lists), ".") {
		holds, err := dfs.Holds(ctx, c.FS, c.Out, name)
		if err != nil {
			return fmt.Errorf("look for --out: %w", err)
		}
		if holds && name == "." {
			return fmt.Errorf("%w: --out %s holds the working directory, which --overwrite would remove: name another, or start elsewhere", ErrQuestion, c.Out)
		}
		if holds {
			return fmt.Errorf("%w: --out %s holds the list of users %s, which --overwrite would remove: name another", ErrQuestion, c.Out, name)
		}
	}
	return nil
}

// apart reports an Out that is, holds or is in a table's directory.
func (c *Config) apart(ctx context.Context, home string) error {
	how, err := dfs.Overlap(ctx, c.FS, c.Out, home)
	if err != nil {
		return fmt.Errorf("look for --out: %w", err)
	}
	if how == "" {
		return nil
	}
	return fmt.Errorf("%w: --out %s %s the directory of the table, %s: name another", ErrQuestion, c.Out, how, home)
}

// isThere reports whether something is called name, also a link that leads to nothing.
func isThere(ctx context.Context, fs dfs.FS, name string) (bool, error) {
	_, err := fs.Stat(ctx, name)
	if err == nil {
		return true, nil
	}
	if !errors.Is(err, iofs.ErrNotExist) {
		return false, err
	}
	return isLink(ctx, fs, name)
}

// isLink reports whether name is a link itself, whatever its parents are.
func isLink(ctx context.Context, fs dfs.FS, name string) (bool, error) {
	real, err := dfs.Real(ctx, fs, name)
	if err != nil {
		return false, err
	}
	parent, err := dfs.Real(ctx, fs, dfs.Dir(name))
	return err == nil && real != dfs.Join(parent, dfs.Base(name)), err
}

// checkOld reports an OUT that must not be replaced, and one whose earlier result, moved
// aside, would have to be removed and is none.
func (p *place) checkOld(ctx context.Context) error {
	if err := replaceable(ctx, p.fs, p.out); err != nil {
		return fmt.Errorf("--out %s: %w", p.out, err)
	}
	old := beside(p.out, oldEnding)
	if err := replaceable(ctx, p.fs, old); err != nil {
		return fmt.Errorf("--out %s is replaced by way of %s: %w", p.out, old, err)
	}
	return nil
}

// replaceable reports why the directory dir must not be removed, by an error that wraps
// fs.ErrExist. It returns nil only if dir does not exist, is an empty directory, or is a
// result that holds no files but its own.
func replaceable(ctx context.Context, fs dfs.FS, dir string) error {
	refuse := func(what string) error {
		return fmt.Errorf("%w, and --overwrite does not replace it: %s: name another, or move it away", iofs.ErrExist, what)
	}
	if link, err := isLink(ctx, fs, dir); err != nil {
		return err
	} else if link {
		return refuse("it is a link")
	}
	list, err := fs.List(ctx, dir)
	switch {
	case errors.Is(err, iofs.ErrNotExist):
		return nil
	case errors.Is(err, dfs.ErrNotDir):
		return refuse("it is a file")
	case err != nil:
		return err
	case len(list) == 0:
		return nil
	}
	m, err := answerIn(ctx, fs, dir)
	if err != nil {
		return err
	}
	if m == nil {
		return refuse(fmt.Sprintf("it holds %s, and is no result of extract", dfs.Base(list[0].Name)))
	}
	foreign, err := foreignIn(ctx, fs, dir, list, m)
	if err != nil {
		return err
	}
	if foreign != "" {
		return refuse(fmt.Sprintf("it holds %s, which is not of the result", foreign))
	}
	return nil
}

// foreignIn returns the name of a file below dir that is not of the result m; "" if there
// is none. list is what dir holds.
func foreignIn(ctx context.Context, fs dfs.FS, dir string, list []dfs.Info, m *manifest.Extract) (string, error) {
	files, dirs := map[string]bool{ManifestName: true, SuccessName: true, NotFoundName: true}, map[string]bool{}
	for _, p := range m.Parts {
		files[p.Name] = true
		if at := strings.LastIndexByte(p.Name, '/'); at > 0 {
			dirs[p.Name[:at]] = true
		}
	}
	for _, f := range list {
		base := dfs.Base(f.Name)
		switch {
		case !f.Dir && files[base]:
			continue
		case !f.Dir || !dirs[base]:
			return base, nil
		}
		below, err := fs.List(ctx, dfs.Join(dir, base))
		if err != nil {
			return "", err
		}
		for _, g := range below {
			if name := dfs.Join(base, dfs.Base(g.Name)); g.Dir || !files[name] {
				return name, nil
			}
		}
	}
	return "", nil
}

// checkStaging reports a directory that is called as the one beside OUT in which a result
// grows, and holds files of others. What is in it is removed.
func (p *place) checkStaging(ctx context.Context) error {
	link, err := isLink(ctx, p.fs, p.dir)
	if err != nil {
		return fmt.Errorf("look for --out: %w", err)
	}
	foreign, err := notStaged(ctx, p.fs, p.dir)
	if errors.Is(err, iofs.ErrNotExist) && !link {
		return nil
	}
	if err != nil && !errors.Is(err, dfs.ErrNotDir) && !link {
		return fmt.Errorf("look for --out: %w", err)
	}
	name := dfs.Base(p.dir)
	if foreign != "" {
		name = dfs.Join(name, foreign)
	} else if err == nil && !link {
		return nil
	}
	return fmt.Errorf("--out %s: %w: %s beside it is not of an extract: move it away, or name another directory", p.out, iofs.ErrExist, name)
}

// notStaged returns the name, from dir, of the first file or folder that no staging has; ""
// if there is none.
func notStaged(ctx context.Context, fs dfs.FS, dir string) (string, error) {
	list, err := fs.List(ctx, dir)
	if err != nil {
		return "", err
	}
	for _, f := range list {
		base := dfs.Base(f.Name)
		if !stages(base, f.Dir) {
			return base, nil
		}
		if !f.Dir || base == sortName {
			continue
		}
		below, err := notStaged(ctx, fs, f.Name)
		if err != nil && !errors.Is(err, iofs.ErrNotExist) { // moved meanwhile
			return "", err
		}
		if below != "" {
			return dfs.Join(base, below), nil
		}
	}
	return "", nil
}

// stagedName matches names with numbers in a staging, or in the place of a plan.
var stagedName = regexp.MustCompile(`^(?:part-\d{5,}\.[a-z]+|` + donePrefix + `\d{5,}\.json|` + piecePrefix + `\d{5,}(?:\.json|\.lock)?)$`)

// stages reports whether a staging, or the place of a plan, may hold something called
// base.
func stages(base string, dir bool) bool {
	switch base {
	case questionName, ManifestName, SuccessName, NotFoundName, usersName, noneName, answerName, sortName:
		return true
	}
	if stagedName.MatchString(base) {
		return true
	}
	column, _, partition := strings.Cut(base, "=")
	return dir && partition && slices.Contains(Partitions, column)
}
