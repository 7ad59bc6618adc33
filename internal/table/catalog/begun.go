package catalog

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	iofs "io/fs"
	"maps"
	"slices"

	"usertrail/internal/behaviour"
	"usertrail/internal/format/manifest"
	"usertrail/internal/store/dfs"
	"usertrail/internal/table"
)

// Left returns the files and rolls whose rows may be in the table although no ledger holds
// them. The result is empty if no load was killed and no load runs.
func (c *Catalog) Left(ctx context.Context) (*manifest.Begun, error) { return Left(ctx, c.fs, c.dir) }

// Left returns the files and rolls whose rows may be in the table of the catalog in dir
// although no ledger holds them. If the caller reads it before it opens the catalog, the result
// has every load that the manifest does not have.
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
		if b, err = merged(b, pieces[name]); err != nil {
			return new(manifest.Begun), err
		}
	}
	return b, nil
}

// leftByLoads returns the part of Left that loads wrote. It leaves out the pieces of plans.
func leftByLoads(ctx context.Context, fs dfs.FS, dir string) (*manifest.Begun, error) {
	b := new(manifest.Begun)
	err := read(ctx, fs, dfs.Join(dir, begunName), b)
	if errors.Is(err, iofs.ErrNotExist) {
		return new(manifest.Begun), nil
	}
	return b, putAgain(err)
}

// putAgain adds the next step to the error of a damaged record of records that a killed load gave to HBase. The same load writes the
// same cells again.
func putAgain(err error) error {
	if !errors.Is(err, manifest.ErrDamaged) {
		return err
	}
	return fmt.Errorf("%w: put it back from a copy of the catalog; or remove it, and run the load or the piece that was killed again", err)
}

// merged returns the files and rolls of a and b together. b replaces the entries that both
// have. It returns an error that wraps table.ErrUnfit if no schema and layout describe the records of both.
func merged(a, b *manifest.Begun) (*manifest.Begun, error) {
	schema, err := bothSchemas(a.Schema, b.Schema)
	if err == nil && a.Layout != "" && b.Layout != "" && a.Layout != b.Layout {
		err = fmt.Errorf("its rows have the layout %s, and rows of another load have %s", a.Layout, b.Layout)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: a load that is under way, or was killed: %w", table.ErrUnfit, err)
	}
	inputs := slices.DeleteFunc(slices.Clone(a.Inputs), func(in manifest.Input) bool { return has(b.Inputs, &in) })
	none := len(a.Inputs) == 0 && len(a.Rolls) == 0
	return &manifest.Begun{
		Version: manifest.Version,
		Inputs:  append(inputs, b.Inputs...),
		Rolls:   append(withoutRolls(a.Rolls, filesOf(b.Rolls)), b.Rolls...),
		Alone:   b.Alone && (none || a.Alone),
		Lost:    lostOf(append(slices.Clone(a.Lost), b.Lost...), append(inputs, b.Inputs...)),
		Schema:  schema,
		Layout:  cmp.Or(b.Layout, a.Layout),
	}, nil
}

// bothSchemas returns a schema with the behaviours and fields of a and b. Pieces of two plans
// may each have fields that the other plan lacks.
func bothSchemas(a, b *behaviour.Schema) (*behaviour.Schema, error) {
	if a == nil || b == nil {
		return cmp.Or(b, a), nil
	}
	return a.Merge(b)
}

// Lost returns the paths of delivered files of a load that gave some HFiles to HBase and whose
// other HFiles are gone. Some rows of these files are in the table, and no ledger holds them
// yet.
func (c *Catalog) Lost(ctx context.Context) ([]string, error) {
	b, err := leftByLoads(ctx, c.fs, c.dir)
	return b.Lost, err
}

// Begun returns the delivered files whose records a load began to put and that no ledger holds
// yet. Some of their cells may be in the table. Loads of puts leave such files, and so does a
// load by HFiles that was given up.
func (c *Catalog) Begun(ctx context.Context) ([]manifest.Input, error) {
	b, err := c.Left(ctx)
	return b.Inputs, err
}

// Leave records more as possibly in the table. It keeps the earlier entries. The entries remain
// until a load that holds them calls Finish.
func (c *Catalog) Leave(ctx context.Context, more *manifest.Begun) error {
	if len(more.Inputs) == 0 && len(more.Rolls) == 0 {
		return nil
	}
	before, err := leftByLoads(ctx, c.fs, c.dir)
	if err != nil {
		return err
	}
	after, err := merged(before, more)
	if err != nil {
		return err
	}
	after.Alone = more.Alone
	return c.setLeft(ctx, after)
}

// Finish removes files from Left once ledgers hold everything that was begun of them. It also
// removes the rolls of these files, and rolls that the manifest has. inputs are the files of
// the newest ledger. Records that another load left remain.
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

// held returns a function that reports whether ledgers hold everything that was begun of a file
// of Left. inputs are the files of the newest ledger. held reads the other ledgers only if the
// newest ledger holds another part of such a file.
func (c *Catalog) held(ctx context.Context, inputs []manifest.Input) (func(manifest.Input) bool, error) {
	left, err := c.Left(ctx)
	if err != nil {
		return nil, err
	}
	var ledgers []*manifest.Load
	for i := range left.Inputs {
		in := &left.Inputs[i]
		if !has(inputs, in) && slices.ContainsFunc(inputs, func(o manifest.Input) bool { return o.Path == in.Path }) {
			if ledgers, err = table.Ledgers(ctx, c); err != nil {
				return nil, err
			}
			break
		}
	}
	return func(in manifest.Input) bool { return has(inputs, &in) || manifest.Held(ledgers, &in) }, nil
}

// has reports whether inputs hold everything that was begun of a file. Only a reread has what another reread began.
func has(inputs []manifest.Input, begun *manifest.Input) bool {
	return slices.ContainsFunc(inputs, func(o manifest.Input) bool {
		if begun.Reread != nil {
			return o.HasReread(begun)
		}
		return o.Has(begun) || begun.Offsets != nil && o.Path == begun.Path
	})
}

// finishPieces removes the record of a piece once ledgers hold all files that the piece may
// have put.
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

// rollsOf returns rolls without the rolls whose inputs are all gone.
func rollsOf(rolls []manifest.Rolled, inputs []manifest.Input) []manifest.Rolled {
	return slices.DeleteFunc(rolls, func(r manifest.Rolled) bool {
		left := slices.ContainsFunc(inputs, func(in manifest.Input) bool { return slices.Contains(r.Inputs, in.Number) })
		return len(r.Inputs) > 0 && !left
	})
}

// lostOf returns the paths that belong to inputs, sorted and without duplicates.
func lostOf(paths []string, inputs []manifest.Input) []string {
	paths = slices.DeleteFunc(slices.Clone(paths), func(path string) bool {
		return !slices.ContainsFunc(inputs, func(in manifest.Input) bool { return in.Path == path })
	})
	slices.Sort(paths)
	return slices.Compact(paths)
}

// withoutRolls returns rolls without the rolls of files.
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
