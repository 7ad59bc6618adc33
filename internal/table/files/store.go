package files

import (
	"context"

	"usertrail/internal/store/dfs"
	"usertrail/internal/table"
	"usertrail/internal/table/catalog"
)

// A Store is the directory of a table of files. The table may not exist yet.
type Store struct {
	FS  dfs.FS
	Dir string
}

// Address implements table.Store.
func (s Store) Address() string { return s.Dir }

// Catalog implements table.Store.
func (s Store) Catalog() string { return s.Dir }

// Lock implements table.Store.
func (s Store) Lock(ctx context.Context) (dfs.Lock, error) { return catalog.Lock(ctx, s.FS, s.Dir) }

// Open implements table.Store.
func (s Store) Open(ctx context.Context) (table.Loader, error) { return s.OpenFiles(ctx) }

// OpenFiles implements table.StoreOfFiles.
func (s Store) OpenFiles(ctx context.Context) (table.OfFiles, error) {
	t, err := Open(ctx, s.FS, s.Dir)
	if err != nil {
		return nil, err
	}
	return t, nil
}

// New implements table.Store.
func (s Store) New(ctx context.Context, p table.Plan) (table.Loader, error) {
	return s.NewFiles(ctx, p)
}

// NewFiles implements table.StoreOfFiles.
func (s Store) NewFiles(ctx context.Context, p table.Plan) (table.OfFiles, error) {
	t, err := New(ctx, s.FS, s.Dir, p)
	if err != nil {
		return nil, err
	}
	return t, nil
}

// Quarantine implements table.Store.
func (s Store) Quarantine(path string) string { return catalog.Quarantine(s.Dir, path) }

// Plans implements table.Store.
func (s Store) Plans() string { return catalog.Plans(s.Dir) }

// Close implements table.Store. It does nothing: the tables own the open files.
func (s Store) Close() error { return nil }
