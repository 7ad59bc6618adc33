package catalog

import (
	"cmp"
	"context"
	"errors"
	iofs "io/fs"
	"maps"
	"slices"

	"usertrail/internal/dfs"
	"usertrail/internal/manifest"
)

// Left is what may be in the table without a ledger; nothing where no load was killed
// and none is under way.
func (c *Catalog) Left(ctx context.Context) (*manifest.Begun, error) { return Left(ctx, c.fs, c.dir) }

// Left is that of the catalog in dir. Read before the catalog is opened, it tells of
// every load that the manifest does not have.
func Left(ctx context.Context, fs dfs.FS, dir string) (*manifest.Begun, error) {
	b, err := leftByLoads(ctx, fs, dir)
	if err != nil {
		return b, err
	}
	pieces, err := leftByPieces(ctx, fs, dir)
	if err != nil {
		return b, err
	}
	for _, name := range slices.Sorted(maps.Keys(pieces)) {
		b = merged(b, pieces[name])
	}
	return b, nil
}

// leftByLoads is Left without what pieces of plans may have put.
func leftByLoads(ctx context.Context, fs dfs.FS, dir string) (*manifest.Begun, error) {
	b := new(manifest.Begun)
	err := manifest.Read(ctx, fs, dfs.Join(dir, begunName), b)
	if errors.Is(err, iofs.ErrNotExist) {
		return new(manifest.Begun), nil
	}
	return b, err
}

// merged is what may be in the table by both.
func merged(a, b *manifest.Begun) *manifest.Begun {
	none := len(a.Inputs) == 0 && len(a.Rolls) == 0
	return &manifest.Begun{
		Version: manifest.Version,
		Inputs:  append(without(a.Inputs, b.Inputs), b.Inputs...),
		Rolls:   append(withoutRolls(a.Rolls, filesOf(b.Rolls)), b.Rolls...),
		Alone:   b.Alone && (none || a.Alone),
		Schema:  cmp.Or(b.Schema, a.Schema), // the later one holds the other
	}
}

// Begun are the delivered files whose records a load began to put and that no
// ledger holds yet: some of their cells may be in the table. Only puts leave any.
func (c *Catalog) Begun(ctx context.Context) ([]manifest.Input, error) {
	b, err := c.Left(ctx)
	return b.Inputs, err
}

// Leave remembers what may be in the table from now on, in addition to what may be
// there before, until a load that holds it calls Finish.
func (c *Catalog) Leave(ctx context.Context, more *manifest.Begun) error {
	if len(more.Inputs) == 0 && len(more.Rolls) == 0 {
		return nil
	}
	before, err := leftByLoads(ctx, c.fs, c.dir)
	if err != nil {
		return err
	}
	after := merged(before, more)
	after.Alone = more.Alone
	return c.setLeft(ctx, after)
}

// Finish forgets files, once a ledger holds them, and rolls that the manifest has.
// What another load left of other records stays.
func (c *Catalog) Finish(ctx context.Context, inputs []manifest.Input) error {
	if err := c.finishPieces(ctx, inputs); err != nil {
		return err
	}
	before, err := leftByLoads(ctx, c.fs, c.dir)
	if err != nil || len(before.Inputs) == 0 && len(before.Rolls) == 0 {
		return err
	}
	return c.setLeft(ctx, &manifest.Begun{
		Inputs: without(before.Inputs, inputs),
		Rolls:  withoutRolls(before.Rolls, c.Manifest().Files),
		Alone:  before.Alone,
		Schema: before.Schema,
	})
}

// finishPieces forgets what pieces may have put of files that a ledger holds now, all of
// them together.
func (c *Catalog) finishPieces(ctx context.Context, inputs []manifest.Input) error {
	pieces, err := leftByPieces(ctx, c.fs, c.dir)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(pieces)) {
		if len(without(pieces[name].Inputs, inputs)) > 0 {
			continue
		}
		if err := c.fs.Remove(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

func (c *Catalog) setLeft(ctx context.Context, b *manifest.Begun) error {
	name := dfs.Join(c.dir, begunName)
	if len(b.Inputs) == 0 && len(b.Rolls) == 0 {
		return c.fs.Remove(ctx, name)
	}
	b.Version = manifest.Version
	return manifest.Write(ctx, c.fs, name, b)
}

// without leaves out the inputs that have the path of one of the others.
func without(inputs, others []manifest.Input) []manifest.Input {
	return slices.DeleteFunc(slices.Clone(inputs), func(in manifest.Input) bool {
		return slices.ContainsFunc(others, func(o manifest.Input) bool { return o.Path == in.Path })
	})
}

// withoutRolls leaves out those that are rolls of the files.
func withoutRolls(rolls []manifest.Rolled, files []manifest.File) []manifest.Rolled {
	return slices.DeleteFunc(slices.Clone(rolls), func(r manifest.Rolled) bool {
		return slices.ContainsFunc(files, func(f manifest.File) bool { return f.Roll == r.Roll })
	})
}

func filesOf(rolls []manifest.Rolled) []manifest.File {
	out := make([]manifest.File, len(rolls))
	for i := range rolls {
		out[i] = rolls[i].File
	}
	return out
}
