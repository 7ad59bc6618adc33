// Package runlog is what ran on a table, and how it ended: a small JSON file for
// each run, in the folder runs of the table's catalog.
//
//	TABLE/runs/20140902T020003.120Z-4711-f00d.json
//
// A run is written down when it has the table's lock, and once more, under the same
// name, when it has ended. One that was killed never ends: it is told from one that is
// running by the lock. A run that never had the lock is written down at its end, if
// another run had it before. The names are in order of time, and the newest Kept are kept.
//
// The journal is for people. No run fails of it, and nothing in the ledgers or the
// manifest is taken from there. Only a directory without a manifest is refused if the
// journal knows of a load there.
package runlog

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	iofs "io/fs"
	"slices"
	"strings"
	"sync"
	"time"

	"usertrail/internal/run/exit"
	"usertrail/internal/run/outcome"
	"usertrail/internal/store/dfs"
)

const (
	folder = "runs"
	ending = ".json"
	// lockName is that of a catalog's lock.
	lockName = "lock"
	// Kept is how many runs are kept: a year of nights, and some more.
	Kept = 500
	// version is written into every file; others are passed over.
	version = 1
)

// A Run is what was done to a table.
type Run struct {
	Version int       `json:"version"`
	Command string    `json:"command"` // load, replay, import, …
	Args    []string  `json:"args,omitempty"`
	From    string    `json:"from,omitempty"`
	To      string    `json:"to,omitempty"`
	Host    string    `json:"host"`
	Process int       `json:"process"`
	User    string    `json:"user,omitempty"`
	Program string    `json:"program,omitempty"` // version of usertrail
	Began   time.Time `json:"began"`
	End     *End      `json:"end,omitempty"` // nil of one that runs, or died

	State State `json:"state,omitempty"` // as read, not as written
}

// An End is how a run ended.
type End struct {
	At      time.Time   `json:"at"`
	Seconds float64     `json:"seconds"`
	Status  exit.Status `json:"status"`
	Error   string      `json:"error,omitempty"`
	Counts
}

// Counts are the counts of a load's last line.
type Counts struct {
	Read        int64 `json:"read"`
	Loaded      int64 `json:"loaded"`
	Quarantined int64 `json:"quarantined"`
	Duplicate   int64 `json:"duplicate"`
	Skipped     int64 `json:"skipped"`
	Cells       int64 `json:"cells"`
	Files       int64 `json:"files"`
	Already     int64 `json:"already"`
	Missing     int64 `json:"missing"`
	Bytes       int64 `json:"bytes"` // of the delivered files
}

// endOf returns the end of an entry.
func endOf(o *outcome.Outcome) *End {
	c := o.Counts()
	return &End{
		At: o.At.UTC(), Seconds: o.Seconds, Status: o.Status, Error: o.Error,
		Counts: Counts{
			Read: c.Int(outcome.Read), Loaded: c.Int(outcome.Loaded), Quarantined: c.Int(outcome.Quarantined),
			Duplicate: c.Int(outcome.Duplicate), Skipped: c.Int(outcome.Skipped), Cells: c.Int(outcome.Cells),
			Files: c.Int(outcome.Files), Already: c.Int(outcome.Already), Missing: c.Int(outcome.Missing), Bytes: c.Int(outcome.Bytes),
		},
	}
}

// A State is what has become of a run.
type State string

// The states.
const (
	Ended   State = "ended"
	Running State = "running"
	Died    State = "died"
	Unknown State = "unknown" // it has not ended, and who has the lock cannot be told
)

// A Keeper writes one run down. Nothing that goes wrong with it is an error before End.
type Keeper struct {
	describe func() Run

	mu   sync.Mutex
	run  Run
	fs   dfs.FS
	dir  string
	name string // of the run's file; empty before it is written
	errs []error
}

// NewKeeper returns the Keeper of the run that describe describes, which is asked when
// the run is written down first.
func NewKeeper(describe func() Run) *Keeper { return &Keeper{describe: describe} }

// At says where the catalog of the run's table is.
func (k *Keeper) At(fs dfs.FS, dir string) {
	if k == nil || dir == "" || dir == "." { // a live table that nobody says the catalog of
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.fs, k.dir = fs, dir
}

// Begin records that the run has the lock of the table whose catalog is in dir. The caller
// calls it after it has taken the lock. A second call does nothing. Begin removes the oldest
// runs.
func (k *Keeper) Begin(ctx context.Context, fs dfs.FS, dir string) {
	if k == nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.name != "" {
		return
	}
	k.fs, k.dir = fs, dir
	err := k.write(ctx, func(*Run) {})
	if err == nil {
		err = k.forget(ctx)
	}
	if err != nil {
		k.errs = append(k.errs, err)
	}
}

// End writes down how the run ended. One that has not begun is written down if always
// says so, and the catalog has a lock. Its error tells of Begin's, too.
func (k *Keeper) End(ctx context.Context, o *outcome.Outcome, always bool) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.name == "" {
		if !always || k.fs == nil {
			return errors.Join(k.errs...)
		}
		if _, err := k.fs.Stat(ctx, dfs.Join(k.dir, lockName)); err != nil {
			return nil // no run has had the lock yet, or none can be reached
		}
	}
	end := func(r *Run) { r.End = endOf(o) }
	if err := k.write(ctx, end); err != nil {
		k.errs = append(k.errs, err)
	}
	return errors.Join(k.errs...)
}

// write writes the run's file, with what more is known of it now.
func (k *Keeper) write(ctx context.Context, more func(*Run)) error {
	if k.name == "" {
		k.run = k.describe()
		k.run.Version = version
		k.name = fmt.Sprintf("%s-%d-%s%s", k.run.Began.UTC().Format("20060102T150405.000Z"), k.run.Process, strings.ToLower(rand.Text()[:4]), ending)
	}
	more(&k.run)
	b, err := json.MarshalIndent(k.run, "", " ")
	if err != nil {
		return err
	}
	return dfs.WriteFile(ctx, k.fs, dfs.Join(k.dir, folder, k.name), append(b, '\n'))
}

// forget removes the oldest runs.
func (k *Keeper) forget(ctx context.Context) error {
	names, err := names(ctx, k.fs, k.dir)
	if err != nil {
		return err
	}
	for _, name := range names[:max(0, len(names)-Kept)] {
		if err := k.fs.Remove(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

// names are those of all runs, the oldest first.
func names(ctx context.Context, fs dfs.FS, dir string) ([]string, error) {
	list, err := fs.List(ctx, dfs.Join(dir, folder))
	if errors.Is(err, iofs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var out []string
	for _, f := range list {
		if strings.HasSuffix(f.Name, ending) {
			out = append(out, f.Name)
		}
	}
	slices.Sort(out)
	return out, nil
}

// Last returns the newest runs of the table whose catalog is in dir, at most n, the
// oldest of them first. What is no run of this version is passed over.
func Last(ctx context.Context, fs dfs.FS, dir string, n int) ([]Run, error) {
	names, err := names(ctx, fs, dir)
	if err != nil {
		return nil, err
	}
	var out []Run
	for _, name := range names[max(0, len(names)-n):] {
		b, err := dfs.ReadFile(ctx, fs, name)
		if errors.Is(err, iofs.ErrNotExist) {
			continue // forgotten meanwhile
		}
		if err != nil {
			return nil, err
		}
		var r Run
		if json.Unmarshal(b, &r) == nil && r.Version == version {
			out = append(out, r)
		}
	}
	settle(ctx, fs, dir, out)
	return out, nil
}

// loads are the commands after which a table is there.
var loads = []string{"load", "replay", "import", "commit", "compact", "drop", "convert", "rebuild"}

// Loaded returns the newest run that left a table in dir, nil if there is none, or if the
// table was set aside after it.
func Loaded(ctx context.Context, fs dfs.FS, dir string) (*Run, error) {
	runs, err := Last(ctx, fs, dir, 2*Kept)
	if err != nil {
		return nil, err
	}
	for i := len(runs) - 1; i >= 0; i-- {
		r := &runs[i]
		switch {
		case r.Command == "forget" && (r.End == nil || r.End.Status == exit.OK):
			return nil, nil
		case r.End != nil && slices.Contains(loads, r.Command) && (r.End.Status == exit.OK || r.End.Files > 0):
			return r, nil
		}
	}
	return nil, nil
}

// settle says what has become of runs.
func settle(ctx context.Context, fs dfs.FS, dir string, runs []Run) {
	var held bool
	var who string
	s, err := dfs.Survey(fs, dir)
	if err == nil {
		held, who, err = s.Held(ctx, dfs.Join(dir, lockName))
	}
	for i := range runs {
		r := &runs[i]
		switch {
		case r.End != nil:
			r.State = Ended
		case err != nil:
			r.State = Unknown
		case held && strings.HasPrefix(who, fmt.Sprintf("process %d on %s since ", r.Process, r.Host)):
			r.State = Running
		default:
			r.State = Died
		}
	}
}

type key struct{}

// NewContext returns a context with the Keeper of its run.
func NewContext(ctx context.Context, k *Keeper) context.Context {
	return context.WithValue(ctx, key{}, k)
}

// FromContext returns the Keeper of NewContext, or nil if there is none. A nil Keeper records
// nothing.
func FromContext(ctx context.Context) *Keeper {
	k, _ := ctx.Value(key{}).(*Keeper)
	return k
}
