// Package table is the interface between usertrail and the tables that hold its cells. A
// live HBase, its snapshots and a table of files implement it. Package tabletest is the
// suite that every implementation passes.
package table

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"usertrail/internal/activity"
	"usertrail/internal/behaviour"
	"usertrail/internal/cell"
	"usertrail/internal/format/hfile"
	"usertrail/internal/format/layout"
	"usertrail/internal/format/manifest"
	"usertrail/internal/format/roll"
	"usertrail/internal/run/exit"
	"usertrail/internal/split"
	"usertrail/internal/store/dfs"
)

// ErrNoTable is returned if there is no table.
var ErrNoTable = exit.New(exit.NoInput, "no such table")

// ErrNoManifest is wrapped if a directory has files of a table, but no manifest, or is a link to nothing.
var ErrNoManifest = exit.New(exit.Usage, "manifest.json is missing")

// ErrDamaged is wrapped if files of a table are missing, or differ from its manifest.
var ErrDamaged = errors.New("the table is damaged")

// Damaged returns an error that wraps ErrDamaged and has the next step.
func Damaged(format string, args ...any) error {
	return fmt.Errorf("%w: %s: put the file back from a copy of the table", ErrDamaged, fmt.Sprintf(format, args...))
}

// Corrupt adds the next step to an error about corrupt bytes of an HFile or a roll of a table. It returns
// other errors unchanged.
func Corrupt(err error) error {
	if errors.Is(err, hfile.ErrCorrupt) || errors.Is(err, roll.ErrCorrupt) {
		return fmt.Errorf("%w: put the file back from a copy of the table; bulkload verify lists all damaged files", err)
	}
	return err
}

// A Fault is a file of a catalog that is damaged or missing.
type Fault struct {
	Name string // below the catalog's directory
	Err  error
}

// OtherSize returns the error for a file of a table whose size differs from its size in the
// manifest.
func OtherSize(name string, size, written int64) error {
	return Damaged("%s has %d bytes; %d were written", name, size, written)
}

// ErrUnfit is wrapped if a table cannot do a request and another try will not help: it is
// missing or disabled, or has no such family.
var ErrUnfit = exit.New(exit.Usage, "the table is not suitable")

// ErrUnreachable is wrapped if a table cannot be reached now. A later try may reach it.
var ErrUnreachable = exit.New(exit.NotNow, "cannot be reached")

// A Table holds rows of cells in regions. Many goroutines may use it at once.
type Table interface {
	// Info describes the table.
	Info() Info
	// Regions returns the current regions, in order and without a gap.
	Regions(ctx context.Context) ([]split.Region, error)
	// Read calls emit once for every cell of q's rows. The cells of a row are in order.
	// A row may be visited more than once, with different cells each time. The order of
	// rows is not defined. One goroutine at a time calls emit. A cell is valid until
	// emit returns.
	Read(ctx context.Context, q Query, emit func(*cell.Cell) error) error
	// Users returns the users that have rows in a region within a span.
	Users(ctx context.Context, r split.Region, span behaviour.Span) (Users, error)
	// Close releases the resources of the table.
	Close() error
}

// Info describes a table.
type Info struct {
	Address string
	Version string // changes whenever the cells of the table change
	Family  string
	Layout  layout.Layout
	Schema  *behaviour.Schema
	// Narrow means that reading few columns of a row costs much less than reading all of them.
	Narrow bool
	// Sealed means that only loads add and remove rows. Then Users are exact, and rows need not
	// be checked.
	Sealed bool
	// Dropped is the first date whose rows the table keeps and accepts; nil means every date.
	Dropped *behaviour.Date
}

// A Query requests rows of one region, as the regions were when the query was made. It requests
// either all rows in some ranges, or a list of rows. The other fields select the cells that the
// caller needs, and their form. Hints only save time.
type Query struct {
	// Ranges ascend and do not overlap. They may be iterated several times.
	Ranges iter.Seq[split.Region]
	// Rows ascend. They may be iterated several times. They are used if Ranges is nil.
	Rows iter.Seq[[]byte]
	// Span contains the dates of all requested rows. A table may skip rows of other
	// dates.
	Span behaviour.Span
	// Columns are the requested columns. A table may skip others.
	Columns layout.Columns
	// Exist requests only which rows exist. One cell of each row is enough, and its value may
	// be missing. A table may return more. Columns and Where are ignored. It is for layouts
	// with the trait DayRows.
	Exist bool
	// Ordered means that the rows of Ranges must be in order. All cells of a row then follow
	// each other.
	Ordered bool

	Hints
}

// Hints describe a query more closely, so that a table can read less. A table may ignore each of
// them. The caller gets the cells that it needs with and without each of them. The zero value of
// a field is no hint.
type Hints struct {
	// Bounds contains all Ranges or Rows.
	Bounds split.Region
	// Timed means that Ranges and Columns contain almost no cells of other times.
	Timed bool
	// Once means that Ranges are long and will not be read again soon. A table should not cache
	// them.
	Once bool

	// The other hints exclude cells that the caller does not need. A table may skip these
	// cells. The caller skips those that it receives.

	// Times, if not nil, bounds the times of events more closely than Span.
	Times *layout.Times
	// Newest is the number of first rows of each range, or of first columns of each row, that
	// are needed; 0 means all. The layout's Traits.Newest decides whether it counts rows or
	// columns.
	Newest int
	// Fuzzy, if not nil, matches all needed rows of Ranges.
	Fuzzy []layout.Fuzzy
	// Where is set if only rows are needed that pass all tests of one of its lists; nil means
	// all rows. The tested columns are among Columns.
	Where [][]ColumnTest
}

// A row passes a ColumnTest if the newest value of the column is in one of the ranges.
type ColumnTest struct {
	Qualifier []byte
	In        []behaviour.Range
}

// First returns the meaning of Newest in a layout: the number of rows to read in each range,
// or the number of columns in each row; 0 means all.
func (q *Query) First(l layout.Layout) (rows, columns int) {
	switch l.Traits().Newest {
	case layout.NewestRows:
		return q.Newest, 0
	case layout.NewestColumns:
		return 0, q.Newest
	}
	return 0, 0
}

// RowRanges turns each row into a range. A range is valid until the next one.
func RowRanges(rows iter.Seq[[]byte]) iter.Seq[split.Region] {
	return func(yield func(split.Region) bool) {
		var r split.Region
		for row := range rows {
			r.Start = row
			r.End = append(append(r.End[:0], row...), 0)
			if !yield(r) {
				return
			}
		}
	}
}

// Users iterates over users in key order. It may return a user or a behaviour that has no
// rows. It never misses one that has.
type Users interface {
	// SeekGE moves forward to the first user whose key is not before key.
	SeekGE(key []byte) bool
	// Next moves to the next user. The first call moves to the first user.
	Next() bool
	// User returns the current user. Its key is valid until the next move.
	User() User
	Err() error
	// Close releases the resources of the iterator, even if the context has ended.
	Close() error
}

// A User has rows in a span, or may have.
type User struct {
	Key     []byte       // the layout's user key
	Did     activity.Set // kinds of the table's schema
	Records int64        // an estimate, to cut work into pieces; 0 if unknown
	// Sure means that the user has rows of every kind in Did. If it is false, only the rows
	// show it.
	Sure bool
}

// A Loader is a table that accepts loads, by files or by puts.
type Loader interface {
	Table
	// Extend adds the new behaviours and fields of a job's schema, from the next load on.
	Extend(s *behaviour.Schema) error
	// EachLedger calls f with the ledger of each load, the oldest first. It ends with the first error. A ledger has an entry for
	// each delivered file, and the table may have very many: f keeps only what it needs.
	EachLedger(ctx context.Context, f func(*manifest.Load) error) error
	// NextLoad returns the number of the next load.
	NextLoad() int
	// Recover finishes loads that were killed while the table took them in, and returns
	// their ledgers. It removes all other files of killed loads. It does not remove cells
	// that were put. Only the holder of the table's lock may call it.
	Recover(ctx context.Context) ([]*manifest.Load, error)
	// TakeIn makes the files and the ledger of a load part of the table, all at once. A
	// load of puts has no file except the roll: its cells are in the table already.
	TakeIn(ctx context.Context, load *manifest.Load, files []manifest.File) error
	// Plans returns the loads in pieces that are not committed.
	Plans(ctx context.Context) ([]*manifest.Plan, error)
	// EndPlan removes a plan, and the files of its pieces that are not part of the table.
	// Only the holder of the table's lock may call it.
	EndPlan(ctx context.Context, id string) error
}

// A Stager is a table that accepts HFiles.
type Stager interface {
	Loader
	// FileOptions returns the options of the table's HFiles. It returns ErrUnfit if the
	// table accepts no files that package hfile can write.
	FileOptions(ctx context.Context) (hfile.Options, error)
	// FileName returns the name of the file of a load and region, without its ending.
	FileName(load, region int) string
	// Stage creates a file of a load. TakeIn makes it part of the table.
	Stage(ctx context.Context, name string) (dfs.Pending, error)
	// Staged opens a staged and committed file, to read it back.
	Staged(ctx context.Context, name string) (dfs.File, error)
}

// A Putter is a table that accepts single cells. Readers see a cell as soon as it is put.
// Putting a cell again changes nothing.
type Putter interface {
	Loader
	// Begun returns the delivered files of an unfinished load of puts. Some of their cells
	// may be in the table, and no ledger has them.
	Begun(ctx context.Context) ([]manifest.Input, error)
	// RollName returns the name of a load's roll. Loads of other records have another id.
	RollName(id uint64) string
	// Stage creates a file in the folder of the table's ledgers. Its Commit replaces an
	// existing file.
	Stage(ctx context.Context, name string) (dfs.Pending, error)
	// Begin records that cells of these delivered files will be put. roll is the roll of all these
	// files, or nil. The record stays until TakeIn gets a ledger with these files.
	Begin(ctx context.Context, inputs []manifest.Input, roll *manifest.File) error
	// Alone reports whether all rows of the table came from loads, as far as the table
	// knows.
	Alone(ctx context.Context) (bool, error)
	// BeginPiece is Begin for a piece of a plan. Its worker does not hold the table's
	// lock. alone is the result of Alone when the load was planned.
	BeginPiece(ctx context.Context, plan string, piece int, inputs []manifest.Input, roll *manifest.File, alone bool) error
	// Writer returns a Writer of cells. It holds at most so many bytes of cells that the
	// table has not confirmed; 0 is the default of the table.
	Writer(ctx context.Context, bytes int) (Writer, error)
}

// A Writer puts cells in batches. Many goroutines may use it at once.
type Writer interface {
	// Put puts one cell. It copies the cell, and waits while too many requests are
	// running. It may return the error of an earlier Put.
	Put(ctx context.Context, c *cell.Cell) error
	// Flush returns when all cells are in the table, or with the first error.
	Flush(ctx context.Context) error
	// Close releases the resources of the writer. Cells that were not flushed may be lost.
	Close() error
}

// A Store is the place of a table. The table may not exist yet.
type Store interface {
	Address() string
	// Catalog returns the directory of the table's catalog.
	Catalog() string
	// Lock locks the table for one load. It returns dfs.ErrLocked if another load runs. A
	// load must hold the lock before it stages files: a later command refuses a table that
	// has files and no manifest.
	Lock(ctx context.Context) (dfs.Lock, error)
	// Open opens the table. It returns ErrNoTable if there is none.
	Open(ctx context.Context) (Loader, error)
	// New returns a new table. It exists when its first load is committed.
	New(ctx context.Context, p Plan) (Loader, error)
	// Quarantine returns the name of the file for bad records of a delivered file.
	Quarantine(path string) string
	// Plans returns the folder of plans that are not committed.
	Plans() string
	// Close releases the resources of the store and its tables.
	Close() error
}

// A Plan has the properties of a new table.
type Plan struct {
	Layout      string
	Compression string
	Schema      *behaviour.Schema
	// Splits returns the split points of a new table of files.
	Splits func(context.Context) (split.Points, error)
}
