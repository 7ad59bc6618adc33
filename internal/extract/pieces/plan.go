package pieces

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	iofs "io/fs"

	"usertrail/internal/behaviour"
	"usertrail/internal/extract"
	"usertrail/internal/extract/cut"
	"usertrail/internal/extract/facts"
	"usertrail/internal/extract/notes"
	"usertrail/internal/extract/output"
	"usertrail/internal/extract/place"
	"usertrail/internal/extract/query"
	"usertrail/internal/extract/userlist"
	"usertrail/internal/format/manifest"
	"usertrail/internal/run/exit"
	"usertrail/internal/run/outcome"
	"usertrail/internal/run/piece"
	"usertrail/internal/run/progress"
	"usertrail/internal/split"
	"usertrail/internal/store/dfs"
	"usertrail/internal/table/fetch"
)

// ErrNothing is returned if the result exists already.
var ErrNothing = exit.New(exit.Nothing, "nothing to do")

// ErrStale is wrapped if a plan does not fit the table, --out or its own folder any more. The user must
// plan again.
var ErrStale = fmt.Errorf("%w: the plan is out of date", query.ErrWrong)

// Size is the default size of a piece in behaviours. From a table of files, one core took 12 s for
// as many. YARN takes some seconds to start a container.
const Size = 4_000_000

// Name is the name of an extract in the header of a piece.
const Name = "extract"

// A Piece has everything that a worker needs to do one piece of an extract.
type Piece struct {
	piece.Header
	Access
	Version   string            `json:"table_version,omitempty"` // empty if nothing shows whether the table changes
	Out       string            `json:"out"`
	Overwrite bool              `json:"overwrite,omitempty"`
	Append    bool              `json:"append,omitempty"` // add the dates to the result in Out
	Strict    bool              `json:"strict,omitempty"`
	From      manifest.Key      `json:"from,omitempty"`  // the first user key
	Until     manifest.Key      `json:"until,omitempty"` // the first user key after the range
	Users     *userlist.Members `json:"users,omitempty"` // nil means all users of the range
	Fetch     fetch.Plan        `json:"fetch,omitempty"`
	Query     manifest.Query    `json:"question"`
}

// Access has the settings with which a worker opens the table, in addition to its address.
type Access struct {
	Catalog  string            `json:"catalog,omitempty"`
	Family   string            `json:"family,omitempty"`
	Root     string            `json:"root,omitempty"`
	Others   bool              `json:"others,omitempty"`
	Snapshot string            `json:"snapshot,omitempty"`
	Unrolled bool              `json:"unrolled,omitempty"` // without its rolls
	Schema   *behaviour.Schema `json:"schema,omitempty"`   // if the table has none
	Layout   string            `json:"layout,omitempty"`   // if the table has no schema

	Protection string `json:"protection,omitempty"` // the least of every connection that the job demands
}

// planned is the file of a plan. It has everything that Commit needs.
type planned struct {
	query.Identity
	Of     int                  `json:"pieces"`
	Result *manifest.Extract    `json:"answer"` // without its counts and parts
	Facts  *facts.Facts         `json:"facts"`
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

	Notes []string `json:"notes,omitempty"` // of package notes
}

// Counted implements outcome.Result.
func (r PlanResult) Counted() outcome.Counts {
	return outcome.Counts{outcome.Users: float64(r.Users)}
}

// Made implements outcome.Maker.
func (r PlanResult) Made() string { return r.Out }

// Plan cuts an extract into pieces of about c.PieceSize events, and makes the directory next to c.Out
// that collects their results. With address and access, workers open the table. A second call with the
// same query returns the same pieces, and keeps the pieces that are done.
//
// Its error wraps
//
//	ErrNothing            if Out is the result of this plan
//	manifest.ErrAppended  with Append, if Out has the dates of the query
//	fs.ErrExist           if Out is anything else
//	dfs.ErrLocked         if another run writes Out, or does a piece of another plan for it
//	table.ErrChanged      and table.ErrUnsettled as the error of Settle does
func Plan(ctx context.Context, c extract.Config, address string, access Access) ([]Piece, PlanResult, error) {
	r := PlanResult{Out: c.Out}
	c.PieceSize = cmp.Or(c.PieceSize, Size)
	if err := c.CheckAppend(); err != nil {
		return nil, r, err
	}
	if err := c.Undo(ctx); err != nil {
		return nil, r, err
	}
	x, err := extract.Prepare(ctx, &c)
	if err != nil {
		return nil, r, err
	}
	if err := c.Target.CheckForPlan(ctx); err != nil {
		return nil, r, err
	}
	if err := extract.Settle(ctx, c.Table, c.Patience, c.Progress); err != nil {
		return nil, r, err
	}
	shown := progress.Start(c.Progress)
	defer shown.Done()
	shown.Step("splitting into pieces", "users", 0)
	cuts, err := x.Pieces(ctx)
	if err != nil {
		return nil, r, err
	}
	p := planAt(c.FS, c.Out)
	r.Plan, r.Pieces, r.Users = cuts.Plan, len(cuts.Ranges), int64(c.Users.Len())
	if done, err := p.Committed(ctx, cuts.Plan, false); err != nil {
		return nil, r, err
	} else if done && !c.Append {
		err := p.tidyAfter(ctx, cuts.Plan)
		return nil, r, errors.Join(fmt.Errorf("%w: --out %s is the result of this plan; remove it to have it made again", ErrNothing, c.Out), err)
	}
	if err := c.Target.Check(ctx); err != nil {
		return nil, r, err
	}
	if c.Append {
		if err := p.checkBase(ctx, cuts.Plan, x.Result); err != nil {
			return nil, r, err
		}
	}
	list := userlist.Cut(c.Users, cuts.Ranges)
	if r.Notes, err = p.prepare(ctx, x, cuts); err != nil {
		return nil, r, fmt.Errorf("plan --out %s: %w", c.Out, err)
	}
	if r.Done, err = p.countReports(ctx, cuts); err != nil {
		return nil, r, fmt.Errorf("plan --out %s: %w", c.Out, err)
	}
	access.Unrolled = access.Unrolled || x.Query.Unrolled
	first := Piece{
		Header: piece.Header{Usertrail: Name, Version: piece.Version, Plan: cuts.Plan, Of: len(cuts.Ranges), Table: address},
		Access: access, Version: x.Query.Version(), Out: c.Out, Overwrite: c.Overwrite, Append: c.Append, Strict: c.Strict, Fetch: c.Plan, Query: x.Query.Manifest(),
	}
	return piecesOf(first, cuts.Ranges, list), r, nil
}

// checkBase finishes an append that was killed, and reports a result in OUT to which the extract next of
// a plan cannot be appended.
func (p *plan) checkBase(ctx context.Context, plan string, next *manifest.Extract) error {
	l, err := p.Lock(ctx)
	if err != nil {
		return err
	}
	defer l.Drop()
	if _, err := p.FinishAppend(ctx); err != nil {
		return fmt.Errorf("plan --out %s: %w", p.Out, err)
	}
	_, err = p.base(ctx, plan, next)
	return err
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

// prepare makes the directory of a plan, unless it is complete. It removes another plan, and returns a note if
// pieces of that plan were done.
func (p *plan) prepare(ctx context.Context, x *extract.Extract, cuts cut.Pieces) ([]string, error) {
	l, err := p.Lock(ctx)
	if err != nil {
		return nil, err
	}
	defer l.Drop()
	have, err := p.planned(ctx)
	if errors.Is(err, manifest.ErrDamaged) {
		have, err = nil, nil
	}
	if err != nil || have != nil && have.Plan == cuts.Plan {
		return nil, err
	}
	done, err := p.Wipe(ctx)
	if err != nil {
		return nil, err
	}
	return notes.Replaced(p.Out, done), p.write(ctx, x, cuts)
}

// write writes the files of a plan. It writes the plan file last.
func (p *plan) write(ctx context.Context, x *extract.Extract, cuts cut.Pieces) error {
	if err := p.writeUsers(ctx, x.Users); err != nil {
		return err
	}
	none, err := p.writeNone(ctx, x)
	if err != nil {
		return err
	}
	known, err := x.Facts()
	if err != nil {
		return err
	}
	result := *x.Result
	result.Plan = cuts.Plan
	file := planned{Identity: x.Query.Identity(), Of: len(cuts.Ranges), Result: &result, Facts: known, None: none}
	file.Plan = cuts.Plan
	b, err := manifest.Seal(file)
	if err != nil {
		return err
	}
	return dfs.WriteFile(ctx, p.FS, p.Name(place.QueryName), b)
}

// A plan is the place of a result of pieces.
type plan struct{ *place.Place }

// planAt returns the plan whose result is out.
func planAt(fs dfs.FS, out string) *plan { return &plan{place.At(fs, out)} }

// pieceName returns the name of the directory of piece n.
func pieceName(n int) string { return fmt.Sprintf("%s%05d", place.PiecePrefix, n) }

// reportName returns the name of the report of piece n.
func reportName(n int) string { return pieceName(n) + ".json" }

// tidyAfter takes the lock and calls tidyOf, if there is anything to remove.
func (p *plan) tidyAfter(ctx context.Context, plan string) error {
	_, err := p.FS.Stat(ctx, p.Dir)
	if errors.Is(err, iofs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	l, err := p.Lock(ctx)
	if err != nil {
		return err
	}
	defer l.Drop()
	return p.tidyOf(ctx, plan)
}

// writeNone writes the part of a result without users, so that readers find the columns. Commit cannot
// write it, because it does not read the table. A result in directories has no such part.
func (p *plan) writeNone(ctx context.Context, x *extract.Extract) ([]manifest.TrailPart, error) {
	if x.Query.Output.Partition != "" {
		return nil, nil
	}
	none := p.Staging(place.NoneName)
	if err := output.NewWriter(x.Query, x.Sizes).Write(ctx, none, new(output.Part)); err != nil {
		return nil, err
	}
	return none.All()[0].Files, nil
}

// countReports returns the number of pieces of a plan that are done.
func (p *plan) countReports(ctx context.Context, cuts cut.Pieces) (int, error) {
	there, err := p.reported(ctx)
	if err != nil {
		return 0, err
	}
	done := 0
	for n := range cuts.Ranges {
		if _, ok := there[reportName(n)]; !ok {
			continue
		}
		r, err := p.report(ctx, cuts.Plan, n)
		if err != nil {
			return 0, err
		}
		if r != nil {
			done++
		}
	}
	return done, nil
}

// reported returns the names of the reports of pieces that exist, and whether each is a file.
func (p *plan) reported(ctx context.Context) (map[string]bool, error) {
	list, err := p.FS.List(ctx, p.Dir)
	if err != nil {
		return nil, err
	}
	there := map[string]bool{}
	for _, f := range list {
		if place.IsReport(f) {
			there[dfs.Base(f.Name)] = true
		}
	}
	return there, nil
}

// writeUsers writes the list from which pieces read their users.
func (p *plan) writeUsers(ctx context.Context, u *userlist.List) error {
	f, err := p.FS.Create(ctx, p.Name(place.UsersName))
	if err != nil {
		return err
	}
	defer f.Abort()
	if err := u.Write(f); err != nil {
		return err
	}
	return f.Commit()
}

// readUsers reads the users of a piece, in at most limit bytes of memory. If s is nil, it returns all
// users.
func (p *plan) readUsers(ctx context.Context, s *userlist.Members, limit int64) (*userlist.List, error) {
	if s == nil {
		return userlist.All(), nil
	}
	f, err := dfs.OpenRegular(ctx, p.FS, p.Name(place.UsersName))
	if errors.Is(err, iofs.ErrNotExist) {
		return nil, fmt.Errorf("%w: the plan's list of users, %s, is gone: plan again", ErrStale, p.Name(place.UsersName))
	}
	if err != nil {
		return nil, inPlace(err)
	}
	defer f.Close()
	list, err := s.Read(f, p.Name(place.UsersName), limit)
	if errors.Is(err, userlist.ErrOther) {
		err = fmt.Errorf("%w: %w", ErrStale, err)
	}
	return list, err
}

// inPlace explains the error of a directory, link to itself or pipe in the place of a file of the plan. The plan is out of
// date then, as after other damage of the file.
func inPlace(err error) error {
	err = dfs.InPlace(err, "move it away, and plan again")
	if errors.Is(err, dfs.ErrDamaged) {
		return fmt.Errorf("%w: %w", ErrStale, err)
	}
	return err
}

// planned returns the plan in p, or nil if there is none. If the file of the plan is not as it was
// written, the error wraps ErrStale and manifest.ErrDamaged.
func (p *plan) planned(ctx context.Context) (*planned, error) {
	b, err := dfs.ReadFile(ctx, p.FS, p.Name(place.QueryName))
	if errors.Is(err, iofs.ErrNotExist) {
		return nil, nil
	}
	if errors.Is(err, dfs.ErrNotDir) {
		return nil, fmt.Errorf("%w: %s: %w: move it away, and plan again", ErrStale, p.Dir, dfs.ErrNotDir)
	}
	if err != nil {
		return nil, inPlace(err)
	}
	var have planned
	if err := manifest.Unseal(b, &have); err != nil {
		return nil, fmt.Errorf("%w: %s: %w: plan again", ErrStale, p.Name(place.QueryName), err)
	}
	if have.Of == 0 {
		return nil, nil // an extract of one process is there
	}
	return &have, nil
}
