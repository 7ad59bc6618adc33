package catalog

import (
	"context"
	"errors"
	iofs "io/fs"
	"slices"

	"usertrail/internal/dfs"
	"usertrail/internal/manifest"
)

// Begun are the delivered files whose records a load began to put and that no
// ledger holds yet: some of their cells may be in the table. Only puts leave any.
func (c *Catalog) Begun(ctx context.Context) ([]manifest.Input, error) {
	b := new(manifest.Begun)
	err := manifest.Read(ctx, c.fs, dfs.Join(c.dir, begunName), b)
	if errors.Is(err, iofs.ErrNotExist) {
		return nil, nil
	}
	return b.Inputs, err
}

// Begin remembers that records of some delivered files are about to be put, in
// addition to those that were begun before. The load that holds them all clears
// them by Finish.
func (c *Catalog) Begin(ctx context.Context, inputs []manifest.Input) error {
	if len(inputs) == 0 {
		return nil
	}
	before, err := c.Begun(ctx)
	if err != nil {
		return err
	}
	all := append(without(before, inputs), inputs...)
	return manifest.Write(ctx, c.fs, dfs.Join(c.dir, begunName), &manifest.Begun{Version: manifest.Version, Inputs: all})
}

// Finish forgets that files were begun, once a ledger holds them.
func (c *Catalog) Finish(ctx context.Context, inputs []manifest.Input) error {
	before, err := c.Begun(ctx)
	if err != nil || len(before) == 0 {
		return err
	}
	rest := without(before, inputs)
	if len(rest) == 0 {
		return c.fs.Remove(ctx, dfs.Join(c.dir, begunName))
	}
	return manifest.Write(ctx, c.fs, dfs.Join(c.dir, begunName), &manifest.Begun{Version: manifest.Version, Inputs: rest})
}

// without leaves out the inputs that have the path of one of the others.
func without(inputs, others []manifest.Input) []manifest.Input {
	return slices.DeleteFunc(slices.Clone(inputs), func(in manifest.Input) bool {
		return slices.ContainsFunc(others, func(o manifest.Input) bool { return o.Path == in.Path })
	})
}
