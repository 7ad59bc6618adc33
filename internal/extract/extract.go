// Package extract extracts the trails of active users from a table. Run does an extract in
// six steps:
//
//	candidates  package judge finds in the rolls which users may be active.
//	            It divides these users into batches, which are read together
//	fetch       reads many batches at once, and returns them in order
//	judge       judges each user by the events of its trail, and removes the events that are
//	            not requested
//	cut         package output divides the trails into parts; a user is complete in one part
//	write       sorts the parts by user ID, and writes many at once
//	publish     package place renames the directory to its final name
//
// # Same query, same bytes
//
// Only the trails, in order of the users' keys, determine the parts. The number of workers, the
// memory and the table's regions do not change a byte.
//
// # Pieces
//
// Many machines share an extract by pieces: ranges of user keys. Package cut cuts the pieces, and
// package pieces does them. With Config.PieceSize, Run cuts the same pieces, and a part ends at
// the end of its piece. The result has the same bytes.
//
// # Killed at any moment
//
// Until the result is complete, it is in a hidden directory next to OUT. Next to each finished
// part, a JSON file describes its contents. The same command keeps the finished parts up to the
// first part that is not finished, and continues there. If the query or the table has changed, it
// starts from the beginning.
//
// # Memory
//
// At most 2 × Workers batches and Workers + 1 parts are in memory at once. Package memory
// limits the number of workers, so that these fit into Config.Memory next to the list of users.
package extract

import (
	"context"
	"fmt"
	"slices"
	"time"

	"usertrail/internal/activity"
	"usertrail/internal/extract/cut"
	"usertrail/internal/extract/facts"
	"usertrail/internal/extract/judge"
	"usertrail/internal/extract/memory"
	"usertrail/internal/extract/notfound"
	"usertrail/internal/extract/output"
	"usertrail/internal/extract/place"
	"usertrail/internal/extract/query"
	"usertrail/internal/format/manifest"
	"usertrail/internal/format/trailfile"
	"usertrail/internal/run/progress"
	"usertrail/internal/split"
	"usertrail/internal/table"
	"usertrail/internal/table/fetch"
)

// Config describes one extract. The comments give the defaults of zero fields.
type Config struct {
	query.Spec   // the query
	place.Target // where the result is made
	Table        table.Table
	Known        *manifest.Table // the manifest of the table; by default Table's own
	Plan         fetch.Plan
	Strict       bool  // foreign cells are an error
	PieceSize    int64 // approximate number of events in a piece, of users who may be active; 0 means one piece

	Workers  int   // number of batches that are read at once, and of parts that are written at once; 1
	Memory   int64 // of the process in bytes; 1 GiB
	Sizes    memory.Sizes
	Patience time.Duration // how long to wait for a load that is partly in the table; no wait
	Progress progress.Config
}

// known returns the manifest of the table's loads, or nil if there is no manifest.
func (c *Config) known() *manifest.Table {
	if c.Known != nil {
		return c.Known
	}
	return table.Known(c.Table)
}

// NewQuery checks the query of c against its table.
func (c *Config) NewQuery() (*query.Query, error) {
	return query.New(c.Table, c.known(), &c.Spec)
}

// An Extract is a Config that was checked against its table.
type Extract struct {
	*Config
	Query  *query.Query
	Result *manifest.Extract // without its counts and parts
	Shares memory.Shares
	Census judge.Census     // counts the users who may stay
	Found  *notfound.Search // users of the list that were found

	sizes   judge.Sizes
	readers *judge.Readers
}

// Prepare checks c. It reads no row.
func Prepare(ctx context.Context, c *Config) (*Extract, error) {
	x := &Extract{Config: c}
	c.Sizes = c.Sizes.Full()
	var err error
	if x.Query, err = c.NewQuery(); err != nil {
		return nil, err
	}
	if x.Result, err = x.result(ctx); err != nil {
		return nil, err
	}
	b := memory.Budget{Bytes: c.Memory, Users: c.Users, Workers: c.Workers, Sorts: c.Partition != "", Columns: len(x.Query.Schema.Columns), Fields: x.Query.MostFields(), Sizes: c.Sizes}
	if x.Query.Having != nil {
		b.Distinct = x.Query.Having.Distinct()
	}
	if x.Shares, err = b.Divide(); err != nil {
		return nil, err
	}
	x.Found = notfound.NewSearch(c.Users)
	x.Census.Read = activity.Of(x.Query.Want.Kinds...)
	x.readers, err = judge.NewReaders(x.Query, c.Table, c.Plan, x.Shares)
	return x, err
}

// result returns the manifest of the result, without its counts and parts. If x appends to a result of the same table,
// the manifest has the name of the table in that result: a table has other names in other directories, and after it was moved.
func (x *Extract) result(ctx context.Context) (*manifest.Extract, error) {
	m := x.Query.Result()
	if !x.Append {
		return m, nil
	}
	was, err := place.At(x.FS, x.Out).Result(ctx)
	if err != nil || was == nil {
		return m, err
	}
	known := x.known()
	if known == nil {
		return m, nil
	}
	loads, ok := known.LoadsAt(was.TableVersion)
	if ok && slices.ContainsFunc(known.Loads[:loads], func(l manifest.LoadRef) bool { return l.Tally.Cells > 0 }) {
		m.Table = was.Table
	}
	return m, nil
}

// Run does an extract. If it returns nil, the directory Out is complete. If it returns an error, Out
// is unchanged. The error wraps fs.ErrExist if Out exists already. With Append it wraps
// manifest.ErrAppended if Out has the dates of the query. It wraps table.ErrChanged if a
// load has changed the table in the meantime: the caller may open the table again and call Run again.
func Run(ctx context.Context, c Config) (r Result, err error) {
	defer func() { r.Held = table.HeldBy(c.Table) }()
	if err := c.CheckAppend(); err != nil {
		return Result{}, err
	}
	if c.Stream == nil {
		if err := c.Undo(ctx); err != nil {
			return Result{}, err
		}
	}
	x, err := Prepare(ctx, &c)
	if err != nil {
		return Result{}, err
	}
	if c.Stream == nil {
		if err := x.check(ctx); err != nil {
			return x.existing(ctx, err)
		}
	}
	if err := Settle(ctx, c.Table, c.Patience, c.Progress); err != nil {
		return Result{}, err
	}
	pieces, err := x.Pieces(ctx)
	if err != nil {
		return Result{}, err
	}
	if c.Stream != nil {
		return x.toStream(ctx, pieces)
	}
	id := x.Query.Identity()
	id.Plan = pieces.Plan
	out, err := place.Open(ctx, &c.Target, id, x.Result)
	if err != nil {
		return x.existing(ctx, err)
	}
	defer out.Close()
	return x.toDirectory(ctx, out, pieces)
}

// check returns an error if the result cannot be made. It does not take the lock of Out.
func (x *Extract) check(ctx context.Context) error {
	if err := x.Target.Check(ctx); err != nil || !x.Append {
		return err
	}
	_, err := place.At(x.FS, x.Out).Base(ctx, x.Result)
	return err
}

// CheckAppend returns an error if a setting cannot be combined with Append.
func (c *Config) CheckAppend() error {
	switch {
	case !c.Append:
		return nil
	case c.Stream != nil:
		return fmt.Errorf("%w: --append: standard output has nothing to add to; name a directory with --out", query.ErrWrong)
	case c.Overwrite:
		return fmt.Errorf("%w: --append adds to a result and --overwrite replaces it: write one of them", query.ErrWrong)
	case c.Partition != trailfile.DateColumn:
		return fmt.Errorf("%w: --append needs --partition-by date: each date is a directory of its own", query.ErrWrong)
	}
	return nil
}

// Pieces cuts the extract into pieces of about PieceSize events.
func (x *Extract) Pieces(ctx context.Context) (cut.Pieces, error) {
	switch {
	case x.PieceSize <= 0:
		return cut.Pieces{Ranges: []split.Region{{}}}, nil
	case x.Stream != nil:
		return cut.Pieces{}, fmt.Errorf("%w: --piece-size: standard output has no pieces; name a directory with --out", query.ErrWrong)
	}
	c := cut.Config{Query: x.Query, Table: x.Table, Known: x.known(), Workers: x.Shares.Workers, Size: x.PieceSize}
	return c.Pieces(ctx)
}

// Facts returns the facts of the query that are known before the rolls are read.
func (x *Extract) Facts() (*facts.Facts, error) {
	return facts.Before(x.Query, x.Shares.Workers, x.known())
}

// toStream writes the result to a stream.
func (x *Extract) toStream(ctx context.Context, pieces cut.Pieces) (Result, error) {
	lost := func() (notfound.Count, error) { return x.Found.Count(x.Query.Info.Layout) }
	out := &output.Stream{Query: x.Query}
	publish := func(*manifest.Extract) error { return out.End() }
	return x.make(ctx, out, pieces, lost, publish)
}

// toDirectory writes the result to a directory.
func (x *Extract) toDirectory(ctx context.Context, out *place.Staging, pieces cut.Pieces) (Result, error) {
	lost := func() (notfound.Count, error) {
		return x.Found.Write(ctx, out.NotFound(x.Sizes.SortBytes), x.Query.Info.Layout)
	}
	publish := func(m *manifest.Extract) error { return out.Publish(ctx, m, x.Overwrite) }
	r, err := x.make(ctx, out, pieces, lost, publish)
	r.Replaced = out.Replaced
	return r, err
}

// make writes all parts, counts the users that were not found, and publishes the result.
func (x *Extract) make(ctx context.Context, out output.Sink, pieces cut.Pieces, lost func() (notfound.Count, error), publish func(*manifest.Extract) error) (Result, error) {
	before, _ := table.SpentBy(x.Table)
	counts, err := x.Write(ctx, out, pieces.Ranges, true)
	if err != nil {
		return Result{}, err
	}
	m := *x.Result
	m.Plan = pieces.Plan
	missing, err := lost()
	if err != nil {
		return Result{}, err
	}
	output.Fill(&m, &counts, out.All())
	m.NotFound, m.NotFoundFile = missing.Users, missing.File
	f, err := x.Facts()
	if err != nil {
		return Result{}, err
	}
	f.Settle(x.Census.Counted())
	m.Cost = f.Cost(&counts)
	if err := publish(&m); err != nil {
		return Result{}, err
	}
	spent, _ := table.SpentBy(x.Table)
	r := ResultOf(&m, x.Out, spent.Since(before).Calls)
	r.Lost = missing
	r.Skip(counts.Foreign)
	return r, nil
}
