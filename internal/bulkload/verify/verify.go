// Package verify compares the content of a table with what its loads wrote.
//
// The ledger of each load has a tally of the cells of every behaviour on every date, and of
// every region. A tally does not depend on the order of cells, so the tallies of all loads
// add up to the tally of the table. Verify reads the table once, region by region or file by
// file, and keeps only such sums. It reports differences by date and behaviour, by range of
// rows, and in a table of files also by file.
//
// Verify takes no lock. A running or killed load may have written cells that no ledger
// counts. Differences that such cells may explain are marked.
package verify

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"usertrail/internal/behaviour"
	"usertrail/internal/bulkload"
	"usertrail/internal/format/layout"
	"usertrail/internal/run/outcome"
	"usertrail/internal/run/progress"
	"usertrail/internal/run/quantity"
	"usertrail/internal/split"
	"usertrail/internal/table"
	"usertrail/internal/tally"
)

// ErrDiffers is wrapped if the content of a table differs from what its loads wrote.
var ErrDiffers = errors.New("the table does not hold what was loaded")

// Config selects what is compared. A zero field means the default in its comment.
type Config struct {
	Store    table.Store
	Span     *behaviour.Span // all dates
	Types    []string        // all behaviours of the table
	Workers  int             // number of regions or files that are read at once; 1
	Now      time.Time       // the time at which cells have expired or not; the clock's
	Progress progress.Config
}

// tries is how often Run reads a table whose files are removed meanwhile.
const tries = 3

// A Result is the outcome of a comparison. Counts cover everything that was compared. The
// lists hold only the differences.
type Result struct {
	Cells    int64 `json:"cells"`   // found
	Records  int64 `json:"records"` // written by loads, among what was compared
	Compared int   `json:"days"`    // number of compared pairs of date and behaviour

	DifferingDays    int   `json:"differing_days"`
	ExpiredDays      int   `json:"expired_days"`
	DifferingRegions int   `json:"differing_regions"`
	ForeignCells     int64 `json:"foreign"`
	Hidden           int64 `json:"hidden,omitempty"` // cells of the compared days that deletes hide
	MissingFiles     int   `json:"missing_files"`
	DamagedFiles     int   `json:"damaged_files"`

	Days    []Day   `json:"-"` // by date and behaviour ID; includes expired days
	Regions []Range `json:"-"` // by row
	Files   []File  `json:"-"` // in the table's order
	Foreign Foreign `json:"-"`
	// Unlocated is the reason why no ranges were compared. It is empty if ranges were
	// compared.
	Unlocated string `json:"-"`
	// Unfinished lists delivered files of loads that are under way or were killed.
	Unfinished []string `json:"unfinished,omitempty"`
	// Since lists the numbers of loads that ended while the table was read.
	Since []int `json:"since,omitempty"`
	// Note says which days the table has, if it has no records of the requested days and behaviours.
	Note string `json:"note,omitempty"`

	catalog []error // of damaged files of the catalog that no extract reads; each has its next step
}

// Counted implements outcome.Result.
func (r Result) Counted() outcome.Counts {
	return outcome.Counts{outcome.Records: float64(r.Records), outcome.Cells: float64(r.Cells)}
}

// A Day is a behaviour on a date whose cells differ from the loaded ones.
type Day struct {
	Date            behaviour.Date
	Behaviour       string
	Expected, Found tally.Tally
	Verdict         Verdict
	Hidden          int64 // the number of missing cells that deletes hide
	// Maybe is set if an unfinished load may explain the difference.
	Maybe bool
}

// A Verdict is the kind of difference of a day.
type Verdict string

// The verdicts.
const (
	Missing Verdict = "no cells"
	Fewer   Verdict = "fewer cells"
	Hidden  Verdict = "hidden by deletes" // deletes hide all missing cells
	More    Verdict = "more cells"
	Other   Verdict = "as many cells, but others"
	Unknown Verdict = "cells that no load wrote"
	Expired Verdict = "expired" // HBase removed the cells because of their age; this is not a difference
)

// A Range is a range of rows whose cells differ from the loaded ones. Its ends are ends of
// regions.
type Range struct {
	split.Region
	Expected, Found tally.Tally
}

// A File is a file of the table that differs from the written one.
type File struct {
	Name    string // of the HFile or roll, below the table's directory
	Missing bool
	Why     error // nil if the file is missing

	ofTable bool // the manifest named it
}

// Foreign counts cells in rows that the layout does not produce for any behaviour of the
// table.
type Foreign struct {
	Cells int64
	First []byte // the first such row
}

// A dayKey is a date and a kind of the table's schema. A table may have hundreds of thousands of them.
type dayKey struct {
	date behaviour.Date
	kind int32
}

// An expectedDay counts the records and cells of a day in the ledgers.
type expectedDay struct {
	records int64
	cells   tally.Tally
}

// A run is one call of Run.
type run struct {
	cfg    Config
	table  table.Loader
	layout layout.Layout
	schema *behaviour.Schema
	wanted []bool // by kind
	span   behaviour.Span

	expected map[dayKey]expectedDay
	points   split.Points  // ends of the compared ranges
	ranges   []tally.Tally // expected in them; nil if they are not compared

	found    *count
	hidden   *count // cells that deletes hide
	progress *progress.Progress
	result   Result
}

// Run compares the table with its loads. The result lists all differences. If there are any,
// the error wraps ErrDiffers and states their number. Another error means that the comparison
// stopped.
//
// If a compact or drop removes files while Run reads them, Run starts over. After so many times
// as tries, its error wraps table.ErrChanged.
func Run(ctx context.Context, cfg Config) (Result, error) {
	if s, ok := cfg.Store.(table.Proving); ok {
		s.Unproved()
	}
	for range tries {
		result, err := once(ctx, cfg)
		if len(result.Files) == 0 || !errors.Is(err, ErrDiffers) {
			return result, err
		}
		if !result.replaced(ctx, cfg.Store) {
			return result, err
		}
	}
	return Result{}, fmt.Errorf("%w: files were replaced and removed while they were read, %d times: verify again while no compact or drop runs, or give them a longer --keep-for", table.ErrChanged, tries)
}

// once is Run without a new start.
func once(ctx context.Context, cfg Config) (Result, error) {
	t, err := cfg.Store.Open(ctx)
	if err != nil {
		return Result{}, err
	}
	defer t.Close()
	r, err := newRun(cfg, t)
	if err != nil {
		return Result{}, err
	}
	r.progress = progress.Start(cfg.Progress)
	defer r.progress.Done()
	if err := r.expect(ctx); err != nil {
		return r.result, err
	}
	if err := r.unfinished(ctx); err != nil {
		return r.result, err
	}
	if err := r.read(ctx); err != nil {
		return r.result, err
	}
	if err := r.readCatalog(ctx); err != nil {
		return r.result, err
	}
	if err := r.readHidden(ctx); err != nil {
		return r.result, err
	}
	if err := r.unfinished(ctx); err != nil {
		return r.result, err
	}
	if err := r.compare(ctx); err != nil {
		return r.result, err
	}
	if err := r.note(ctx); err != nil {
		return r.result, err
	}
	return r.result, r.result.differs()
}

func newRun(cfg Config, t table.Loader) (*run, error) {
	cfg.Workers = max(cfg.Workers, 1)
	if cfg.Now.IsZero() {
		cfg.Now = time.Now()
	}
	info := t.Info()
	r := &run{
		cfg: cfg, table: t, layout: info.Layout, schema: info.Schema, wanted: make([]bool, len(info.Schema.Kinds)),
		span: behaviour.AllDays, expected: map[dayKey]expectedDay{},
	}
	if cfg.Span != nil {
		r.span = *cfg.Span
	}
	kinds, err := r.schema.Select(cfg.Types)
	if err != nil {
		return nil, fmt.Errorf("%w: --types: the table has %w", bulkload.ErrRequest, err)
	}
	for _, k := range kinds {
		r.wanted[k] = true
	}
	return r, nil
}

// replaced reports whether the table no longer has one of the files that were missing or damaged.
func (r *Result) replaced(ctx context.Context, store table.Store) bool {
	if !slices.ContainsFunc(r.Files, func(f File) bool { return f.ofTable }) {
		return false
	}
	now, err := store.Open(ctx)
	if err != nil {
		return false // r is what was found
	}
	defer now.Close()
	m := table.Known(now)
	if m == nil {
		return false
	}
	has := map[string]bool{}
	for i := range m.Files {
		for _, name := range m.Files[i].Names() {
			has[name] = true
		}
	}
	return slices.ContainsFunc(r.Files, func(f File) bool { return f.ofTable && !has[f.Name] })
}

// wants reports whether a day is compared.
func (r *run) wants(k dayKey) bool { return r.wanted[k.kind] && r.span.Has(k.date) }

// whole reports whether the whole table is compared.
func (r *run) whole() bool { return r.cfg.Span == nil && !slices.Contains(r.wanted, false) }

// note sets the note of the result, if only a part of the table was compared and nothing was found in it.
func (r *run) note(ctx context.Context) error {
	if r.result.Compared > 0 || r.whole() {
		return nil
	}
	text := "the table has no records of these days and behaviours"
	has, ok, err := table.SpanOf(ctx, r.table)
	if err != nil {
		return err
	}
	if ok {
		text += fmt.Sprintf("; it has records of %s", has)
	}
	if dropped := table.Dropped(r.table.Info().Dropped, r.span); dropped != "" {
		text += "; " + dropped
	}
	r.result.Note = text
	return nil
}

// read reads the table.
func (r *run) read(ctx context.Context) error {
	r.found = r.newCount()
	if t, ok := table.As[table.Filed](r.table); ok {
		return r.readFiles(ctx, t)
	}
	return r.readRegions(ctx)
}

// differs returns the error for a result with differences, or nil.
func (r *Result) differs() error {
	var parts []string
	add := func(what string, n int64) {
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%s: %d", what, n))
		}
	}
	add("pairs of day and behaviour that differ", int64(r.DifferingDays))
	add("cells hidden by deletes", r.Hidden)
	add("regions that differ", int64(r.DifferingRegions))
	add("missing files", int64(r.MissingFiles))
	add("damaged files", int64(r.DamagedFiles))
	add("cells in rows of no behaviour", r.ForeignCells)
	if len(parts) == 0 {
		return nil
	}
	step := "load the logs into a new table"
	switch {
	case r.perhaps():
		step = "a load that is not finished may be why: let it end, or begin it again, then verify again"
	case len(parts) == 1 && r.DamagedFiles > 0 && r.DamagedFiles == len(r.catalog):
		step = r.catalog[0].Error()
		if more := len(r.catalog) - 1; more > 0 {
			step += fmt.Sprintf("; and %s more", quantity.Of(more, "file"))
		}
	case r.MissingFiles+r.DamagedFiles > 0:
		step = "put the files back from a copy of the table, or load the logs into a new table"
	}
	return fmt.Errorf("%w: %s: %s", ErrDiffers, strings.Join(parts, ", "), step)
}

// perhaps reports whether unfinished loads may explain the differences.
func (r *Result) perhaps() bool {
	return slices.ContainsFunc(r.Days, func(d Day) bool { return d.Maybe })
}

// inOrder compares days by date and kind.
func inOrder(a, b dayKey) int {
	return cmp.Or(cmp.Compare(a.date, b.date), cmp.Compare(a.kind, b.kind))
}
