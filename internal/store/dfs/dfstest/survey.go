package dfstest

import (
	"context"
	"errors"
	"io/fs"
	"strings"
	"testing"
	"time"

	"usertrail/internal/store/dfs"
)

// clocksDiffer is the largest allowed difference between the clock of a file system and the
// test's clock on the same machine. Time stamps may be whole seconds.
const clocksDiffer = 2 * time.Second

func survey(t *testing.T, w world) dfs.Surveyor {
	t.Helper()
	s, err := dfs.Survey(w.FS, w.root)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func testSurvey(t *testing.T, w world) {
	s := survey(t, w)
	if err := dfs.WriteFile(w.ctx, w, w.at("file"), nil); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{w.root, w.at("not", "there")} {
		room, err := s.Room(w.ctx, dir)
		if err != nil || room.Bytes <= 0 || room.Limit != "free space" {
			t.Errorf("%s has room %+v, %v", dir, room, err)
		}
		began := time.Now()
		made, err := s.Try(w.ctx, dir)
		if err != nil || made.Before(began.Add(-clocksDiffer)) || made.After(time.Now().Add(clocksDiffer)) {
			t.Errorf("a file in %s is of %s, %v; it is %s", dir, made, err, began)
		}
	}
	below := w.at("file", "below")
	if _, err := s.Room(w.ctx, below); !errors.Is(err, dfs.ErrNotDir) || !strings.Contains(err.Error(), below) {
		t.Errorf("the room in a file: %v, want dfs.ErrNotDir", err)
	}
	if _, err := s.Try(w.ctx, below); !errors.Is(err, dfs.ErrNotDir) {
		t.Errorf("a try in a file: %v, want dfs.ErrNotDir", err)
	}
	list, err := w.List(w.ctx, w.root)
	if err != nil || len(list) != 1 || list[0].Name != w.at("file") {
		t.Errorf("afterwards there is %+v, %v; want the file alone", list, err)
	}
}

func testHeld(t *testing.T, w world) {
	s, name := survey(t, w), w.at("table", "lock")
	expect := func(when string, want bool) {
		t.Helper()
		held, who, err := s.Held(w.ctx, name)
		if err != nil || held != want || held != strings.Contains(who, "process ") {
			t.Errorf("%s it is held: %t, by %q, %v; want %t", when, held, who, err, want)
		}
	}
	expect("before there is a lock", false)
	if _, err := w.Stat(w.ctx, w.at("table")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("asking made the directory: %v", err)
	}
	for range 2 {
		l, err := w.Lock(w.ctx, name)
		if err != nil {
			t.Fatal(err)
		}
		expect("by its holder", true)
		if err := l.Unlock(); err != nil {
			t.Fatal(err)
		}
		expect("after Unlock", false)
	}
}

// Room implements dfs.Surveyor if the file system does. Fault does not count a survey as an
// operation, because callers continue without the survey.
func (f *Fault) Room(ctx context.Context, dir string) (dfs.Room, error) {
	s, err := dfs.Survey(f.fs, dir)
	if err != nil {
		return dfs.Room{}, err
	}
	return s.Room(ctx, dir)
}

// Try implements dfs.Surveyor, as Room does.
func (f *Fault) Try(ctx context.Context, dir string) (time.Time, error) {
	s, err := dfs.Survey(f.fs, dir)
	if err != nil {
		return time.Time{}, err
	}
	return s.Try(ctx, dir)
}

// Held implements dfs.Surveyor, as Room does.
func (f *Fault) Held(ctx context.Context, name string) (held bool, holder string, err error) {
	s, err := dfs.Survey(f.fs, name)
	if err != nil {
		return false, "", err
	}
	return s.Held(ctx, name)
}

// Lockable implements dfs.LockTester if the file system does. Fault does not count it as an operation.
func (f *Fault) Lockable(ctx context.Context, name string) error {
	return dfs.Lockable(ctx, f.fs, name)
}
