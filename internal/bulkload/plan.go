package bulkload

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"

	"usertrail/internal/behaviour"
	"usertrail/internal/column"
	"usertrail/internal/dfs"
	"usertrail/internal/job"
	"usertrail/internal/manifest"
	"usertrail/internal/split"
	"usertrail/internal/table"
)

const (
	// batchBytes is about how much is loaded and committed together: enough that
	// a region's file of it is worth opening, little enough to stay in memory.
	batchBytes = 320 << 20
	// handedBytes is that of HFiles for HBase: a region with many files is slow to
	// read, and stops taking puts at 16 of them.
	handedBytes = 8 << 30
	// regionBytes is how much of the first load makes one region.
	regionBytes = 256 << 20
	maxRegions  = 64
)

// An input is a delivered file on its way into the table.
type input struct {
	job.Input
	index    int // in its batch
	number   uint32
	part     *manifest.Part   // what of it is asked for; nil is all
	covered  []*manifest.Part // what of it is in the table already
	only     *manifest.Range  // what of it is read; nil is all
	cuts     []int64          // where its ranges begin, if only digests are to be made
	planned  plannedCopies    // of a piece
	allOlder bool             // a load read all of it, and every record was of a dropped day

	// Of a replay:
	replay  *corrections  // the corrected records
	names   []string      // paths, below the logs' root, of it and its copies
	numbers []uint32      // of the file and its copies
	done    [][]int64     // offsets of those that were replayed before, by replay and sorted
	reads   []earlierRead // by loads, of the file and its copies
	offsets []int64       // of those that are good now

	state
}

// find lists the files that were asked for.
func (l *load) find(ctx context.Context) (job.Found, error) {
	l.failed, l.result.Failed = nil, nil
	found, err := l.job.Find(ctx, l.cfg.FS, l.cfg.Span, l.kinds)
	if err != nil {
		return found, err
	}
	l.result.Missing = len(found.Missing)
	for _, err := range badNames(l.job, found) {
		l.failed = append(l.failed, err)
		l.result.Failed = append(l.result.Failed, Failed{err.path, err.Error()})
	}
	return found, l.job.CheckRequired(found.Missing)
}

// A badName is the error of a file whose name is not UTF-8.
type badName struct{ path string } // quoted

func (e badName) Error() string {
	return fmt.Sprintf("%v: %s: the name of a delivered file must be UTF-8, since the table remembers it: rename the file", ErrRequest, e.path)
}

func (e badName) Unwrap() error { return ErrRequest }

func badNames(j *job.Job, found job.Found) []badName {
	var out []badName
	for _, rel := range found.NotUTF8 {
		out = append(out, badName{fmt.Sprintf("%q", j.Pattern.Root+"/"+rel)})
	}
	return out
}

// open opens the table, or plans one where there is none.
func (l *load) open(ctx context.Context, found job.Found) error {
	t, err := l.cfg.Store.Open(ctx)
	if errors.Is(err, table.ErrNoTable) {
		l.isNew = true
		t, err = l.cfg.Store.New(ctx, table.Plan{
			Layout: l.layout.Name(), Compression: l.job.Table.Compression, Schema: l.job.Schema,
			Splits: func(ctx context.Context) (split.Points, error) { return l.sampleSplits(ctx, found.Inputs) },
		})
	}
	if err != nil {
		return err
	}
	l.target = t
	return nil
}

// extend gives the table what is new in the job. It comes after recover: a load that
// is finished there brings the schema of its own job.
func (l *load) extend() error {
	if err := l.sameLayout(l.target.Info()); err != nil {
		return err
	}
	if err := l.target.Extend(l.job.Schema); err != nil {
		return fmt.Errorf("%w: %w", job.ErrJob, err)
	}
	info := l.target.Info()
	l.layout, l.schema = info.Layout, info.Schema
	l.kindMap = kindMap(l.job.Schema, l.schema)
	l.unique = uniqueOf(l.job, l.schema, l.kindMap)
	return nil
}

// learn reads what the table's loads were.
func (l *load) learn(ctx context.Context) error {
	loads, err := l.target.Ledgers(ctx)
	if err != nil {
		return err
	}
	l.ledgers = newLedgers(loads)
	if err := l.takeUp(ctx); err != nil {
		return err
	}
	return l.reserve(ctx)
}

// ledgers are what all loads together know of delivered files.
type ledgers struct {
	loads   []*manifest.Load
	byPath  map[string][]*manifest.Input
	copies  map[content][]Copy           // the files that were loaded with it, the oldest first
	numbers map[uint32]string            // path
	plans   map[string]int               // numbers of the loads that were made of pieces
	begun   map[string][]*manifest.Input // by path: those that no load holds, with cells in the table
	planned map[string]uint32            // by path: numbers of files that no load holds and a plan does
}

func newLedgers(loads []*manifest.Load) *ledgers {
	k := &ledgers{
		byPath: map[string][]*manifest.Input{}, copies: map[content][]Copy{}, numbers: map[uint32]string{}, plans: map[string]int{},
		begun: map[string][]*manifest.Input{}, planned: map[string]uint32{},
	}
	k.loads = loads
	for _, l := range loads {
		if l.Plan != "" {
			k.plans[l.Plan] = l.Number
		}
		for i := range l.Inputs {
			k.add(&l.Inputs[i])
		}
	}
	return k
}

func (k *ledgers) add(in *manifest.Input) {
	k.byPath[in.Path] = append(k.byPath[in.Path], in)
	k.numbers[in.Number] = in.Path
	if in.SameAs == "" && in.Offsets == nil {
		k.remember(content{in.SHA256, in.Behaviour}, copyOf(in))
	}
}

// number returns the number of the file called path: the one it has, or one
// that no other file has.
func (k *ledgers) number(path string) (uint32, error) {
	if have := k.byPath[path]; len(have) > 0 {
		return have[0].Number, nil
	}
	if begun := k.begun[path]; len(begun) > 0 {
		return begun[0].Number, nil
	}
	if n, ok := k.planned[path]; ok {
		return n, nil
	}
	n, err := column.Number(path, func(n uint32) bool { return k.numbers[n] == "" })
	if err == nil {
		k.numbers[n] = path
	}
	return n, err
}

// choose says which files are to be loaded. It leaves out a file that is not what was loaded
// under its name.
func (l *load) choose(ctx context.Context, found job.Found) ([]*input, error) {
	var out []*input
	var refused []error
	for _, f := range found.Inputs {
		in := &input{Input: f, part: l.partOf(f)}
		whole, err := l.loaded(ctx, in)
		if err == nil && !whole {
			err = l.fitsBegun(ctx, f)
		}
		switch {
		case errors.Is(err, ErrRequest):
			refused = append(refused, err)
			continue
		case ownFault(err):
			l.leave(f, err)
			continue
		case err != nil:
			return nil, err
		case whole:
			l.result.Already++
			if in.allOlder {
				l.olderFiles++
			}
			continue
		}
		if in.number, err = l.ledgers.number(f.Rel); err != nil {
			return nil, err
		}
		out = append(out, in)
	}
	if err := joined(refused); err != nil {
		return out, err
	}
	return l.leaveGrowing(ctx, out)
}

// loaded says whether all that is asked for of in was loaded before. Its error wraps
// ErrChanged if the file is not what was loaded.
func (l *load) loaded(ctx context.Context, in *input) (whole bool, err error) {
	for _, old := range l.ledgers.byPath[in.Rel] {
		same, err := l.wasLoaded(ctx, in, old)
		if err != nil {
			return false, err
		}
		if !same {
			continue
		}
		if old.Read > 0 {
			in.covered = append(in.covered, old.Part)
		}
		if old.Part.Covers(l.undropped(in, in.part)) {
			whole, in.allOlder = true, in.allOlder || old.AllOlder()
		}
	}
	return whole, nil
}

// wasLoaded says whether in is the file that an earlier load had as old, which has in's name.
// Its error wraps ErrChanged if in is another file and must not be loaded.
func (l *load) wasLoaded(ctx context.Context, in *input, old *manifest.Input) (bool, error) {
	if old.Offsets != nil {
		return false, nil
	}
	err := l.sameFile(ctx, in.Input, old)
	if superseded(old, err) {
		return false, nil
	}
	return err == nil, err
}

// behaviour is the one that in's path names, empty where a column does.
func (l *load) behaviour(in *input) string {
	if in.Kind < 0 {
		return ""
	}
	return l.job.Schema.Kinds[in.Kind].Name
}

// partOf is what of a file was asked for: all of it where its path says its
// date and behaviour.
func (l *load) partOf(f job.Input) *manifest.Part {
	if f.Date != nil && f.Kind >= 0 {
		return nil
	}
	p := new(manifest.Part)
	if f.Date == nil {
		span := l.cfg.Span
		p.Span = &span
	}
	for _, k := range l.kinds {
		if f.Kind < 0 || f.Kind == k {
			p.Behaviours = append(p.Behaviours, l.job.Schema.Kinds[k].Name)
		}
	}
	return p
}

// sameFile reports a file that is not what was loaded under its name. Only where
// size or time of change differ are its bytes looked at.
func (l *load) sameFile(ctx context.Context, f job.Input, old *manifest.Input) error {
	if f.Size == old.Size && f.Modified.Equal(old.Modified) {
		return nil
	}
	sum, err := l.digest(ctx, f.Path)
	if err != nil {
		return unread(f.Path, err)
	}
	if sum == old.SHA256 {
		return nil
	}
	return fmt.Errorf("%s: %w: it had %d bytes, sha256 %s, and has %d, %s; deliver what is new as a file of another name",
		f.Path, ErrChanged, old.Size, old.SHA256, f.Size, sum)
}

func (l *load) digest(ctx context.Context, path string) (string, error) {
	f, err := dfs.OpenRegular(ctx, l.cfg.FS, path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", fmt.Errorf("read %s: %w", path, err)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// inOrder brings files in order of date, those without one last, and then of path.
func inOrder(inputs []*input) {
	slices.SortStableFunc(inputs, func(a, b *input) int {
		return cmp.Or(cmp.Compare(dayOf(a.Input), dayOf(b.Input)), cmp.Compare(a.Rel, b.Rel))
	})
}

func dayOf(in job.Input) behaviour.Date {
	if in.Date == nil {
		return behaviour.MaxDate
	}
	return *in.Date
}

// batches cuts the files into batches: whole days, in order, until limit bytes
// are together. Files without a date come last. Nothing but the files decides,
// so a run that goes on after a killed one makes the batches that were left.
func batches(inputs []*input, limit int64) [][]*input {
	inOrder(inputs)
	var out [][]*input
	var have int64
	for i := 0; i < len(inputs); {
		j, size := i+1, inputs[i].Size
		for j < len(inputs) && inputs[j].Date != nil && dayOf(inputs[j].Input) == dayOf(inputs[i].Input) {
			size += inputs[j].Size
			j++
		}
		if len(out) == 0 || have+size > limit {
			out = append(out, nil)
			have = 0
		}
		out[len(out)-1] = append(out[len(out)-1], inputs[i:j]...)
		have += size
		i = j
	}
	return out
}
