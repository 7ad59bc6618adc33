package dfs

import "context"

// An Enterer is an FS whose directories can be opened to servers.
type Enterer interface {
	// LetEnter lets every user enter dir and the directories above it, up to and with top. It
	// does not let every user list them. It skips directories of other owners, and directories
	// that do not exist.
	LetEnter(ctx context.Context, top, dir string) error
}

// LetEnter implements Enterer.
func (m *Mux) LetEnter(ctx context.Context, top, dir string) error {
	fs, err := m.For(dir)
	if err != nil {
		return err
	}
	return LetEnter(ctx, fs, top, dir)
}

// LetEnter calls fs, if it is an Enterer, and does nothing otherwise.
func LetEnter(ctx context.Context, fs FS, top, dir string) error {
	if e, can := fs.(Enterer); can {
		return e.LetEnter(ctx, top, dir)
	}
	return nil
}
