package pieces

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	iofs "io/fs"
	"syscall"
	"time"

	"usertrail/internal/extract"
	"usertrail/internal/extract/estimate"
	"usertrail/internal/extract/judge"
	"usertrail/internal/extract/memory"
	"usertrail/internal/extract/notfound"
	"usertrail/internal/extract/output"
	"usertrail/internal/extract/place"
	"usertrail/internal/extract/query"
	"usertrail/internal/format/manifest"
	"usertrail/internal/run/breakpoint"
	"usertrail/internal/run/outcome"
	"usertrail/internal/run/pipe"
	"usertrail/internal/run/progress"
	"usertrail/internal/split"
	"usertrail/internal/store/dfs"
	"usertrail/internal/table"
)

// A Worker does pieces. The comments give the defaults of zero fields.
type Worker struct {
	FS       dfs.FS
	Open     Opener
	Workers  int   // how many batches are read, and parts written, at once; 1
	Memory   int64 // of the process in bytes; 1 GiB
	Sizes    memory.Sizes
	Patience time.Duration // how long to wait for another worker that does the piece
	Progress progress.Config
}

// An Opener opens the table of a piece with the piece's Access. The function that it returns closes the
// table and everything else that it opened.
type Opener func(ctx context.Context, p *Piece) (table.Table, func() error, error)

// A Result describes the work of a worker.
type Result struct {
	Plan    string `json:"plan"`
	Piece   int    `json:"piece"`             // the last one, if there are several
	Pieces  int    `json:"pieces"`            // the number of pieces that are done now
	Already bool   `json:"already,omitempty"` // all pieces were done before
	Found   int64  `json:"found"`
	Active  int64  `json:"active"`
	Kept    int64  `json:"kept"`
	Events  int64  `json:"events"`
	Files   int    `json:"files"`
	Bytes   int64  `json:"bytes"`             // of the files
	Foreign int64  `json:"foreign,omitempty"` // cells that were read and skipped
	Calls   int64  `json:"calls,omitempty"`
	table.Held
}

// Counted implements outcome.Result.
func (r Result) Counted() outcome.Counts {
	return outcome.Counts{outcome.Found: float64(r.Found), outcome.Active: float64(r.Active), outcome.Kept: float64(r.Kept), outcome.Events: float64(r.Events), outcome.Files: float64(r.Files), outcome.Bytes: float64(r.Bytes)}
}

// Add adds the result of another piece.
func (r *Result) Add(o Result) {
	r.Already = o.Already && (r.Already || r.Pieces == 0)
	r.Plan, r.Piece = o.Plan, o.Piece
	r.Pieces += o.Pieces
	r.Found += o.Found
	r.Active += o.Active
	r.Kept += o.Kept
	r.Events += o.Events
	r.Files += o.Files
	r.Bytes += o.Bytes
	r.Calls += o.Calls
	r.Foreign += o.Foreign
	r.Held.Add(o.Held)
}

// A report is written when a piece is done. It has the data that Commit needs.
type report struct {
	Plan   string          `json:"plan"`
	Piece  int             `json:"piece"`
	Counts judge.Counts    `json:"counts"`
	People estimate.People `json:"people"` // the users who may stay
	Daily  bool            `json:"daily"`  // People is from the rolls
	Parts  []output.Record `json:"parts"`
	Lost   notfound.Count  `json:"not_found"` // named in the piece's directory
	// LostFile has their names; nil if there are none, and in reports of older versions.
	LostFile *manifest.NamesFile `json:"not_found_file,omitempty"`
	Calls    int64               `json:"calls"`
}

func (r *report) result() Result {
	out := Result{Plan: r.Plan, Piece: r.Piece, Pieces: 1, Found: r.Counts.Found, Active: r.Counts.Active, Calls: r.Calls, Foreign: r.Counts.Foreign.Cells}
	for _, p := range r.Parts {
		out.Kept += p.Users
		out.Events += p.Events
		out.Files += len(p.Files)
		for _, f := range p.Files {
			out.Bytes += f.Size
		}
	}
	return out
}

// Run does a piece, unless it is done. If the piece was killed, it continues after its last complete
// part. If another worker does the piece, Run waits, and then finds the piece done.
func Run(ctx context.Context, w Worker, p *Piece) (Result, error) {
	at := planAt(w.FS, p.Out)
	if done, err := at.done(ctx, p); done != nil || err != nil {
		return already(done), err
	}
	t, end, err := w.Open(ctx, p)
	if err != nil {
		return Result{}, err
	}
	r, err := w.run(ctx, at, p, t)
	r.Held = table.HeldBy(t)
	return r, errors.Join(err, end())
}

func (w *Worker) run(ctx context.Context, at *plan, p *Piece, t table.Table) (Result, error) {
	if err := p.checkVersion(t); err != nil {
		return Result{}, err
	}
	lock, err := at.await(ctx, p, w.Patience)
	if err != nil {
		return Result{}, err
	}
	defer lock.Unlock()
	if done, err := at.done(ctx, p); done != nil || err != nil {
		return already(done), err
	}
	if err := at.CheckPiece(ctx, pieceName(p.Piece)); err != nil {
		return Result{}, p.explain(err)
	}
	c, err := w.config(ctx, at, p, t)
	if err != nil {
		return Result{}, err
	}
	if err := at.FS.Remove(ctx, at.Name(reportName(p.Piece))); err != nil { // its files are not as they were written
		return Result{}, err
	}
	if err = extract.Settle(ctx, t, w.Patience, w.Progress); err != nil {
		return Result{}, p.explain(err)
	}
	r, err := w.write(ctx, at, p, &c)
	if err != nil {
		return Result{}, p.explain(err)
	}
	return r.result(), nil
}

// checkVersion returns an error if the table has changed since the plan. A plan has no version if the
// table has no loads.
func (p *Piece) checkVersion(t table.Table) error {
	now := t.Info().Version
	known := table.Known(t)
	loaded := p.Version == "" && known != nil && len(known.Loads) > 0
	if now == p.Version || p.Version == "" && !loaded {
		return nil
	}
	return fmt.Errorf("%w: table %s has changed since the plan, from %q to %q: plan again", ErrStale, p.Table, p.Version, now)
}

// explain adds advice to the error of a piece. If the table has changed, another try does not help, unless
// a load is partly in the table.
func (p *Piece) explain(err error) error {
	if errors.Is(err, table.ErrChanged) && !errors.Is(err, table.ErrUnsettled) {
		return fmt.Errorf("piece %d: %w: table %s has changed since the plan: plan again: %v", p.Piece, ErrStale, p.Table, err)
	}
	return fmt.Errorf("piece %d: %w", p.Piece, err)
}

// already returns the result of a piece that was done before.
func already(r *report) Result {
	if r == nil {
		return Result{}
	}
	out := r.result()
	out.Already = true
	return out
}

// done returns the report of a piece, or nil if the piece is not done yet. It returns an error if no plan
// has the piece.
func (at *plan) done(ctx context.Context, p *Piece) (*report, error) {
	r, err := at.report(ctx, p.Plan, p.Piece)
	if err != nil {
		return nil, err
	}
	have, err := at.planned(ctx)
	if err != nil {
		return nil, err
	}
	if have != nil && have.Plan == p.Plan {
		if r == nil {
			return nil, nil
		}
		if whole, err := at.whole(ctx, r); err != nil || !whole {
			return nil, err
		}
		return r, nil
	}
	// Commit removes the reports after OUT has its name.
	if done, err := at.Committed(ctx, p.Plan, p.Append); err != nil {
		return nil, err
	} else if done && r != nil {
		return r, nil
	} else if done {
		return &report{Plan: p.Plan, Piece: p.Piece}, nil
	}
	if have != nil {
		return nil, fmt.Errorf("%w: --out %s has another plan, %s, and not %s: plan again", ErrStale, p.Out, have.Plan, p.Plan)
	}
	return nil, fmt.Errorf("%w: --out %s has no plan %s: plan again", ErrStale, p.Out, p.Plan)
}

// whole reports whether nothing else is in the place of a file of a piece. A file may be gone: a commit moves the parts.
func (at *plan) whole(ctx context.Context, r *report) (bool, error) {
	var names []string
	for _, part := range r.Parts {
		for _, f := range part.Files {
			names = append(names, f.Name)
		}
	}
	if r.LostFile != nil {
		names = append(names, r.LostFile.Name)
	}
	for _, name := range names {
		f, err := at.FS.Stat(ctx, dfs.Join(at.Name(pieceName(r.Piece)), name))
		switch {
		case err == nil && (f.Dir || f.Special), errors.Is(err, syscall.ELOOP), errors.Is(err, dfs.ErrNotDir):
			return false, nil
		case err != nil && !errors.Is(err, iofs.ErrNotExist):
			return false, err
		}
	}
	return true, nil
}

// report returns the report of a piece, or nil if there is none that is as it was written. The report of another plan or piece is
// none: the piece is done again, and replaces it.
func (at *plan) report(ctx context.Context, plan string, n int) (*report, error) {
	b, err := dfs.ReadFile(ctx, at.FS, at.Name(reportName(n)))
	if errors.Is(err, iofs.ErrNotExist) || errors.Is(err, dfs.ErrNotDir) {
		return nil, nil // without its directory, the plan is gone
	}
	if err != nil {
		return nil, dfs.InPlace(err, "move it away, and run the piece again")
	}
	var r report
	if err := manifest.Unseal(b, &r); err != nil || r.Plan != plan || r.Piece != n {
		return nil, nil //nolint:nilerr // the piece is done again
	}
	return &r, nil
}

// lockPause is the pause between two tries to lock a piece.
const lockPause = time.Second

// await waits for the lock of a piece and holds it. If a worker on another machine was killed, its
// lock may last for a minute more.
func (at *plan) await(ctx context.Context, p *Piece, patience time.Duration) (dfs.Lock, error) {
	for began := time.Now(); ; {
		l, err := at.FS.Lock(ctx, at.Name(pieceName(p.Piece)+place.LockEnding))
		if err == nil {
			breakpoint.Reach(breakpoint.Begun)
			return l, nil
		}
		left := patience - time.Since(began)
		if !errors.Is(err, dfs.ErrLocked) || left <= 0 {
			return nil, fmt.Errorf("piece %d: %w", p.Piece, err)
		}
		if err := pipe.Sleep(ctx, min(left, lockPause)); err != nil {
			return nil, err
		}
	}
}

// config returns the Config of a piece, for the users in its range.
func (w *Worker) config(ctx context.Context, at *plan, p *Piece, t table.Table) (extract.Config, error) {
	c := extract.Config{
		Spec: query.Recorded(&p.Query), Target: place.Target{FS: w.FS, Out: p.Out, Overwrite: p.Overwrite},
		Table: t, Plan: p.Fetch, Strict: p.Strict, Workers: w.Workers, Memory: w.Memory, Sizes: w.Sizes, Progress: w.Progress,
	}
	var err error
	c.Users, err = at.readUsers(ctx, p.Users, cmp.Or(w.Memory, memory.Usual)/2)
	return c, err
}

// ofPlan describes the contents of a piece's directory.
type ofPlan struct {
	Plan  string `json:"plan"`
	Piece int    `json:"piece"`
}

// write writes the parts of a piece, and its report.
func (w *Worker) write(ctx context.Context, at *plan, p *Piece, c *extract.Config) (*report, error) {
	x, err := extract.Prepare(ctx, c)
	if err != nil {
		return nil, err
	}
	s, err := at.Piece(ctx, pieceName(p.Piece), ofPlan{p.Plan, p.Piece})
	if err != nil {
		return nil, err
	}
	before, _ := table.SpentBy(c.Table)
	counts, err := x.Write(ctx, s, []split.Region{{Start: p.From, End: p.Until}}, false)
	if err != nil {
		return nil, err
	}
	lost, err := x.Found.Write(ctx, s.NotFound(x.Sizes.SortBytes), x.Query.Info.Layout)
	if err != nil {
		return nil, err
	}
	spent, _ := table.SpentBy(c.Table)
	r := &report{Plan: p.Plan, Piece: p.Piece, Counts: counts, Parts: s.All(), Lost: lost, LostFile: lost.File, Calls: spent.Since(before).Calls}
	r.People, r.Daily = x.Census.Counted()
	b, err := manifest.Seal(r)
	if err != nil {
		return nil, err
	}
	return r, dfs.WriteFile(ctx, w.FS, at.Name(reportName(p.Piece)), b)
}
