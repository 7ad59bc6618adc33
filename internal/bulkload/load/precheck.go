package load

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/dustin/go-humanize/english"

	"usertrail/internal/behaviour"
	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/delivered"
	"usertrail/internal/bulkload/ledger"
	"usertrail/internal/bulkload/target"
	"usertrail/internal/bulkload/tryout"
	"usertrail/internal/format/job"
	"usertrail/internal/format/manifest"
	"usertrail/internal/store/dfs"
	"usertrail/internal/table"
	"usertrail/internal/table/precheck"
)

// PreCheck runs all checks of a load with cfg, without the table's lock. It also parses a sample of
// the files and returns the report of the sample. The report is nil if nothing was parsed. PreCheck
// returns an error only if cfg is invalid or ctx ends. A check that fails is in the list.
func PreCheck(ctx context.Context, cfg Config) ([]precheck.Check, *tryout.Report, error) {
	l, err := New(cfg)
	if err != nil {
		return nil, nil, err
	}
	p := &preCheck{load: l, alone: true}
	p.where = l.asked(precheck.Load{HFiles: cfg.Mode != bulkload.Put, Puts: cfg.Mode != bulkload.HFile})
	for _, in := range p.input(ctx) {
		p.found = append(p.found, &checked{File: &delivered.File{Input: in, Part: l.Search.Part(in)}})
	}
	opened := p.table(ctx)
	files := slices.DeleteFunc(slices.Clone(p.found), func(f *checked) bool { return f.held })
	p.areGrowing(ctx, files)
	p.rest(ctx, files)
	p.unopened(opened)
	return precheck.Complete(p.List, "the table cannot tell"), p.Sample, ctx.Err()
}

// Fresh reports whether some of the delivered files are new to the table. It compares names, sizes and times of
// change. If Fresh returns false, a load would read no file. Fresh takes no lock.
func Fresh(ctx context.Context, cfg Config) (bool, error) {
	l, err := New(cfg)
	if err != nil {
		return false, err
	}
	if err := l.Find(ctx); err != nil || len(l.found.Inputs) == 0 {
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
	loads, err := bulkload.Ledgers(ctx, t, cfg.Memory, cfg.Log)
	if err != nil {
		return false, err
	}
	l.Known = ledger.New(loads, l.cfg.Job)
	return slices.ContainsFunc(l.found.Inputs, func(in job.Input) bool { return !l.knows(in, t.Info().Dropped) }), nil
}

// knows reports whether a file was loaded before, by its name, size and time alone. The table has no days before dropped,
// which may be nil.
func (l *Load) knows(in job.Input, dropped *behaviour.Date) bool {
	var olds []*manifest.Input
	for _, old := range l.Known.Inputs(in.Rel) {
		if old.Offsets == nil && in.Size == old.Size && in.Modified.Equal(old.Modified) {
			olds = append(olds, old)
		}
	}
	h, err := l.historyOf(&delivered.File{Input: in, Part: l.Search.Part(in)}, olds, dropped)
	return err == nil && h.held
}

// PreCheck stops a load that cannot succeed before it writes anything. The caller has called Open. If a
// file cannot be loaded, PreCheck leaves out only that file. It sorts Files.
func (l *Load) PreCheck(ctx context.Context) error {
	p := &preCheck{load: l}
	p.where = l.asked(precheck.Load{HFiles: l.To.Stager != nil, Puts: l.To.Putter != nil, Locked: true})
	p.where.Open, _ = table.As[precheck.OpenTable](l.To.Loader)
	files := make([]*checked, len(l.Files))
	for i, f := range l.Files {
		files[i] = &checked{File: f}
	}
	p.rest(ctx, files)
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	for _, c := range p.List {
		if c.State == precheck.Warn {
			l.cfg.Log.Warn("pre-check", "check", c.Name, "found", c.Detail, "advice", c.Advice)
		}
	}
	slices.SortStableFunc(files, func(a, b *checked) int { return delivered.Compare(a.File, b.File) })
	l.Files = nil
	for _, f := range files {
		if f.err == nil {
			l.Files = append(l.Files, f.File)
			continue
		}
		l.leaveOut(f.Input, f.err)
		l.Result.Bytes -= f.Size
	}
	return precheck.Failure(p.List)
}

// asked adds the values of the request and the job to where.
func (l *Load) asked(where precheck.Load) precheck.Load {
	where.Span, where.Traits = l.cfg.Span, l.layout.Traits()
	where.TTL, where.Forever = l.cfg.Job.Table.TTL, l.cfg.Job.Table.Forever
	return where
}

// A preCheck gathers the checks of a load.
type preCheck struct {
	load *Load
	precheck.List
	where   precheck.Load
	alone   bool            // no load follows
	found   []*checked      // all files, if no load follows
	dropped *behaviour.Date // the days before it were dropped from the table; nil if none were
	// Sample is the report of the sample, nil if nothing was parsed.
	Sample *tryout.Report
}

// A checked is a delivered file with what the checks have found about it.
type checked struct {
	*delivered.File
	err     error // why the file cannot be loaded; nil if it can be
	refused bool  // a load would refuse the file because of its beginning
	held    bool  // the table has all requested records
	older   bool  // all requested records are of days that were dropped
}

// input finds the delivered files, and checks that the required files are among them.
func (p *preCheck) input(ctx context.Context) []job.Input {
	cfg := &p.load.cfg
	found, err := p.load.Search.Find(ctx)
	if found == nil {
		p.Fail(precheck.InputThere, err, "")
		p.Skip(precheck.RequiredBehaviours, "the files could not be looked for")
		return nil
	}
	detail := fmt.Sprintf("%s for %s; %d missing, counted for each behaviour and day", english.Plural(len(found.Inputs), "file", ""), cfg.Span, len(found.Missing))
	if names := bulkload.FewOf(cfg.Job.FirstMissing(found.Missing, bulkload.Shown), len(found.Missing)); len(found.Inputs) > 0 && names != "" {
		detail += " (" + names + ")"
	}
	var refused []error
	for _, f := range found.Refused {
		refused = append(refused, f.Err)
	}
	left, advice := p.leftOut(ctx, found)
	switch {
	case len(refused) > 0:
		p.Fail(precheck.InputThere, bulkload.Joined(refused), "the load would leave these files out")
	case left != "":
		p.Warn(precheck.InputThere, advice, "%s; %s", detail, left)
	case len(found.Inputs) == 0:
		p.Warn(precheck.InputThere, "correct --from and --to, or logs.path", "%s, below %s", detail, cfg.Job.Pattern.Root)
	default:
		p.OK(precheck.InputThere, "%s", detail)
	}
	if err != nil {
		p.Fail(precheck.RequiredBehaviours, err, "")
	} else {
		p.OK(precheck.RequiredBehaviours, "none is missing")
	}
	return found.Inputs
}

// leftOut describes the folders and files that look like logs and are not read, and the next step. It returns "" if there are none.
func (p *preCheck) leftOut(ctx context.Context, found *delivered.Found) (text, advice string) {
	var texts, steps []string
	if len(found.Written) > 0 {
		texts = append(texts, bulkload.WrittenText+": "+strings.Join(found.Written, ", "))
		steps = append(steps, bulkload.WrittenAdvice)
	}
	if other, err := found.Unmapped(ctx); err == nil && !other.IsZero() {
		texts = append(texts, fmt.Sprintf("%s: %s, such as %s", bulkload.UnmappedText, bulkload.DescribeUnmapped(&other), other.List(1)[0].Example))
		steps = append(steps, bulkload.UnmappedAdvice)
	}
	return strings.Join(texts, "; "), strings.Join(steps, "; ")
}

// table checks that the table fits the job's layout and schema. It reads the ledgers and finds the files that were loaded
// before. It checks that these files were loaded with all fields of the job. It returns an error if the table cannot be
// opened.
func (p *preCheck) table(ctx context.Context) error {
	l, j := p.load, p.load.cfg.Job
	t, err := l.cfg.Store.Open(ctx)
	if errors.Is(err, table.ErrNoTable) {
		p.OK(precheck.LayoutKnown, "%s: the first load creates the table", l.layout.Name())
		p.OK(precheck.SchemaFits, "the first load makes it")
		return nil
	}
	if err != nil {
		return err
	}
	defer t.Close()
	if err := table.CheckFiles(ctx, t); err != nil {
		return err
	}
	loads, err := bulkload.Ledgers(ctx, t, l.cfg.Memory, l.cfg.Log)
	if err != nil {
		return err
	}
	l.Known, p.dropped = ledger.New(loads, l.cfg.Job), t.Info().Dropped
	unclear := p.history(ctx)
	if err := target.SameLayout(j, t.Info()); err != nil {
		p.Fail(precheck.LayoutKnown, err, "")
	} else {
		p.OK(precheck.LayoutKnown, "%s", t.Info().Layout.Name())
	}
	if err := t.Extend(j.Schema); err != nil {
		p.Fail(precheck.SchemaFits, fmt.Errorf("%w: %w", job.ErrJob, err), "")
		return nil
	}
	inputs := make([]job.Input, len(p.found))
	for i, f := range p.found {
		inputs[i] = f.Input
	}
	unread, err := l.unreadFields(inputs, p.dropped)
	err = cmp.Or(err, unclear)
	switch {
	case err != nil:
		p.Fail(precheck.SchemaFits, err, "")
	case len(unread) > 0:
		p.Warn(precheck.SchemaFits, bulkload.UnreadAdvice, "%s", bulkload.DescribeUnread(unread))
	default:
		p.OK(precheck.SchemaFits, "%s", english.Plural(len(t.Info().Schema.Kinds), "behaviour", ""))
	}
	return nil
}

// unopened adds a failed check if the table could not be opened, for the reason err. If a check of the store already has
// the reason, unopened adds no second one.
func (p *preCheck) unopened(err error) {
	if err == nil {
		return
	}
	listed := slices.ContainsFunc(p.List, func(c precheck.Check) bool {
		return c.State == precheck.Fail && (c.Name == precheck.TableThere || c.Name == precheck.FamilyThere)
	})
	if listed {
		p.Skip(precheck.LayoutKnown, "the table does not open")
	} else {
		p.Fail(precheck.LayoutKnown, err, "")
	}
	p.Skip(precheck.SchemaFits, "the table does not open")
}

// history finds which records of the files the table has. If a file differs from the file that was loaded under its name,
// history sets the error of the file. It ignores other errors of a file, because the load reports them. If a load cannot
// determine which records of a file the table has, history returns an error.
func (p *preCheck) history(ctx context.Context) error {
	var unclear []error
	for _, f := range p.found {
		olds, err := p.load.earlier(ctx, f.Input)
		if delivered.OwnFault(err) {
			f.err = err
		}
		if err != nil {
			continue
		}
		h, err := p.load.historyOf(f.File, olds, p.dropped)
		if err != nil {
			unclear = append(unclear, err)
			continue
		}
		f.held, f.older = h.held, h.allOlder
	}
	return bulkload.Joined(unclear)
}

// areGrowing sets the errors of files that may still be written. It ignores other errors, because the load
// reports them.
func (p *preCheck) areGrowing(ctx context.Context, files []*checked) {
	found, err := p.load.Search.FindWhole(ctx)
	if err != nil {
		return
	}
	list := make([]*delivered.File, len(files))
	for i, f := range files {
		list[i] = f.File
	}
	whys, err := found.Growing(ctx, p.load.cfg.FS, list)
	for i, f := range files {
		if err == nil && f.err == nil {
			f.err = whys[i]
		}
	}
}

// rest runs the checks that a load also runs.
func (p *preCheck) rest(ctx context.Context, files []*checked) {
	for _, f := range files {
		p.where.Bytes += textBytes(f.File)
	}
	p.readable(ctx, files)
	if p.alone {
		p.sample(ctx, files)
	}
	if c, ok := p.load.cfg.Store.(precheck.Checker); ok {
		p.List = append(p.List, c.Check(ctx, p.where)...)
	}
	p.temp(ctx, files)
}

// temp checks the room in the directory for temporary files. Sorted runs need room there if the
// largest batch does not fit in memory. HFiles that are written at the same time need room
// there if they are uploaded.
func (p *preCheck) temp(ctx context.Context, files []*checked) {
	cfg := &p.load.cfg
	list := make([]*delivered.File, len(files))
	for i, f := range files {
		list[i] = f.File
	}
	var largest int64
	for _, b := range delivered.Batches(list, p.load.batchBytes()) {
		var bytes int64
		for _, f := range b {
			bytes += textBytes(f)
		}
		largest = max(largest, bytes)
	}
	needed := p.spools(ctx, largest)
	if largest >= cfg.SortMemory()/2 {
		needed += largest
	}
	switch {
	case cfg.Temp == "":
		p.Skip(precheck.DiskForTemp, "no place for it is named")
	case needed == 0:
		p.OK(precheck.DiskForTemp, "%s of text are sorted in memory", humanize.IBytes(uint64(largest)))
	default:
		p.Room(ctx, cfg.FS, precheck.DiskForTemp, cfg.Temp, needed)
	}
}

// spools returns the approximate number of bytes of HFiles that wait for their upload at the same time. These are the
// HFiles that are being written. text is the number of bytes of text of the batch.
func (p *preCheck) spools(ctx context.Context, text int64) int64 {
	l := p.load
	if dfs.Scheme(l.cfg.Store.Address()) == "" || !p.where.HFiles {
		return 0
	}
	regions := 1
	if l.To != nil {
		if all, err := l.To.Regions(ctx); err == nil {
			regions = max(len(all), 1)
		}
	}
	return int64(target.HFileShare * float64(text) * min(float64(l.cfg.Writers())/float64(regions), 1))
}
