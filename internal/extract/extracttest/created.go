package extracttest

import (
	"context"
	"strings"
	"sync"

	"usertrail/internal/store/dfs"
)

// Created are files that count the sorted runs, and list the parts, that are created.
type Created struct {
	dfs.FS
	mu    sync.Mutex
	Runs  int
	Parts []string
}

// Create implements dfs.FS.
func (c *Created) Create(ctx context.Context, name string) (dfs.Pending, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if base := dfs.Base(name); strings.HasPrefix(base, "part-") {
		c.Parts = append(c.Parts, base)
	}
	return c.FS.Create(ctx, name)
}

// Scratch implements dfs.FS.
func (c *Created) Scratch(ctx context.Context, name string) (dfs.Pending, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if strings.HasPrefix(dfs.Base(name), "run-") {
		c.Runs++
	}
	return c.FS.Scratch(ctx, name)
}
