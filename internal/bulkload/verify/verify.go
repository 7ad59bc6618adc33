// Package verify compares what a table holds with what its loads put into it.
//
// Each load's ledger has a tally of the cells that it gave every behaviour on
// every date, and every region. A tally does not depend on order, so those of all
// loads add up to that of the table. Verify reads the table once, region by region
// or file by file, and holds nothing of it but such sums: what differs is named by
// date and behaviour, by range of rows, and in a table of files by file.
//
// It takes no lock. A load that runs meanwhile, or was killed, may have put cells
// that no ledger tells of; what they may explain is marked so.
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
	"usertrail/internal/format/layout"
	"usertrail/internal/format/manifest"
	"usertrail/internal/run/progress"
	"usertrail/internal/split"
	"usertrail/internal/table"
	"usertrail/internal/tally"
)

var (
	// ErrDiffers is wrapped where a table does not hold what its loads put into it.
	ErrDiffers = errors.New("the table does not hold what was loaded")
	// ErrRequest is wrapped where the table has no such behaviour.
	ErrRequest = errors.New("wrong request")
)

// Config says what is to be compared. Zero fields take the defaults written beside
// them.
type Config struct {
	Store    table.Store
	Span     *behaviour.Span // all dates
	Types    []string        // all behaviours of the table
	Workers  int             // how many regions or files are read at once; 1
	Now      time.Time       // when cells have expired or not; the clock's
	Progress progress.Config
}

// A Result is what was compared. Counts are of all of it; the lists hold what is
// not as it was loaded.
type Result struct {
	Cells    int64 `json:"cells"`   // found
	Records  int64 `json:"records"` // that loads put in, of what was compared
	Compared int   `json:"days"`    // how many dates of behaviours were compared

	DifferingDays    int   `json:"differing_days"`
	ExpiredDays      int   `json:"expired_days"`
	DifferingRegions int   `json:"differing_regions"`
	ForeignCells     int64 `json:"foreign"`
	Hidden           int64 `json:"hidden,omitempty"` // cells of these days that deletes hide
	MissingFiles     int   `json:"missing_files"`
	DamagedFiles     int   `json:"damaged_files"`

	Days    []Day   `json:"-"` // by date and behaviour ID; the expired ones too
	Regions []Range `json:"-"` // by row
	Files   []File  `json:"-"` // in the table's order
	Foreign Foreign `json:"-"`
	// Unlocated says why no ranges were compared; it is empty where they were.
	Unlocated string `json:"-"`
	// Unfinished are delivered files of loads that are under way, or were killed.
	Unfinished []string `json:"unfinished,omitempty"`
	// Since are the numbers of loads that ended while the table was read.
	Since []int `json:"since,omitempty"`
}

// A Day is one behaviour's cells of one date that are not as they were loaded.
type Day struct {
	Date            behaviour.Date
	Behaviour       string
	Expected, Found tally.Tally
	Verdict         Verdict
	Hidden          int64 // of the cells that are not found, how many deletes hide
	// Maybe says that it may be a load's that is not finished.
	Maybe bool
}

// A Verdict is how a day differs.
type Verdict string

// The verdicts.
const (
	Missing Verdict = "no cells"
	Fewer   Verdict = "fewer cells"
	Hidden  Verdict = "hidden by deletes" // all cells that are not found
	More    Verdict = "more cells"
	Other   Verdict = "as many cells, but others"
	Unknown Verdict = "no load brought any"
	Expired Verdict = "expired" // cells that HBase lets go by their age: it is no difference
)

// A Range is rows whose cells are not those that were loaded. Its ends are those
// of regions.
type Range struct {
	split.Region
	Expected, Found tally.Tally
}

// A File is one of a table's files that is not as it was written.
type File struct {
	Name    string // of the HFile or roll, below the table's directory
	Missing bool
	Why     error // nil where it is missing
}

// Foreign are cells in rows that the layout does not make of any behaviour of the
// table.
type Foreign struct {
	Cells int64
	First []byte // the first such row
}

// A dayKey is a date and a kind of the table's schema.
type dayKey struct {
	date behaviour.Date
	kind int
}

// A run is one call of Run.
type run struct {
	cfg    Config
	table  table.Loader
	layout layout.Layout
	schema *behaviour.Schema
	wanted []bool // by kind
	span   behaviour.Span

	expected map[dayKey]manifest.Day
	points   split.Points  // ends of the ranges that are compared
	ranges   []tally.Tally // expected in them; nil if they are not compared

	found    *count
	hidden   *count // cells that deletes hide
	progress *progress.Progress
	result   Result
}

// An unproved store opens a table whose rows may be gone: all that is missing is told.
type unproved interface{ Unproved() }

// Run compares. The result tells all that is wrong, up to an error that is not
// ErrDiffers; that one only says how much there is.
func Run(ctx context.Context, cfg Config) (Result, error) {
	if s, ok := cfg.Store.(unproved); ok {
		s.Unproved()
	}
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
	if err := r.readHidden(ctx); err != nil {
		return r.result, err
	}
	if err := r.unfinished(ctx); err != nil {
		return r.result, err
	}
	if err := r.compare(ctx); err != nil {
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
		span: behaviour.Span{From: behaviour.MinDate, To: behaviour.MaxDate}, expected: map[dayKey]manifest.Day{},
	}
	if cfg.Span != nil {
		r.span = *cfg.Span
	}
	kinds, err := r.schema.Select(cfg.Types)
	if err != nil {
		return nil, fmt.Errorf("%w: --types: the table has %w", ErrRequest, err)
	}
	for _, k := range kinds {
		r.wanted[k] = true
	}
	return r, nil
}

// wants reports whether a day is to be compared.
func (r *run) wants(k dayKey) bool { return r.wanted[k.kind] && r.span.Has(k.date) }

// whole reports whether all of the table is to be compared.
func (r *run) whole() bool { return r.cfg.Span == nil && !slices.Contains(r.wanted, false) }

// read reads the table.
func (r *run) read(ctx context.Context) error {
	r.found = r.newCount()
	if t, ok := r.table.(filed); ok {
		return r.readFiles(ctx, t)
	}
	return r.readRegions(ctx)
}

// differs is the error that a result deserves.
func (r *Result) differs() error {
	var parts []string
	add := func(what string, n int64) {
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%s: %d", what, n))
		}
	}
	add("days of behaviours that differ", int64(r.DifferingDays))
	add("cells hidden by deletes", r.Hidden)
	add("regions that differ", int64(r.DifferingRegions))
	add("missing files", int64(r.MissingFiles))
	add("damaged files", int64(r.DamagedFiles))
	add("cells in rows of no behaviour", r.ForeignCells)
	if len(parts) == 0 {
		return nil
	}
	err := fmt.Errorf("%w: %s", ErrDiffers, strings.Join(parts, ", "))
	if r.perhaps() {
		err = fmt.Errorf("%w; a load that is not finished may be why: let it end, or begin it again, then verify again", err)
	}
	return err
}

// perhaps reports whether unfinished loads may be why days differ.
func (r *Result) perhaps() bool {
	return slices.ContainsFunc(r.Days, func(d Day) bool { return d.Maybe })
}

// inOrder compares days by date and kind.
func inOrder(a, b dayKey) int {
	return cmp.Or(cmp.Compare(a.date, b.date), cmp.Compare(a.kind, b.kind))
}
