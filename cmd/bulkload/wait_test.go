package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"usertrail/cmd/internal/cli"
	"usertrail/internal/behaviour"
	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/bulkloadtest"
	"usertrail/internal/bulkload/load"
	"usertrail/internal/format/job"
	"usertrail/internal/run/exit"
	"usertrail/internal/store/dfs"
	"usertrail/internal/store/dfs/local"
	"usertrail/internal/table/files"
	"usertrail/internal/test/testkit"
)

// A waited has a load that waits, and its log.
type waited struct {
	t    *testing.T
	o    *options
	cfg  load.Config
	log  string
	said bytes.Buffer
}

func newWaited(t *testing.T, p patience) *waited {
	t.Helper()
	dir := t.TempDir()
	w := &waited{t: t, log: filepath.Join(dir, "logs", "2014-09-01", "play.csv")}
	w.o = &options{env: &cli.Env{Stderr: &w.said}, patience: p}
	j, err := job.Parse(filepath.Join(dir, "job.yaml"), []byte("logs: logs/{date}/{behaviour}.csv\nbehaviours: {play: {id: 1}}\n"))
	if err == nil {
		err = os.MkdirAll(filepath.Dir(w.log), 0o777)
	}
	day, fail := behaviour.ParseDate("2014-09-01")
	if err := errors.Join(err, fail); err != nil {
		t.Fatal(err)
	}
	w.cfg = load.Config{Resources: bulkload.Resources{FS: local.New(), Store: files.Store{FS: local.New(), Dir: filepath.Join(dir, "trails")}}, Job: j, Span: behaviour.Span{From: day, To: day}}
	w.write("a\n")
	return w
}

// write appends to the log.
func (w *waited) write(text string) {
	w.t.Helper()
	f, err := os.OpenFile(w.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o666)
	if err == nil {
		_, err = f.WriteString(text)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

// found returns the delivered files as a load finds them when it has the table's lock.
func (w *waited) found(ctx context.Context) []job.Input {
	w.t.Helper()
	f, err := w.cfg.Job.Find(ctx, w.cfg.FS, w.cfg.Span, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	return f.Inputs
}

// TestALogThatGrowsBehindTheLockIsWaitedForAgain lets another run hold the lock for an hour.
// Meanwhile a log grows that had not changed for long enough.
func TestALogThatGrowsBehindTheLockIsWaitedForAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWaited(t, patience{wait: 4 * time.Hour, settle: time.Minute, asked: true})
		began, tries, looks := time.Now(), 0, 0
		r, err := whenReady(t.Context(), w.o, w.cfg, func(ctx context.Context, cfg load.Config) (string, error) {
			if tries++; time.Since(began) < time.Hour {
				return "", dfs.ErrLocked
			}
			if looks++; looks == 1 {
				w.write("b\n")
			}
			left, err := cfg.Unsettled(w.found(ctx))
			return fmt.Sprint(len(left)), err
		})
		if took := time.Since(began); err != nil || r != "0" || looks != 2 || took < time.Hour+time.Minute || took > time.Hour+2*time.Minute {
			t.Errorf("%q, %v, after %s, %d looks and %d tries; want the load at the second look, a minute after the first", r, err, took, looks, tries)
		}
	})
}

// TestALogThatGrowsAtTheEndIsLeftOut has a log that grows when no time is left to wait for it
// again.
func TestALogThatGrowsAtTheEndIsLeftOut(t *testing.T) {
	for name, p := range map[string]patience{
		"wait":   {wait: time.Hour, settle: time.Minute, asked: true},
		"settle": {settle: time.Minute, settles: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWaited(t, p)
				began := time.Now()
				_, err := whenReady(t.Context(), w.o, w.cfg, func(ctx context.Context, cfg load.Config) (string, error) {
					if p.asked && time.Since(began) < p.wait-time.Second {
						return "", dfs.ErrLocked
					}
					w.write("b\n")
					left, err := cfg.Unsettled(w.found(ctx))
					if err != nil || len(left) != 1 {
						t.Errorf("left out are %v, %v; want the log", left, err)
					}
					return "", left[w.log]
				})
				if !errors.Is(err, bulkload.ErrGrowing) || exit.Of(err) != exit.NotNow || !strings.Contains(err.Error(), "has changed in the last 1m0s") {
					t.Errorf("%v, status %d", err, exit.Of(err))
				}
			})
		})
	}
}

// TestSettleAloneWaitsForNothingThatIsMissing checks that a load without --wait looks at the
// existing logs twice, or once if all of them are loaded.
func TestSettleAloneWaitsForNothingThatIsMissing(t *testing.T) {
	bulkloadtest.InBubble(t, func(t *testing.T) {
		w := newWaited(t, patience{settle: time.Minute, settles: true})
		text := "user_id,time\nu1,2014-09-01 10:00:00\n"
		testkit.WriteFile(t, w.log, text)
		for _, want := range []time.Duration{time.Minute, 0} {
			began := time.Now()
			r, err := whenReady(t.Context(), w.o, w.cfg, load.Run)
			if took := time.Since(began); took != want || (err != nil) != (want == 0) || want == 0 && !errors.Is(err, bulkload.ErrNothing) {
				t.Errorf("%+v, %v, after %s; want %s", r, err, took, want)
			}
		}
	})
}

// A slowFS takes ten minutes for each list of a directory while slow is set.
type slowFS struct {
	dfs.FS
	slow bool
}

func (f *slowFS) List(ctx context.Context, dir string) ([]dfs.Info, error) {
	if f.slow {
		time.Sleep(10 * time.Minute)
	}
	return f.FS.List(ctx, dir)
}

// TestSettleAloneWatchesAlsoIfTheFirstLookIsSlow: the time to watch the logs begins after the first look.
func TestSettleAloneWatchesAlsoIfTheFirstLookIsSlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWaited(t, patience{settle: time.Minute, settles: true})
		fs := &slowFS{w.cfg.FS, true}
		w.cfg.FS = fs
		_, err := whenReady(t.Context(), w.o, w.cfg, func(ctx context.Context, cfg load.Config) (string, error) {
			fs.slow = false
			left, err := cfg.Unsettled(w.found(ctx))
			if len(left) > 0 {
				t.Errorf("left out are %v, want none", left)
			}
			return "", err
		})
		if err != nil {
			t.Error(err)
		}
	})
}
