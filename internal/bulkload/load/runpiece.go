package load

import (
	"context"
	"errors"
	"fmt"
	iofs "io/fs"
	"time"

	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/ledger"
	"usertrail/internal/format/manifest"
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

// A PieceResult is the result of a piece. The counts are sums over the files that can be committed.
// Failed has the other files.
type PieceResult struct {
	Plan    string `json:"plan"`
	Piece   int    `json:"piece"`
	Already bool   `json:"already"` // it had been done before
	manifest.Counts
	Cells   int64             `json:"cells"`
	Files   int               `json:"files"`
	Missing int               `json:"missing"` // of a piece none: the plan says which days have no file
	Bytes   int64             `json:"bytes"`
	HFiles  int               `json:"hfiles"`
	Mode    bulkload.Mode     `json:"mode"`
	Failed  []bulkload.Failed `json:"failed,omitempty"`
	table.Held
}

// Counted implements outcome.Result.
func (r PieceResult) Counted() outcome.Counts {
	c := r.Counts.Counted()
	c[outcome.Cells] = float64(r.Cells)
	c[outcome.Files] = float64(r.Files)
	c[outcome.Missing] = float64(r.Missing)
	c[outcome.Bytes] = float64(r.Bytes)
	c[outcome.HFiles] = float64(r.HFiles)
	c.SetFailed(len(r.Failed))
	return c
}

// RunPiece does one piece of a plan. The piece determines what is loaded, not cfg. Readers see nothing of
// it before Commit, except cells that are put. RunPiece does nothing if the piece is done or committed.
// If another worker does the piece, RunPiece waits for it, but not longer than patience.
//
// A file that cannot be loaded does not fail the piece. Commit reports the file.
func RunPiece(ctx context.Context, cfg Config, p *Piece, patience time.Duration) (PieceResult, error) {
	w, err := newPieceWorker(cfg, p, patience)
	if err != nil {
		return PieceResult{Plan: p.Plan, Piece: p.Piece}, err
	}
	report, err := w.run(ctx)
	return w.resultOf(report), err
}

// A pieceWorker is one call of RunPiece.
type pieceWorker struct {
	*load
	piece    *Piece
	folder   catalog.Folder
	patience time.Duration
	already  bool
}

func newPieceWorker(cfg Config, p *Piece, patience time.Duration) (*pieceWorker, error) {
	if p.gone() {
		l := &load{cfg: cfg}
		return &pieceWorker{load: l, piece: p, folder: p.folder(l)}, nil
	}
	var err error
	if cfg.Job, err = p.ParseJob(); err != nil {
		return nil, err
	}
	cfg.Span, cfg.Types, cfg.Mode = p.Span, p.Types, p.Mode
	l, err := newLoad(cfg)
	if err != nil {
		return nil, err
	}
	return &pieceWorker{load: l, piece: p, folder: p.folder(l), patience: patience}, nil
}

// run returns the piece's report, or nil if the piece is committed.
func (w *pieceWorker) run(ctx context.Context) (*manifest.Report, error) {
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
func (w *pieceWorker) locked(ctx context.Context, lock dfs.Lock) (report *manifest.Report, err error) {
	defer bulkload.Unlock(lock, &err)
	done, err := w.isDone(ctx)
	if done != nil || err != nil || w.already {
		return done, err
	}
	return w.work(ctx)
}

// isDone returns the report, if there is one. already says whether the piece is done. If the plan does not
// exist any more, it was committed, or it is out of date.
func (w *pieceWorker) isDone(ctx context.Context) (*manifest.Report, error) {
	r, err := w.folder.Report(ctx, w.piece.Piece)
	if r != nil || err != nil {
		w.already = err == nil
		return r, err
	}
	_, err = w.folder.Plan(ctx)
	if !errors.Is(err, iofs.ErrNotExist) && (err != nil || !w.piece.gone()) {
		return nil, err
	}
	w.already, err = w.committed(ctx)
	if err == nil && !w.already {
		err = fmt.Errorf("%w: %s keeps nothing of plan %s: plan again", ErrStale, w.cfg.Store.Address(), w.piece.Plan)
	}
	return nil, err
}

// committed reports whether the plan is part of the table.
func (w *pieceWorker) committed(ctx context.Context) (bool, error) {
	t, err := w.cfg.Store.Open(ctx)
	if errors.Is(err, table.ErrNoTable) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer t.Close()
	loads, err := t.Ledgers(ctx)
	return ledger.New(loads).LoadOf(w.piece.Plan) != 0, err
}

// work does the piece and reports it.
func (w *pieceWorker) work(ctx context.Context) (report *manifest.Report, err error) {
	if err := w.openFor(ctx, w.piece); err != nil {
		return nil, err
	}
	defer w.target.Close()
	if err := w.extend(); err != nil {
		return nil, err
	}
	w.ledgers = ledger.New(nil)
	inputs, err := w.inputsOf(w.piece)
	if err != nil {
		return nil, err
	}
	for _, in := range inputs {
		w.result.Bytes += in.toRead()
	}
	if err := w.settleMode(ctx, w.result.Bytes); err != nil {
		return nil, err
	}
	if err := w.takeUp(ctx); err != nil {
		return nil, err
	}
	for _, in := range inputs {
		if err := w.sameJob(in.Rel); err != nil {
			return nil, err
		}
	}
	if w.putter != nil && w.seeks(inputs) {
		// Puts cannot be undone. So no other load may bring records with the same keys in
		// the meantime.
		lock, fail := w.lockTable(ctx)
		if fail != nil {
			return nil, fail
		}
		defer bulkload.Unlock(lock, &err)
	}
	return w.workOn(ctx, inputs)
}

func (w *pieceWorker) workOn(ctx context.Context, inputs []*input) (*manifest.Report, error) {
	seen := 0
	if w.seeks(inputs) {
		seen = w.target.NextLoad()
	}
	p := progress.Start(w.cfg.Progress)
	defer p.Done()
	s, err := w.sorter()
	if err != nil {
		return nil, err
	}
	defer s.Close(ctx)
	p.Step("loading", progress.Bytes, w.result.Bytes*w.passes())
	b, err := w.newBatch(ctx, inputs, s, p)
	if err != nil {
		return nil, err
	}
	defer b.abort()
	b.piece = w.piece
	done, err := b.work(ctx)
	if err != nil {
		return nil, err
	}
	report, err := b.report(ctx, done)
	if err != nil {
		return nil, err
	}
	report.Seen = seen
	return report, w.folder.SetReport(ctx, report)
}

// openFor opens the table of a piece, or prepares a new table as the plan did.
func (l *load) openFor(ctx context.Context, p *Piece) error {
	t, err := l.cfg.Store.Open(ctx)
	if errors.Is(err, table.ErrNoTable) {
		if p.Splits == nil {
			return fmt.Errorf("%w: the table was there when it was planned, and is not any more: %w", ErrStale, err)
		}
		l.isNew = true
		t, err = l.cfg.Store.New(ctx, table.Plan{
			Layout: l.layout.Name(), Compression: l.job.Table.Compression, Schema: l.job.Schema,
			Splits: func(context.Context) (split.Points, error) { return p.splits(), nil },
		})
	}
	l.target = t
	return err
}

// seeks reports whether records of the piece may repeat records of the table.
func (l *load) seeks(inputs []*input) bool {
	for _, in := range inputs {
		for k := range l.kindMap {
			if (in.Kind < 0 || in.Kind == k) && l.unique[l.kindMap[k].kind].Asked() {
				return true
			}
		}
	}
	return false
}

// lockTable takes the table's lock. It waits for it if necessary.
func (w *pieceWorker) lockTable(ctx context.Context) (dfs.Lock, error) {
	for until := time.Now().Add(w.patience); ; {
		lock, err := w.cfg.Store.Lock(ctx)
		if !errors.Is(err, dfs.ErrLocked) || time.Now().After(until) {
			return lock, err
		}
		if err := pipe.Sleep(ctx, lookEvery); err != nil {
			return nil, err
		}
	}
}

// report writes the outcome of a batch as the report of a piece. It keeps the bad records.
func (b *batch) report(ctx context.Context, done worked) (*manifest.Report, error) {
	if err := b.commitBad(); err != nil {
		return nil, err
	}
	r := &manifest.Report{
		Piece: b.piece.Piece, Days: done.tallies.Days(b.number(), b.schema), Regions: done.tallies.Regions(b.number(), b.points), Files: done.files, Inputs: []manifest.Outcome{},
		Schema: b.schema,
	}
	var good []manifest.Input
	for _, in := range b.inputs {
		o := manifest.Outcome{Input: b.ledger(in), Range: in.only, Lines: in.lines, Ranges: in.ranges}
		if in.err != nil {
			o.Error, o.TooBad = in.err.Error(), errors.Is(in.err, bulkload.ErrTooBad)
		} else {
			good = append(good, o.Input)
		}
		if in.bad.Count() > 0 && (in.err == nil || o.TooBad) {
			o.Bad = b.piece.folder(b.load).BadBase(b.piece.Piece, in.index)
			var err error
			if o.BadSize, o.BadSum, err = dfs.SumFile(ctx, b.cfg.FS, in.bad.Name()); err != nil {
				return nil, err
			}
		}
		r.Inputs = append(r.Inputs, o)
	}
	return r, checkLaw(good)
}

// resultOf returns the PieceResult of a report.
func (w *pieceWorker) resultOf(r *manifest.Report) PieceResult {
	out := PieceResult{Plan: w.piece.Plan, Piece: w.piece.Piece, Already: w.already, Mode: w.piece.Mode}
	if r == nil {
		return out
	}
	for i := range r.Inputs {
		in := &r.Inputs[i]
		if in.Error != "" {
			out.Failed = append(out.Failed, bulkload.Failed{Path: in.Path, Error: in.Error})
			continue
		}
		out.Counts.Add(in.Counts)
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
	out.HFiles = hfiles(r.Files)
	return out
}
