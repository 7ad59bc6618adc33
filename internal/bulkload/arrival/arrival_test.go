package arrival_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"usertrail/internal/behaviour"
	"usertrail/internal/bulkload/arrival"
	"usertrail/internal/format/job"
	"usertrail/internal/store/dfs"
	"usertrail/internal/store/dfs/dfstest"
	"usertrail/internal/store/dfs/local"
)

// A delivery is a folder of logs, a job, and the messages of the wait for them.
type delivery struct {
	t    *testing.T
	dir  string
	job  *job.Job
	fs   dfs.FS
	said []string
	at   string

	settle   time.Duration
	standing bool
}

const night = "2014-09-01"

func newDelivery(t *testing.T, text string) *delivery {
	t.Helper()
	d := &delivery{t: t, dir: t.TempDir(), fs: local.New(), settle: time.Minute}
	var err error
	if d.job, err = job.Parse(filepath.Join(d.dir, "job.yaml"), []byte(text)); err != nil {
		t.Fatal(err)
	}
	d.write("other/x", "")
	return d
}

// write delivers a file, or appends to it.
func (d *delivery) write(name, text string) {
	d.t.Helper()
	path := filepath.Join(d.dir, "logs", name)
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		d.t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o666)
	if err != nil {
		d.t.Fatal(err)
	}
	_, err = f.WriteString(text)
	if err := errors.Join(err, f.Close()); err != nil {
		d.t.Fatal(err)
	}
}

// wait waits two hours, and returns how long it took.
func (d *delivery) wait(ctx context.Context) (time.Duration, error) {
	d.t.Helper()
	day, err := behaviour.ParseDate(night)
	if err != nil {
		d.t.Fatal(err)
	}
	kinds := make([]int, len(d.job.Schema.Kinds))
	for k := range kinds {
		kinds[k] = k
	}
	began := time.Now()
	err = arrival.New(arrival.Config{
		FS: d.fs, Job: d.job, Span: behaviour.Span{From: day, To: day}, Kinds: kinds, For: 2 * time.Hour, Settle: d.settle, Standing: d.standing,
		Say: func(text string) { d.said = append(d.said, strings.ReplaceAll(text, d.dir+"/", "")) },
		At:  func(text string) { d.at = strings.ReplaceAll(text, d.dir+"/", "") },
	}).Wait(ctx)
	return time.Since(began), err
}

func (d *delivery) expectSaid(want ...string) {
	d.t.Helper()
	if got := strings.Join(d.said, "\n"); got != strings.Join(want, "\n") {
		d.t.Errorf("said\n%s\nwant\n%s", got, strings.Join(want, "\n"))
	}
}

const (
	easy     = "logs: logs/{date}/{behaviour}.csv\nbehaviours: {play: {id: 1}, order: {id: 2}}\n"
	strict   = "logs: logs/{date}/{behaviour}.csv\nbehaviours: {play: {id: 1, required: true}, order: {id: 2}}\n"
	marked   = "logs: {path: 'logs/{date}/{behaviour}.csv', ready: 'logs/{date}/_SUCCESS'}\nbehaviours: {play: {id: 1}, order: {id: 2}}\n"
	each     = "logs: {path: 'logs/{date}/{behaviour}.csv', ready: 'logs/{date}/{behaviour}.done'}\nbehaviours: {play: {id: 1, required: true}, order: {id: 2}}\n"
	dateless = "logs: logs/*.csv\nbehaviours: {play: {id: 1}}\n"
)

func TestWhatStandsStillHasArrived(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDelivery(t, easy)
		d.write(night+"/play.csv", "x")
		d.write(night+"/order.csv", "x")
		took, err := d.wait(t.Context())
		if err != nil || took != time.Minute {
			t.Errorf("waited %s, %v; want a minute", took, err)
		}
		d.expectSaid()
	})
}

// TestALongLookIsNamed waits only because files must not change: for an hour, or without --wait.
func TestALongLookIsNamed(t *testing.T) {
	for name, c := range map[string]struct {
		settle   time.Duration
		standing bool
		lines    int
		end      string
	}{
		"with --wait":    {time.Hour, false, 7, "all logs have arrived after 1h0m0s"},
		"without --wait": {time.Hour, true, 7, "no log has changed for 1h0m0s"},
		"a minute":       {time.Minute, true, 2, "no log has changed for 1m0s"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := newDelivery(t, strict)
				d.settle, d.standing = c.settle, c.standing
				d.write(night+"/play.csv", "x")
				if took, err := d.wait(t.Context()); err != nil || took != c.settle {
					t.Errorf("waited %s, %v; want %s", took, err, c.settle)
				}
				if len(d.said) != c.lines || d.said[0] != "waiting, for 2h0m0s at the most: "+d.at || !strings.Contains(d.at, "logs/2014-09-01/play.csv has 1 bytes, and must not change for ") || d.said[c.lines-1] != c.end {
					t.Errorf("said %q, want %d lines, the last %q", d.said, c.lines, c.end)
				}
			})
		})
	}
}

func TestAFileThatGrowsIsWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDelivery(t, strict)
		go func() {
			time.Sleep(10*time.Minute + time.Second)
			for range 20 {
				d.write(night+"/play.csv", "more")
				time.Sleep(45 * time.Second)
			}
		}()
		took, err := d.wait(t.Context())
		if err != nil || took != 25*time.Minute+30*time.Second {
			t.Errorf("waited %s, %v; want a minute beyond the last growth, as it is seen", took, err)
		}
		d.expectSaid(
			"waiting, for 2h0m0s at the most: play of 2014-09-01: logs/2014-09-01/play.csv",
			"still waiting, after 10m0s: play of 2014-09-01: logs/2014-09-01/play.csv",
			"still waiting, after 20m0s: logs/2014-09-01/play.csv has 56 bytes, and must not change for 1m0s",
			"all logs have arrived after 25m30s",
		)
		if !strings.Contains(d.at, "logs/2014-09-01/play.csv has 80 bytes") {
			t.Errorf("it was at %q", d.at)
		}
	})
}

// TestTheEndOfPatience shows which files may be missing at the end of a wait, and which may
// not.
func TestTheEndOfPatience(t *testing.T) {
	for name, c := range map[string]struct {
		job   string
		files []string
		grows string
		want  string // the error, or the last message
		fails bool
	}{
		"nothing is required":         {easy, []string{"play.csv"}, "", "waited 2h0m0s, and continue without: order of 2014-09-01: ", false},
		"what is required is missing": {strict, []string{"order.csv"}, "", "waited 2h0m0s: play of 2014-09-01: ", true},
		"a file that grows":           {easy, []string{"play.csv"}, "order.csv", "continue without: logs/2014-09-01/order.csv has ", false},
		"a required file that grows":  {strict, []string{"order.csv"}, "play.csv", "continue without: logs/2014-09-01/play.csv has ", false},
		"no marker, no file":          {marked, nil, "", "continue without: the marker ", false},
		"no marker, a file":           {marked, []string{"play.csv"}, "", "continue without: the marker logs/2014-09-01/_SUCCESS", false},
		"no marker of its own":        {each, []string{"play.csv", "play.done", "order.csv"}, "", "continue without: the marker logs/2014-09-01/order.done", false},
		"none of what is required":    {each, []string{"play.csv", "order.csv", "order.done"}, "", "continue without: the marker logs/2014-09-01/play.done", false},
		"neither is there":            {each, []string{"order.csv", "order.done"}, "", "logs/2014-09-01/play.done", true},
		"no file at all":              {dateless, nil, "", "continue without: any file of 2014-09-01 below ", false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := newDelivery(t, c.job)
				for _, f := range c.files {
					d.write(night+"/"+f, "x")
				}
				ctx, cancel := context.WithCancel(t.Context())
				var growth sync.WaitGroup
				defer func() {
					cancel()
					growth.Wait() // a write needs the directory of the test
				}()
				if c.grows != "" {
					growth.Go(func() {
						for ctx.Err() == nil {
							d.write(night+"/"+c.grows, "more")
							select {
							case <-ctx.Done():
							case <-time.After(time.Second):
							}
						}
					})
				}
				took, err := d.wait(t.Context())
				if took != 2*time.Hour {
					t.Errorf("waited %s, want all of its patience", took)
				}
				text := ""
				if len(d.said) > 0 {
					text = d.said[len(d.said)-1]
				}
				if err != nil {
					text = err.Error()
				}
				if errors.Is(err, job.ErrNoInput) != c.fails || (err == nil) == c.fails || !strings.Contains(text, c.want) {
					t.Errorf("ended with %v, %q; want %q, failing %t", err, text, c.want, c.fails)
				}
			})
		})
	}
}

func TestMarkersAreEnough(t *testing.T) {
	for text, markers := range map[string][]string{marked: {"_SUCCESS"}, each: {"play.done"}} {
		synctest.Test(t, func(t *testing.T) {
			d := newDelivery(t, text)
			d.write(night+"/play.csv", "x")
			time.AfterFunc(time.Hour, func() {
				for _, m := range markers {
					d.write(night+"/"+m, "")
				}
			})
			took, err := d.wait(t.Context())
			if err != nil || took > time.Hour+time.Minute || took < time.Hour {
				t.Errorf("%v: waited %s, %v; want an hour", markers, took, err)
			}
		})
	}
}

func TestAFolderThatIsNotThereMayCome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDelivery(t, strings.ReplaceAll(easy, "logs/{", "logs/late/{"))
		time.AfterFunc(5*time.Minute+time.Second, func() {
			d.write("late/"+night+"/play.csv", "x")
			d.write("late/"+night+"/order.csv", "x")
		})
		if took, err := d.wait(t.Context()); err != nil || took != 6*time.Minute+30*time.Second {
			t.Errorf("waited %s, %v", took, err)
		}
		if len(d.said) != 2 || !strings.Contains(d.said[0], "the folder of the logs") {
			t.Errorf("said %q", d.said)
		}
	})
}

func TestAStopEndsTheWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		d := newDelivery(t, strict)
		time.AfterFunc(100*time.Second, cancel)
		if took, err := d.wait(ctx); !errors.Is(err, context.Canceled) || took != 100*time.Second {
			t.Errorf("waited %s, %v", took, err)
		}
	})
}

// lost is a file system that is not available until the n-th look.
type lost struct {
	dfs.FS
	looks int
}

func (l *lost) List(ctx context.Context, dir string) ([]dfs.Info, error) {
	if l.looks--; l.looks >= 0 {
		return nil, dfs.ErrUnavailable
	}
	return l.FS.List(ctx, dir)
}

func TestServersMayComeBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDelivery(t, easy)
		d.write(night+"/play.csv", "x")
		d.write(night+"/order.csv", "x")
		d.fs = &lost{local.New(), 4}
		if took, err := d.wait(t.Context()); err != nil || took != 3*time.Minute {
			t.Errorf("waited %s, %v", took, err)
		}
		d.fs = &lost{local.New(), 1 << 20}
		if took, err := d.wait(t.Context()); !errors.Is(err, dfs.ErrUnavailable) || errors.Is(err, job.ErrNoInput) || took != 2*time.Hour {
			t.Errorf("waited %s, %v; want what the servers say", took, err)
		}
	})
}

func TestAnotherErrorEndsTheWait(t *testing.T) {
	d := newDelivery(t, easy)
	d.write(night+"/play.csv", "x")
	d.fs = dfstest.FaultAt(local.New(), 1)
	if _, err := d.wait(t.Context()); !errors.Is(err, dfstest.ErrInjected) {
		t.Errorf("%v", err)
	}
}

// onHDFS is a directory that acts as an HDFS that knows which files a writer has open.
type onHDFS struct {
	dfs.FS
	dfs.Surveyor
	dir  string
	open func(name string) bool
}

func (f onHDFS) Held(_ context.Context, name string) (bool, string, error) {
	return f.open(name), "", nil
}

func (f onHDFS) List(ctx context.Context, dir string) ([]dfs.Info, error) {
	list, err := f.FS.List(ctx, f.local(dir))
	for i := range list {
		list[i].Name = "hdfs://nn" + strings.TrimPrefix(list[i].Name, f.dir)
	}
	return list, err
}

func (f onHDFS) Stat(ctx context.Context, name string) (dfs.Info, error) {
	info, err := f.FS.Stat(ctx, f.local(name))
	info.Name = name
	return info, err
}

func (f onHDFS) local(name string) string { return f.dir + strings.TrimPrefix(name, "hdfs://nn") }

// TestAFileIsWaitedForUntilItIsClosed covers a file on HDFS that a writer has open, although
// it has not changed for long or has its marker. When the wait ends, the load decides.
func TestAFileIsWaitedForUntilItIsClosed(t *testing.T) {
	for name, text := range map[string]string{"settle": easy, "marker": marked} {
		for closed, want := range map[time.Duration]time.Duration{0: time.Minute, 10 * time.Minute: 10 * time.Minute, 5 * time.Hour: 2 * time.Hour} {
			t.Run(name+" "+closed.String(), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					d := newDelivery(t, strings.ReplaceAll(strings.ReplaceAll(text, "'logs/", "'hdfs://nn/logs/"), "logs: logs/", "logs: hdfs://nn/logs/"))
					for _, file := range []string{"play.csv", "order.csv", "_SUCCESS"} {
						d.write(night+"/"+file, "x")
					}
					began := time.Now()
					d.fs = onHDFS{FS: d.fs, dir: d.dir, open: func(name string) bool {
						return strings.HasSuffix(name, "/order.csv") && time.Since(began) < closed
					}}
					if name == "marker" && closed == 0 {
						want = 0
					}
					if took, err := d.wait(t.Context()); err != nil || took != want {
						t.Errorf("waited %s, %v; want %s", took, err, want)
					}
					if said := strings.Join(d.said, "\n"); closed > 0 && !strings.Contains(said, "/logs/2014-09-01/order.csv is still being written") {
						t.Errorf("said %q, want the name of the open file", said)
					}
				})
			})
		}
	}
}
