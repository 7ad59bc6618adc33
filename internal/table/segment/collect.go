package segment

import (
	"bytes"
	"context"
	"fmt"

	"usertrail/internal/behaviour"
	"usertrail/internal/cell"
	"usertrail/internal/format/layout"
	"usertrail/internal/format/manifest"
	"usertrail/internal/table/shuffle"
	"usertrail/internal/tally"
)

// A Sink receives the cells of rows, in order. A Writer is a Sink.
type Sink interface {
	Add(c *cell.Cell) error
	// EndRow ends a row after its cells. counts counts the records of the row.
	EndRow(row []byte, counts *Counts) error
}

// A Collector turns the sorted records of one region into cells, and counts the records and
// the cells. For each record the caller calls
//
//	Row      with the record's row, which may be the current row
//	Keep     with the record's bytes
//	Add      or, for a record that is not loaded, Forget
//
// Rows ascend. Records of a row are in order of column ID. One goroutine uses a Collector.
type Collector struct {
	cfg     CollectorConfig
	to      Sink
	enc     *RowEncoder
	teller  layout.Teller // nil if all cells of a row are of the same Day
	emit    func(*cell.Cell) error
	tallies *Tallies
	count   tally.Counter
	records int64

	row    []byte
	counts Counts      // of the row
	day    Day         // of the latest cells
	before tally.Tally // of the cells before these
}

// A CollectorConfig describes the records of a Collector.
type CollectorConfig struct {
	Layout layout.Layout
	Schema *behaviour.Schema
	Family string
	Region int
	Load   int            // number of the load that added the records
	Spill  shuffle.Config // sorts the cells of a row that is too large for Spill.Memory
	// Origin, if it is set, returns the number of the load that added a record. The Collector
	// then ignores Load.
	Origin func(id int64, date behaviour.Date, kind int) (int, error)
}

// NewCollector returns a Collector that passes cells to to.
func NewCollector(ctx context.Context, to Sink, cfg CollectorConfig) *Collector {
	c := &Collector{cfg: cfg, to: to, tallies: NewTallies()}
	c.enc = NewRowEncoder(ctx, cfg.Layout.Encoder(cfg.Schema, cfg.Family), cfg.Spill)
	if !cfg.Layout.Traits().DayRows || cfg.Origin != nil {
		c.teller = cfg.Layout.Teller(cfg.Schema)
	}
	c.emit = c.cell
	return c
}

// Row begins a row. It ends the current row first, if row is another one. Row keeps no
// reference to row.
func (c *Collector) Row(row []byte) error {
	if bytes.Equal(row, c.row) {
		return nil
	}
	if err := c.End(); err != nil {
		return err
	}
	c.row = append(c.row[:0], row...)
	return nil
}

// Keep returns a copy of a record's bytes. The copy is valid until Add, Forget, Row or End is
// called.
func (c *Collector) Keep(b []byte) []byte { return c.enc.Keep(b) }

// Forget removes the bytes of the last Keep. The caller does not add the record.
func (c *Collector) Forget() { c.enc.Forget() }

// Add adds a record to the current row. The record's values are bytes that Keep returned.
func (c *Collector) Add(r *behaviour.Record) error {
	day, err := c.dayOf(r.ID, r.Date, r.Kind)
	if err != nil {
		return err
	}
	if len(c.counts.List()) == 0 {
		c.day = day
	}
	c.tallies.AddRecord(day, r.Values)
	c.records++
	c.counts.Add(r.Date, r.Kind)
	return c.enc.Add(c.row, r)
}

// dayOf returns the Day of a record.
func (c *Collector) dayOf(id int64, date behaviour.Date, kind int) (Day, error) {
	if c.cfg.Origin == nil {
		return Day{c.cfg.Load, date, kind}, nil
	}
	load, err := c.cfg.Origin(id, date, kind)
	if err != nil {
		return Day{}, fmt.Errorf("row %.64q: %w", c.row, err)
	}
	return Day{load, date, kind}, nil
}

// End ends the current row: it passes the row's cells to the sink. A row without records has no
// cells.
func (c *Collector) End() error {
	if len(c.counts.List()) == 0 {
		return nil
	}
	if err := c.enc.End(c.row, c.emit); err != nil {
		return err
	}
	c.endCells()
	err := c.to.EndRow(c.row, &c.counts)
	c.counts.Reset()
	return err
}

// cell counts the next cell and passes it to the sink.
func (c *Collector) cell(x *cell.Cell) error {
	if c.teller != nil {
		if err := c.setDay(x); err != nil {
			return err
		}
	}
	c.count.Add(x)
	return c.to.Add(x)
}

// setDay sets the current Day to the Day of the next cell.
func (c *Collector) setDay(x *cell.Cell) error {
	rec, err := layout.TellOwn(c.cfg.Layout, c.teller, x)
	if err != nil {
		return err
	}
	day, err := c.dayOf(rec.ID, rec.Date, rec.Kind)
	if err != nil {
		return err
	}
	if day != c.day {
		c.endCells()
		c.day = day
	}
	return nil
}

// endCells adds the latest cells to the tallies of their Day and of the region.
func (c *Collector) endCells() {
	added := c.count.Since(c.before)
	c.before = c.count.Tally
	c.tallies.Add(c.day, 0, added)
	c.tallies.AddRegion(c.day.Load, c.cfg.Region, added)
}

// Records returns the number of records that were added.
func (c *Collector) Records() int64 { return c.records }

// Tallies returns the tallies of the rows that have ended. The Collector changes them.
func (c *Collector) Tallies() *Tallies { return c.tallies }

// Finish finishes w, the sink of c, and returns its entry for the manifest. The caller has
// called End. Finish returns an empty entry if no record was added.
func (c *Collector) Finish(w *Writer) (manifest.File, error) {
	if c.records == 0 {
		return manifest.File{}, nil
	}
	f, err := w.Finish(c.count.Tally)
	if err != nil {
		return manifest.File{}, err
	}
	f.Records, f.Span = c.records, c.tallies.Span()
	loads := c.tallies.Loads()
	f.Load = loads[len(loads)-1]
	if len(loads) > 1 {
		f.Loads = loads
	}
	return f, nil
}

// Close removes spilled cells. A second call does nothing.
func (c *Collector) Close() error { return c.enc.Close() }
