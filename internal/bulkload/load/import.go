package load

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"

	"github.com/dustin/go-humanize"
	"golang.org/x/sync/errgroup"

	"usertrail/internal/behaviour"
	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/ledger"
	"usertrail/internal/cell"
	"usertrail/internal/format/layout"
	"usertrail/internal/format/manifest"
	"usertrail/internal/run/progress"
	"usertrail/internal/split"
	"usertrail/internal/store/dfs"
	"usertrail/internal/table"
	"usertrail/internal/table/precheck"
	"usertrail/internal/table/segment"
	"usertrail/internal/tally"
	"usertrail/internal/trail"
)

// ImportConfig is one import.
type ImportConfig struct {
	From     table.Exporter
	Store    table.Store // of a table that takes HFiles
	FS       dfs.FS
	Temp     string // directory, on FS, for sorted runs
	Workers  int    // regions written at once, as far as Memory goes; 1
	Memory   int64  // bytes of the process; 1 GiB
	Progress progress.Config
	Log      *slog.Logger // nothing is said
}

// Import copies the loads of one table into another, as HFiles that are cut at the other
// table's regions. It copies the ledgers too, so both tables know the delivered files. Records
// keep their column IDs. Import skips loads that the other table already has.
func Import(ctx context.Context, cfg ImportConfig) (r bulkload.Result, err error) {
	lock, err := cfg.Store.Lock(ctx)
	if err != nil {
		return bulkload.Result{}, err
	}
	defer bulkload.Unlock(lock, &err)
	i := &importer{cfg: cfg, load: &load{cfg: Config{FS: cfg.FS, Temp: cfg.Temp}, log: cfg.Log}}
	if i.log == nil {
		i.log = slog.New(slog.DiscardHandler)
	}
	if err := i.open(ctx); err != nil {
		return i.result, err
	}
	if err := i.recover(ctx); err != nil {
		return i.result, err
	}
	if err := i.target.Extend(cfg.From.Info().Schema); err != nil {
		return i.result, fmt.Errorf("%w: the schema of %s does not fit: %w", bulkload.ErrRequest, cfg.From.Info().Address, err)
	}
	if err := i.sameOrder(); err != nil {
		return i.result, err
	}
	todo, err := i.choose(ctx)
	if err != nil {
		return i.result, err
	}
	if len(todo) == 0 {
		if i.result.Finished > 0 {
			return i.result, nil
		}
		return i.result, fmt.Errorf("%w: all loads of %s are in %s", bulkload.ErrNothing, cfg.From.Info().Address, cfg.Store.Address())
	}
	return i.result, i.run(ctx, todo)
}

// rowBytes is the least memory of a worker of an import, in bytes.
const rowBytes = 24 << 20

// rows returns the number of regions that are written at the same time, and the memory in bytes
// for counting the records of one row: a quarter of the memory of a worker.
func (c *ImportConfig) rows() (workers, most int) {
	room := (&Config{Memory: cmp.Or(c.Memory, 1<<30)}).sortMemory()
	workers = int(min(int64(max(c.Workers, 1)), max(room/rowBytes, 1)))
	return workers, int(room) / workers / 4
}

// An importer is one call of Import. It uses the target and the result of load.
type importer struct {
	*load
	cfg ImportConfig
}

// open opens the target. If there is no table, it plans one with the schema and settings of the
// source.
func (i *importer) open(ctx context.Context) error {
	from := i.cfg.From.Info()
	t, err := i.cfg.Store.Open(ctx)
	if errors.Is(err, table.ErrNoTable) {
		t, err = i.cfg.Store.New(ctx, table.Plan{
			Layout: from.Layout.Name(), Schema: from.Schema,
			Splits: func(context.Context) (split.Points, error) { return nil, nil },
		})
	}
	if err != nil {
		return err
	}
	i.target = t
	if to := t.Info(); to.Layout.Name() != from.Layout.Name() {
		return fmt.Errorf("%w: %s has the layout %s, %s has %s", bulkload.ErrRequest, from.Address, from.Layout.Name(), to.Address, to.Layout.Name())
	}
	stager, ok := table.As[table.Stager](t)
	if !ok {
		return fmt.Errorf("%w: table %s takes no HFiles", bulkload.ErrRequest, i.cfg.Store.Address())
	}
	i.stager, i.result.Choice = stager, bulkload.Choice{Mode: bulkload.HFile}
	if _, err = stager.FileOptions(ctx); err != nil {
		return err
	}
	return i.checkFamily(ctx, from.Layout.Traits())
}

// checkFamily returns an error if the family keeps fewer versions than the layout needs. Some
// imported records would be lost.
func (i *importer) checkFamily(ctx context.Context, needs layout.Traits) error {
	c, ok := i.cfg.Store.(precheck.Checker)
	if !ok || needs.Versions <= 1 {
		return nil
	}
	checks := c.Check(ctx, precheck.Load{HFiles: true, Locked: true, Traits: needs})
	return precheck.Failure(slices.DeleteFunc(checks, func(c precheck.Check) bool { return c.Name != precheck.FamilyFit }))
}

// sameOrder refuses a source that has the fields of a behaviour in another order than the
// target.
func (i *importer) sameOrder() error {
	from, to := i.cfg.From.Info(), i.target.Info()
	k, n := misplaced(from.Schema, to.Schema)
	if k < 0 {
		return nil
	}
	kind := from.Schema.Kinds[k]
	there, _ := to.Schema.KindByID(kind.ID)
	return fmt.Errorf("%w: behaviour %s: field %d is %s in %s, and %s in %s: cells say by its place which field a value is of: load %s from the logs instead",
		bulkload.ErrRequest, kind.Name, n+1, kind.Fields[n].Name, from.Address, to.Schema.Kinds[there].Fields[n].Name, to.Address, to.Address)
}

// choose returns the ledgers of the loads that are not in the target.
func (i *importer) choose(ctx context.Context) ([]*manifest.Load, error) {
	there, err := i.target.Ledgers(ctx)
	if err != nil {
		return nil, err
	}
	all, err := i.cfg.From.Ledgers(ctx)
	if err != nil {
		return nil, err
	}
	has := newImported(there, all)
	var todo []*manifest.Load
	for _, l := range all {
		have := 0
		for n := range l.Inputs {
			in := &l.Inputs[n]
			if has.inputs[ledger.Identity(in)] {
				have++
			} else if err := i.clash(l, in, has); err != nil {
				return nil, err
			}
		}
		switch have {
		case len(l.Inputs):
			i.result.Already += have
		case 0:
			todo = append(todo, l)
		default:
			return nil, fmt.Errorf("%w: of the %d files of load %d of %s, %d are in %s already: bring the others there from the logs",
				bulkload.ErrRequest, len(l.Inputs), l.Number, i.cfg.From.Info().Address, have, i.cfg.Store.Address())
		}
	}
	return todo, nil
}

// An imported describes the delivered files that a target has.
type imported struct {
	inputs map[string]bool   // by identity
	paths  map[uint32]string // by the number of a file
	others *ledger.Index     // of inputs that the source does not have
}

func newImported(target, source []*manifest.Load) *imported {
	h, ours := &imported{inputs: map[string]bool{}, paths: map[uint32]string{}, others: ledger.New(nil)}, map[string]bool{}
	for _, l := range source {
		for n := range l.Inputs {
			ours[brought(&l.Inputs[n])] = true
		}
	}
	for _, l := range target {
		for n := range l.Inputs {
			in := &l.Inputs[n]
			h.inputs[ledger.Identity(in)], h.paths[in.Number] = true, in.Path
			if !ours[brought(in)] {
				h.others.Add(in)
			}
		}
	}
	return h
}

// clash returns an error for an input if the target may have a record of it that did not come
// from the source. Two records would then have the same column ID, or one record would have
// two.
func (i *importer) clash(l *manifest.Load, in *manifest.Input, has *imported) error {
	from, to := i.cfg.From.Info().Address, i.cfg.Store.Address()
	if path, ok := has.paths[in.Number]; ok && path != in.Path {
		return fmt.Errorf("%w: %s is number %d in %s, and so is %s in %s: their records would be mistaken for each other; load one of them from the logs",
			bulkload.ErrRequest, in.Path, in.Number, from, path, to)
	}
	if c, ok := has.others.Overlapping(in); ok {
		return fmt.Errorf("%w: %s of %s has the bytes of %s, of which %s has records: load what is missing there from the logs",
			bulkload.ErrRequest, in.Path, from, c.Path, to)
	}
	for _, o := range has.others.Inputs(in.Path) {
		switch {
		case o.SHA256 != in.SHA256 && (o.Read == 0 || in.Read == 0): // the empty file brought nothing
		case o.SHA256 != in.SHA256:
			return fmt.Errorf("%w: %s was loaded with other bytes into %s than into %s: records of both would have the same column IDs; import into a new table",
				bulkload.ErrRequest, in.Path, to, from)
		case ledger.Share(in, o):
			return fmt.Errorf("%w: %s: a part of what load %d of %s brought is in %s: load what is missing there from the logs",
				bulkload.ErrRequest, in.Path, l.Number, from, to)
		}
	}
	return nil
}

// brought is identity with how many records were new: two tables may have had copies of
// different parts of a file before.
func brought(in *manifest.Input) string { return fmt.Sprint(in.Loaded, " ", ledger.Identity(in)) }

// run imports as many loads together as make files of a good size.
func (i *importer) run(ctx context.Context, todo []*manifest.Load) error {
	var cells int64
	for _, l := range todo {
		cells += cellsOf(l)
	}
	p := progress.Start(i.cfg.Progress)
	defer p.Done()
	p.Step("importing", "cells", cells)
	for len(todo) > 0 {
		n, size := 1, sizeOf(todo[0])
		for n < len(todo) && size+sizeOf(todo[n]) <= handedBytes {
			size += sizeOf(todo[n])
			n++
		}
		if err := i.together(ctx, todo[:n], p); err != nil {
			return err
		}
		todo = todo[n:]
	}
	return nil
}

// together imports loads as one.
func (i *importer) together(ctx context.Context, loads []*manifest.Load, p *progress.Progress) error {
	regions, err := i.target.Regions(ctx)
	if err != nil {
		return err
	}
	ledger := i.merged(loads)
	numbers := make([]int, len(loads))
	for n, l := range loads {
		numbers[n] = l.Number
	}
	written := make([]*importedRegion, len(regions))
	g, gctx := errgroup.WithContext(ctx)
	workers, most := i.cfg.rows()
	g.SetLimit(workers)
	for n, r := range regions {
		written[n] = i.newRegion(gctx, n, spanOf(ledger))
		written[n].events.Most = most
		g.Go(func() error { return written[n].write(gctx, numbers, r, p) })
	}
	if err := g.Wait(); err != nil {
		return err
	}
	var files []manifest.File
	var sum tally.Tally
	for n, w := range written {
		ledger.Regions = append(ledger.Regions, manifest.Region{First: regions[n].Start, Tally: w.count.Tally})
		sum.Add(w.count.Tally)
		if w.records > 0 {
			files = append(files, w.file)
		}
	}
	if want := tallyOf(ledger); sum != want {
		return fmt.Errorf("%s holds %s of loads %v, and its ledgers say %s: it is damaged; bulkload verify says where", i.cfg.From.Info().Address, sum, numbers, want)
	}
	if err := i.target.TakeIn(ctx, ledger, files); err != nil {
		return err
	}
	i.count(ledger)
	i.result.HFiles += len(files)
	return nil
}

// merged is one ledger of several loads.
func (i *importer) merged(loads []*manifest.Load) *manifest.Load {
	out := &manifest.Load{Version: manifest.Version, Number: i.target.NextLoad(), Job: loads[len(loads)-1].Job, Days: []manifest.Day{}}
	at := map[string]int{}
	for _, l := range loads {
		out.Inputs = append(out.Inputs, l.Inputs...)
		for _, d := range l.Days {
			key := d.Date.String() + d.Behaviour
			n, ok := at[key]
			if !ok {
				n, at[key] = len(out.Days), len(out.Days)
				out.Days = append(out.Days, manifest.Day{Date: d.Date, Behaviour: d.Behaviour})
			}
			out.Days[n].Records += d.Records
			out.Days[n].Tally.Add(d.Tally)
		}
	}
	names := i.target.Info().Schema.Names()
	slices.SortFunc(out.Days, func(a, b manifest.Day) int {
		return cmp.Or(cmp.Compare(a.Date, b.Date), slices.Index(names, a.Behaviour)-slices.Index(names, b.Behaviour))
	})
	return out
}

func spanOf(l *manifest.Load) behaviour.Span {
	s := noDates
	for _, d := range l.Days {
		s.From, s.To = min(s.From, d.Date), max(s.To, d.Date)
	}
	return s
}

func tallyOf(l *manifest.Load) tally.Tally {
	var sum tally.Tally
	for _, d := range l.Days {
		sum.Add(d.Tally)
	}
	return sum
}

func cellsOf(l *manifest.Load) int64 { return tallyOf(l).Cells }

func sizeOf(l *manifest.Load) (n int64) {
	for _, in := range l.Inputs {
		n += in.Size
	}
	return n
}

// An importedRegion writes the cells of one of the target's regions, and counts
// the records of each row for the roll.
type importedRegion struct {
	*importer
	out     *segment.Writer
	number  int // of the load
	count   tally.Counter
	records int64
	span    behaviour.Span
	file    manifest.File

	row     []byte
	counts  segment.Counts // of the row
	decoder layout.Decoder
	events  trail.Batch
}

func (i *importer) newRegion(ctx context.Context, region int, span behaviour.Span) *importedRegion {
	info, number := i.target.Info(), i.stager.NextLoad()
	w := &importedRegion{
		importer: i, out: i.newSegment(ctx, i.stager, i.stager.FileName(number, region), span), number: number, span: noDates,
		decoder: info.Layout.Decoder(info.Schema, layout.Everyone(info.Schema, span)),
	}
	w.decoder.Into(&w.events, func([]byte) (uint32, bool) { return 0, true })
	return w
}

func (w *importedRegion) write(ctx context.Context, loads []int, r split.Region, p *progress.Progress) error {
	defer w.out.Abort()
	at := p.Worker("writing")
	defer at.End()
	at.At("the region from %q on, of loads %v", r.Start, loads)
	err := w.cfg.From.Export(ctx, loads, r, func(c *cell.Cell) error {
		if !bytes.Equal(c.Row, w.row) {
			if err := w.endRow(); err != nil {
				return err
			}
			w.row = append(w.row[:0], c.Row...)
		}
		w.count.Add(c)
		if err := w.decoder.Add(c); err != nil {
			return w.tooLarge(err)
		}
		if w.count.Cells%1024 == 0 {
			p.Add(1024)
		}
		return w.out.Add(c)
	})
	if err == nil {
		err = w.endRow()
	}
	if err != nil || w.records == 0 {
		return err
	}
	w.file, err = w.out.Finish(w.count.Tally)
	w.file.Load, w.file.Records, w.file.Span = w.number, w.records, w.span
	return err
}

func (w *importedRegion) endRow() error {
	if len(w.row) == 0 {
		return nil
	}
	if err := w.decoder.Flush(); err != nil {
		return w.tooLarge(err)
	}
	n := int64(len(w.events.Events))
	if n == 0 {
		return fmt.Errorf("row %q of %s holds no record", w.row, w.cfg.From.Info().Address)
	}
	w.records += n
	for i := range w.events.Events {
		e := &w.events.Events[i]
		date := behaviour.Date(e.Date)
		w.span.From, w.span.To = min(w.span.From, date), max(w.span.To, date)
		w.counts.Add(date, int(e.Kind))
	}
	w.events.Reset()
	err := w.out.EndRow(w.row, &w.counts)
	w.counts.Reset()
	return err
}

// tooLarge names the row whose records do not fit, if err says so.
func (w *importedRegion) tooLarge(err error) error {
	if !errors.Is(err, trail.ErrFull) {
		return err
	}
	from := w.cfg.From.Info()
	user, e := from.Layout.AppendUser(nil, from.Layout.UserKey(w.row))
	if e != nil {
		return e
	}
	return fmt.Errorf("%w: user %q: the row %.64q of %s has more than %d records, and those of a row are counted within %s: raise --memory, take fewer --workers, or load the table from the logs: %w",
		bulkload.ErrRequest, user, w.row, from.Address, len(w.events.Events), humanize.IBytes(uint64(w.events.Most)), err)
}
