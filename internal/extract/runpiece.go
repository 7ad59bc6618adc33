package extract

import (
	"context"
	"errors"
	"fmt"
	iofs "io/fs"
	"time"

	"usertrail/internal/extract/estimate"
	"usertrail/internal/format/manifest"
	"usertrail/internal/format/trailfile"
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
	Workers  int           // how many batches are read, and parts written, at once; 1
	Memory   int64         // of the process in bytes; 1 GiB
	Patience time.Duration // how long to wait for another worker that does the piece
	Progress progress.Config
}

// An Opener opens the table of a piece with the piece's Access. The function that it returns closes the
// table and everything else that it opened.
type Opener func(ctx context.Context, p *Piece) (table.Table, func() error, error)

// A PieceResult describes the work of a worker.
type PieceResult struct {
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
func (r PieceResult) Counted() outcome.Counts {
	return outcome.Counts{outcome.Found: float64(r.Found), outcome.Active: float64(r.Active), outcome.Kept: float64(r.Kept), outcome.Events: float64(r.Events), outcome.Files: float64(r.Files), outcome.Bytes: float64(r.Bytes)}
}

// Add adds the result of another piece.
func (r *PieceResult) Add(o PieceResult) {
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

// A report says that a piece is done. It has the data that Commit needs.
type report struct {
	Plan   string          `json:"plan"`
	Piece  int             `json:"piece"`
	Counts counts          `json:"counts"`
	People estimate.People `json:"people"` // the users who may stay
	Daily  bool            `json:"daily"`  // People is from the rolls
	Parts  []partRecord    `json:"parts"`
	Lost   missed          `json:"not_found"` // named in the piece's directory
	// LostFile has their names; nil if there are none, and in reports of older versions.
	LostFile *manifest.NamesFile `json:"not_found_file,omitempty"`
	Calls    int64               `json:"calls"`
}

func (r *report) result() PieceResult {
	out := PieceResult{Plan: r.Plan, Piece: r.Piece, Pieces: 1, Found: r.Counts.Found, Active: r.Counts.Active, Calls: r.Calls, Foreign: r.Counts.Foreign.Cells}
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

// RunPiece does a piece, unless it is done. If the piece was killed, it continues after its last complete
// part. If another worker does the piece, RunPiece waits, and then finds the piece done.
func RunPiece(ctx context.Context, w Worker, p *Piece) (PieceResult, error) {
	at := placeOf(w.FS, p.Out)
	if done, err := at.done(ctx, p); done != nil || err != nil {
		return already(done), err
	}
	t, end, err := w.Open(ctx, p)
	if err != nil {
		return PieceResult{}, err
	}
	r, err := w.run(ctx, at, p, t)
	r.Held = table.HeldBy(t)
	return r, errors.Join(err, end())
}

func (w *Worker) run(ctx context.Context, at *place, p *Piece, t table.Table) (PieceResult, error) {
	if err := p.checkVersion(t); err != nil {
		return PieceResult{}, err
	}
	lock, err := at.await(ctx, p, w.Patience)
	if err != nil {
		return PieceResult{}, err
	}
	defer lock.Unlock()
	if done, err := at.done(ctx, p); done != nil || err != nil {
		return already(done), err
	}
	c, err := w.config(ctx, at, p, t)
	if err != nil {
		return PieceResult{}, err
	}
	if err = Settle(ctx, t, w.Patience, w.Progress); err != nil {
		return PieceResult{}, p.explain(err)
	}
	r, err := w.answer(ctx, at, p, &c)
	if err != nil {
		return PieceResult{}, p.explain(err)
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
func already(r *report) PieceResult {
	if r == nil {
		return PieceResult{}
	}
	out := r.result()
	out.Already = true
	return out
}

// done returns the report of a piece, or nil if the piece is not done yet. It returns an error if no plan
// has the piece.
func (at *place) done(ctx context.Context, p *Piece) (*report, error) {
	r, err := at.report(ctx, p.Plan, p.Piece)
	if r != nil || err != nil {
		return r, err
	}
	have, err := at.planned(ctx)
	if err != nil || have != nil && have.Plan == p.Plan {
		return nil, err
	}
	// Commit removes the reports after OUT has its name.
	if done, err := at.committed(ctx, p.Plan); err != nil {
		return nil, err
	} else if done {
		return &report{Plan: p.Plan, Piece: p.Piece}, nil
	}
	if have != nil {
		return nil, fmt.Errorf("%w: --out %s has another plan, %s, and not %s: plan again", ErrStale, p.Out, have.Plan, p.Plan)
	}
	return nil, fmt.Errorf("%w: --out %s has no plan %s: plan again", ErrStale, p.Out, p.Plan)
}

// report returns the report of a piece, or nil if there is none that is as it was written.
func (at *place) report(ctx context.Context, plan string, n int) (*report, error) {
	b, err := dfs.ReadFile(ctx, at.fs, at.name(reportName(n)))
	if errors.Is(err, iofs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var r report
	if err := manifest.Unseal(b, &r); err != nil {
		return nil, nil //nolint:nilerr // the piece is done again
	}
	if r.Plan != plan || r.Piece != n {
		return nil, fmt.Errorf("%w: %s is of piece %d of plan %s, not %s: plan again", ErrStale, at.name(reportName(n)), r.Piece, r.Plan, plan)
	}
	return &r, nil
}

// lockPause is the pause between two tries to lock a piece.
const lockPause = time.Second

// await takes the lock of a piece. If a worker on another machine was killed, its lock may last for a
// minute more.
func (at *place) await(ctx context.Context, p *Piece, patience time.Duration) (dfs.Lock, error) {
	for began := time.Now(); ; {
		l, err := at.fs.Lock(ctx, at.name(pieceName(p.Piece)+lockEnding))
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
func (w *Worker) config(ctx context.Context, at *place, p *Piece, t table.Table) (Config, error) {
	c := p.config()
	c.FS, c.Table, c.Workers, c.Memory, c.Progress = w.FS, t, w.Workers, w.Memory, w.Progress
	var err error
	c.Users, err = at.readUsers(ctx, p.Users, c.memory()/2)
	return c, err
}

// config returns the part of the Config that is in the piece.
func (p *Piece) config() Config {
	q := &p.Question
	return Config{
		Span: q.Span, Types: q.Types, Active: q.Active, Plan: p.Fetch, Out: p.Out, Overwrite: p.Overwrite, Strict: p.Strict,
		Conditions: Conditions{
			Where: q.Where, WhereFirst: q.WhereFirst, Having: q.Having, Sequence: q.Sequence, Without: q.Without,
			Fields: q.Fields, Hours: q.Hours, Context: q.Context, At: q.At, Latest: q.Latest,
		},
		Output: Output{Format: Format(q.Format), Shape: trailfile.Shape(q.Shape), Partition: q.PartitionBy},
	}
}

// ofPlan describes the contents of a piece's directory.
type ofPlan struct {
	Plan  string `json:"plan"`
	Piece int    `json:"piece"`
}

// answer writes the parts of a piece, and its report.
func (w *Worker) answer(ctx context.Context, at *place, p *Piece, c *Config) (*report, error) {
	q, err := newQuestion(c)
	if err != nil {
		return nil, err
	}
	s := &staging{fs: w.FS, dir: at.name(pieceName(p.Piece)), piece: true}
	if err := s.begin(ctx, &place{fs: w.FS, dir: s.dir}, ofPlan{p.Plan, p.Piece}); err != nil {
		return nil, err
	}
	before, _ := table.SpentBy(c.Table)
	got, err := answer(ctx, c, q, s, []split.Region{{Start: p.From, End: p.Until}})
	if err != nil {
		return nil, err
	}
	lost, err := s.lost(ctx, q)
	if err != nil {
		return nil, err
	}
	spent, _ := table.SpentBy(c.Table)
	r := &report{
		Plan: p.Plan, Piece: p.Piece, Counts: got, People: q.census.people, Daily: q.census.daily,
		Parts: s.all(), Lost: lost, LostFile: lost.file, Calls: spent.Since(before).Calls,
	}
	b, err := manifest.Seal(r)
	if err != nil {
		return nil, err
	}
	return r, dfs.WriteFile(ctx, w.FS, at.name(reportName(p.Piece)), b)
}
