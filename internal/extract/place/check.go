package place

import (
	"context"
	"errors"
	"fmt"
	iofs "io/fs"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"

	"usertrail/internal/extract/notfound"
	"usertrail/internal/extract/query"
	"usertrail/internal/format/manifest"
	"usertrail/internal/store/dfs"
)

// A Target is a directory that a result becomes.
type Target struct {
	FS        dfs.FS
	Out       string
	Overwrite bool     // replace a result in Out
	Append    bool     // add the dates of the query to a result in Out
	Homes     []string // the table's directory or catalog: Out must be apart from them
	Lists     []string // files of the list of users: an Out that is replaced must not contain them
}

// Check reports why the result cannot be made. It reads no row and no list, and changes
// nothing. Its error wraps query.ErrWrong if no result may ever be at Out. It wraps fs.ErrExist
// if Out must not be replaced: without Overwrite, if it exists; with Overwrite, if it is
// neither an empty directory nor a result without files of others. With Append, Check accepts a
// result without files of others.
func (t *Target) Check(ctx context.Context) error {
	if err := t.checkPlace(ctx); err != nil {
		return err
	}
	p := At(t.FS, t.Out)
	if err := p.checkStaging(ctx); err != nil {
		return err
	}
	switch {
	case t.Overwrite:
		return p.checkOld(ctx)
	case t.Append:
		return p.checkBase(ctx)
	}
	there, err := isThere(ctx, t.FS, t.Out)
	if err != nil {
		return fmt.Errorf("look for --out: %w", err)
	}
	if !there {
		return nil
	}
	if info, err := t.FS.Stat(ctx, t.Out); err == nil && !info.Dir {
		return fmt.Errorf("--out %s: %w: it is a file, and a result is a directory: choose another name", t.Out, iofs.ErrExist)
	}
	if link, err := dfs.IsLink(ctx, t.FS, t.Out); err == nil && link {
		return fmt.Errorf("--out %s: %w: it is a link, which --overwrite does not replace: choose another name", t.Out, iofs.ErrExist)
	}
	if err := p.checkOld(ctx); err != nil {
		return err
	}
	return fmt.Errorf("--out %s: %w: choose another, or add --overwrite", t.Out, iofs.ErrExist)
}

// CheckForPlan is Check for a plan of pieces. If Out is a result of pieces, it leaves the check
// to the plan, which finds out whether it is the result of the same plan.
func (t *Target) CheckForPlan(ctx context.Context) error {
	if t.Append {
		return t.Check(ctx)
	}
	return t.checkBut(ctx, func(m *manifest.Extract) bool { return m.Plan != "" })
}

// CheckForRun is Check for an extract of one process. If Out is a result, it leaves the check
// to the extract, which finds out whether it is the result of the same query.
func (t *Target) CheckForRun(ctx context.Context) error {
	if t.Overwrite || t.Append {
		return t.Check(ctx)
	}
	return t.checkBut(ctx, func(*manifest.Extract) bool { return true })
}

// checkBut is Check, but accepts an Out that is a result for which passes returns true.
func (t *Target) checkBut(ctx context.Context, passes func(*manifest.Extract) bool) error {
	err := t.Check(ctx)
	if !errors.Is(err, iofs.ErrExist) {
		return err
	}
	m, failed := At(t.FS, t.Out).Result(ctx)
	switch {
	case failed != nil:
		return failed
	case m == nil || !passes(m):
		return err
	}
	return nil
}

// maxName is the largest length of a name in a directory in bytes, on HDFS and on the usual local
// file systems.
const maxName = 255

// fits reports a name in out that is too long, also for the hidden directory next to out.
func fits(out string) error {
	last := dfs.Base(manifest.Partial(strings.TrimRight(out, "/")))
	if len(last) > maxName {
		return fmt.Errorf("%w: --out %s: the last name has more than %d bytes: write a shorter one", query.ErrWrong, out, maxName-len(".")-len(manifest.PartialEnding))
	}
	for name := range strings.SplitSeq(out, "/") {
		if len(name) > maxName {
			return fmt.Errorf("%w: --out %s: the name %s has more than %d bytes: write a shorter one", query.ErrWrong, out, name, maxName)
		}
	}
	return nil
}

// unseen returns the error for an Out that cannot be looked at.
func (t *Target) unseen(err error) error {
	if errors.Is(err, dfs.ErrNotDir) {
		return fmt.Errorf("%w: --out %s: %w: a name before the last one is a file: name another directory", query.ErrWrong, t.Out, err)
	}
	if errors.Is(err, syscall.ELOOP) {
		return fmt.Errorf("%w: --out %s: %w: move the link away, or name another directory", query.ErrWrong, t.Out, err)
	}
	return fmt.Errorf("look for --out: %w", err)
}

// checkPlace reports an Out where no result may be.
func (t *Target) checkPlace(ctx context.Context) error {
	switch dfs.Base(t.Out) {
	case "":
		return fmt.Errorf("%w: --out %q is no directory that can be made: name another", query.ErrWrong, t.Out)
	case ".", "..":
		return fmt.Errorf("%w: --out %s: write the name of the directory itself", query.ErrWrong, t.Out)
	}
	if err := fits(t.Out); err != nil {
		return err
	}
	twofold, err := dfs.Twofold(ctx, t.FS, t.Out)
	if err != nil {
		return t.unseen(err)
	}
	if twofold {
		return fmt.Errorf("%w: --out %s: the path has .. after a symbolic link: name the directory without it", query.ErrWrong, t.Out)
	}
	for _, home := range t.Homes {
		if err := t.apart(ctx, home); err != nil {
			return err
		}
	}
	around, err := manifest.Around(ctx, t.FS, t.Out)
	if err != nil {
		return t.unseen(err)
	}
	why := around.Why("name another")
	switch {
	case why != "":
		return fmt.Errorf("%w: --out %s is inside %s", query.ErrWrong, t.Out, why)
	case around.Dir != "":
		return fmt.Errorf("%w: --out %s is inside the table %s, whose next load would remove it: name another", query.ErrWrong, t.Out, around.Dir)
	}
	if !t.Overwrite {
		return nil
	}
	for _, name := range append(slices.Clone(t.Lists), ".") {
		holds, err := dfs.Holds(ctx, t.FS, t.Out, name)
		if err != nil {
			return t.unseen(err)
		}
		if holds && name == "." {
			return fmt.Errorf("%w: --out %s holds the working directory, which --overwrite would remove: name another, or start elsewhere", query.ErrWrong, t.Out)
		}
		if holds {
			return fmt.Errorf("%w: --out %s holds the list of users %s, which --overwrite would remove: name another", query.ErrWrong, t.Out, name)
		}
	}
	return nil
}

// apart reports an Out that is, contains or is inside the directory of a table.
func (t *Target) apart(ctx context.Context, home string) error {
	how, err := dfs.Overlap(ctx, t.FS, t.Out, home)
	if err != nil {
		return t.unseen(err)
	}
	if how == "" {
		return nil
	}
	return fmt.Errorf("%w: --out %s %s the directory of the table, %s: name another", query.ErrWrong, t.Out, how, home)
}

// isThere reports whether name exists. A link to a file that does not exist exists.
func isThere(ctx context.Context, fs dfs.FS, name string) (bool, error) {
	_, err := fs.Stat(ctx, name)
	if err == nil {
		return true, nil
	}
	if !errors.Is(err, iofs.ErrNotExist) {
		return false, err
	}
	return dfs.IsLink(ctx, fs, name)
}

// checkOld reports an OUT that must not be replaced. It also reports a directory with the name of
// a result that was moved aside, if the directory is no result.
func (p *Place) checkOld(ctx context.Context) error {
	begun, err := p.Appends(ctx)
	if err != nil {
		return fmt.Errorf("look for --out: %w", err)
	}
	if begun {
		return fmt.Errorf("--out %s: %w, and an append to it is not finished: run the same extract --append again first", p.Out, iofs.ErrExist)
	}
	if err := replaceable(ctx, p.FS, p.Out); err != nil {
		return fmt.Errorf("--out %s: %w", p.Out, err)
	}
	old := manifest.Aside(p.Out)
	if err := replaceable(ctx, p.FS, old); err != nil {
		return fmt.Errorf("--out %s is replaced by way of %s: %w", p.Out, old, err)
	}
	return nil
}

// ErrKept is wrapped if --overwrite does not replace OUT. It wraps fs.ErrExist.
var ErrKept = fmt.Errorf("%w, and --overwrite does not replace it", iofs.ErrExist)

// replaceable reports why the directory dir must not be removed, by an error that wraps
// ErrKept. It returns nil only if dir does not exist, is an empty directory, or is a
// result that holds no files but its own.
func replaceable(ctx context.Context, fs dfs.FS, dir string) error {
	why, err := foreign(ctx, fs, dir)
	if err != nil || why == "" {
		return err
	}
	return fmt.Errorf("%w: %s: name another, or move it away", ErrKept, why)
}

// foreign returns why dir is neither an empty directory nor a result that holds no files but its own.
// It returns "" if dir is one of these or does not exist.
func foreign(ctx context.Context, fs dfs.FS, dir string) (why string, err error) {
	if link, err := dfs.IsLink(ctx, fs, dir); err != nil {
		return "", err
	} else if link {
		return "it is a link", nil
	}
	list, err := fs.List(ctx, dir)
	switch {
	case errors.Is(err, iofs.ErrNotExist):
		return "", nil
	case errors.Is(err, dfs.ErrNotDir):
		return "it is a file", nil
	case err != nil:
		return "", err
	case len(list) == 0:
		return "", nil
	}
	m, err := resultIn(ctx, fs, dir)
	if errors.Is(err, manifest.ErrDamaged) {
		return err.Error(), nil
	}
	if err != nil {
		return "", err
	}
	if m == nil {
		return fmt.Sprintf("it holds %s, and is no result of extract", dfs.Base(list[0].Name)), nil
	}
	names, err := m.Foreign(ctx, fs, list)
	if err != nil || len(names) == 0 {
		return "", err
	}
	return fmt.Sprintf("it holds %s, which is not of the result", names[0]), nil
}

// checkStaging reports a directory that has the name of the place, and contains files of other
// programs. An extract removes all files there.
func (p *Place) checkStaging(ctx context.Context) error {
	link, err := dfs.IsLink(ctx, p.FS, p.Dir)
	if err != nil {
		return fmt.Errorf("look for --out: %w", err)
	}
	foreign, err := notStaged(ctx, p.FS, p.Dir)
	if errors.Is(err, iofs.ErrNotExist) && !link {
		return nil
	}
	if err != nil && !errors.Is(err, dfs.ErrNotDir) && !link {
		return fmt.Errorf("look for --out: %w", err)
	}
	name := dfs.Base(p.Dir)
	if foreign != "" {
		name = dfs.Join(name, foreign)
	} else if err == nil && !link {
		return nil
	}
	return fmt.Errorf("--out %s: %w: %s next to it is not of an extract: move it away, or name another directory", p.Out, iofs.ErrExist, name)
}

// notStaged returns the first file or directory below dir that no extract made, or "" if there is
// none. The name begins below dir.
func notStaged(ctx context.Context, fs dfs.FS, dir string) (string, error) {
	list, err := fs.List(ctx, dir)
	if err != nil {
		return "", err
	}
	ofPiece := strings.HasPrefix(dfs.Base(dir), PiecePrefix)
	for _, f := range list {
		base := dfs.Base(f.Name)
		if !stages(base, f.Dir) || ofPiece && ofResult(base) {
			return base, nil
		}
		if !f.Dir || base == SortName {
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

// stagedName matches the names with numbers in a Staging or a Place.
var stagedName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:part-\d{5,}\.[a-z]+|` + donePrefix + `\d{5,}\.json|` + PiecePrefix + `\d{5,}(?:\.json|\.lock)?)$`)
})

// stages reports whether a Staging or a Place may contain a file or directory with the name base.
func stages(base string, dir bool) bool {
	switch base {
	case QueryName, AppendName, ManifestName, SuccessName, notfound.FileName, UsersName, NoneName, ResultName, SortName:
		return true
	}
	if stagedName().MatchString(base) {
		return true
	}
	column, _, partition := strings.Cut(base, "=")
	return dir && partition && slices.Contains(query.Partitions, column)
}
