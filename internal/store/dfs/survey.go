package dfs

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// A Surveyor is an FS that reports more about a place than its files. It makes no visible
// change. If a directory does not exist, it reports on the nearest directory above it that
// exists.
type Surveyor interface {
	// Room returns how many bytes can still be written in dir.
	Room(ctx context.Context, dir string) (Room, error)
	// Try makes an empty file in dir and removes it. It fails as Create would. It returns
	// the time of the file, by the clock of the server or machine that stores it.
	Try(ctx context.Context, dir string) (time.Time, error)
	// Held reports whether a lock is held, and by which holder if that is known. It does
	// not take the lock. A lock that no process ever took is not held.
	Held(ctx context.Context, name string) (held bool, holder string, err error)
}

// Room describes how many bytes can still be written in a place.
type Room struct {
	Bytes int64  // total length of files; copies are already counted
	Limit string // the limit: "free space", or whose quota
}

// Room implements Surveyor if the file system of dir does. Otherwise it fails with
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

// A LockTester is an FS that reports whether this user can take a lock that no process holds.
type LockTester interface {
	// Lockable returns the error with which Lock fails if this user may not write the file of the
	// lock, or if something else has its name. It does not take the lock, and makes no file.
	Lockable(ctx context.Context, name string) error
}

// Lockable implements LockTester.
func (m *Mux) Lockable(ctx context.Context, name string) error {
	fs, err := m.For(name)
	if err != nil {
		return err
	}
	return Lockable(ctx, fs, name)
}

// Lockable returns the error of fs as a LockTester, or nil if fs is not a LockTester.
func Lockable(ctx context.Context, fs FS, name string) error {
	if t, ok := fs.(LockTester); ok {
		return t.Lockable(ctx, name)
	}
	return nil
}

func (m *Mux) surveyor(name string) (Surveyor, error) {
	fs, err := m.For(name)
	if err != nil {
		return nil, err
	}
	return Survey(fs, name)
}

// Survey returns fs as a Surveyor for name, or fails with errors.ErrUnsupported.
func Survey(fs FS, name string) (Surveyor, error) {
	if s, ok := fs.(Surveyor); ok {
		return s, nil
	}
	return nil, fmt.Errorf("dfs: survey %s: %w", name, errors.ErrUnsupported)
}

// Written reports whether a writer has a file on HDFS open. It reports false for files on other
// file systems, which do not know their writers.
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
	if errors.Is(err, errors.ErrUnsupported) { // the Mux's file system for the name is not a Surveyor
		return false, nil
	}
	return open, err
}
