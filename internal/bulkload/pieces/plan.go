package pieces

import (
	"cmp"
	"context"
	"errors"

	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/delivered"
	"usertrail/internal/bulkload/ledger"
	"usertrail/internal/bulkload/load"
	"usertrail/internal/format/manifest"
	"usertrail/internal/run/outcome"
	"usertrail/internal/run/piece"
	"usertrail/internal/split"
	"usertrail/internal/table"
)

// Config describes a load in pieces.
type Config struct {
	load.Config
	Source    Job    // the text of Config.Job; its name is absolute
	Address   string // of the table, valid for every worker
	PieceSize int64  // bytes; DefaultSize
}

// Planned is the result of Plan.
type Planned struct {
	Plan     string            `json:"plan"`
	Pieces   int               `json:"pieces"`
	Done     int               `json:"done"`    // pieces that had been done before
	Files    int               `json:"files"`   // delivered files that the pieces read
	Bytes    int64             `json:"bytes"`   // of them
	Already  int               `json:"already"` // delivered files that are in the table
	Missing  int               `json:"missing"` // days and behaviours without a file
	Largest  int64             `json:"largest"` // bytes of the largest piece
	Cut      int               `json:"cut"`     // delivered files that are read in ranges
	Finished int               `json:"finished,omitempty"`
	Failed   []bulkload.Failed `json:"failed,omitempty"` // files that are in no piece; commit repeats them
	Whole    []Whole           `json:"-"`                // files that are larger than a piece was to be, and not cut
	Tied     []string          `json:"-"`                // behaviours whose files stay together, because of keys that must not repeat
	bulkload.NotRead
	bulkload.Choice
}

// Counted implements outcome.Result.
func (p Planned) Counted() outcome.Counts {
	c := outcome.Counts{outcome.Files: float64(p.Files), outcome.Already: float64(p.Already), outcome.Missing: float64(p.Missing), outcome.Bytes: float64(p.Bytes)}
	c.SetFailed(len(p.Failed))
	return c
}

// Plan cuts a load into pieces of files, or of ranges of large files. Workers do the pieces on any
// machine and in any order, and Commit publishes them. The same files and the same table give the same
// pieces. Pieces that are done stay done.
//
// Plan holds the table's lock while it reads the table and writes the plan, but not while it reads
// delivered files. It finishes killed loads, and drops the reports of pieces that have to be done again. It changes nothing
// else in the table.
func Plan(ctx context.Context, cfg Config) ([]Piece, Planned, error) {
	read := &readings{cfg: &cfg.Config, known: map[listing]*fileState{}}
	finished := 0
	for round := 1; ; round++ {
		l, err := load.New(cfg.Config)
		if err != nil {
			return nil, Planned{}, err
		}
		l.Result.Finished = finished
		p := &planner{cfg: &cfg, load: l, read: read}
		pieces, err := p.plan(ctx)
		r := l.Outcome()
		if finished = r.Finished; errors.Is(err, errUnread) {
			if err = read.ahead(ctx, round); err == nil {
				continue
			}
		}
		p.planned.Already, p.planned.Missing, p.planned.Finished = r.Already, r.Missing, r.Finished
		p.planned.Choice, p.planned.Failed, p.planned.NotRead = r.Choice, r.Failed, r.NotRead
		l.WarnNotRead()
		return pieces, p.planned, err
	}
}

// planner is one attempt of Plan.
type planner struct {
	cfg     *Config
	load    *load.Load
	read    *readings
	planned Planned
}

// A plannedFile is a delivered file, and its copies in the table or before it in the plan.
type plannedFile struct {
	*delivered.File
	sha    string        // digest, if it may have copies
	copies []ledger.Copy // of the file
	sameAs string        // the first of them, if they have every requested record

	replayed manifest.Offsets // of the records that replays added
}

func (p *planner) plan(ctx context.Context) (pieces []Piece, err error) {
	l := p.load
	if err := l.Find(ctx); err != nil {
		return nil, err
	}
	lock, err := p.cfg.Store.Lock(ctx)
	if err != nil {
		return nil, err
	}
	defer bulkload.Unlock(lock, &err)
	if err := l.Open(ctx); err != nil {
		return nil, err
	}
	defer l.To.Close()
	for _, f := range l.Files {
		if err := l.To.SameJob(l.Known.Begun(f.Rel)); err != nil { // only a load compares the fields of a job that grew
			return nil, err
		}
	}
	if err := l.To.EndPlans(ctx, l.Known); err != nil {
		return nil, err
	}
	if len(l.Files) == 0 && len(l.Failures.Files) == 0 {
		l.Result.Finished = 0 // a finished load has no piece
		return nil, l.Nothing(ctx)
	}
	if err := l.PreCheck(ctx); err != nil || len(l.Files) == 0 {
		return nil, l.Failures.Err(err)
	}
	files, err := p.findCopies()
	if err != nil {
		return nil, err
	}
	if pieces, err = p.pieces(ctx, files); err != nil {
		return nil, err
	}
	return pieces, p.begin(ctx, pieces)
}

// findCopies finds the copies of each file, in the table or among the files, and the records of it that
// replays added. It needs the digests of files of equal size only.
func (p *planner) findCopies() ([]*plannedFile, error) {
	l, schema, by := p.load, p.cfg.Job.Schema, delivered.SelectionOf(p.cfg.Job)
	have := map[int64]int{} // entries by size
	for _, of := range l.Known.Loads() {
		for i := range of.Inputs {
			have[of.Inputs[i].Size]++
		}
	}
	for _, f := range l.Files {
		have[f.Size]++
	}
	var out []*plannedFile
	var unclear []error
	for _, f := range l.Files {
		planned := &plannedFile{File: f}
		out = append(out, planned)
		holds, own := ledger.Content{Behaviour: f.Behaviour(schema)}, 1
		for _, old := range l.Known.Inputs(f.Rel) {
			if old.Size == f.Size {
				own++
			}
		}
		if have[f.Size] <= own {
			if old := l.Known.File(f.Rel); old != nil {
				holds.SHA256 = old.SHA256
				planned.replayed = manifest.OffsetsOf(l.Known.Replayed(holds))
			}
			continue
		}
		if planned.sha = p.read.see(f).sha; planned.sha == "" {
			p.read.ask(f, 0)
			continue
		}
		holds.SHA256 = planned.sha
		of := by.Of(holds.Behaviour)
		planned.copies, planned.sameAs = l.Known.FindCopies(holds, f.Copy(of, p.cfg.Job.Format.Slack), of, l.To.Info().Dropped)
		planned.replayed = manifest.OffsetsOf(l.Known.Replayed(holds))
		if planned.sameAs == "" {
			for i := range planned.copies {
				unclear = append(unclear, delivered.UnclearCopy(f.Path, &planned.copies[i]))
			}
		}
	}
	if err := bulkload.Joined(unclear); err != nil {
		return nil, err
	}
	return out, p.read.all()
}

// pieces cuts the files into pieces.
func (p *planner) pieces(ctx context.Context, files []*plannedFile) ([]Piece, error) {
	c := &cutter{size: cmp.Or(p.cfg.PieceSize, DefaultSize), job: p.cfg.Job, puts: p.load.To.Putter != nil}
	c.tie(p.load.Search.Kinds, files)
	if err := c.fewEnough(files); err != nil {
		return nil, err
	}
	parts, err := p.ranges(files, c)
	if err != nil {
		return nil, err
	}
	groups := c.group(parts)
	r := &p.load.Result
	out := make([]Piece, len(groups))
	for n, group := range groups {
		out[n] = Piece{
			Header: piece.Header{Usertrail: Kind, Version: piece.Version, Piece: n, Of: len(groups), Table: p.cfg.Address},
			Mode:   r.Mode, Span: p.cfg.Span, Types: p.cfg.Types, Job: p.cfg.Source,
		}
		var bytes int64
		for _, f := range group {
			out[n].Inputs = append(out[n].Inputs, inputOf(f, p.cfg.Job.Schema))
			if f.Cuts == nil {
				bytes += f.Bytes()
			}
		}
		p.planned.Largest = max(p.planned.Largest, bytes)
	}
	if err := p.common(ctx, out); err != nil {
		return nil, err
	}
	id := planID(out)
	for n := range out {
		out[n].Plan = id
	}
	p.planned.Plan, p.planned.Pieces, p.planned.Files, p.planned.Bytes, p.planned.Tied = id, len(out), len(files), r.Bytes, c.tiedNames()
	return out, nil
}

// ranges puts ranges and their digests in the place of the files that can be cut.
func (p *planner) ranges(files []*plannedFile, c *cutter) ([]*plannedFile, error) {
	var out []*plannedFile
	for _, f := range files {
		if f.Size <= c.size {
			out = append(out, f)
			continue
		}
		why := c.whyWhole(f)
		var cuts []int64
		if why == "" {
			cuts = p.read.see(f.File).cuts
			if cuts == nil {
				p.read.ask(f.File, c.size)
				continue
			}
			if len(cuts) == 1 {
				why = "no place in it is surely between two records"
			}
		}
		if why != "" {
			p.planned.Whole = append(p.planned.Whole, Whole{f.Path, why})
			out = append(out, f)
			continue
		}
		p.planned.Cut++
		out = append(out, f.split(cuts)...)
	}
	return out, p.read.all()
}

// common adds the properties of the table to each piece.
func (p *planner) common(ctx context.Context, pieces []Piece) error {
	to := p.load.To
	var splits *[]manifest.Key
	if to.IsNew {
		regions, err := to.Regions(ctx)
		if err != nil {
			return err
		}
		keys := []manifest.Key{}
		if _, puts := table.As[table.Putter](to.Loader); !puts { // HBase has its own regions
			keys = manifest.KeysOf(split.PointsOf(regions))
		}
		splits = &keys
	}
	alone := false
	if to.Putter != nil {
		var err error
		if alone, err = to.Putter.Alone(ctx); err != nil {
			return err
		}
	}
	for i := range pieces {
		pieces[i].Splits, pieces[i].Alone = splits, alone
	}
	return nil
}

// begin writes the plan, and counts the pieces that are done.
func (p *planner) begin(ctx context.Context, pieces []Piece) error {
	plan := &manifest.Plan{Pieces: len(pieces), LeftOut: p.load.LeftOut, NextLoad: p.load.To.NextLoad()}
	folder := pieces[0].folder(p.cfg.FS, p.cfg.Store)
	skip, cutBy := p.cfg.Job.Skip(), p.cfg.Job.CutBy()
	_, text, err := lines(pieces)
	if err != nil {
		return err
	}
	for i := range pieces {
		for _, in := range pieces[i].Inputs {
			if in.Range != nil {
				continue // the file's digests are a piece, too
			}
			plan.Inputs = append(plan.Inputs, manifest.PlannedFile{Path: in.Rel, Number: in.Number, Part: in.Part, Size: in.Size, SkippedBy: skip, CutBy: cutBy})
		}
	}
	have := &reports{with: p.cfg.WithDefaults(), pieces: pieces, first: &pieces[0], folder: folder, to: p.load.To, known: p.load.Known}
	if p.planned.Done, err = have.done(ctx); err != nil {
		return err
	}
	if err := folder.SetPieces(ctx, text); err != nil {
		return err
	}
	return folder.Begin(ctx, plan)
}
