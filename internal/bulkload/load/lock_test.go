package load_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"usertrail/internal/bulkload/bulkloadtest"

	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/importer"
	"usertrail/internal/bulkload/load"
	"usertrail/internal/bulkload/pieces"
	"usertrail/internal/bulkload/replay"
	"usertrail/internal/store/dfs"
	"usertrail/internal/store/dfs/local"
	"usertrail/internal/table/catalog"
	"usertrail/internal/table/files"
)

// leases are local files with locks as HDFS has them: a lock may go to another while its
// holder is frozen. The holder learns of it when it unlocks.
type leases struct {
	dfs.FS
	mu     sync.Mutex
	holder map[string]*lease
}

type lease struct {
	of   *leases
	name string
}

func newLeases() *leases { return &leases{FS: local.New(), holder: map[string]*lease{}} }

func (f *leases) Lock(ctx context.Context, name string) (dfs.Lock, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	l := &lease{f, name}
	f.holder[name] = l
	return l, f.FS.Mkdir(ctx, dfs.Dir(name))
}

func (l *lease) Unlock() error {
	l.of.mu.Lock()
	defer l.of.mu.Unlock()
	if l.of.holder[l.name] != l {
		return dfs.ErrLockLost
	}
	return nil
}

func (l *lease) Drop() error { return l.Unlock() }

// hooked is a file system that calls hooks after the manifest was read, and before it is
// replaced.
type hooked struct {
	dfs.FS
	read, replace func()
}

func (h hooked) Open(ctx context.Context, name string) (dfs.File, error) {
	f, err := h.FS.Open(ctx, name)
	if dfs.Base(name) == catalog.ManifestName && h.read != nil {
		h.read()
	}
	return f, err
}

func (h hooked) Create(ctx context.Context, name string) (dfs.Pending, error) {
	p, err := h.FS.Create(ctx, name)
	if dfs.Base(name) == catalog.ManifestName && h.replace != nil && err == nil {
		p = hookedPending{p, h.replace}
	}
	return p, err
}

type hookedPending struct {
	dfs.Pending
	before func()
}

func (p hookedPending) Commit() error {
	p.before()
	return p.Pending.Commit()
}

// TestOfTwoLoadsNoneIsLost freezes a load just before it replaces the manifest, until
// another has taken its lock over and read the manifest. A load that reports success is
// in the table, whatever the other did.
func TestOfTwoLoadsNoneIsLost(t *testing.T) {
	y := bulkloadtest.New(t, bulkloadtest.TwoKinds)
	y.Write("2014-09-01/play.csv", "user,time,title,seconds\na,2014-09-01 10:00:00,one,1\n")
	y.Write("2014-09-01/order.csv", "user,time,price\nb,2014-09-01 10:00:00,1.5\n")
	locks := newLeases()
	var once sync.Once
	first, read, goOn := make(chan error, 1), make(chan struct{}), make(chan struct{})

	run := func(fs dfs.FS, what string) error {
		cfg := y.Config("2014-09-01", "2014-09-01", what)
		cfg.FS, cfg.Store = fs, files.Store{FS: fs, Dir: y.Store.Dir}
		_, err := load.Run(t.Context(), cfg)
		return err
	}
	second := make(chan error, 1)
	frozen := hooked{FS: locks, replace: func() {
		go func() {
			second <- run(hooked{FS: locks, read: func() {
				once.Do(func() {
					close(read)
					<-goOn
				})
			}}, "order")
		}()
		<-read
	}}
	first <- run(frozen, "play")
	close(goOn)

	var want []string
	if err := <-second; err != nil {
		t.Errorf("the load that holds the lock: %v", err)
	} else {
		want = append(want, "b 2014-09-01 2014-09-01T10:00:00Z order price=1.5")
	}
	if err := <-first; err == nil {
		want = append(want, "a 2014-09-01 2014-09-01T10:00:00Z play title=one seconds=1")
	} else if !errors.Is(err, dfs.ErrLockLost) {
		t.Errorf("the load that has lost its lock: %v, want ErrLockLost", err)
	}
	y.WantTrails(want...)
}

// lossy is files whose locks are lost before they are released.
type lossy struct{ dfs.FS }

func (f lossy) Lock(ctx context.Context, name string) (dfs.Lock, error) {
	l, err := f.FS.Lock(ctx, name)
	return lost{l}, err
}

type lost struct{ dfs.Lock }

func (l lost) Unlock() error { return errors.Join(l.Lock.Unlock(), dfs.ErrLockLost) }

// TestALostLockIsReported runs each command that locks the table, and removes its lock
// meanwhile.
func TestALostLockIsReported(t *testing.T) {
	const name = "2014-09-01/play.csv"
	y := bulkloadtest.New(t, bulkloadtest.TwoKinds)
	y.Write(name, bulkloadtest.WithBad)
	y.Write("2014-09-02/play.csv", strings.ReplaceAll(bulkloadtest.WithBad, "09-01", "09-02"))
	y.Write("2014-09-03/play.csv", strings.ReplaceAll(bulkloadtest.WithBad, "09-01", "09-03"))
	good := y.Store.FS
	fs := lossy{good}
	y.Store.FS = fs
	want := func(what string, err error) {
		t.Helper()
		if !errors.Is(err, dfs.ErrLockLost) || !strings.Contains(err.Error(), "run the same command again") {
			t.Errorf("%s: %v, want ErrLockLost with the next step", what, err)
		}
	}
	_, err := load.Run(t.Context(), y.Config("2014-09-01", "2014-09-01"))
	want("load", err)
	_, err = load.Run(t.Context(), y.Config("2014-09-01", "2014-09-01"))
	want("load of nothing", err)
	y.Correct(name, "many", "8888")
	_, err = replay.Run(t.Context(), bulkloadtest.ReplayOf(y.Config("2014-09-01", "2014-09-01")), y.Store.Quarantine(name))
	want("replay", err)

	y.Store.FS = good
	parts := y.Plan(nil, bulkloadtest.AFile, "2014-09-02", "2014-09-03")
	y.Store.FS = fs
	_, _, err = pieces.Plan(t.Context(), y.Planning(bulkloadtest.AFile, "2014-09-02", "2014-09-03"))
	want("plan", err)
	for i := range parts {
		_, err = pieces.Run(t.Context(), y.Config("2014-09-02", "2014-09-03").Resources, &parts[i], 0)
		want("run-piece", err)
	}
	_, err = pieces.Commit(t.Context(), y.Config("2014-09-02", "2014-09-03").Resources, parts)
	want("commit", err)

	other := bulkloadtest.New(t, bulkloadtest.TwoKinds)
	other.Write("2014-09-04/play.csv", strings.ReplaceAll(bulkloadtest.WithBad, "09-01", "09-04"))
	other.Load(nil, "2014-09-04", "2014-09-04")
	from, err := files.Open(t.Context(), good, other.Store.Dir)
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close()
	_, err = importer.Run(t.Context(), bulkload.Resources{FS: good, Store: y.Store, Temp: dfs.Join(y.Store.Dir, catalog.TempName)}, from)
	want("import", err)
}

// TestALoadIsNotCommittedWithoutItsLock takes the lock of a load away before it replaces the manifest, as a
// person may. The table keeps what others made of it.
func TestALoadIsNotCommittedWithoutItsLock(t *testing.T) {
	for what, lose := range map[string]func(y *bulkloadtest.Fixture, other func()) error{
		"the lock is removed": func(y *bulkloadtest.Fixture, other func()) error {
			err := os.Remove(filepath.Join(y.Store.Dir, "lock"))
			other()
			return err
		},
		"an older copy is put back": func(y *bulkloadtest.Fixture, other func()) error {
			err := errors.Join(os.Rename(y.Store.Dir, y.Store.Dir+".bad"), os.CopyFS(y.Store.Dir, os.DirFS(y.Store.Dir+".bak")))
			other()
			return err
		},
		"only a copy is put back": func(y *bulkloadtest.Fixture, _ func()) error {
			return errors.Join(os.Rename(y.Store.Dir, y.Store.Dir+".bad"), os.CopyFS(y.Store.Dir, os.DirFS(y.Store.Dir+".bak")))
		},
	} {
		t.Run(what, func(t *testing.T) {
			y := bulkloadtest.New(t, bulkloadtest.TwoKinds)
			for day, user := range []string{"a", "b", "c"} {
				y.Write(fmt.Sprintf("2014-09-0%d/play.csv", day+1), fmt.Sprintf("user,time,title,seconds\n%s,2014-09-0%d 10:00:00,one,1\n", user, day+1))
			}
			row := func(day int, user string) string {
				return fmt.Sprintf("%s 2014-09-0%d 2014-09-0%[2]dT10:00:00Z play title=one seconds=1", user, day)
			}
			run := func(fs dfs.FS, date string) error {
				cfg := y.Config(date, date)
				cfg.FS, cfg.Store = fs, files.Store{FS: fs, Dir: y.Store.Dir}
				_, err := load.Run(t.Context(), cfg)
				return err
			}
			if err := run(local.New(), "2014-09-01"); err != nil {
				t.Fatal(err)
			}
			if err := os.CopyFS(y.Store.Dir+".bak", os.DirFS(y.Store.Dir)); err != nil {
				t.Fatal(err)
			}
			want := []string{row(1, "a")}
			err := run(hooked{FS: local.New(), replace: func() {
				err := lose(y, func() {
					if err := run(local.New(), "2014-09-03"); err != nil {
						t.Errorf("the other load: %v", err)
					}
					want = append(want, row(3, "c"))
				})
				if err != nil {
					t.Error(err)
				}
			}}, "2014-09-02")
			if !errors.Is(err, dfs.ErrLockLost) || !strings.Contains(err.Error(), "run the same command again") {
				t.Errorf("the load without its lock: %v, want ErrLockLost with the next step", err)
			}
			y.WantTrails(want...)
			if err := run(local.New(), "2014-09-02"); err != nil {
				t.Errorf("the same command again: %v", err)
			}
			y.WantTrails(append(want, row(2, "b"))...)
		})
	}
}
