package dfs

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// A Surveyor is an FS that can tell more of a place than the files that lie there.
// It changes nothing that can be seen. Of a directory that is not there it tells of
// the nearest above that is.
type Surveyor interface {
	// Room says how much can still be written in dir.
	Room(ctx context.Context, dir string) (Room, error)
	// Try makes an empty file in dir and takes it away again: it fails as Create
	// would. The time is the file's, by the clock of whoever keeps it.
	Try(ctx context.Context, dir string) (time.Time, error)
	// Held says whether a lock is held, and by whom if that is known, without
	// taking it. A lock that nobody ever took is not held.
	Held(ctx context.Context, name string) (held bool, holder string, err error)
}

// Room is what can still be written somewhere.
type Room struct {
	Bytes int64  // of files' lengths, whatever copies are kept of them
	Limit string // what ends it: "free space", or whose quota
}

// Room implements Surveyor where the file system of dir does, or else fails with
// errors.ErrUnsupported.
func (m *Mux) Room(ctx context.Context, dir string) (Room, error) {
	s, err := m.surveyor(dir)
	if err != nil {
		return Room{}, err
	}
	return s.Room(ctx, dir)
}

// Try implements Surveyor, as Room does.
func (m *Mux) Try(ctx context.Context, dir string) (time.Time, error) {
	s, err := m.surveyor(dir)
	if err != nil {
		return time.Time{}, err
	}
	return s.Try(ctx, dir)
}

// Held implements Surveyor, as Room does.
func (m *Mux) Held(ctx context.Context, name string) (held bool, holder string, err error) {
	s, err := m.surveyor(name)
	if err != nil {
		return false, "", err
	}
	return s.Held(ctx, name)
}

func (m *Mux) surveyor(name string) (Surveyor, error) {
	fs, err := m.For(name)
	if err != nil {
		return nil, err
	}
	return Survey(fs, name)
}

// Survey is fs as a Surveyor of name's place, or errors.ErrUnsupported.
func Survey(fs FS, name string) (Surveyor, error) {
	if s, ok := fs.(Surveyor); ok {
		return s, nil
	}
	return nil, fmt.Errorf("dfs: survey %s: %w", name, errors.ErrUnsupported)
}

// Written reports whether a writer has a file on HDFS open. Elsewhere nothing tells, and it
// reports false.
func Written(ctx context.Context, fs FS, name string) (bool, error) {
	if Scheme(name) == "" {
		return false, nil
	}
	s, err := Survey(fs, name)
	if errors.Is(err, errors.ErrUnsupported) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	open, _, err := s.Held(ctx, name)
	if errors.Is(err, errors.ErrUnsupported) { // what a Mux has for the name is no Surveyor
		return false, nil
	}
	return open, err
}
