package catalog

import (
	"cmp"
	"context"
	"errors"
	iofs "io/fs"
	"maps"
	"slices"

	"usertrail/internal/behaviour"
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
	inputs := slices.DeleteFunc(slices.Clone(a.Inputs), func(in manifest.Input) bool { return has(b.Inputs, &in) })
	none := len(a.Inputs) == 0 && len(a.Rolls) == 0
	return &manifest.Begun{
		Version: manifest.Version,
		Inputs:  append(inputs, b.Inputs...),
		Rolls:   append(withoutRolls(a.Rolls, filesOf(b.Rolls)), b.Rolls...),
		Alone:   b.Alone && (none || a.Alone),
		Lost:    lostOf(append(slices.Clone(a.Lost), b.Lost...), append(inputs, b.Inputs...)),
		Schema:  bothSchemas(a.Schema, b.Schema),
	}
}

// bothSchemas has what both have. Pieces of two plans may each have what the other does not.
func bothSchemas(a, b *behaviour.Schema) *behaviour.Schema {
	if a == nil || b == nil {
		return cmp.Or(b, a)
	}
	if m, err := a.Merge(b); err == nil {
		return m
	}
	return b // the later one
}

// Lost are the paths of delivered files of which a load gave some HFiles to HBase, and the
// others are gone: some of their rows are in the table, and no ledger holds them yet.
func (c *Catalog) Lost(ctx context.Context) ([]string, error) {
	b, err := leftByLoads(ctx, c.fs, c.dir)
	return b.Lost, err
}

// Begun are the delivered files whose records a load began to put and that no
// ledger holds yet: some of their cells may be in the table. Puts leave them, and a load by
// HFiles that was given up.
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

// Finish forgets files, once ledgers hold all that was begun of them, their rolls, and rolls
// that the manifest has. inputs are those of the newest ledger. What another load left of other
// records stays.
func (c *Catalog) Finish(ctx context.Context, inputs []manifest.Input) error {
	held, err := c.held(ctx, inputs)
	if err != nil {
		return err
	}
	if err := c.finishPieces(ctx, held); err != nil {
		return err
	}
	before, err := leftByLoads(ctx, c.fs, c.dir)
	if err != nil || len(before.Inputs) == 0 && len(before.Rolls) == 0 {
		return err
	}
	inputs = slices.DeleteFunc(slices.Clone(before.Inputs), held)
	return c.setLeft(ctx, &manifest.Begun{
		Inputs: inputs,
		Rolls:  rollsOf(withoutRolls(before.Rolls, c.Manifest().Files), inputs),
		Alone:  before.Alone,
		Lost:   lostOf(before.Lost, inputs),
		Schema: before.Schema,
	})
}

// held returns what says of a file of Left whether ledgers hold all that was begun of it. The
// ledgers are read if the newest one, which has inputs, holds another part of such a file.
func (c *Catalog) held(ctx context.Context, inputs []manifest.Input) (func(manifest.Input) bool, error) {
	left, err := c.Left(ctx)
	if err != nil {
		return nil, err
	}
	var ledgers []*manifest.Load
	for i := range left.Inputs {
		in := &left.Inputs[i]
		if !has(inputs, in) && slices.ContainsFunc(inputs, func(o manifest.Input) bool { return o.Path == in.Path }) {
			if ledgers, err = c.Ledgers(ctx); err != nil {
				return nil, err
			}
			break
		}
	}
	return func(in manifest.Input) bool { return has(inputs, &in) || manifest.Held(ledgers, &in) }, nil
}

// has says whether inputs have all that was begun of a file.
func has(inputs []manifest.Input, begun *manifest.Input) bool {
	return slices.ContainsFunc(inputs, func(o manifest.Input) bool {
		return o.Has(begun) || begun.Offsets != nil && o.Path == begun.Path
	})
}

// finishPieces forgets what pieces may have put of files that are held now, all of them
// together.
func (c *Catalog) finishPieces(ctx context.Context, held func(manifest.Input) bool) error {
	pieces, err := leftByPieces(ctx, c.fs, c.dir)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(pieces)) {
		if slices.ContainsFunc(pieces[name].Inputs, func(in manifest.Input) bool { return !held(in) }) {
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

// rollsOf leaves out the rolls of which no input is left.
func rollsOf(rolls []manifest.Rolled, inputs []manifest.Input) []manifest.Rolled {
	return slices.DeleteFunc(rolls, func(r manifest.Rolled) bool {
		left := slices.ContainsFunc(inputs, func(in manifest.Input) bool { return slices.Contains(r.Inputs, in.Number) })
		return len(r.Inputs) > 0 && !left
	})
}

// lostOf returns the paths that are those of inputs, in order and each once.
func lostOf(paths []string, inputs []manifest.Input) []string {
	paths = slices.DeleteFunc(slices.Clone(paths), func(path string) bool {
		return !slices.ContainsFunc(inputs, func(in manifest.Input) bool { return in.Path == path })
	})
	slices.Sort(paths)
	return slices.Compact(paths)
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
