package load

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"
	"golang.org/x/sync/errgroup"

	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/ledger"
	"usertrail/internal/format/job"
	"usertrail/internal/format/record"
	"usertrail/internal/store/dfs"
	"usertrail/internal/table"
	"usertrail/internal/table/precheck"
)

const (
	// headsAtOnce is how many files are looked into at once: looking is waiting.
	headsAtOnce = 16
	// unpacked is about how many times larger compressed text is without.
	unpacked = 4
)

// PreCheck makes all checks of the load that cfg asks for, without the table's lock.
// It fails only where the request itself is wrong.
func PreCheck(ctx context.Context, cfg Config) ([]precheck.Check, error) {
	l, err := newLoad(cfg)
	if err != nil {
		return nil, err
	}
	p := &preCheck{load: l, alone: true}
	p.where = l.asked(precheck.Load{HFiles: cfg.Mode != bulkload.Put, Puts: cfg.Mode != bulkload.HFile})
	found := p.input(ctx)
	opened := p.table(ctx)
	var inputs []*input
	for _, f := range found.Inputs {
		in := &input{Input: f}
		if p.isChanged(ctx, in); in.err != nil || !p.knows(f) {
			inputs = append(inputs, in)
		}
	}
	p.areGrowing(ctx, inputs)
	p.rest(ctx, inputs)
	p.unopened(opened)
	return precheck.Complete(p.List, "the table cannot tell"), ctx.Err()
}

// Fresh reports whether the table does not know some of the delivered files, by name, size and
// time of change: a load that finds none reads none. It takes no lock.
func Fresh(ctx context.Context, cfg Config) (bool, error) {
	l, err := newLoad(cfg)
	if err != nil {
		return false, err
	}
	found, err := l.find(ctx)
	if err != nil || len(found.Inputs) == 0 {
		return false, err
	}
	t, err := cfg.Store.Open(ctx)
	if errors.Is(err, table.ErrNoTable) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	defer t.Close()
	loads, err := t.Ledgers(ctx)
	if err != nil {
		return false, err
	}
	l.ledgers = ledger.New(loads)
	p := &preCheck{load: l}
	return slices.ContainsFunc(found.Inputs, func(f job.Input) bool { return !p.knows(f) }), nil
}

// preCheck stops a load that cannot succeed before it writes anything. The files were found and
// the table is open. It returns the files that can be read. If one of these cannot be loaded, the
// load leaves out that file alone and reports it.
func (l *load) preCheck(ctx context.Context, inputs []*input) ([]*input, error) {
	p := &preCheck{load: l}
	p.where = l.asked(precheck.Load{HFiles: l.stager != nil, Puts: l.putter != nil, Locked: true})
	p.rest(ctx, inputs)
	if err := ctx.Err(); err != nil {
		return nil, context.Cause(ctx)
	}
	for _, c := range p.List {
		if c.State == precheck.Warn {
			l.log.Warn("pre-check", "check", c.Name, "found", c.Detail, "advice", c.Advice)
		}
	}
	var out []*input
	for _, in := range inputs {
		if in.err == nil {
			out = append(out, in)
			continue
		}
		l.leave(in.Input, in.err)
		l.result.Bytes -= in.Size
	}
	return out, precheck.Failure(p.List)
}

// asked adds the values of the request and the job to where.
func (l *load) asked(where precheck.Load) precheck.Load {
	where.Span, where.Traits = l.cfg.Span, l.layout.Traits()
	where.TTL, where.Forever = l.job.Table.TTL, l.job.Table.Forever
	return where
}

// A preCheck gathers the checks of a load.
type preCheck struct {
	*load
	precheck.List
	where precheck.Load
	alone bool // no load follows
}

// input looks for the files, and for those that must be there.
func (p *preCheck) input(ctx context.Context) job.Found {
	found, err := p.job.Find(ctx, p.cfg.FS, p.cfg.Span, p.kinds)
	if err != nil {
		p.Fail(precheck.InputThere, err, "")
		p.Skip(precheck.RequiredBehaviours, "the files could not be looked for")
		return found
	}
	detail := fmt.Sprintf("%d files for %s, %d days and behaviours without one", len(found.Inputs), p.cfg.Span, len(found.Missing))
	var refused []error
	for _, err := range badNames(p.job, found) {
		refused = append(refused, err)
	}
	if len(refused) > 0 {
		p.Fail(precheck.InputThere, bulkload.Joined(refused), "the load would leave these files out")
	} else if len(found.Inputs) == 0 {
		p.Warn(precheck.InputThere, "is it the right span?", "%s, below %s", detail, p.job.Pattern.Root)
	} else {
		p.OK(precheck.InputThere, "%s", detail)
	}
	if err := p.job.CheckRequired(found.Missing); err != nil {
		p.Fail(precheck.RequiredBehaviours, err, "")
	} else {
		p.OK(precheck.RequiredBehaviours, "none is missing")
	}
	return found
}

// table looks whether the table knows the job's layout and schema. Its error is why
// the table does not open.
func (p *preCheck) table(ctx context.Context) error {
	t, err := p.cfg.Store.Open(ctx)
	if errors.Is(err, table.ErrNoTable) {
		p.OK(precheck.LayoutKnown, "%s, which the first load begins", p.layout.Name())
		p.OK(precheck.SchemaFits, "the first load makes it")
		return nil
	}
	if err != nil {
		return err
	}
	defer t.Close()
	if c, ok := table.As[table.FileChecker](t); ok {
		if err := c.CheckFiles(ctx); err != nil {
			return err
		}
	}
	loads, err := t.Ledgers(ctx)
	if err != nil {
		return err
	}
	p.ledgers = ledger.New(loads)
	if err := p.sameLayout(t.Info()); err != nil {
		p.Fail(precheck.LayoutKnown, err, "")
	} else {
		p.OK(precheck.LayoutKnown, "%s", t.Info().Layout.Name())
	}
	if err := t.Extend(p.job.Schema); err != nil {
		p.Fail(precheck.SchemaFits, fmt.Errorf("%w: %w", job.ErrJob, err), "")
		return nil
	}
	p.OK(precheck.SchemaFits, "%d behaviours", len(t.Info().Schema.Kinds))
	return nil
}

// sameLayout returns an error if the table exists and the job has another layout.
func (l *load) sameLayout(info table.Info) error {
	has := info.Layout.Name()
	if has == l.layout.Name() {
		return nil
	}
	return fmt.Errorf("%w: %s: layout: the job's is %s, and table %s has %s for ever: write layout: %s, or name another table; bulkload convert makes one of a table of files",
		job.ErrJob, l.job.Name, l.layout.Name(), info.Address, has, has)
}

// unopened says why the table does not open, unless the store has said it.
func (p *preCheck) unopened(err error) {
	if err == nil {
		return
	}
	said := slices.ContainsFunc(p.List, func(c precheck.Check) bool {
		return c.State == precheck.Fail && (c.Name == precheck.TableThere || c.Name == precheck.FamilyThere)
	})
	if said {
		p.Skip(precheck.LayoutKnown, "the table does not open")
	} else {
		p.Fail(precheck.LayoutKnown, err, "")
	}
	p.Skip(precheck.SchemaFits, "the table does not open")
}

// knows says whether a file was loaded before, by its name and time alone.
func (p *preCheck) knows(f job.Input) bool {
	if p.ledgers == nil {
		return false
	}
	for _, old := range p.ledgers.Inputs(f.Rel) {
		if old.Offsets == nil && f.Size == old.Size && f.Modified.Equal(old.Modified) && old.Part.Covers(p.partOf(f)) {
			return true
		}
	}
	return false
}

// isChanged sets the error of a file that differs from the file that was loaded under its name. It
// ignores other errors of the file: the load reports them.
func (p *preCheck) isChanged(ctx context.Context, in *input) {
	if p.ledgers == nil {
		return
	}
	for _, old := range p.ledgers.Inputs(in.Rel) {
		if _, err := p.wasLoaded(ctx, in, old); ownFault(err) {
			in.err = err
			return
		}
	}
}

// areGrowing sets the errors of files that may still be written. It ignores other errors: the load reports
// them.
func (p *preCheck) areGrowing(ctx context.Context, inputs []*input) {
	if _, err := p.findWhole(ctx); err != nil {
		return
	}
	whys, err := p.growing(ctx, inputs)
	for i, in := range inputs {
		if err == nil && in.err == nil {
			in.err = whys[i]
		}
	}
}

// rest makes the checks that also a load makes.
func (p *preCheck) rest(ctx context.Context, inputs []*input) {
	for _, in := range inputs {
		p.where.Bytes += textBytes(in)
	}
	p.readable(ctx, inputs)
	if c, ok := p.cfg.Store.(precheck.Checker); ok {
		p.List = append(p.List, c.Check(ctx, p.where)...)
	}
	p.temp(ctx, inputs)
}

// readable looks into the beginning of every file. The err of a file that cannot be read by
// its own fault says so: the load leaves it out.
func (p *preCheck) readable(ctx context.Context, inputs []*input) {
	if len(inputs) == 0 {
		p.Skip(precheck.InputReadable, "there is no file to load")
		return
	}
	empty := 0
	fates := make([]fate, len(inputs))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(headsAtOnce)
	for i, in := range inputs {
		if in.err != nil {
			continue
		}
		if in.Size == 0 {
			empty++
		}
		g.Go(func() error {
			fates[i] = p.head(ctx, in.Input)
			return nil
		})
	}
	_ = g.Wait() // none fails: what is found out is in fates
	var left, unread, refused, unfit []error
	for i, f := range fates {
		if ownFault(f.unread) {
			inputs[i].err = f.unread
		} else if f.unread != nil {
			unread = append(unread, f.unread)
		}
		if inputs[i].err != nil {
			left = append(left, inputs[i].err)
		}
		if f.refused != nil {
			refused = append(refused, f.refused)
		}
		if f.unfit != nil {
			unfit = append(unfit, f.unfit)
		}
	}
	name := precheck.InputReadable
	switch {
	case len(unread) > 0:
		p.Fail(name, bulkload.Joined(unread), "")
	case len(unfit) > 0:
		p.Fail(name, bulkload.Joined(unfit), "")
	case len(refused) > 0 && p.alone:
		p.Fail(name, bulkload.Joined(append(left, refused...)), "the load would leave these files out")
	case len(left) > 0 && p.alone: // of a load they are its errors
		p.Warn(name, "the load leaves these files out, loads the others and does not end with status 0", "%v", bulkload.Joined(left))
	default:
		p.named(fmt.Sprintf("looked into %d files; %d are empty", len(inputs)-empty, empty), inputs, fates)
	}
}

// named warns of files if none of their records that were read names a behaviour of the job. A
// load would skip such a file with status 0, and not read it again. looked describes all files.
func (p *preCheck) named(looked string, inputs []*input, fates []fate) {
	var all []string
	good, foreign := 0, 0
	for i, f := range fates {
		if f.good == 0 && f.foreign > 0 {
			all = append(all, inputs[i].Path)
		}
		good, foreign = good+f.good, foreign+f.foreign
	}
	if foreign > 0 {
		looked += fmt.Sprintf("; %d of %d records name no behaviour of the job", foreign, good+foreign)
	}
	if len(all) == 0 {
		p.OK(precheck.InputReadable, "%s", looked)
		return
	}
	if n := len(all) - bulkload.Shown; n > 0 {
		all = append(all[:bulkload.Shown], fmt.Sprintf("and %d more", n))
	}
	p.Warn(precheck.InputReadable, "the load would skip these records: correct behaviour or its texts under logs before the first load",
		"%s: among them all that were read of %s", looked, strings.Join(all, ", "))
}

// A fate says what a load can do with a file. If all errors are nil, the beginning of the file
// is good. unread means that the file cannot be read. refused means that nothing of the file can
// be loaded. unfit means that nothing at all can be loaded, because the layout cannot hold a
// record.
type fate struct {
	unread, refused, unfit error
	good, foreign          int // of a sampler
}

// head opens a file and reads as far as the header, and where no load follows, which
// will, the records behind it.
func (p *preCheck) head(ctx context.Context, in job.Input) fate {
	f, err := dfs.OpenRegular(ctx, p.cfg.FS, in.Path)
	if err != nil {
		return fate{unread: unread(in.Path, err)}
	}
	defer f.Close()
	if in.Size == 0 && !record.IsCompressed(in.Path) {
		return fate{refused: p.tooFew(in, 0)}
	}
	src := &source{r: f}
	r, err := record.Open(src, in.File(), &p.job.Format)
	var parser *record.Parser
	if err == nil {
		defer r.Close()
		parser, err = record.NewParser(&p.job.Format, in.File(), r.Header())
	}
	s := &sampler{load: p.load, in: in}
	if err == nil && p.alone {
		err = s.take(src, r, parser)
	}
	if src.err != nil {
		return fate{unread: unread(in.Path, src.err)}
	}
	return fate{refused: unfit(err), unfit: s.unfit, good: s.good, foreign: s.foreign}
}

// temp wants room for the sorted runs of the largest batch, where they do not stay in
// memory, and for the HFiles that are written at once, where they are uploaded.
func (p *preCheck) temp(ctx context.Context, inputs []*input) {
	var largest int64
	for _, b := range batches(inputs, p.batchBytes()) {
		var bytes int64
		for _, in := range b {
			bytes += textBytes(in)
		}
		largest = max(largest, bytes)
	}
	needed := p.spools(ctx, largest)
	if largest >= p.cfg.sortMemory()/2 {
		needed += largest
	}
	switch {
	case p.cfg.Temp == "":
		p.Skip(precheck.DiskForTemp, "no place for it is named")
	case needed == 0:
		p.OK(precheck.DiskForTemp, "%s of text are sorted in memory", humanize.IBytes(uint64(largest)))
	default:
		p.Room(ctx, p.cfg.FS, precheck.DiskForTemp, p.cfg.Temp, needed)
	}
}

// spools is about how many bytes of HFiles wait at once until they are uploaded: those that
// are being written, of a batch of so many bytes of text.
func (p *preCheck) spools(ctx context.Context, text int64) int64 {
	if dfs.Scheme(p.cfg.Store.Address()) == "" || !p.where.HFiles {
		return 0
	}
	regions := 1
	if p.target != nil {
		if all, err := p.target.Regions(ctx); err == nil {
			regions = max(len(all), 1)
		}
	}
	return int64(hfileShare * float64(text) * min(float64(p.cfg.writers())/float64(regions), 1))
}

// textBytes is about how much text a file holds.
func textBytes(in *input) int64 {
	for _, end := range []string{".gz", ".zst", ".bz2"} {
		if strings.HasSuffix(in.Path, end) {
			return unpacked * in.Size
		}
	}
	return in.Size
}
