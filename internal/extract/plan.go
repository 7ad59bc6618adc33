package extract

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	iofs "io/fs"
	"path"

	"usertrail/internal/behaviour"
	"usertrail/internal/extract/userlist"
	"usertrail/internal/format/manifest"
	"usertrail/internal/run/exit"
	"usertrail/internal/run/outcome"
	"usertrail/internal/run/piece"
	"usertrail/internal/run/progress"
	"usertrail/internal/split"
	"usertrail/internal/store/dfs"
	"usertrail/internal/table"
	"usertrail/internal/table/fetch"
)

// ErrNothing is returned if the result exists already.
var ErrNothing = exit.New(exit.Nothing, "nothing to do")

// ErrStale is wrapped if a plan does not fit the table, --out or its own folder any more. The user must
// plan again.
var ErrStale = fmt.Errorf("%w: the plan is out of date", ErrQuestion)

// PieceSize is the default size of a piece in behaviours. From a table of files, one core took 12 s for
// as many. YARN takes some seconds to start a container.
const PieceSize = 4_000_000

// What is the name of an extract in the header of a piece.
const What = "extract"

// A Piece has everything that a worker needs to do one piece of an extract.
type Piece struct {
	piece.Header
	Access
	Version   string            `json:"table_version,omitempty"` // empty if nothing shows whether the table changes
	Out       string            `json:"out"`
	Overwrite bool              `json:"overwrite,omitempty"`
	Strict    bool              `json:"strict,omitempty"`
	From      manifest.Key      `json:"from,omitempty"`  // the first user key
	Until     manifest.Key      `json:"until,omitempty"` // the first user key after the range
	Users     *userlist.Members `json:"users,omitempty"` // nil means all users of the range
	Fetch     fetch.Plan        `json:"fetch,omitempty"`
	Question  manifest.Question `json:"question"`
}

// Access has the settings with which a worker opens the table, besides its address.
type Access struct {
	Catalog  string            `json:"catalog,omitempty"`
	Family   string            `json:"family,omitempty"`
	Root     string            `json:"root,omitempty"`
	Others   bool              `json:"others,omitempty"`
	Snapshot string            `json:"snapshot,omitempty"`
	Unrolled bool              `json:"unrolled,omitempty"` // without its rolls
	Schema   *behaviour.Schema `json:"schema,omitempty"`   // if the table has none
	Layout   string            `json:"layout,omitempty"`   // if the table has no schema
}

// planned is the file of a plan. It has everything that Commit needs.
type planned struct {
	asked
	Of     int                  `json:"pieces"`
	Answer *manifest.Extract    `json:"answer"` // without its counts and parts
	Facts  *facts               `json:"facts"`
	None   []manifest.TrailPart `json:"none"` // the parts of a result without users
}

// homes returns the directories of the table that p reads.
func (p *Piece) homes() []string { return []string{cmp.Or(p.Catalog, p.Table)} }

// A PlanResult describes a plan.
type PlanResult struct {
	Plan   string `json:"plan"`
	Pieces int    `json:"pieces"`
	Done   int    `json:"done"`  // pieces that were done before
	Users  int64  `json:"users"` // on the list; 0 for all users
	Out    string `json:"out"`
}

// Counted implements outcome.Result.
func (r PlanResult) Counted() outcome.Counts {
	return outcome.Counts{outcome.Users: float64(r.Users)}
}

// Made implements outcome.Maker.
func (r PlanResult) Made() string { return r.Out }

// Plan cuts an extract into pieces of about c.PieceSize behaviours, and makes the directory next to c.Out
// that collects their results. address and access say how workers open the table. A second call with the
// same query returns the same pieces, and keeps the pieces that are done.
//
// Its error wraps
//
//	ErrNothing         if Out is the result of this plan
//	fs.ErrExist        if Out is anything else
//	dfs.ErrLocked      if another run writes Out, or does a piece of another plan for it
//	table.ErrChanged   and table.ErrUnsettled as the error of Settle does
func Plan(ctx context.Context, c Config, address string, access Access) ([]Piece, PlanResult, error) {
	r := PlanResult{Out: c.Out}
	c.PieceSize = cmp.Or(c.PieceSize, PieceSize)
	q, err := newQuestion(&c)
	if err != nil {
		return nil, r, err
	}
	p := placeOf(c.FS, c.Out)
	if err := CheckOutForPlan(ctx, &c); err != nil {
		return nil, r, err
	}
	if err := Settle(ctx, c.Table, c.Patience, c.Progress); err != nil {
		return nil, r, err
	}
	voice := progress.Start(c.Progress)
	defer voice.Done()
	voice.Step("cutting into pieces", "users", 0)
	cut, err := q.pieces(ctx, &c)
	if err != nil {
		return nil, r, err
	}
	r.Plan, r.Pieces, r.Users = cut.plan, len(cut.ranges), int64(q.users.Len())
	if done, err := p.committed(ctx, cut.plan); err != nil {
		return nil, r, err
	} else if done {
		err := p.tidyAfter(ctx, cut.plan)
		return nil, r, errors.Join(fmt.Errorf("%w: --out %s is the answer of this plan; remove it to have it made again", ErrNothing, c.Out), err)
	}
	if err := CheckOut(ctx, &c); err != nil {
		return nil, r, err
	}
	list := userlist.Cut(q.users, cut.ranges)
	if err := p.prepare(ctx, &c, q, cut); err != nil {
		return nil, r, fmt.Errorf("plan --out %s: %w", c.Out, err)
	}
	if r.Done, err = p.countReports(ctx); err != nil {
		return nil, r, fmt.Errorf("plan --out %s: %w", c.Out, err)
	}
	access.Unrolled = access.Unrolled || table.IsUnrolled(c.Table)
	first := Piece{
		Header: piece.Header{Usertrail: What, Version: piece.Version, Plan: cut.plan, Of: len(cut.ranges), Table: address},
		Access: access, Version: q.info.Version, Out: c.Out, Overwrite: c.Overwrite, Strict: c.Strict, Fetch: c.Plan, Question: q.manifest(),
	}
	if !pinned(&c) {
		first.Version = ""
	}
	return piecesOf(first, cut.ranges, list), r, nil
}

// piecesOf returns pieces that differ from the first only in their ranges and users.
func piecesOf(first Piece, ranges []split.Region, list []*userlist.Members) []Piece {
	all := make([]Piece, len(ranges))
	for i, r := range ranges {
		all[i] = first
		all[i].Piece, all[i].From, all[i].Until, all[i].Users = i, r.Start, r.End, list[i]
	}
	return all
}

// prepare makes the directory of a plan, unless it is complete. It writes the plan file last.
func (p *place) prepare(ctx context.Context, c *Config, q *question, cut cuts) error {
	l, err := p.lock(ctx)
	if err != nil {
		return err
	}
	defer l.Drop()
	have, err := p.planned(ctx)
	if errors.Is(err, manifest.ErrDamaged) {
		have, err = nil, nil
	}
	if err != nil || have != nil && have.Plan == cut.plan {
		return err
	}
	if err := p.wipe(ctx); err != nil {
		return err
	}
	if err := p.writeUsers(ctx, q.users); err != nil {
		return err
	}
	none, err := p.writeNone(ctx, q)
	if err != nil {
		return err
	}
	plan := planned{asked: q.asks(), Of: len(cut.ranges), Answer: q.sketch(), Facts: q.before(c.known()), None: none}
	plan.Plan, plan.Answer.Plan = cut.plan, cut.plan
	if !pinned(c) {
		plan.Answer.TableVersion = ""
	}
	b, err := manifest.Seal(plan)
	if err != nil {
		return err
	}
	return dfs.WriteFile(ctx, p.fs, p.name(questionName), b)
}

// tidyAfter takes the lock and calls tidyOf, if there is anything to remove.
func (p *place) tidyAfter(ctx context.Context, plan string) error {
	_, err := p.fs.Stat(ctx, p.dir)
	if errors.Is(err, iofs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	l, err := p.lock(ctx)
	if err != nil {
		return err
	}
	defer l.Drop()
	return p.tidyOf(ctx, plan)
}

// writeNone writes the part of a result without users, so that readers find the columns. Commit cannot
// write it, because it does not read the table. A result in directories has no such part.
func (p *place) writeNone(ctx context.Context, q *question) ([]manifest.TrailPart, error) {
	if q.output.Partition != "" {
		return nil, nil
	}
	none := &staging{fs: p.fs, dir: p.name(noneName)}
	if err := newPartWriter(q).write(ctx, none, new(part)); err != nil {
		return nil, err
	}
	return none.parts[0].Files, nil
}

// countReports returns the number of pieces of the current plan that are done.
func (p *place) countReports(ctx context.Context) (int, error) {
	list, err := p.fs.List(ctx, p.dir)
	done := 0
	for _, f := range list {
		if ok, _ := path.Match("_piece-*.json", dfs.Base(f.Name)); ok {
			done++
		}
	}
	return done, err
}
