package place

import (
	"context"

	"usertrail/internal/format/manifest"
)

// Undo moves the old result back to Out if a command with Overwrite was killed between its two renames. Otherwise it
// changes nothing, and does not take the lock. A command that writes Out calls it before it checks or reads Out.
func (t *Target) Undo(ctx context.Context) error {
	p := At(t.FS, t.Out)
	half, err := p.halfReplaced(ctx)
	if err != nil || !half {
		return nil //nolint:nilerr // Check reports it, or Lock, which looks again
	}
	l, err := p.Lock(ctx)
	if err != nil {
		return err
	}
	return l.Drop()
}

// undo moves the old result back to OUT if OUT is half replaced. The new result stays in the place: the same command may
// continue there. The caller holds the lock.
func (p *Place) undo(ctx context.Context) error {
	half, err := p.halfReplaced(ctx)
	if err != nil || !half {
		return err
	}
	return p.FS.Publish(ctx, manifest.Aside(p.Out), p.Out)
}

// halfReplaced reports whether OUT does not exist, because a command that replaces it has done the first of its two
// renames: the place has the finished new result, and the old one was moved aside, where it is complete and has no files of
// others.
func (p *Place) halfReplaced(ctx context.Context) (bool, error) {
	if there, err := isThere(ctx, p.FS, p.Out); err != nil || there {
		return false, err
	}
	old := At(p.FS, manifest.Aside(p.Out))
	if m, err := old.Result(ctx); err != nil || m == nil {
		return false, err
	}
	if finished, err := p.finished(ctx); err != nil || !finished {
		return false, err
	}
	why, err := foreign(ctx, old.FS, old.Out)
	if err == nil && why == "" {
		why, err = old.incomplete(ctx)
	}
	return why == "" && err == nil, err
}

// finished reports whether the place has a complete result, of one process or of pieces.
func (p *Place) finished(ctx context.Context) (bool, error) {
	for _, dir := range []string{p.Dir, p.Name(ResultName)} {
		if complete, err := manifest.IsComplete(ctx, p.FS, dir); err != nil || complete {
			return complete, err
		}
	}
	return false, nil
}
