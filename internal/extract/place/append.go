package place

import (
	"context"
	"errors"
	"fmt"
	iofs "io/fs"
	"slices"
	"strings"

	"usertrail/internal/behaviour"
	"usertrail/internal/extract/notfound"
	"usertrail/internal/format/manifest"
	"usertrail/internal/format/trailfile"
	"usertrail/internal/run/breakpoint"
	"usertrail/internal/store/dfs"
)

// AppendName is the file of a place that holds an Append.
const AppendName = "_append.json"

// An Append is the decision to add an extract to the result in OUT. When its file exists, the parts of
// the extract are complete, and the next run finishes the append.
type Append struct {
	Was    []byte            `json:"was"`              // the manifest in OUT before the append
	Next   *manifest.Extract `json:"next"`             // the manifest in OUT after it
	Span   behaviour.Span    `json:"span"`             // the dates that are added
	Dirs   []string          `json:"dirs"`             // directories that move to OUT
	Pieces bool              `json:"pieces,omitempty"` // they are in the place's directory ResultName, not in the place itself
	// Names is the name in OUT of the file with the users that were not found. It is empty if there is none.
	Names string `json:"names,omitempty"`
}

// Appends reports whether the place has the decision of an append that is not finished.
func (p *Place) Appends(ctx context.Context) (bool, error) {
	_, err := p.FS.Stat(ctx, p.Name(AppendName))
	if errors.Is(err, iofs.ErrNotExist) || errors.Is(err, dfs.ErrNotDir) {
		return false, nil
	}
	return err == nil, err
}

// checkBase reports an OUT to which no extract can be appended. An OUT that does not exist is no
// error: the first extract creates it. If an append is unfinished, OUT may hold its directories.
func (p *Place) checkBase(ctx context.Context) error {
	begun, err := p.Appends(ctx)
	if err != nil {
		return fmt.Errorf("look for --out: %w", err)
	}
	if begun {
		return nil
	}
	why, err := foreign(ctx, p.FS, p.Out)
	if err != nil {
		return fmt.Errorf("look for --out: %w", err)
	}
	if why == "" {
		why, err = p.incomplete(ctx)
	}
	if err != nil || why == "" {
		return err
	}
	return fmt.Errorf("--out %s: %w, and --append does not add to it: %s: name another, or move it away", p.Out, iofs.ErrExist, why)
}

// incomplete returns why an OUT that exists is not a complete result.
func (p *Place) incomplete(ctx context.Context) (why string, err error) {
	there, err := isThere(ctx, p.FS, p.Out)
	if err != nil || !there {
		return "", err
	}
	complete, err := manifest.IsComplete(ctx, p.FS, p.Out)
	if err != nil || complete {
		return "", err
	}
	return "it has no file " + SuccessName + ", so it is not a complete result", nil
}

// Base returns the result in OUT to which next can be appended, or nil if OUT does not exist or an
// unfinished append must be finished first. next has no counts and no parts. Base fails with
// fs.ErrExist if OUT is the result of another query or is damaged, and otherwise with
// manifest.ErrAppended if OUT has the dates of next.
func (p *Place) Base(ctx context.Context, next *manifest.Extract) (*manifest.Extract, error) {
	if begun, err := p.Appends(ctx); err != nil || begun {
		return nil, err
	}
	was, err := p.Result(ctx)
	if err != nil || was == nil {
		return nil, err
	}
	unfit := was.CheckAppend(next)
	if unfit != nil && !errors.Is(unfit, manifest.ErrAppended) {
		return nil, fmt.Errorf("--out %s: %w", p.Out, unfit)
	}
	damage, err := p.Damage(ctx, was.Parts)
	if err != nil {
		return nil, fmt.Errorf("look for --out: %w", err)
	}
	if damage != "" {
		return nil, p.Damaged(ctx, was, damage)
	}
	if unfit != nil {
		return nil, fmt.Errorf("--out %s: %w", p.Out, unfit)
	}
	return was, nil
}

// Has reports whether an extract of a span made OUT, was appended to it, or is in an unfinished append.
func (p *Place) Has(ctx context.Context, span behaviour.Span) (bool, error) {
	if a, err := p.decision(ctx); err != nil || a != nil && a.Span == span {
		return err == nil, err
	}
	m, err := p.Result(ctx)
	if m == nil || err != nil {
		return false, err
	}
	return slices.ContainsFunc(m.Extracts(), func(e manifest.Appended) bool { return e.Span == span }), nil
}

// Append adds the extract with the manifest m to the result base in OUT. The caller holds the lock.
// The steps are:
//
//	_append.json   the decision; before it, OUT is as it was
//	date=…         each directory moves by one rename
//	_manifest.json is replaced; from now on it names the new parts
func (s *Staging) Append(ctx context.Context, base, m *manifest.Extract) error {
	p := At(s.FS, s.out)
	dirs, err := datesOf(m)
	if err != nil {
		return err
	}
	for _, dir := range dirs {
		if there, err := isThere(ctx, p.FS, dfs.Join(p.Out, dir)); err != nil {
			return fmt.Errorf("append: %w", err)
		} else if there {
			return fmt.Errorf("append: %w", p.inTheWay(dir))
		}
	}
	before, err := dfs.ReadFile(ctx, p.FS, dfs.Join(p.Out, ManifestName))
	if err != nil {
		return fmt.Errorf("append: %w", err)
	}
	a := Append{Was: before, Span: m.Query.Span, Dirs: dirs, Names: renameNames(m), Pieces: s.Dir != p.Dir}
	a.Next = base.Append(m)
	b, err := manifest.Seal(a)
	if err != nil {
		return err
	}
	if err := dfs.WriteFile(ctx, p.FS, p.Name(AppendName), b); err != nil {
		return fmt.Errorf("append: %w", err)
	}
	return p.finish(ctx, &a)
}

// datesOf returns the directories of m's parts, one for each date.
func datesOf(m *manifest.Extract) ([]string, error) {
	var dirs []string
	for _, part := range m.Parts {
		if d, ok := DateOf(part.Name); !ok || !m.Query.Span.Has(d) {
			return nil, fmt.Errorf("append: the part %s is not of %s", part.Name, m.Query.Span)
		}
		dir := dfs.Dir(part.Name)
		if !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	return dirs, nil
}

// DateOf returns the date of a part in a directory such as date=2014-09-01. ok is false if the part is
// not in such a directory.
func DateOf(part string) (d behaviour.Date, ok bool) {
	day, ok := strings.CutPrefix(dfs.Dir(part), trailfile.DateColumn+"=")
	if !ok {
		return 0, false
	}
	d, err := behaviour.ParseDate(day)
	return d, err == nil
}

// renameNames renames the file with the users that m did not find to its name in OUT, and returns the
// name. It returns "" if there is none.
func renameNames(m *manifest.Extract) string {
	f := m.NotFoundFile
	if f == nil {
		return ""
	}
	stem, ending, _ := strings.Cut(notfound.FileName, ".")
	f.Name = fmt.Sprintf("%s-%s.%s", stem, m.Query.Span, ending)
	return f.Name
}

// Finished is an error that wraps manifest.ErrAppended. The caller of Open has added the dates itself: Open
// finished an append of them that was killed.
type Finished struct{ error }

// Unwrap returns the error that wraps manifest.ErrAppended.
func (f Finished) Unwrap() error { return f.error }

// FinishAppend finishes an append whose decision is written, and removes the files of the place. It
// returns the extract that the append added to OUT, also if only the files of the place were left. It
// returns nil if there is no decision, or if OUT has changed since. In the second case, FinishAppend
// removes the decision. If a file of the append is damaged, FinishAppend returns an error, and changes
// nothing. The caller holds the lock.
func (p *Place) FinishAppend(ctx context.Context) (*manifest.Appended, error) {
	a, err := p.decision(ctx)
	if err != nil || a == nil {
		return nil, err
	}
	open, done, err := p.state(ctx, a)
	if err == nil && open {
		err = p.damageStep(p.unchanged(ctx, a))
	}
	if err != nil {
		return nil, fmt.Errorf("append: %w", err)
	}
	if open {
		err = p.finish(ctx, a)
	} else {
		err = p.clear(ctx)
	}
	if err != nil || !open && !done {
		return nil, err
	}
	return a.added(), nil
}

// decision returns the decision of an unfinished append, or nil if there is none.
func (p *Place) decision(ctx context.Context) (*Append, error) {
	b, err := dfs.ReadFile(ctx, p.FS, p.Name(AppendName))
	if errors.Is(err, iofs.ErrNotExist) || errors.Is(err, dfs.ErrNotDir) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("append: %w", err)
	}
	var a Append
	if err := manifest.Unseal(b, &a); err != nil {
		return nil, fmt.Errorf("append: %w", p.damageStep(fmt.Errorf("%s: %w", p.Name(AppendName), err)))
	}
	return &a, nil
}

// damageStep adds the next step to err, if a file of an append is damaged.
func (p *Place) damageStep(err error) error {
	if errors.Is(err, dfs.ErrDamaged) || errors.Is(err, manifest.ErrDamaged) {
		err = fmt.Errorf("%w: remove %s, and the directories of --out that its %s does not name", err, p.Dir, ManifestName)
	}
	return err
}

// added returns the extract that a adds to OUT, or nil if a version that did not record its span
// wrote a.
func (a *Append) added() *manifest.Appended {
	for _, e := range a.Next.Extracts() {
		if e.Span == a.Span {
			return &e
		}
	}
	return nil
}

// finish does what is left of a, and removes the files of the place.
func (p *Place) finish(ctx context.Context, a *Append) error {
	if err := p.roll(ctx, a); err != nil {
		return fmt.Errorf("append: %w", err)
	}
	return p.clear(ctx)
}

// clear removes the files of the place, and the decision last.
func (p *Place) clear(ctx context.Context) error { return removeBut(ctx, p.FS, p.Dir, AppendName) }

// state compares the manifest in OUT with the manifests of a. open reports whether OUT is as it was before
// a, and done whether it has all of a. If both are false, another result is in OUT, or none.
func (p *Place) state(ctx context.Context, a *Append) (open, done bool, err error) {
	have, err := dfs.ReadFile(ctx, p.FS, dfs.Join(p.Out, ManifestName))
	if errors.Is(err, iofs.ErrNotExist) || errors.Is(err, dfs.ErrNotDir) {
		return false, false, nil
	}
	if err != nil {
		return false, false, err
	}
	next, err := manifest.Seal(a.Next)
	return string(have) == string(a.Was), string(have) == string(next), err
}

// from returns the directory of the files that move to OUT.
func (p *Place) from(a *Append) string {
	if a.Pieces {
		return p.Name(ResultName)
	}
	return p.Dir
}

// unchanged returns an error that wraps dfs.ErrDamaged if a file that a adds to OUT is missing, or
// has another size or digest.
func (p *Place) unchanged(ctx context.Context, a *Append) error {
	for _, part := range a.Next.Parts {
		if slices.Contains(a.Dirs, dfs.Dir(part.Name)) {
			if err := p.unchangedFile(ctx, a, part.Name, part.Name, part.Size, part.Sum); err != nil {
				return err
			}
		}
	}
	for _, f := range a.Next.NamesFiles() {
		if f.Name == a.Names {
			return p.unchangedFile(ctx, a, notfound.FileName, f.Name, f.Size, f.Sum)
		}
	}
	return nil
}

// unchangedFile checks a file that is called name in the place. If it was moved before, it is called
// moved in OUT.
func (p *Place) unchangedFile(ctx context.Context, a *Append, name, moved string, size int64, sum string) error {
	path := dfs.Join(p.from(a), name)
	there, err := isThere(ctx, p.FS, path)
	if err != nil {
		return err
	}
	if !there {
		path = dfs.Join(p.Out, moved)
	}
	return dfs.CheckFile(ctx, p.FS, path, size, sum)
}

// roll moves the files of a to OUT, which is as it was before a. It skips files that OUT has.
func (p *Place) roll(ctx context.Context, a *Append) error {
	breakpoint.Reach(breakpoint.Publish)
	for _, dir := range a.Dirs {
		if err := p.moveIn(ctx, dfs.Join(p.from(a), dir), dir); err != nil {
			return err
		}
		breakpoint.Reach(breakpoint.Moved)
	}
	if a.Names != "" {
		if err := p.moveIn(ctx, dfs.Join(p.from(a), notfound.FileName), a.Names); err != nil {
			return err
		}
	}
	if err := p.FS.Sweep(ctx, p.Out); err != nil { // of a manifest that was being written
		return err
	}
	if err := manifest.Write(ctx, p.FS, dfs.Join(p.Out, ManifestName), a.Next); err != nil {
		return err
	}
	breakpoint.Reach(breakpoint.Published)
	return nil
}

// moveIn moves the file or directory from to OUT, where it is called to, unless it was moved before.
func (p *Place) moveIn(ctx context.Context, from, to string) error {
	err := p.FS.Publish(ctx, from, dfs.Join(p.Out, to))
	switch {
	case errors.Is(err, iofs.ErrNotExist):
		_, err = p.FS.Stat(ctx, dfs.Join(p.Out, to))
	case errors.Is(err, iofs.ErrExist):
		err = p.inTheWay(to)
	}
	return err
}

// inTheWay returns the error for a file or directory of OUT that has the name of a new one.
func (p *Place) inTheWay(name string) error {
	return fmt.Errorf("%s: %w, and it is not of the result: move it away", dfs.Join(p.Out, name), iofs.ErrExist)
}
