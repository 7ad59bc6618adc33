package live

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	iofs "io/fs"
	"path"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"usertrail/internal/format/hfile"
	"usertrail/internal/format/manifest"
	"usertrail/internal/store/dfs"
	"usertrail/internal/table"
	"usertrail/internal/table/catalog"
	"usertrail/internal/table/segment"
)

// TakeIn implements table.Loader. It first hands the files to the regions. Readers see the rows as
// soon as a region has taken a file.
func (t *Table) TakeIn(ctx context.Context, load *manifest.Load, files []manifest.File) error {
	alone, err := t.Alone(ctx)
	if err != nil {
		return err
	}
	t.SetAlone(alone)
	if !slices.ContainsFunc(files, func(f manifest.File) bool { return f.Name != "" }) {
		if err := t.Commit(ctx, load, files); err != nil {
			return err
		}
		if err := t.Finish(ctx, load.Inputs); err != nil {
			return err
		}
		return t.lookAgain(ctx)
	}
	staging, _, err := t.stagedIn(files[0].Name)
	if err != nil {
		return err
	}
	h := &manifest.Handover{Load: load, Table: t.With(load, files), Staging: staging, Files: make([]manifest.Staged, len(files))}
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(callsAtOnce)
	for i := range files {
		g.Go(func() (err error) {
			h.Files[i], err = t.staged(gctx, &files[i])
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	return t.takeIn(ctx, h, false)
}

// takeIn hands over the remaining files of h and makes them part of the table. If unsettled, calls of
// another process may have handed over some of them.
func (t *Table) takeIn(ctx context.Context, h *manifest.Handover, unsettled bool) error {
	o, err := t.newHandover(ctx, h)
	if err != nil {
		return t.address.explain(err)
	}
	if err := o.run(ctx, unsettled); err != nil {
		return fmt.Errorf("load %d: hand its files to HBase: %w", h.Load.Number, t.address.explain(err))
	}
	if err := t.CommitAs(ctx, h.Load, h.Table); err != nil {
		return err
	}
	return t.clear(ctx, h)
}

// clear removes the temporary files of a load that is in the table.
func (t *Table) clear(ctx context.Context, h *manifest.Handover) error {
	if err := t.Finish(ctx, h.Load.Inputs); err != nil {
		return err
	}
	for _, token := range h.Tokens {
		if err := t.client.CleanupBulkLoad(ctx, t.address.Table, token); err != nil {
			return fmt.Errorf("load %d is in, clear up after it: %w", h.Load.Number, t.address.explain(err))
		}
	}
	if err := t.store.fs.Remove(ctx, h.Staging); err != nil {
		return err
	}
	if err := t.EndHandover(ctx); err != nil {
		return err
	}
	return t.lookAgain(ctx)
}

// Recover implements table.Loader. It finishes a load whose files were being handed over. If some of
// its files are neither in HBase nor staged, Recover forgets the load instead: a new load from the
// logs writes the same cells.
func (t *Table) Recover(ctx context.Context) ([]*manifest.Load, error) {
	if err := t.CheckFiles(ctx); err != nil {
		return nil, err
	}
	h, err := t.Handover(ctx)
	if err != nil {
		return nil, err
	}
	if h != nil {
		if err := t.checkStaging(h); err != nil {
			return nil, err
		}
	}
	if err := t.SweepLedgers(ctx); err != nil {
		return nil, err
	}
	var finished []*manifest.Load
	switch {
	case h == nil:
		err = t.sweepStaging(ctx)
	case h.Load.Number < t.NextLoad():
		err = t.clear(ctx, h)
	default:
		err = t.takeIn(ctx, h, true)
		if errors.Is(err, errLost) {
			err = t.forget(ctx, h)
		} else if err == nil {
			finished = append(finished, h.Load)
		}
	}
	if err == nil {
		err = t.finishHeld(ctx)
	}
	if err != nil {
		return nil, err
	}
	return finished, t.Sweep(ctx, t.family)
}

// finishHeld removes begun files that are in a ledger. Their load was killed after the commit.
func (t *Table) finishHeld(ctx context.Context) error {
	left, err := t.Left(ctx)
	if err != nil || len(left.Inputs)+len(left.Rolls) == 0 {
		return err
	}
	ledgers, err := table.Ledgers(ctx, t)
	if err != nil {
		return err
	}
	held := slices.DeleteFunc(slices.Clone(left.Inputs), func(begun manifest.Input) bool {
		return !manifest.Held(ledgers, &begun)
	})
	if err := t.Finish(ctx, held); err != nil {
		return err
	}
	return t.lookAgain(ctx)
}

// checkStaging returns an error if a staging directory cannot be one of this table, because the
// directory will be removed. It does not compare names of file systems: one file system can have many.
func (t *Table) checkStaging(h *manifest.Handover) error {
	in, err := t.store.stagingIn()
	if err != nil {
		in = dfs.Join(t.Dir(), stagingName) // other places are not known to belong to the table
	}
	rest, ok := strings.CutPrefix(pathOf(h.Staging), dfs.Dir(pathOf(in))+"/")
	ofPlan, _ := path.Match(catalog.PieceFolder("*")+"/"+stagingName, rest)
	switch {
	case ok && iofs.ValidPath(rest) && (ofPlan || strings.HasPrefix(rest+"/", stagingName+"/")):
		return nil
	case err != nil:
		return fmt.Errorf("a load was staged in %s: %w", h.Staging, err)
	}
	return fmt.Errorf("handover.json of %s: %w: its files are staged in %q, and the files of this table in %s", t.Dir(), manifest.ErrDamaged, h.Staging, in)
}

// pathOf returns a name without its file system, with a slash in front.
func pathOf(name string) string {
	return "/" + strings.Trim(strings.TrimPrefix(name, dfs.Root(name)), "/")
}

// forget gives up a load that was being handed over. Some of its rows may be in the table. So its
// delivered files count as begun, and as lost. Its rolls stay, under names that no other load has.
func (t *Table) forget(ctx context.Context, h *manifest.Handover) error {
	left := &manifest.Begun{Alone: h.Table.Alone, Schema: h.Table.Schema}
	var numbers []uint32
	for _, in := range h.Load.Inputs {
		if in.Loaded > 0 && in.SameAs == "" {
			in.Job = h.Load.Job
			left.Inputs, left.Lost, numbers = append(left.Inputs, in), append(left.Lost, in.Path), append(numbers, in.Number)
		}
	}
	whole := true
	for _, f := range filesOf(h) {
		b, err := dfs.ReadFile(ctx, t.store.fs, dfs.Join(t.Dir(), f.Roll))
		if errors.Is(err, iofs.ErrNotExist) {
			whole = false
			continue
		}
		if err != nil {
			return err
		}
		sum := sha256.Sum256(b)
		f.Name, f.Roll = "", fmt.Sprintf("%s/lost-%x.roll", t.family, sum[:8])
		if err := dfs.WriteFile(ctx, t.store.fs, dfs.Join(t.Dir(), f.Roll), b); err != nil {
			return err
		}
		left.Rolls = append(left.Rolls, manifest.Rolled{File: f})
	}
	if whole { // the rolls list all users
		for i := range left.Rolls {
			left.Rolls[i].Inputs = numbers
		}
	}
	if err := t.Leave(ctx, left); err != nil {
		return err
	}
	return t.clear(ctx, &manifest.Handover{Load: &manifest.Load{Number: h.Load.Number}, Staging: h.Staging, Tokens: h.Tokens})
}

// sweepStaging removes files that were staged and never handed over. If no staging directory is
// known, nothing was staged.
func (t *Table) sweepStaging(ctx context.Context) error {
	staging, err := t.store.stagingIn()
	if err != nil {
		return nil //nolint:nilerr // no HFiles are loaded here
	}
	return t.store.fs.Remove(ctx, staging)
}

// staged describes a file for the handover.
func (t *Table) staged(ctx context.Context, f *manifest.File) (manifest.Staged, error) {
	_, below, err := t.stagedIn(f.Name)
	if err != nil {
		return manifest.Staged{}, err
	}
	s := manifest.Staged{Name: below, First: f.First, Last: f.Last, Tally: f.Tally}
	in, r, err := openStaged(ctx, t, f.Name)
	if err != nil {
		return s, err
	}
	defer in.Close()
	it := r.Iterator(hfile.IterOptions{})
	if !it.First() {
		return s, fmt.Errorf("%s: no cells: %w", f.Name, it.Err())
	}
	s.Qualifier, s.Time = append(manifest.Key{}, it.Cell().Qualifier...), it.Cell().Time
	return s, nil
}

func openStaged(ctx context.Context, from segment.Target, name string) (dfs.File, *hfile.Reader, error) {
	in, err := from.Staged(ctx, name)
	if err != nil {
		return nil, nil, err
	}
	r, err := hfile.Open(in, in.Size())
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("open %s: %w", name, err), in.Close())
	}
	return in, r, nil
}
