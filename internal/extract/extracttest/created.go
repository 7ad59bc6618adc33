package extracttest

import (
	"context"
	"strings"
	"sync"

	"usertrail/internal/store/dfs"
)

// Created are files that count the sorted runs, and list the parts and all files, that are
// created.
type Created struct {
	dfs.FS
	mu    sync.Mutex
	Runs  int
	Parts []string
	Kept  []string // files by Create, without their directories
	Lost  []string // files by Scratch, without their directories
}

// Create implements dfs.FS.
func (c *Created) Create(ctx context.Context, name string) (dfs.Pending, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	base := dfs.Base(name)
	c.Kept = append(c.Kept, base)
	if strings.HasPrefix(base, "part-") {
		c.Parts = append(c.Parts, base)
	}
	return c.FS.Create(ctx, name)
}

// Scratch implements dfs.FS.
func (c *Created) Scratch(ctx context.Context, name string) (dfs.Pending, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	base := dfs.Base(name)
	c.Lost = append(c.Lost, base)
	if strings.HasPrefix(base, "run-") {
		c.Runs++
	}
	return c.FS.Scratch(ctx, name)
}
