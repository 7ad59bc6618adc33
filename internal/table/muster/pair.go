package muster

import (
	"context"
	"fmt"

	"usertrail/internal/behaviour"
	"usertrail/internal/cell"
	"usertrail/internal/format/layout"
	"usertrail/internal/format/manifest"
	"usertrail/internal/table/shuffle"
	"usertrail/internal/table/stage"
	"usertrail/internal/tally"
)

// Endings of the two files of a Pair.
const (
	HFileEnding = ".hfile"
	RollEnding  = ".roll"
)

// SpillMemory is the most that a roll is sorted in whose users come in another order, in
// bytes.
const SpillMemory = 8 << 20

// A Pair is an HFile and its roll, both being written. It is used by one goroutine.
type Pair struct {
	ctx    context.Context
	name   string
	layout layout.Layout
	out    *stage.File
	rolls  *stage.Output
	roll   Writer
}

// A PairConfig says what a Pair is of.
type PairConfig struct {
	Name   string // without an ending
	Layout layout.Layout
	Schema *behaviour.Schema
	Span   behaviour.Span // holds all dates of the records
	Spill  shuffle.Config // where the roll is sorted if it must be, in at most SpillMemory
}

// NewPair begins both files.
func NewPair(ctx context.Context, to stage.Target, cfg PairConfig) (*Pair, error) {
	p := &Pair{ctx: ctx, name: cfg.Name, layout: cfg.Layout}
	if err := p.begin(to, cfg); err != nil {
		p.Abort()
		return nil, err
	}
	return p, nil
}

func (p *Pair) begin(to stage.Target, cfg PairConfig) (err error) {
	if p.out, err = stage.Create(p.ctx, to, cfg.Name+HFileEnding); err != nil {
		return err
	}
	if p.rolls, err = stage.NewOutput(p.ctx, to, cfg.Name+RollEnding); err != nil {
		return err
	}
	ids := make([]uint16, len(cfg.Schema.Kinds))
	for i, k := range cfg.Schema.Kinds {
		ids[i] = k.ID
	}
	if cfg.Layout.Traits().Together {
		p.roll = Ordered(p.rolls, ids, cfg.Span)
		return nil
	}
	if cfg.Spill.Memory == 0 {
		cfg.Spill.Memory = SpillMemory
	}
	cfg.Spill.Memory = max(min(cfg.Spill.Memory, SpillMemory), shuffle.MinMemory)
	p.roll, err = Unordered(p.ctx, p.rolls, ids, cfg.Span, cfg.Spill)
	return err
}

// Add adds the next cell.
func (p *Pair) Add(c *cell.Cell) error { return p.out.Add(c) }

// Roll adds records of a row to the roll.
func (p *Pair) Roll(row []byte, date behaviour.Date, kind int, records int64) error {
	return p.roll.Add(p.layout.UserKey(row), date, kind, records)
}

// RollAll adds all records of a row to the roll.
func (p *Pair) RollAll(row []byte, all *Counts) error {
	for _, c := range all.List() {
		if err := p.Roll(row, c.Date, c.Kind, c.Records); err != nil {
			return err
		}
	}
	return nil
}

// Finish completes both files, reads the HFile back, which must hold the cells of count,
// and says what a manifest names but for the span, the records and the loads.
func (p *Pair) Finish(count tally.Tally) (manifest.File, error) {
	rolled, err := p.roll.Close()
	if err == nil {
		err = p.rolls.Commit()
	}
	if err != nil {
		return manifest.File{}, fmt.Errorf("write %s: %w", p.name+RollEnding, err)
	}
	meta, err := p.out.Finish(p.ctx, count)
	if err != nil {
		return manifest.File{}, err
	}
	return manifest.File{
		Name: p.name + HFileEnding, Roll: p.name + RollEnding,
		First: meta.FirstRow, Last: meta.LastRow, Users: rolled.Users,
		Tally: count, Size: meta.Size, Sum: meta.Sum, RollSum: p.rolls.Sum(), RollSize: p.rolls.Size(),
	}, nil
}

// Abort throws away what is not finished. It does no harm after Finish.
func (p *Pair) Abort() {
	if p.out != nil {
		p.out.Abort()
	}
	if p.rolls != nil {
		p.rolls.Abort()
	}
	if p.roll != nil {
		p.roll.Abort()
	}
}
