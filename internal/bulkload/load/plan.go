package load

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
	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/ledger"
	"usertrail/internal/format/job"
	"usertrail/internal/format/manifest"
	"usertrail/internal/split"
	"usertrail/internal/store/dfs"
	"usertrail/internal/table"
)

const (
	// batchBytes is about the size of a batch. It is large enough that the files of its
	// regions are not tiny, and small enough to stay in memory.
	batchBytes = 320 << 20
	// handedBytes is about the size of a batch for HBase. A region with many files is slow to
	// read, and takes no puts from 16 files on.
	handedBytes = 8 << 30
	// regionBytes is the size of the first load for each region.
	regionBytes = 256 << 20
	maxRegions  = 64
)

// An input is a delivered file on its way into the table.
type input struct {
	job.Input
	index    int // in its batch
	number   uint32
	part     *manifest.Part   // the requested part; nil means all
	covered  []*manifest.Part // the parts that are in the table already
	only     *manifest.Range  // the range that is read; nil means all
	cuts     []int64          // the beginnings of its ranges, if only digests are made
	planned  plannedCopies    // of a piece
	allOlder bool             // a load read all of it, and every record was of a dropped day

	// Of a replay:
	replay  *corrections  // the corrected records
	names   []string      // paths, below the logs' root, of it and its copies
	numbers []uint32      // of the file and its copies
	done    [][]int64     // offsets of records that earlier replays brought, by replay and sorted
	reads   []earlierRead // by loads, of the file and its copies
	offsets []int64       // offsets of records that are good now

	state
}

// find lists the requested files.
func (l *load) find(ctx context.Context) (job.Found, error) {
	l.failed, l.result.Failed = nil, nil
	found, err := l.job.Find(ctx, l.cfg.FS, l.cfg.Span, l.kinds)
	if err != nil {
		return found, err
	}
	l.result.Missing = len(found.Missing)
	for _, err := range badNames(l.job, found) {
		l.failed = append(l.failed, err)
		l.result.Failed = append(l.result.Failed, bulkload.Failed{Path: err.path, Error: err.Error()})
	}
	return found, l.job.CheckRequired(found.Missing)
}

// A badName is the error of a file whose name is not UTF-8.
type badName struct{ path string } // quoted

func (e badName) Error() string {
	return fmt.Sprintf("%v: %s: the name of a delivered file must be UTF-8, since the table remembers it: rename the file", bulkload.ErrRequest, e.path)
}

func (e badName) Unwrap() error { return bulkload.ErrRequest }

func badNames(j *job.Job, found job.Found) []badName {
	var out []badName
	for _, rel := range found.NotUTF8 {
		out = append(out, badName{fmt.Sprintf("%q", j.Pattern.Root+"/"+rel)})
	}
	return out
}

// open opens the table. If there is none, it prepares a new one.
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

// extend adds the new behaviours and fields of the job to the table. It must follow recover, because a
// load that recover finishes brings the schema of its own job.
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

// learn reads the ledgers of the table.
func (l *load) learn(ctx context.Context) error {
	loads, err := l.target.Ledgers(ctx)
	if err != nil {
		return err
	}
	l.ledgers = ledger.New(loads)
	if err := l.takeUp(ctx); err != nil {
		return err
	}
	return l.reserve(ctx)
}

// choose returns the files to load. It leaves out a file that differs from the file that was loaded under
// its name.
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
		case errors.Is(err, bulkload.ErrRequest):
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
		if in.number, err = l.ledgers.Number(f.Rel); err != nil {
			return nil, err
		}
		out = append(out, in)
	}
	if err := bulkload.Joined(refused); err != nil {
		return out, err
	}
	return l.leaveGrowing(ctx, out)
}

// loaded reports whether the requested part of in was loaded before. Its error wraps ErrChanged if the
// file differs from the loaded file.
func (l *load) loaded(ctx context.Context, in *input) (whole bool, err error) {
	for _, old := range l.ledgers.Inputs(in.Rel) {
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
		if old.Part.Covers(ledger.Undropped(in.part, l.behaviour(in), l.target.Info().Dropped)) {
			whole, in.allOlder = true, in.allOlder || old.AllOlder()
		}
	}
	return whole, nil
}

// wasLoaded reports whether in is the same file as old, the file of the same name in an earlier load. Its
// error wraps ErrChanged if in is another file and must not be loaded.
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

// behaviour returns the behaviour that in's path names, or "" if a column names it.
func (l *load) behaviour(in *input) string {
	if in.Kind < 0 {
		return ""
	}
	return l.job.Schema.Kinds[in.Kind].Name
}

// partOf returns the requested part of a file. It returns nil for the whole file if the file's
// path has its date and behaviour.
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

// sameFile compares a file with the file that was loaded under its name. It reads the bytes only if the
// size or the modification time differs.
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
		f.Path, bulkload.ErrChanged, old.Size, old.SHA256, f.Size, sum)
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

// inOrder sorts files by date, and then by path. Files without a date come last.
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

// batches groups the files into batches of whole days, in order. A batch ends when it has limit bytes.
// Files without a date come last. Only the files determine the batches, so a run that continues after a
// killed run makes the remaining batches.
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
