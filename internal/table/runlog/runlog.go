// Package runlog records the runs on a table and how each ended. Every run has a small JSON
// file in the folder runs of the table's catalog.
//
//	TABLE/runs/20140902T020003.120Z-4711-f00d.json
//
// A run writes its file when it has the table's lock, and replaces the file when it ends. A
// killed run never records its end. A run without an end still runs if it holds the lock. A run
// that never had the lock writes its file at its end, if another run had the lock before. The
// names are in the order in which the runs were recorded, also if the clock was set back. The
// newest Kept files are kept.
//
// The run log is for people. It never makes a run fail, and no ledger and no manifest depends
// on it. There is one exception: a directory without a manifest is refused if its run log has
// a load.
package runlog

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	iofs "io/fs"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"usertrail/internal/run/exit"
	"usertrail/internal/run/outcome"
	"usertrail/internal/store/dfs"
)

const (
	folder = "runs"
	ending = ".json"
	// lockName is the name of a catalog's lock.
	lockName = "lock"
	// Kept is the number of runs that are kept. It is more than a year of nights.
	Kept = 500
	// version is written into every file. Files of other versions are skipped.
	version = 1
)

// A Run is the entry of one run.
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
	End     *End      `json:"end,omitempty"` // nil if the run has not ended, or was killed

	State State `json:"state,omitempty"` // set by Last; not in the file
}

// An End describes how a run ended.
type End struct {
	At      time.Time   `json:"at"`
	Seconds float64     `json:"seconds"`
	Status  exit.Status `json:"status"`
	Error   string      `json:"error,omitempty"`
	// Rewritten is the number of the first manifest that a compact, drop or undrop made: Rewritten of package manifest. It is 0 if the run
	// made none, and in entries of older releases.
	Rewritten int `json:"rewritten,omitempty"`
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

// A State is the state of a run: whether it has ended.
type State string

// The states.
const (
	Ended   State = "ended"
	Running State = "running"
	Died    State = "died"
	Unknown State = "unknown" // it has not ended, and the holder of the lock is unknown
)

// A Keeper writes the entry of one run. Only End returns its errors.
type Keeper struct {
	describe func() Run

	mu        sync.Mutex
	run       Run
	rewritten int
	fs        dfs.FS
	dir       string
	name      string // of the run's file; empty before it is written
	errs      []error
}

// NewKeeper returns the Keeper of a run. It calls describe before it writes the entry for the
// first time.
func NewKeeper(describe func() Run) *Keeper { return &Keeper{describe: describe} }

// At sets the directory of the table's catalog.
func (k *Keeper) At(fs dfs.FS, dir string) {
	if k == nil || dir == "" || dir == "." { // the catalog of a live table is unknown
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
	before, err := names(ctx, fs, dir)
	if err == nil {
		k.describeAfter(before)
		err = k.write(ctx)
	}
	if err == nil {
		err = k.forget(ctx, before)
	}
	if err != nil {
		k.errs = append(k.errs, err)
	}
}

// Rewrote records that the run has made the manifest with a number. The entry has the number of the first one.
func (k *Keeper) Rewrote(number int) {
	if k == nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.rewritten == 0 {
		k.rewritten = number
	}
}

// End records how the run ended. If Begin was not called, it writes the entry only if always is
// true and the catalog has a lock. The error includes the errors of Begin.
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
	if err := k.writeEnd(ctx, o); err != nil {
		k.errs = append(k.errs, err)
	}
	return errors.Join(k.errs...)
}

// writeEnd writes the run's file with its end.
func (k *Keeper) writeEnd(ctx context.Context, o *outcome.Outcome) error {
	if k.name == "" {
		before, err := names(ctx, k.fs, k.dir)
		if err != nil {
			return err
		}
		k.describeAfter(before)
	}
	k.run.End = endOf(o)
	k.run.End.Rewritten = k.rewritten
	return k.write(ctx)
}

// nameTime is the layout of the time that begins the name of a file.
const nameTime = "20060102T150405.000Z"

// describeAfter sets the entry and the name of its file. The name follows all names in before. It has
// the time at which the run began, or a later time if before has later names.
func (k *Keeper) describeAfter(before []string) {
	k.run = k.describe()
	k.run.Version = version
	at := k.run.Began.UTC()
	for _, name := range slices.Backward(before) {
		text, _, _ := strings.Cut(dfs.Base(name), "-")
		if last, err := time.Parse(nameTime, text); err == nil {
			if !at.Truncate(time.Millisecond).After(last) {
				at = last.Add(time.Millisecond)
			}
			break
		}
	}
	k.name = fmt.Sprintf("%s-%d-%s%s", at.Format(nameTime), k.run.Process, strings.ToLower(rand.Text()[:4]), ending)
}

// write writes the run's file.
func (k *Keeper) write(ctx context.Context) error {
	b, err := json.MarshalIndent(k.run, "", " ")
	if err != nil {
		return err
	}
	return dfs.WriteFile(ctx, k.fs, dfs.Join(k.dir, folder, k.name), append(b, '\n'))
}

// forget removes the oldest runs. before are the names of the files before the run's own.
func (k *Keeper) forget(ctx context.Context, before []string) error {
	for _, name := range before[:max(0, len(before)+1-Kept)] {
		if err := k.fs.Remove(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

// names returns the names of all files, the oldest first.
func names(ctx context.Context, fs dfs.FS, dir string) ([]string, error) {
	list, err := fs.List(ctx, dfs.Join(dir, folder))
	if errors.Is(err, iofs.ErrNotExist) {
		return nil, nil
	}
	if errors.Is(err, dfs.ErrNotDir) || errors.Is(err, syscall.ELOOP) {
		return nil, fmt.Errorf("%w: it has the name of the folder of the runs: move it away", err)
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

// Last returns the newest n runs of the table whose catalog is in dir, the oldest of them first.
// It skips files of other versions. It also skips names that are no file: skipped has the error of each.
func Last(ctx context.Context, fs dfs.FS, dir string, n int) (out []Run, skipped []error, err error) {
	names, err := names(ctx, fs, dir)
	if err != nil {
		return nil, nil, err
	}
	for _, name := range names[max(0, len(names)-n):] {
		b, err := dfs.ReadFile(ctx, fs, name)
		if errors.Is(err, iofs.ErrNotExist) {
			continue // forgotten meanwhile
		}
		if errors.Is(err, dfs.ErrSpecial) || errors.Is(err, syscall.ELOOP) || errors.Is(err, syscall.EISDIR) {
			skipped = append(skipped, fmt.Errorf("%w: no run is recorded there: move it away", err))
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		var r Run
		if json.Unmarshal(b, &r) == nil && r.Version == version {
			out = append(out, r)
		}
	}
	settle(ctx, fs, dir, out)
	return out, skipped, nil
}

// loads lists the commands that leave a table.
var loads = []string{"load", "replay", "import", "commit", "compact", "drop", "convert", "rebuild"}

// Loaded returns the newest run that left a table in dir. It returns nil if there is none, or if
// the table was set aside later.
func Loaded(ctx context.Context, fs dfs.FS, dir string) (*Run, error) {
	runs, _, err := Last(ctx, fs, dir, 2*Kept)
	if err != nil {
		return nil, err
	}
	for i := len(runs) - 1; i >= 0; i-- {
		r := &runs[i]
		switch {
		case r.forgot():
			return nil, nil
		case r.End != nil && slices.Contains(loads, r.Command) && (r.End.Status == exit.OK || r.End.Files > 0):
			return r, nil
		}
	}
	return nil, nil
}

// rewrites lists the commands that replace files of a table.
var rewrites = []string{"compact", "drop", "undrop"}

// Rewrites returns the ended runs that replaced files of the table whose catalog is in dir, the oldest first. It leaves
// out runs before a forget or a rebuild --with-dropped, and runs that are no longer kept.
func Rewrites(ctx context.Context, fs dfs.FS, dir string) (out []Run, err error) {
	runs, _, err := Last(ctx, fs, dir, 2*Kept)
	for i := range runs {
		switch r := &runs[i]; {
		case r.forgot() || r.accepted():
			out = nil
		case r.rewrote():
			out = append(out, *r)
		}
	}
	return out, err
}

// rewrote reports whether the run replaced files. If an older release recorded it, the run ended with success.
func (r *Run) rewrote() bool {
	return slices.Contains(rewrites, r.Command) && r.End != nil && (r.End.Rewritten > 0 || r.End.Status == exit.OK)
}

// accepted reports whether the run made the manifest the right one, although it may lack a drop.
func (r *Run) accepted() bool {
	if r.Command != "rebuild" || r.End == nil || r.End.Status != exit.OK && r.End.Status != exit.Nothing {
		return false
	}
	return slices.ContainsFunc(r.Args, func(arg string) bool {
		value, given := strings.CutPrefix(arg, "--with-dropped=")
		on, err := strconv.ParseBool(value)
		return arg == "--with-dropped" || given && err == nil && on
	})
}

// Lost returns the newest drop or undrop of Rewrites if the manifest with the number rewritten does not have it, otherwise nil. A lost
// compact changes no result of a query. If an older manifest was put back before a compact, the number of the compact shows it.
func Lost(runs []Run, rewritten int) *Run {
	for i := len(runs) - 1; i >= 0; i-- {
		r := &runs[i]
		number := r.End.Rewritten
		if number == 0 { // an older release recorded it: each run before it made a manifest, too
			number = i + 1
		}
		switch {
		case r.Command == "compact" && r.End.Rewritten == 0:
			rewritten-- // the compact made one manifest or more
		case r.Command == "compact":
			rewritten = min(rewritten, number-1)
		case rewritten < number:
			return r
		default:
			return nil
		}
	}
	return nil
}

// forgot reports whether the run set the catalog aside, or may have done so before it was killed.
func (r *Run) forgot() bool {
	return r.Command == "forget" && (r.End == nil || r.End.Status == exit.OK)
}

// settle sets the states of runs.
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
