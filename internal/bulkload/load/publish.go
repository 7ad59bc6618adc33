package load

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	iofs "io/fs"
	"log/slog"
	"slices"

	"golang.org/x/sync/errgroup"

	"usertrail/internal/behaviour"
	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/ledger"
	"usertrail/internal/bulkload/quarantine"
	"usertrail/internal/format/manifest"
	"usertrail/internal/run/piece"
	"usertrail/internal/split"
	"usertrail/internal/store/dfs"
	"usertrail/internal/table"
	"usertrail/internal/table/catalog"
	"usertrail/internal/table/segment"
	"usertrail/internal/tally"
)

// looksAtOnce is the number of files that are looked up at the same time.
const looksAtOnce = 16

// Commit adds the files of all pieces of a plan to the table in one step, as one load. The
// pieces determine the loaded records, not cfg. If Commit was killed, a second call continues.
// It returns ErrNothing if the plan is committed already.
func Commit(ctx context.Context, cfg Config, pieces []Piece) (bulkload.Result, error) {
	pieces, err := wholePlan(pieces)
	if err != nil {
		return bulkload.Result{}, err
	}
	first := &pieces[0]
	if first.gone() {
		l := &load{cfg: cfg, log: cfg.Log}
		if l.log == nil {
			l.log = slog.New(slog.DiscardHandler)
		}
		p := &publisher{load: l, pieces: pieces, id: first.Plan, folder: first.folder(l)}
		err = p.run(ctx)
		return l.result, err
	}
	if cfg.Job, err = first.ParseJob(); err != nil {
		return bulkload.Result{}, err
	}
	cfg.Span, cfg.Types, cfg.Mode = first.Span, first.Types, first.Mode
	l, err := newLoad(cfg)
	if err != nil {
		return bulkload.Result{}, err
	}
	p := &publisher{load: l, pieces: pieces, id: first.Plan, folder: first.folder(l)}
	err = p.run(ctx)
	return l.result, err
}

// A publisher is one call of Commit.
type publisher struct {
	*load
	pieces  []Piece
	id      string
	folder  catalog.Folder
	reports []*manifest.Report // by piece
	voids   []string           // by piece: why its report no longer holds
	good    []manifest.Input   // in order, as the ledger will have them
	joined  []joinedBad        // of files that were read in ranges
	out     []manifest.LeftOut
	clean   []string // paths of good files without a bad record, of which no load brought records before
}

func (p *publisher) run(ctx context.Context) (err error) {
	lock, err := p.cfg.Store.Lock(ctx)
	if err != nil {
		return err
	}
	defer bulkload.Unlock(lock, &err)
	if err := p.openFor(ctx, &p.pieces[0]); err != nil {
		return err
	}
	defer p.target.Close()
	finished, err := p.target.Recover(ctx)
	if err != nil {
		return err
	}
	if !p.pieces[0].gone() {
		if err := p.extend(); err != nil {
			return err
		}
	}
	if err := p.learn(ctx); err != nil {
		return err
	}
	if n := p.ledgers.LoadOf(p.id); n != 0 {
		return errors.Join(p.committed(n, finished), p.endPlans(ctx))
	}
	if err := p.collect(ctx); err != nil {
		return err
	}
	if err := p.publish(ctx); err != nil {
		return err
	}
	if err := bulkload.Joined(p.failed); err != nil {
		return err
	}
	return p.allOlder()
}

// committed returns the result of a commit of a plan that is load n already. If this call has just
// finished the killed load, it succeeds. If files were left out, every commit of the plan fails until
// they are loaded.
func (p *publisher) committed(n int, finished []*manifest.Load) error {
	for _, ledger := range p.ledgers.Loads() {
		if ledger.Number == n {
			p.stillOut(n, ledger.LeftOut)
		}
	}
	for _, ledger := range finished {
		if ledger.Number == n {
			p.count(ledger)
			p.result.Finished++
			p.result.Mode = p.pieces[0].Mode
			return bulkload.Joined(p.failed)
		}
	}
	if len(p.failed) > 0 {
		return bulkload.Joined(p.failed)
	}
	return fmt.Errorf("%w: plan %s is committed: it is load %d of %s", bulkload.ErrNothing, p.id, n, p.cfg.Store.Address())
}

// collect reads the reports, and checks that all of them can be committed.
func (p *publisher) collect(ctx context.Context) error {
	plan, err := p.folder.Plan(ctx)
	if err != nil || p.pieces[0].gone() {
		if err == nil || errors.Is(err, iofs.ErrNotExist) {
			return fmt.Errorf("%w: %s keeps nothing of plan %s: plan again", ErrStale, p.cfg.Store.Address(), p.id)
		}
		return err
	}
	if err := p.current(); err != nil {
		return err
	}
	for _, out := range plan.LeftOut {
		p.refuse(out)
	}
	p.reports, p.voids = make([]*manifest.Report, len(p.pieces)), make([]string, len(p.pieces))
	if err := p.atOnce(ctx, len(p.pieces), p.report); err != nil {
		return err
	}
	var missing []int
	for n, r := range p.reports {
		if r == nil {
			missing = append(missing, n)
		}
	}
	if len(missing) > 0 {
		return p.undone(missing)
	}
	return p.judgeAll()
}

// undone returns the error of pieces that are not done. The files of pieces that have reported count as
// failed.
func (p *publisher) undone(numbers []int) error {
	var why error
	for _, n := range numbers {
		if p.voids[n] == "" {
			continue
		}
		err := fmt.Errorf("piece %d has to be done again: %s", n, p.voids[n])
		why = cmp.Or(why, err)
		for i := range p.pieces[n].Inputs {
			path := p.pieces[n].Inputs[i].Rel
			if !slices.ContainsFunc(p.result.Failed, func(f bulkload.Failed) bool { return f.Path == path }) {
				p.result.Failed = append(p.result.Failed, bulkload.Failed{Path: path, Error: err.Error()})
			}
		}
	}
	if why == nil {
		return piece.Missing(p.id, numbers, len(p.pieces))
	}
	return piece.Undone(p.id, numbers, len(p.pieces), why)
}

// atOnce calls do for each number below count, several at the same time.
func (p *publisher) atOnce(ctx context.Context, count int, do func(context.Context, int) error) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(looksAtOnce)
	for n := range count {
		g.Go(func() error { return do(ctx, n) })
	}
	return g.Wait()
}

// report reads the report of piece n. It drops a report that is no longer valid, so that the piece is
// done again.
func (p *publisher) report(ctx context.Context, n int) error {
	r, err := p.folder.Report(ctx, n)
	if r == nil || err != nil {
		return err
	}
	if err := p.fits(&p.pieces[n], r); err != nil {
		return err
	}
	why, err := p.void(ctx, &p.pieces[n], r)
	if err != nil {
		return err
	}
	if why == "" {
		p.reports[n] = r
		return nil
	}
	p.voids[n] = why
	p.log.Warn("a piece has to be done again", "plan", p.id, "piece", n, "why", why)
	return p.folder.DropReport(ctx, n)
}

// fits returns an error if the report has other files than the piece.
func (p *publisher) fits(of *Piece, r *manifest.Report) error {
	same := slices.EqualFunc(of.Inputs, r.Inputs, func(in PieceInput, o manifest.Outcome) bool {
		return in.Rel == o.Path && in.Number == o.Number && in.Size == o.Size && sameRange(in.Range, o.Range)
	})
	if !same {
		return fmt.Errorf("plan %s, piece %d: %w: its report is of other files", p.id, of.Piece, manifest.ErrDamaged)
	}
	return nil
}

// void returns the reason why a report is no longer valid, or "" if it is valid.
func (p *publisher) void(ctx context.Context, of *Piece, r *manifest.Report) (string, error) {
	if first := p.target.Info().Dropped; first != nil {
		for _, f := range r.Files {
			if f.Span.From < *first {
				return fmt.Sprintf("days before %s were dropped", first), nil
			}
		}
	}
	if p.dropUndone(of, r) {
		return "days that it skipped, because they were dropped, are in the table again", nil
	}
	if r.Schema != nil {
		if k, f := misplaced(r.Schema, p.schema); k >= 0 {
			return fmt.Sprintf("field %s of %s has another place in the table, by a load that came meanwhile", r.Schema.Kinds[k].Fields[f].Name, r.Schema.Kinds[k].Name), nil
		}
	}
	if n := p.overtaken(r); n != 0 && p.pieces[0].Mode == bulkload.HFile {
		return fmt.Sprintf("load %d brought records that its own may repeat", n), nil
	}
	for i := range r.Files {
		f := &r.Files[i]
		err := p.checkStaged(ctx, f.Roll, -1, f.RollSum)
		if err == nil && f.Name != "" {
			err = p.checkStaged(ctx, f.Name, f.Size, f.Sum)
		}
		if errors.Is(err, dfs.ErrDamaged) {
			return err.Error(), nil
		}
		if err != nil {
			return "", err
		}
	}
	return p.voidBad(ctx, r)
}

// voidBad returns the reason why the files of a report's bad records are not as they were written,
// or "".
func (p *publisher) voidBad(ctx context.Context, r *manifest.Report) (string, error) {
	for i := range r.Inputs {
		in := &r.Inputs[i]
		if in.BadSum == "" {
			continue
		}
		err := dfs.CheckFile(ctx, p.cfg.FS, dfs.Join(p.folder.Plans, in.Bad), in.BadSize, in.BadSum)
		if errors.Is(err, dfs.ErrDamaged) {
			return err.Error(), nil
		}
		if err != nil {
			return "", err
		}
	}
	return "", nil
}

// overtaken returns the number of a load that was committed after a piece had searched for repeated
// records, and that brought records of the same behaviour and date; 0 if there is none.
func (p *publisher) overtaken(r *manifest.Report) int {
	if r.Seen == 0 {
		return 0
	}
	for _, d := range r.Days {
		k, ok := p.schema.Kind(d.Behaviour)
		if !ok || !p.unique[k].Asked() {
			continue
		}
		for _, l := range p.ledgers.Loads() {
			if l.Number >= r.Seen && slices.ContainsFunc(l.Days, func(o manifest.Day) bool { return o.Date == d.Date && o.Behaviour == d.Behaviour }) {
				return l.Number
			}
		}
	}
	return 0
}

// checkStaged reads a file of a piece whole. It returns dfs.ErrDamaged if the size or the xxh64 differs
// from the piece's report. It skips values that the report does not have.
func (p *publisher) checkStaged(ctx context.Context, name string, size int64, sum string) error {
	from, ok := table.As[table.StagedReader](p.target)
	if !ok || name == "" {
		return nil
	}
	f, err := from.Staged(ctx, name)
	if errors.Is(err, iofs.ErrNotExist) {
		return fmt.Errorf("%s: %w: it is gone", name, dfs.ErrDamaged)
	}
	if err != nil {
		return err
	}
	defer f.Close()
	if err := dfs.CheckBytes(ctx, f, size, sum); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// current returns an error if one of the plan's files was loaded in the meantime, or if other files
// have the plan's numbers now.
func (p *publisher) current() error {
	for i := range p.pieces {
		for n := range p.pieces[i].Inputs {
			in := &p.pieces[i].Inputs[n]
			if err := p.sameJob(in.Rel); err != nil {
				return err
			}
			if p.ledgers.Reached(in.Rel) != len(in.Covered) {
				return fmt.Errorf("%w: %s was loaded after it was planned: plan again", ErrStale, in.Rel)
			}
			if path := p.ledgers.PathOf(in.Number); path != "" && path != in.Rel {
				return fmt.Errorf("%w: the number of %s has gone to %s, which was loaded after it was planned: plan again", ErrStale, in.Rel, path)
			}
		}
	}
	return nil
}

// judgeAll decides again for each file, in order of all pieces, whether it is loaded: the outcome of all
// other files is known now.
func (p *publisher) judgeAll() error {
	type file struct {
		day behaviour.Date
		in  *PieceInput
		*manifest.Outcome
	}
	var all []file
	parts := p.parts()
	for n, r := range p.reports {
		for i := range r.Inputs {
			in, o := &p.pieces[n].Inputs[i], &r.Inputs[i]
			switch {
			case in.Range != nil:
				continue
			case in.Cuts != nil:
				o = p.join(in, o, parts[in.Rel])
			}
			all = append(all, file{in.day(), in, o})
		}
	}
	slices.SortStableFunc(all, func(a, b file) int { return cmp.Or(cmp.Compare(a.day, b.day), cmp.Compare(a.Path, b.Path)) })
	first := p.target.Info().Dropped
	for _, f := range all {
		if f.Error != "" {
			p.refuse(manifest.LeftOut{Path: f.Path, Part: f.in.Part, Error: f.Error, TooBad: f.TooBad})
			continue
		}
		holds := ledger.ContentOf(&f.Input)
		planned, now := f.in.plannedCopies().of(f.SHA256), p.ledgers.Others(holds, f.Path)
		if i := slices.IndexFunc(planned, func(c ledger.Copy) bool { return !c.In(now, f.Behaviour, first) }); i >= 0 {
			p.refuse(manifest.LeftOut{
				Path: f.Path, Part: f.in.Part,
				Error: fmt.Sprintf("%s: it has the bytes of %s, of which nothing is loaded: plan again to load it by itself", f.Path, planned[i].Path),
			})
			continue
		}
		if i := slices.IndexFunc(now, func(c ledger.Copy) bool { return !c.In(planned, f.Behaviour, first) }); i >= 0 {
			return fmt.Errorf("%w: %s has the bytes of %s, which it had not when it was planned: plan again", ErrStale, f.Path, now[i].Path)
		}
		if f.SameAs == "" {
			p.ledgers.Remember(holds, ledger.CopyOf(&f.Input))
		}
		p.good = append(p.good, f.Input)
		if f.Quarantined == 0 && len(f.in.Covered) == 0 {
			p.clean = append(p.clean, f.Path)
		}
		p.result.Bytes += f.Size
	}
	return nil
}

func (in *PieceInput) day() behaviour.Date {
	if in.Date == nil {
		return behaviour.MaxDate
	}
	return *in.Date
}

// refuse records a file that is not loaded.
func (p *publisher) refuse(out manifest.LeftOut) {
	p.out = append(p.out, out)
	why := &reportedError{text: out.Error}
	if out.TooBad {
		why.kind = bulkload.ErrTooBad
	}
	p.failed = append(p.failed, why)
	p.result.Failed = append(p.result.Failed, bulkload.Failed{Path: out.Path, Error: out.Error})
}

// stillOut records the files that the commit of load n left out and no later load has brought. A file of
// the same name in an earlier load is another file.
func (p *publisher) stillOut(n int, all []manifest.LeftOut) {
	since := map[string][]*manifest.Part{}
	for _, l := range p.ledgers.Loads() {
		for i := range l.Inputs {
			if in := &l.Inputs[i]; l.Number > n && in.Offsets == nil {
				since[in.Path] = append(since[in.Path], in.Part)
			}
		}
	}
	for _, out := range all {
		if !manifest.Covered(since[out.Path], out.Part) {
			p.refuse(out)
		}
	}
}

// A reportedError is the reason why a worker refused a file.
type reportedError struct {
	text string
	kind error // ErrTooBad or nil
}

func (e *reportedError) Error() string { return e.text }

func (e *reportedError) Unwrap() error { return e.kind }

// publish writes the bad records to the quarantine, and makes all pieces part of the table as one load.
func (p *publisher) publish(ctx context.Context) error {
	if err := p.atOnce(ctx, len(p.pieces), p.publishBad); err != nil {
		return err
	}
	if err := p.atOnce(ctx, len(p.joined), p.publishJoined); err != nil {
		return err
	}
	if len(p.good) == 0 {
		return nil
	}
	if err := quarantine.Remove(ctx, p.cfg.FS, p.clean, p.cfg.Store.Quarantine); err != nil {
		return err
	}
	ledger, files, err := p.ledger()
	if err != nil {
		return err
	}
	if err := p.target.TakeIn(ctx, ledger, files); err != nil {
		return err
	}
	p.count(ledger)
	p.countSkipped(ledger)
	p.result.HFiles = hfiles(files)
	p.result.Mode = p.pieces[0].Mode
	p.ledgers.Commit(p.id, ledger.Number)
	for i := range ledger.Inputs {
		p.ledgers.Add(&ledger.Inputs[i])
	}
	return p.endPlans(ctx)
}

// publishBad copies the bad records of piece n.
func (p *publisher) publishBad(ctx context.Context, n int) error {
	for i := range p.reports[n].Inputs {
		in := &p.reports[n].Inputs[i]
		if in.Bad == "" || in.Range != nil {
			continue
		}
		stay := quarantine.KeepsOfLoad(in.Path, in.SHA256, len(p.pieces[n].Inputs[i].Covered) > 0)
		if err := quarantine.Copy(ctx, p.cfg.FS, dfs.Join(p.folder.Plans, in.Bad), p.cfg.Store.Quarantine(in.Path), stay); err != nil {
			return fmt.Errorf("quarantine %s: %w", in.Path, err)
		}
	}
	return nil
}

// ledger returns the ledger of the load of all pieces, and its files. It returns an error if the
// reports contradict each other.
func (p *publisher) ledger() (*manifest.Load, []manifest.File, error) {
	out := &manifest.Load{
		Version: manifest.Version, Number: p.target.NextLoad(), Job: p.job.Digest(), Plan: p.id, Inputs: p.good,
		Days: p.days(), Regions: commonRegions(p.reports), LeftOut: p.out,
	}
	if err := checkLaw(out.Inputs); err != nil {
		return nil, nil, err
	}
	var loaded, records int64
	var days, regions tally.Tally
	for i := range out.Inputs {
		loaded += out.Inputs[i].Loaded
	}
	for _, d := range out.Days {
		records += d.Records
		days.Add(d.Tally)
	}
	for _, r := range out.Regions {
		regions.Add(r.Tally)
	}
	if loaded != records || days != regions {
		return nil, nil, fmt.Errorf("plan %s: %w: its files have %d records to load, its days %d; its days hold %s, its regions %s",
			p.id, manifest.ErrDamaged, loaded, records, days, regions)
	}
	var files []manifest.File
	for _, r := range p.reports {
		for _, f := range r.Files {
			f.Load = out.Number
			files = append(files, f)
		}
	}
	return out, files, nil
}

// days returns the sums of the days of all pieces, in order of date and behaviour ID.
func (p *publisher) days() []manifest.Day {
	sum := segment.NewTallies()
	for _, r := range p.reports {
		for _, d := range r.Days {
			k, _ := p.schema.Kind(d.Behaviour) // the job has it, and so has the table
			sum.Add(segment.Day{Load: pieceLoad, Date: d.Date, Kind: k}, d.Records, d.Tally)
		}
	}
	return sum.Days(pieceLoad, p.schema)
}

// commonRegions returns the sums of the regions of all pieces. If the table's regions changed between
// pieces, it uses the regions between the split points that all pieces had.
func commonRegions(reports []*manifest.Report) []manifest.Region {
	var points split.Points
	for i, r := range reports {
		own := pointsIn(r.Regions)
		if i == 0 {
			points = own
			continue
		}
		points = slices.DeleteFunc(points, func(x []byte) bool {
			_, found := slices.BinarySearchFunc(own, x, bytes.Compare)
			return !found
		})
	}
	out := make([]manifest.Region, len(points)+1)
	for i, x := range points {
		out[i+1].First = manifest.Key(x)
	}
	for _, r := range reports {
		for _, region := range r.Regions {
			out[points.Of(region.First)].Tally.Add(region.Tally)
		}
	}
	return out
}

// pointsIn returns the split points between regions.
func pointsIn(regions []manifest.Region) split.Points {
	var out split.Points
	for _, r := range regions[1:] {
		out = append(out, r.First)
	}
	return out
}
