// Package place makes a result appear at its directory OUT, whole or not at all. It checks OUT,
// collects the files in a hidden directory next to it, continues after a kill, and renames the
// directory.
package place

import (
	"context"
	"errors"
	"fmt"
	iofs "io/fs"
	"slices"
	"strings"

	"usertrail/internal/format/manifest"
	"usertrail/internal/run/breakpoint"
	"usertrail/internal/run/exit"
	"usertrail/internal/store/dfs"
)

// A Place is the hidden directory next to OUT in which its result is made, with a lock. A result
// of pieces has these files there:
//
//	.OUT.partial/_question.json      the plan
//	.OUT.partial/_users              the list of users, cut like the pieces
//	.OUT.partial/_none/…             the part of a result without users
//	.OUT.partial/_piece-00003.lock   held while a worker does piece 3
//	.OUT.partial/_piece-00003/…      the parts of piece 3, as in a Staging
//	.OUT.partial/_piece-00003.json   the report of piece 3, which is done
//	.OUT.partial/_answer/…           the files that commit has collected
type Place struct {
	FS  dfs.FS
	Out string
	Dir string
}

// Names in a place and in a result. Spark and Hive skip names that begin with an underscore.
const (
	ManifestName = "_manifest.json"
	SuccessName  = "_SUCCESS"
	QueryName    = manifest.QueryName
	UsersName    = "_users"
	NoneName     = "_none"
	ResultName   = "_answer"
	SortName     = "_sort" // where events and IDs are sorted

	PiecePrefix = "_piece-"
	LockEnding  = ".lock"

	donePrefix = "_done-"
)

// At returns the place of the result out.
func At(fs dfs.FS, out string) *Place {
	out = strings.TrimRight(out, "/")
	return &Place{FS: fs, Out: out, Dir: manifest.Partial(out)}
}

// Lock takes the lock of OUT. If a command that replaced OUT was killed between its two renames, Lock moves the
// old result back to OUT. Workers do pieces without the lock.
func (p *Place) Lock(ctx context.Context) (dfs.Lock, error) {
	l, err := p.FS.Lock(ctx, hiddenName(p.Out, LockEnding))
	if err != nil {
		return nil, fmt.Errorf("begin --out %s: %w", p.Out, unwritable(err))
	}
	breakpoint.Reach(breakpoint.Begun)
	if err := p.undo(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("begin --out %s: %w", p.Out, err), l.Drop())
	}
	return l, nil
}

// ErrUnwritable is wrapped if the user of the process cannot write the result: another try does not help.
var ErrUnwritable = exit.New(exit.Usage, "the result cannot be written")

// unwritable wraps ErrUnwritable around the error of a directory in which the user of the process cannot
// write, and adds the next step.
func unwritable(err error) error {
	return dfs.Unwritable(err, ErrUnwritable,
		"run as a user who may write there, or name another directory with --out", "name another directory with --out, or mount the file system for writing")
}

// Name returns the path of a file in the place.
func (p *Place) Name(base string) string { return dfs.Join(p.Dir, base) }

// Wipe removes everything in the place. It returns the number of finished pieces whose results it removed. It
// fails with dfs.ErrLocked if a worker does a piece there.
func (p *Place) Wipe(ctx context.Context) (done int, err error) { return wipe(ctx, p.FS, p.Dir) }

func wipe(ctx context.Context, fs dfs.FS, dir string) (done int, err error) {
	if err := fs.Mkdir(ctx, dir); err != nil {
		return 0, err
	}
	list, err := fs.List(ctx, dir)
	if err != nil {
		return 0, err
	}
	for _, f := range list {
		if !strings.HasSuffix(f.Name, LockEnding) {
			continue
		}
		l, err := fs.Lock(ctx, f.Name)
		if err != nil {
			return 0, fmt.Errorf("a piece of another plan is being done: %w", err)
		}
		if err := l.Unlock(); err != nil {
			return 0, err
		}
	}
	if err := fs.Sweep(ctx, dir); err != nil {
		return 0, err
	}
	for _, f := range list {
		if err := fs.Remove(ctx, f.Name); err != nil {
			return 0, err
		}
		if IsReport(f) {
			done++
		}
	}
	return done, nil
}

// IsReport reports whether a file in a place is the report of a finished piece.
func IsReport(f dfs.Info) bool {
	base := dfs.Base(f.Name)
	return !f.Dir && strings.HasPrefix(base, PiecePrefix) && strings.HasSuffix(base, ".json")
}

// Result returns the manifest of the result in OUT, or nil if OUT holds no result.
func (p *Place) Result(ctx context.Context) (*manifest.Extract, error) {
	m, err := resultIn(ctx, p.FS, p.Out)
	if errors.Is(err, manifest.ErrDamaged) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("look for --out: %w", err)
	}
	return m, nil
}

// resultIn returns the result in dir. It returns nil if dir does not exist or holds no result.
func resultIn(ctx context.Context, fs dfs.FS, dir string) (*manifest.Extract, error) {
	var m manifest.Extract
	err := manifest.Read(ctx, fs, dfs.Join(dir, ManifestName), &m)
	switch {
	case errors.Is(err, iofs.ErrNotExist) || errors.Is(err, dfs.ErrNotDir):
		return nil, nil
	case err != nil:
		return nil, err
	case m.Table == "" || len(m.Query.Types) == 0:
		return nil, nil // of another program
	}
	return &m, nil
}

// Damage names one of the parts of the result in OUT that is missing or has another size. It returns
// "" if all are whole, as far as their sizes show, and OUT has its _SUCCESS file.
func (p *Place) Damage(ctx context.Context, parts []manifest.TrailPart) (string, error) {
	if why, err := p.incomplete(ctx); err != nil || why != "" {
		return why, err
	}
	for _, part := range parts {
		state, err := manifest.StateOf(ctx, p.FS, dfs.Join(p.Out, part.Name), part.Size)
		switch {
		case err != nil:
			return "", err
		case state == manifest.Missing:
			return part.Name + " is missing", nil
		case state != manifest.Whole:
			return fmt.Sprintf("%s does not have %d bytes", part.Name, part.Size), nil
		}
	}
	return "", nil
}

// Damaged returns the error of a result m in OUT with damage. It names all dates of m, because --overwrite replaces
// the whole result.
func (p *Place) Damaged(ctx context.Context, m *manifest.Extract, damage string) error {
	why, err := foreign(ctx, p.FS, p.Out)
	if err != nil {
		return fmt.Errorf("look for --out: %w", err)
	}
	if why != "" {
		return fmt.Errorf("--out %s: %w, and it is damaged: %s: --overwrite does not replace it, because %s: put it back from a copy, or move it away and, if the table still has all its dates, %s, extract them again", p.Out, iofs.ErrExist, damage, why, m.Query.Span)
	}
	return fmt.Errorf("--out %s: %w, and it is damaged: %s: put it back from a copy, move it away, or, if the table still has all its dates, %s, extract them again with --overwrite", p.Out, iofs.ErrExist, damage, m.Query.Span)
}

// Committed reports whether OUT holds the result of a plan. If appends is set, OUT may have other
// extracts next to it.
func (p *Place) Committed(ctx context.Context, plan string, appends bool) (bool, error) {
	m, err := p.Result(ctx)
	if m == nil || err != nil {
		return false, err
	}
	of := func(a manifest.Appended) bool { return a.Plan == plan }
	return m.Plan == plan || appends && slices.ContainsFunc(m.Appended, of), nil
}

// Tidy removes the files that remain when OUT has its name: a result that was replaced, the files of
// the pieces, and at last the plan.
func (p *Place) Tidy(ctx context.Context) error {
	old := manifest.Aside(p.Out)
	err := replaceable(ctx, p.FS, old)
	if err == nil {
		err = removeBut(ctx, p.FS, old, ManifestName)
	} else if errors.Is(err, iofs.ErrExist) {
		err = nil // it is not a result
	}
	return errors.Join(err, removeBut(ctx, p.FS, p.Dir, QueryName))
}

// Abandoned reports whether the place has only files of extracts, and no query: a commit was
// killed while it removed them.
func (p *Place) Abandoned(ctx context.Context) (bool, error) {
	_, err := p.FS.Stat(ctx, p.Name(QueryName))
	if !errors.Is(err, iofs.ErrNotExist) { // another query
		return false, err
	}
	if link, err := dfs.IsLink(ctx, p.FS, p.Dir); err != nil || link {
		return false, err
	}
	foreign, err := notStaged(ctx, p.FS, p.Dir)
	if errors.Is(err, iofs.ErrNotExist) || errors.Is(err, dfs.ErrNotDir) {
		return false, nil
	}
	return foreign == "" && err == nil, err
}

// hiddenName returns a hidden name next to a directory.
func hiddenName(dir, ending string) string { return dfs.Join(dfs.Dir(dir), "."+dfs.Base(dir)+ending) }
