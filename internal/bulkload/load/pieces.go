package load

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"usertrail/internal/bulkload"
	"usertrail/internal/format/manifest"
	"usertrail/internal/run/outcome"
	"usertrail/internal/run/piece"
	"usertrail/internal/table"
)

// DefaultPieceSize is about the size of a piece in bytes of delivered files. On YARN, a smaller piece
// would spend most of its time on the start of its container.
const DefaultPieceSize = 1 << 30

const (
	// maxPieceFiles limits the description of a piece in a plan to about 300 KB.
	maxPieceFiles = 1000
	// mostPieces is the largest number of pieces. Each is a line, a report, files in each
	// region, and a task of the scheduler.
	mostPieces = 99_999
)

// PlanConfig describes a load in pieces.
type PlanConfig struct {
	Config
	Source    PieceJob // the text of Config.Job; its name is absolute
	Address   string   // of the table, valid for every worker
	PieceSize int64    // bytes; DefaultPieceSize
}

// Planned is the result of Plan.
type Planned struct {
	Plan     string            `json:"plan"`
	Pieces   int               `json:"pieces"`
	Done     int               `json:"done"`    // pieces that had been done before
	Files    int               `json:"files"`   // delivered files that are to be read
	Bytes    int64             `json:"bytes"`   // of them
	Already  int               `json:"already"` // delivered files that are in the table
	Missing  int               `json:"missing"` // days and behaviours without a file
	Largest  int64             `json:"largest"` // bytes of the largest piece
	Cut      int               `json:"cut"`     // delivered files that are read in ranges
	Finished int               `json:"finished,omitempty"`
	Failed   []bulkload.Failed `json:"failed,omitempty"` // files that are in no piece; commit repeats them
	Whole    []Whole           `json:"-"`                // files that are larger than a piece was to be, and not cut
	Tied     []string          `json:"-"`                // behaviours whose files stay together, because of keys that must not repeat
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
// delivered files. It finishes killed loads. It changes nothing else in the table.
func Plan(ctx context.Context, cfg PlanConfig) ([]Piece, Planned, error) {
	p := &planner{PlanConfig: cfg, known: map[glance]*seen{}}
	finished := 0
	for round := 1; ; round++ {
		l, err := newLoad(cfg.Config)
		if err != nil {
			return nil, Planned{}, err
		}
		p.load, p.planned = l, Planned{}
		l.result.Finished = finished
		pieces, err := p.plan(ctx)
		if finished = l.result.Finished; errors.Is(err, errUnread) {
			if err = p.readAhead(ctx, round); err == nil {
				continue
			}
		}
		p.planned.Already, p.planned.Missing, p.planned.Finished = l.result.Already, l.result.Missing, l.result.Finished
		p.planned.Choice, p.planned.Failed = l.result.Choice, l.result.Failed
		return pieces, p.planned, err
	}
}

// planner is one call of Plan.
type planner struct {
	*load
	PlanConfig
	planned Planned
	known   map[glance]*seen
	unread  []reading // files that must be read first
}

func (p *planner) plan(ctx context.Context) (pieces []Piece, err error) {
	if _, err := p.find(ctx); err != nil {
		return nil, err
	}
	if len(p.failed) > 0 {
		return nil, bulkload.Joined(p.failed)
	}
	lock, err := p.Store.Lock(ctx)
	if err != nil {
		return nil, err
	}
	defer bulkload.Unlock(lock, &err)
	found, err := p.findWhole(ctx)
	if err != nil {
		return nil, err
	}
	if err := p.open(ctx, found); err != nil {
		return nil, err
	}
	defer p.target.Close()
	if err := p.recover(ctx); err != nil {
		return nil, err
	}
	inputs, err := p.prepare(ctx, found)
	if err != nil {
		return nil, err
	}
	for _, in := range inputs {
		if err := p.sameJob(in.Rel); err != nil { // what a grown job reads is compared by loads alone
			return nil, err
		}
	}
	if err := p.endPlans(ctx); err != nil {
		return nil, err
	}
	if len(inputs) == 0 && len(p.failed) == 0 {
		p.result.Finished = 0 // there is no piece of it
		return nil, p.nothing()
	}
	if inputs, err = p.preCheck(ctx, inputs); err != nil || len(inputs) == 0 {
		return nil, bulkload.Joined(append([]error{err}, p.failed...))
	}
	inOrder(inputs)
	if err := p.findSame(ctx, inputs); err != nil {
		return nil, err
	}
	pieces, err = p.pieces(ctx, inputs)
	if err != nil {
		return nil, err
	}
	return pieces, p.begin(ctx, pieces)
}

// begin writes the plan, and counts the pieces that are done.
func (p *planner) begin(ctx context.Context, pieces []Piece) error {
	plan := &manifest.Plan{Pieces: len(pieces), LeftOut: p.leftOut}
	folder := pieces[0].folder(p.load)
	_, text, err := lines(pieces)
	if err != nil {
		return err
	}
	for i := range pieces {
		for _, in := range pieces[i].Inputs {
			if in.Range != nil {
				continue // the file's digests are a piece, too
			}
			plan.Inputs = append(plan.Inputs, manifest.PlannedFile{Path: in.Rel, Number: in.Number, Part: in.Part, Size: in.Size})
		}
	}
	if p.planned.Done, err = folder.Reported(ctx); err != nil {
		return err
	}
	if err := folder.SetPieces(ctx, text); err != nil {
		return err
	}
	return folder.Begin(ctx, plan)
}

// findSame finds the copies of each file, in the table or among the files. It reads only files of equal
// size.
func (p *planner) findSame(ctx context.Context, inputs []*input) error {
	type like struct {
		size      int64
		behaviour string
	}
	have := map[like]int{}
	for _, l := range p.ledgers.Loads() {
		for i := range l.Inputs {
			have[like{l.Inputs[i].Size, l.Inputs[i].Behaviour}]++
		}
	}
	for _, in := range inputs {
		have[like{in.Size, p.behaviour(in)}]++
	}
	for _, in := range inputs {
		mine := like{in.Size, p.behaviour(in)}
		own := 1
		for _, old := range p.ledgers.Inputs(in.Rel) {
			if (like{old.Size, old.Behaviour}) == mine {
				own++
			}
		}
		if have[mine] <= own {
			continue
		}
		if in.sha = p.see(in).sha; in.sha == "" {
			p.ask(in, 0)
			continue
		}
		p.findCopies(in)
	}
	return p.allRead()
}

// pieces cuts the files into pieces.
func (p *planner) pieces(ctx context.Context, inputs []*input) ([]Piece, error) {
	size := cmp.Or(p.PieceSize, DefaultPieceSize)
	tied := p.tied(inputs)
	if err := p.fewEnough(inputs, size, tied); err != nil {
		return nil, err
	}
	whole, err := p.ranges(inputs, size, tied)
	if err != nil {
		return nil, err
	}
	cut := cutPieces(whole, size, tied)
	var out []Piece
	for n, files := range cut {
		next := Piece{
			Header: piece.Header{Usertrail: PieceKind, Version: piece.Version, Piece: n, Of: len(cut), Table: p.Address},
			Mode:   p.result.Mode, Span: p.Config.Span, Types: p.Config.Types, Job: p.Source,
		}
		var bytes int64
		for _, in := range files {
			next.Inputs = append(next.Inputs, p.pieceInput(in))
			if in.cuts == nil {
				bytes += in.toRead()
			}
		}
		p.planned.Largest = max(p.planned.Largest, bytes)
		out = append(out, next)
	}
	if err := p.common(ctx, out); err != nil {
		return nil, err
	}
	id := planID(out)
	for n := range out {
		out[n].Plan = id
	}
	p.planned.Plan, p.planned.Pieces, p.planned.Files, p.planned.Bytes = id, len(out), len(inputs), p.result.Bytes
	return out, nil
}

// common adds the properties of the table to each piece.
func (p *planner) common(ctx context.Context, pieces []Piece) error {
	var splits *[]manifest.Key
	if p.isNew {
		regions, err := p.target.Regions(ctx)
		if err != nil {
			return err
		}
		keys := []manifest.Key{}
		if _, puts := table.As[table.Putter](p.target); !puts { // whose regions are HBase's
			keys = manifest.KeysOf(pointsOf(regions))
		}
		splits = &keys
	}
	alone := false
	if p.putter != nil {
		var err error
		if alone, err = p.putter.Alone(ctx); err != nil {
			return err
		}
	}
	for i := range pieces {
		pieces[i].Splits, pieces[i].Alone = splits, alone
	}
	return nil
}

// tied returns a function that maps each file to a word. Files with the same word must be in one piece,
// because a record of one may repeat a record of another. For all other files the word is empty.
func (p *planner) tied(inputs []*input) func(*input) string {
	var asked []int // kinds with key fields
	for _, k := range p.kinds {
		if p.job.Behaviours[k].Unique.Asked() {
			asked = append(asked, k)
			p.planned.Tied = append(p.planned.Tied, p.job.Schema.Kinds[k].Name)
		}
	}
	mixed := slices.ContainsFunc(inputs, func(in *input) bool { return in.Kind < 0 })
	return func(in *input) string {
		switch {
		case len(asked) == 0 || in.Kind >= 0 && !slices.Contains(asked, in.Kind):
			return ""
		case mixed:
			return "any"
		}
		return "of " + p.behaviour(in)
	}
}

// fewEnough returns an error if pieces of this size would be too many.
func (p *planner) fewEnough(inputs []*input, size int64, tied func(*input) string) error {
	n := p.count(inputs, size, tied)
	if n <= mostPieces {
		return nil
	}
	enough := int64(1)
	for enough < size || p.count(inputs, enough, tied) > mostPieces {
		enough *= 2
	}
	return fmt.Errorf("%w: --piece-size %d makes about %d pieces, more than %d: --piece-size %s is enough", bulkload.ErrRequest, size, n, mostPieces, roundSize(enough))
}

// roundSize formats a power of two for --piece-size.
func roundSize(n int64) string {
	unit := 0
	for n >= 1024 && unit < 4 {
		n /= 1024
		unit++
	}
	return fmt.Sprint(n, []string{"B", "KiB", "MiB", "GiB", "TiB"}[unit])
}

// count returns the number of pieces of about size bytes that the files make, or a few less.
func (p *planner) count(inputs []*input, size int64, tied func(*input) string) int64 {
	var ranges int64
	var whole []*input
	for _, in := range inputs {
		if in.Size <= size || p.whyWhole(in, tied) != "" {
			whole = append(whole, in)
			continue
		}
		ranges += (in.Size+size-1)/size + 1
	}
	return ranges + int64(len(cutPieces(whole, size, tied)))
}

// cutPieces groups files into pieces of about size bytes, in order. Files that are tied by the same word
// are a piece of their own, of any size. Each range is a piece of its own, because its cells are left out
// if its file is.
func cutPieces(inputs []*input, size int64, tied func(*input) string) [][]*input {
	var out [][]*input
	var have int64
	open := -1 // the current piece
	together := map[string]int{}
	for _, in := range inputs {
		if !in.whole() {
			out = append(out, []*input{in})
			continue
		}
		if word := tied(in); word != "" {
			n, ok := together[word]
			if !ok {
				n = len(out)
				together[word] = n
				out = append(out, nil)
			}
			out[n] = append(out[n], in)
			continue
		}
		if open < 0 || have+in.Size > size || len(out[open]) == maxPieceFiles {
			open, have = len(out), 0
			out = append(out, nil)
		}
		out[open] = append(out[open], in)
		have += in.Size
	}
	return out
}

// reserve reads the numbers of files in plans that are not committed.
func (l *load) reserve(ctx context.Context) error {
	plans, err := l.target.Plans(ctx)
	if err != nil {
		return err
	}
	l.plans = plans
	for _, p := range plans {
		l.ledgers.Reserve(p)
	}
	return nil
}

// endPlans removes the plans that are committed, or whose files were all loaded in another way.
func (l *load) endPlans(ctx context.Context) error {
	for _, p := range l.plans {
		if !l.ledgers.Ended(p) {
			continue
		}
		if err := l.target.EndPlan(ctx, p.ID); err != nil {
			return fmt.Errorf("forget plan %s: %w", p.ID, err)
		}
	}
	return nil
}
