package pieces

import (
	"context"
	"errors"
	"fmt"
	iofs "io/fs"
	"time"

	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/batch"
	"usertrail/internal/bulkload/ledger"
	"usertrail/internal/bulkload/target"
	"usertrail/internal/format/job"
	"usertrail/internal/format/manifest"
	"usertrail/internal/format/record"
	"usertrail/internal/run/outcome"
	"usertrail/internal/run/pipe"
	"usertrail/internal/run/progress"
	"usertrail/internal/split"
	"usertrail/internal/store/dfs"
	"usertrail/internal/table"
	"usertrail/internal/table/catalog"
)

// lookEvery is the pause between two checks whether another worker has done a piece.
const lookEvery = 500 * time.Millisecond

// A Result is the result of a piece. The counts are sums over the files that can be committed.
// Failed has the other files.
type Result struct {
	Plan    string `json:"plan"`
	Piece   int    `json:"piece"`
	Already bool   `json:"already"` // it had been done before
	manifest.Counts
	Unmapped manifest.Unmapped `json:"unmapped,omitzero"` // as in bulkload.Result
	Cells    int64             `json:"cells"`
	Files    int               `json:"files"`
	Missing  int               `json:"missing"` // always 0: plan reports the days without a file
	Bytes    int64             `json:"bytes"`
	HFiles   int               `json:"hfiles"`
	Mode     bulkload.Mode     `json:"mode"`
	Failed   []bulkload.Failed `json:"failed,omitempty"`
	table.Held
}

// Counted implements outcome.Result.
func (r Result) Counted() outcome.Counts {
	c := r.Counts.Counted()
	c[outcome.Cells] = float64(r.Cells)
	c[outcome.Files] = float64(r.Files)
	c[outcome.Missing] = float64(r.Missing)
	c[outcome.Bytes] = float64(r.Bytes)
	c[outcome.HFiles] = float64(r.HFiles)
	c.SetFailed(len(r.Failed))
	return c
}

// Run does one piece of a plan. Readers see nothing of it before Commit, except cells that are put. Run does
// nothing if the piece is done or committed. If another worker does the piece, Run waits for it, but not
// longer than patience.
//
// A file that cannot be loaded does not fail the piece. Commit reports the file.
func Run(ctx context.Context, with bulkload.Resources, p *Piece, patience time.Duration) (Result, error) {
	with = with.WithDefaults()
	w := &worker{with: with, piece: p, folder: p.folder(with.FS, with.Store), patience: patience}
	if !p.gone() {
		var err error
		if w.job, err = p.ParseJob(); err != nil {
			return w.resultOf(nil), err
		}
	}
	report, err := w.run(ctx)
	return w.resultOf(report), err
}

// A worker is one call of Run.
type worker struct {
	with     bulkload.Resources
	piece    *Piece
	job      *job.Job // nil if the piece is gone
	folder   catalog.Folder
	patience time.Duration
	already  bool // the piece had been done before
}

// run returns the piece's report, or nil if the piece is committed.
func (w *worker) run(ctx context.Context) (*manifest.Report, error) {
	until := time.Now().Add(w.patience)
	for {
		done, err := w.isDone(ctx)
		if done != nil || err != nil || w.already {
			return done, err
		}
		lock, err := w.folder.Lock(ctx, w.piece.Piece)
		if err == nil {
			return w.locked(ctx, lock)
		}
		if !errors.Is(err, dfs.ErrLocked) || time.Now().After(until) {
			return nil, fmt.Errorf("piece %d of plan %s: %w", w.piece.Piece, w.piece.Plan, err)
		}
		if err := pipe.Sleep(ctx, lookEvery); err != nil {
			return nil, err
		}
	}
}

// locked does the piece, unless another worker did it before the lock was taken.
func (w *worker) locked(ctx context.Context, lock dfs.Lock) (report *manifest.Report, err error) {
	defer bulkload.Unlock(lock, &err)
	done, err := w.isDone(ctx)
	if done != nil || err != nil || w.already {
		return done, err
	}
	return w.work(ctx)
}

// isDone returns the report of the piece, if there is one. It sets already if the piece is done. A piece
// with a damaged report is done again. If the plan does not exist any more, it was committed, or it is out
// of date.
func (w *worker) isDone(ctx context.Context) (*manifest.Report, error) {
	r, err := w.folder.Report(ctx, w.piece.Piece)
	if errors.Is(err, manifest.ErrDamaged) && !errors.Is(err, dfs.ErrDirectory) {
		w.with.Log.Warn("the piece is done again", "plan", w.piece.Plan, "piece", w.piece.Piece, "why", err)
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	switch _, err = w.folder.Plan(ctx); {
	case err == nil && !w.piece.gone():
		w.already = r != nil
		return r, nil
	case err != nil && !errors.Is(err, iofs.ErrNotExist):
		return nil, err
	}
	if w.already, err = w.committed(ctx); err != nil {
		return nil, err
	}
	if !w.already {
		return nil, fmt.Errorf("%w: %s keeps nothing of plan %s: plan again", ErrStale, w.with.Store.Address(), w.piece.Plan)
	}
	return r, nil
}

// committed reports whether the plan is part of the table.
func (w *worker) committed(ctx context.Context) (bool, error) {
	t, err := w.with.Store.Open(ctx)
	if errors.Is(err, table.ErrNoTable) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer t.Close()
	return w.committedTo(ctx, t)
}

// committedTo reports whether the plan is part of the table t.
func (w *worker) committedTo(ctx context.Context, t table.Loader) (bool, error) {
	committed := false
	err := t.EachLedger(ctx, func(l *manifest.Load) error {
		committed = committed || l.Plan == w.piece.Plan
		return nil
	})
	return committed, err
}

// openTable opens the table of a piece, or prepares a new table as the plan did. j is the job of the piece.
func openTable(ctx context.Context, store table.Store, p *Piece, j *job.Job) (*target.Table, error) {
	if p.Splits == nil {
		t, err := target.Open(ctx, store)
		if errors.Is(err, table.ErrNoTable) {
			err = fmt.Errorf("%w: the table was there when it was planned, and is not any more: %w", ErrStale, err)
		}
		return t, err
	}
	return target.OpenOrNew(ctx, store, target.PlanOf(j, func(context.Context) (split.Points, error) { return p.splits(), nil }))
}

// work does the piece and reports it, unless the piece is committed.
func (w *worker) work(ctx context.Context) (report *manifest.Report, err error) {
	to, err := openTable(ctx, w.with.Store, w.piece, w.job)
	if err != nil {
		return nil, err
	}
	defer to.Close()
	// A killed commit may have left the plan. Then the table has the files that the piece would write again.
	if w.already, err = w.committedTo(ctx, to); w.already || err != nil {
		return nil, err
	}
	if err := to.Fit(w.job); err != nil {
		return nil, err
	}
	inputs, bytes, err := w.inputs()
	if err != nil {
		return nil, err
	}
	if _, err := to.SetMode(ctx, w.piece.Mode, bytes); err != nil {
		return nil, err
	}
	known := ledger.New(nil, nil)
	if err := to.LearnBegun(ctx, known); err != nil {
		return nil, err
	}
	compares := false // records of the piece may repeat records of the table
	for _, in := range inputs {
		if err := to.SameJob(known.Begun(in.Rel)); err != nil {
			return nil, err
		}
		compares = compares || to.Compares(in.Kind)
	}
	if to.Putter != nil && compares {
		// Puts cannot be undone. So no other load may add records with the same keys in
		// the meantime.
		lock, fail := w.lockTable(ctx)
		if fail != nil {
			return nil, fail
		}
		defer bulkload.Unlock(lock, &err)
	}
	seen := 0
	if compares {
		seen = to.NextLoad()
	}
	cfg := &batch.Config{Resources: w.with, Job: w.job, To: to, Known: known, Failures: new(bulkload.Failures)}
	report, err = w.load(ctx, cfg, inputs, bytes)
	if err != nil {
		return nil, err
	}
	report.Seen = seen
	return report, w.folder.SetReport(ctx, report)
}

// inputs returns the files of the piece, and the bytes that are read.
func (w *worker) inputs() (inputs []*batch.Input, bytes int64, err error) {
	for i := range w.piece.Inputs {
		f, err := w.piece.Inputs[i].file(w.job.Schema)
		if err != nil {
			return nil, 0, err
		}
		inputs = append(inputs, batch.NewInput(f))
		bytes += f.Bytes()
	}
	return inputs, bytes, nil
}

// load loads the inputs as one batch, without the commit. It returns the outcome as the report of the piece.
func (w *worker) load(ctx context.Context, cfg *batch.Config, inputs []*batch.Input, bytes int64) (*manifest.Report, error) {
	p := progress.Start(cfg.Progress)
	defer p.Done()
	s, err := batch.NewSorter(cfg)
	if err != nil {
		return nil, err
	}
	defer s.Close(ctx)
	p.Step("loading", progress.Bytes, bytes*cfg.To.Passes())
	b, err := batch.New(ctx, cfg, &owner{w.piece, w.folder, cfg}, inputs, s, p)
	if err != nil {
		return nil, err
	}
	defer b.Abort()
	done, err := b.Work(ctx)
	if err != nil {
		return nil, err
	}
	if err := tooLarge(inputs); err != nil {
		return nil, err
	}
	if err := b.CommitBad(); err != nil {
		return nil, dfs.InPlace(err, catalog.PieceAgain)
	}
	r := &manifest.Report{Piece: w.piece.Piece, Days: done.Days, NoValue: done.NoValue, Regions: done.Regions, Files: done.Files, Inputs: b.Outcomes(), Schema: cfg.To.Schema}
	return r, w.keepBad(ctx, inputs, r)
}

// tooLarge returns the error of an input with a record that needs more memory. The record is no fault of the
// file: another worker with more memory can do the piece.
func tooLarge(inputs []*batch.Input) error {
	for _, in := range inputs {
		if err := in.Err(); errors.Is(err, record.ErrLarge) {
			return err
		}
	}
	return nil
}

// keepBad adds the files of bad records to a report. It checks that the counts add up.
func (w *worker) keepBad(ctx context.Context, inputs []*batch.Input, r *manifest.Report) error {
	var good []manifest.Input
	for i, in := range inputs {
		o := &r.Inputs[i]
		if o.Error == "" {
			good = append(good, o.Input)
		}
		if in.Bad().Count() > 0 && (o.Error == "" || o.TooBad) {
			o.Bad = w.folder.BadBase(w.piece.Piece, i)
			var err error
			if o.BadSize, o.BadSum, err = dfs.SumFile(ctx, w.with.FS, in.Bad().Name()); err != nil {
				return err
			}
		}
	}
	return bulkload.CheckLaw(good)
}

// lockTable locks the table. It waits for the lock if necessary.
func (w *worker) lockTable(ctx context.Context) (dfs.Lock, error) {
	for until := time.Now().Add(w.patience); ; {
		lock, err := w.with.Store.Lock(ctx)
		if !errors.Is(err, dfs.ErrLocked) || time.Now().After(until) {
			return lock, err
		}
		if err := pipe.Sleep(ctx, lookEvery); err != nil {
			return nil, err
		}
	}
}

// resultOf returns the Result of a report.
func (w *worker) resultOf(r *manifest.Report) Result {
	out := Result{Plan: w.piece.Plan, Piece: w.piece.Piece, Already: w.already, Mode: w.piece.Mode}
	if r == nil {
		return out
	}
	for i := range r.Inputs {
		in := &r.Inputs[i]
		if in.Error != "" {
			out.Failed = append(out.Failed, bulkload.Failed{Path: w.piece.pathOf(in.Path), Error: in.Error})
			continue
		}
		out.Counts.Add(in.Counts)
		out.Unmapped.AddList(in.Unmapped)
		switch {
		case in.Range != nil:
			out.Bytes += in.Range.To - in.Range.From
			continue // the piece of its digests counts the file
		case in.Ranges == nil:
			out.Bytes += in.Size
		}
		out.Files++
	}
	for _, d := range r.Days {
		out.Cells += d.Tally.Cells
	}
	out.HFiles = bulkload.HFiles(r.Files)
	return out
}
