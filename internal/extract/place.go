package extract

import (
	"context"
	"errors"
	"fmt"
	iofs "io/fs"
	"strings"

	"usertrail/internal/extract/userlist"
	"usertrail/internal/format/manifest"
	"usertrail/internal/run/breakpoint"
	"usertrail/internal/store/dfs"
)

// A place is where answers for one OUT grow: a hidden directory beside it, with a lock.
// Of an answer that is cut into pieces there lies
//
//	.OUT.partial/_question.json      the plan
//	.OUT.partial/_users              the list of users, cut as the pieces are
//	.OUT.partial/_none/…             the part of an answer of nobody
//	.OUT.partial/_piece-00003.lock   held while piece 3 is done
//	.OUT.partial/_piece-00003/…      its parts, as a staging has them
//	.OUT.partial/_piece-00003.json   it is done, and this is in it
//	.OUT.partial/_answer/…           what commit has brought together
type place struct {
	fs  dfs.FS
	out string
	dir string
}

// More names in it.
const (
	usersName  = "_users"
	noneName   = "_none"
	answerName = "_answer"

	placeEnding = ".partial" // the longest of these
	lockEnding  = ".lock"
	oldEnding   = ".old" // of a result that is being replaced

	piecePrefix = "_piece-"
)

func placeOf(fs dfs.FS, out string) *place {
	out = strings.TrimRight(out, "/")
	return &place{fs: fs, out: out, dir: beside(out, placeEnding)}
}

// lock keeps others away from OUT, but not from pieces.
func (p *place) lock(ctx context.Context) (dfs.Lock, error) {
	l, err := p.fs.Lock(ctx, beside(p.out, lockEnding))
	if err != nil {
		return nil, fmt.Errorf("begin --out %s: %w", p.out, unwritable(err))
	}
	breakpoint.Reach(breakpoint.Begun)
	return l, nil
}

// unwritable wraps ErrQuestion around the error of a folder in which this user can write
// nothing: another try does not help.
func unwritable(err error) error {
	return dfs.Unwritable(err, ErrQuestion,
		"run as a user who may write there, or name another directory with --out", "name another directory with --out, or mount the file system for writing")
}

func (p *place) name(base string) string { return dfs.Join(p.dir, base) }

func pieceName(n int) string { return fmt.Sprintf("%s%05d", piecePrefix, n) }

func reportName(n int) string { return pieceName(n) + ".json" }

// wipe makes the place empty. It fails with dfs.ErrLocked where somebody is at a piece.
func (p *place) wipe(ctx context.Context) error {
	if err := p.fs.Mkdir(ctx, p.dir); err != nil {
		return err
	}
	list, err := p.fs.List(ctx, p.dir)
	if err != nil {
		return err
	}
	for _, f := range list {
		if !strings.HasSuffix(f.Name, lockEnding) {
			continue
		}
		l, err := p.fs.Lock(ctx, f.Name)
		if err != nil {
			return fmt.Errorf("a piece of another plan is being done: %w", err)
		}
		if err := l.Unlock(); err != nil {
			return err
		}
	}
	if err := p.fs.Sweep(ctx, p.dir); err != nil {
		return err
	}
	for _, f := range list {
		if err := p.fs.Remove(ctx, f.Name); err != nil {
			return err
		}
	}
	return nil
}

// writeUsers writes the list that pieces read theirs from.
func (p *place) writeUsers(ctx context.Context, u *userlist.List) error {
	f, err := p.fs.Create(ctx, p.name(usersName))
	if err != nil {
		return err
	}
	defer f.Abort()
	if err := u.Write(f); err != nil {
		return err
	}
	return f.Commit()
}

// readUsers reads a piece's users, or all, which may take limit bytes of memory.
func (p *place) readUsers(ctx context.Context, s *userlist.Members, limit int64) (*userlist.List, error) {
	if s == nil {
		return userlist.All(), nil
	}
	f, err := p.fs.Open(ctx, p.name(usersName))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	list, err := s.Read(f, p.name(usersName), limit)
	if errors.Is(err, userlist.ErrOther) {
		err = fmt.Errorf("%w: %w", ErrStale, err)
	}
	return list, err
}

// planned returns the plan that is here, nil if there is none. If the file of the plan is not as
// it was written, the error wraps ErrStale and manifest.ErrDamaged.
func (p *place) planned(ctx context.Context) (*planned, error) {
	b, err := dfs.ReadFile(ctx, p.fs, p.name(questionName))
	if errors.Is(err, iofs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var have planned
	if err := manifest.Unseal(b, &have); err != nil {
		return nil, fmt.Errorf("%w: %s: %w: plan again", ErrStale, p.name(questionName), err)
	}
	if have.Of == 0 {
		return nil, nil // one process answers there
	}
	return &have, nil
}

// answered returns the manifest of the result in OUT, or nil if OUT holds no result.
func (p *place) answered(ctx context.Context) (*manifest.Extract, error) {
	return answerIn(ctx, p.fs, p.out)
}

// answerIn returns the result in dir. It returns nil if dir does not exist or holds no result.
func answerIn(ctx context.Context, fs dfs.FS, dir string) (*manifest.Extract, error) {
	var m manifest.Extract
	err := manifest.Read(ctx, fs, dfs.Join(dir, ManifestName), &m)
	switch {
	case errors.Is(err, iofs.ErrNotExist) || errors.Is(err, manifest.ErrDamaged) || errors.Is(err, dfs.ErrNotDir):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("look for --out: %w", err)
	case m.Table == "" || len(m.Question.Types) == 0:
		return nil, nil // of another program
	}
	return &m, nil
}

// committed reports whether OUT holds the result of the plan.
func (p *place) committed(ctx context.Context, plan string) (bool, error) {
	m, err := p.answered(ctx)
	return m != nil && m.Plan == plan, err
}
