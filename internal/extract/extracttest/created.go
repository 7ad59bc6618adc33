package extracttest

import (
	"context"
	"slices"
	"strings"
	"sync"

	"usertrail/internal/store/dfs"
)

// Created are files that list the names, without directories, of the files that are created.
type Created struct {
	dfs.FS
	mu   sync.Mutex
	Kept []string // by Create
	Lost []string // by Scratch
}

// Parts returns the parts among the files of Create.
func (c *Created) Parts() []string { return with(c.Kept, "part-") }

// Runs returns the sorted runs among the files of Scratch.
func (c *Created) Runs() []string { return with(c.Lost, "run-") }

// with returns the names with a prefix.
func with(names []string, prefix string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !strings.HasPrefix(name, prefix) })
}

// Create implements dfs.FS.
func (c *Created) Create(ctx context.Context, name string) (dfs.Pending, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.Kept = append(c.Kept, dfs.Base(name))
	return c.FS.Create(ctx, name)
}

// Scratch implements dfs.FS.
func (c *Created) Scratch(ctx context.Context, name string) (dfs.Pending, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.Lost = append(c.Lost, dfs.Base(name))
	return c.FS.Scratch(ctx, name)
}
