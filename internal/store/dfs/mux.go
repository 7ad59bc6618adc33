package dfs

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"usertrail/internal/run/exit"
)

// ErrScheme is returned for a name if the Mux has no file system for its scheme.
var ErrScheme = exit.New(exit.Usage, "no file system of that scheme")

// ErrCross is returned by a Mux's Publish between two file systems.
var ErrCross = errors.New("cannot rename from one file system to another")

// A Mux is an FS that consists of several file systems. The scheme of a name selects
// the file system. A Mux passes full names to it and returns an Info with full names.
type Mux struct {
	schemes map[string]FS
}

// NewMux returns a Mux of file systems by scheme, without the "://". The scheme "" is
// for names that have no scheme.
func NewMux(schemes map[string]FS) *Mux { return &Mux{schemes: maps.Clone(schemes)} }

// For returns the file system that stores name.
func (m *Mux) For(name string) (FS, error) {
	if fs, ok := m.schemes[Scheme(name)]; ok {
		return fs, nil
	}
	return nil, fmt.Errorf("dfs: %s: %w: known are %s", name, ErrScheme, m.known())
}

// known lists the schemes in the form in which users write them.
func (m *Mux) known() string {
	if len(m.schemes) == 0 {
		return "none"
	}
	var out []string
	for _, s := range slices.Sorted(maps.Keys(m.schemes)) {
		out = append(out, shown(s))
	}
	return strings.Join(out, ", ")
}

func shown(scheme string) string {
	if scheme == "" {
		return "local paths"
	}
	return scheme + "://"
}

// Open implements FS.
func (m *Mux) Open(ctx context.Context, name string) (File, error) {
	fs, err := m.For(name)
	if err != nil {
		return nil, err
	}
	return fs.Open(ctx, name)
}

// Create implements FS.
func (m *Mux) Create(ctx context.Context, name string) (Pending, error) {
	fs, err := m.For(name)
	if err != nil {
		return nil, err
	}
	return fs.Create(ctx, name)
}

// CreateNew implements FS.
func (m *Mux) CreateNew(ctx context.Context, name string) (Pending, error) {
	fs, err := m.For(name)
	if err != nil {
		return nil, err
	}
	return fs.CreateNew(ctx, name)
}

// Scratch implements FS.
func (m *Mux) Scratch(ctx context.Context, name string) (Pending, error) {
	fs, err := m.For(name)
	if err != nil {
		return nil, err
	}
	return fs.Scratch(ctx, name)
}

// Stat implements FS.
func (m *Mux) Stat(ctx context.Context, name string) (Info, error) {
	fs, err := m.For(name)
	if err != nil {
		return Info{}, err
	}
	return fs.Stat(ctx, name)
}

// List implements FS.
func (m *Mux) List(ctx context.Context, dir string) ([]Info, error) {
	fs, err := m.For(dir)
	if err != nil {
		return nil, err
	}
	return fs.List(ctx, dir)
}

// Mkdir implements FS.
func (m *Mux) Mkdir(ctx context.Context, dir string) error {
	fs, err := m.For(dir)
	if err != nil {
		return err
	}
	return fs.Mkdir(ctx, dir)
}

// Publish implements FS. If the two names have different schemes, it fails with ErrCross,
// because only a rename within one file system is atomic.
func (m *Mux) Publish(ctx context.Context, from, to string) error {
	fs, err := m.For(from)
	if err != nil {
		return err
	}
	if _, err := m.For(to); err != nil {
		return err
	}
	if a, b := Scheme(from), Scheme(to); a != b {
		return fmt.Errorf("dfs: publish %s as %s: %w: %s and %s", from, to, ErrCross, shown(a), shown(b))
	}
	return fs.Publish(ctx, from, to)
}

// Remove implements FS.
func (m *Mux) Remove(ctx context.Context, name string) error {
	fs, err := m.For(name)
	if err != nil {
		return err
	}
	return fs.Remove(ctx, name)
}

// Sweep implements FS.
func (m *Mux) Sweep(ctx context.Context, dir string, but ...string) error {
	fs, err := m.For(dir)
	if err != nil {
		return err
	}
	return fs.Sweep(ctx, dir, but...)
}

// Lock implements FS.
func (m *Mux) Lock(ctx context.Context, name string) (Lock, error) {
	fs, err := m.For(name)
	if err != nil {
		return nil, err
	}
	return fs.Lock(ctx, name)
}
