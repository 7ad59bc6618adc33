package files

import (
	"context"
	"fmt"
	"strings"

	"usertrail/internal/dfs"
	"usertrail/internal/table"
)

// A Store is the directory of a table of files, whether or not there is one yet.
type Store struct {
	FS  dfs.FS
	Dir string
}

// Address implements table.Store.
func (s Store) Address() string { return s.Dir }

// Lock implements table.Store.
func (s Store) Lock(ctx context.Context) (dfs.Lock, error) {
	if err := s.FS.Mkdir(ctx, s.Dir); err != nil {
		return nil, fmt.Errorf("make table %s: %w", s.Dir, err)
	}
	l, err := s.FS.Lock(ctx, dfs.Join(s.Dir, lockName))
	if err != nil {
		return nil, fmt.Errorf("table %s: %w", s.Dir, err)
	}
	return l, nil
}

// Open implements table.Store.
func (s Store) Open(ctx context.Context) (table.Loader, error) {
	t, err := Open(ctx, s.FS, s.Dir)
	if err != nil {
		return nil, err
	}
	return t, nil
}

// New implements table.Store.
func (s Store) New(p table.Plan) (table.Loader, error) {
	t, err := New(s.FS, s.Dir, p)
	if err != nil {
		return nil, err
	}
	return t, nil
}

// Quarantine implements table.Store. The slashes of the path become two
// underscores, so that all files lie in one directory.
func (s Store) Quarantine(path string) string {
	return dfs.Join(s.Dir, quarantineName, strings.ReplaceAll(path, "/", "__")+".jsonl")
}
