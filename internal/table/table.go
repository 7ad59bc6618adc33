// Package table is rows: the seam between usertrail and where cells are kept. A
// live HBase and a table of files implement it; package tabletest holds the
// suite that each of them passes.
package table

import (
	"context"
	"errors"
	"iter"

	"usertrail/internal/activity"
	"usertrail/internal/behaviour"
	"usertrail/internal/cell"
	"usertrail/internal/dfs"
	"usertrail/internal/hfile"
	"usertrail/internal/layout"
	"usertrail/internal/manifest"
	"usertrail/internal/split"
)

// ErrNoTable is returned where there is no table.
var ErrNoTable = errors.New("no such table")

// ErrNoManifest is wrapped where a table was, and its manifest is not there any more.
var ErrNoManifest = errors.New("manifest.json is missing")

// ErrDamaged is wrapped where files of a table are missing, or are not those of its manifest.
var ErrDamaged = errors.New("the table is damaged")

// ErrUnfit is wrapped where a table cannot take what it is asked to take, and
// another try will not help: it is missing, disabled, or lacks the family.
var ErrUnfit = errors.New("table is not fit")

// ErrUnreachable is wrapped where a table cannot be reached now, and later may be.
var ErrUnreachable = errors.New("cannot be reached")

// A Table is rows of cells, cut into regions. It may be used by many goroutines
// at once.
type Table interface {
	// Info says what the table is.
	Info() Info
	// Regions are the table's regions now, in order, without a gap.
	Regions(ctx context.Context) ([]split.Region, error)
	// Read gives every cell of q's rows once, the cells of a row in order. A row
	// may be visited more than once, with other cells each time, and rows come
	// in no promised order. One goroutine at a time calls emit, and a cell is
	// valid until emit returns.
	Read(ctx context.Context, q Query, emit func(*cell.Cell) error) error
	// Users lists the users that have rows in a region within a span.
	Users(ctx context.Context, r split.Region, span behaviour.Span) (Users, error)
	// Close gives back what the table holds open.
	Close() error
}

// Info describes a table.
type Info struct {
	Address string
	Version string // another whenever the table holds other cells
	Family  string
	Layout  layout.Layout
	Schema  *behaviour.Schema
	// Narrow says that reading few columns of a row costs much less than reading
	// all of them.
	Narrow bool
	// Sealed says that rows come and go with loads alone, so that Users are sure and
	// what they did needs no second look.
	Sealed bool
	// Dropped is the first date of which the table has and takes rows; nil is any.
	Dropped *behaviour.Date
}

// A Query asks for rows, which lay in one region when it was made: either all that
// lie in some ranges, or a list of single ones.
type Query struct {
	// Ranges ascend and do not overlap; they may be walked several times.
	Ranges iter.Seq[split.Region]
	// Rows ascend; they may be walked several times. They are asked for where
	// there are no Ranges.
	Rows iter.Seq[[]byte]
	// Bounds holds all of Ranges or Rows.
	Bounds split.Region
	// Span holds the dates of all rows that are asked for. A table may leave out
	// rows of other dates.
	Span behaviour.Span
	// Times bound the behaviours' times more closely than Span; nil does not. A table
	// may leave out cells of other times.
	Times *layout.Times
	// Timed says that Ranges, with Columns, hold next to nothing of other times.
	Timed bool
	// Columns are those asked for. A table may leave out others.
	Columns layout.Columns
	// Newest asks only for the first so many rows of each range, or columns of each row,
	// as the layout's Traits say; 0 is all. A table may give more.
	Newest int
	// Fuzzy match all rows that are asked for of Ranges; nil says nothing of them. A table
	// may leave out others.
	Fuzzy []layout.Fuzzy
	// Where asks only for rows that pass all tests of one of its lists; nil asks for all. The
	// tested columns are among Columns. A table may give more.
	Where [][]ColumnTest
	// Once says that Ranges are long and will not be read again soon, so nothing
	// of them is worth keeping at hand.
	Once bool
	// Exist asks only which rows are there: one cell of each is enough, and its
	// value may be missing. A table may give more. Columns and Where do not count. It is for
	// layouts whose rows tell of what they are.
	Exist bool
	// Ordered says that rows of Ranges must come in order, cells of one that is visited
	// more than once together.
	Ordered bool
}

// A ColumnTest is passed by rows of which the newest value of a column is in one of some
// ranges.
type ColumnTest struct {
	Qualifier []byte
	In        []behaviour.Range
}

// First is what Newest comes to in a layout: of each range only the first so many rows, or
// of each row only the first so many columns; 0 is all.
func (q *Query) First(l layout.Layout) (rows, columns int) {
	switch l.Traits().Newest {
	case layout.NewestRows:
		return q.Newest, 0
	case layout.NewestColumns:
		return 0, q.Newest
	}
	return 0, 0
}

// RowRanges makes a range of each row, valid until the next.
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

// Users walks over users in order of their keys. It may name a user or a kind
// too many, never one too few.
type Users interface {
	// SeekGE goes to the first user whose key is not before key, only forwards.
	SeekGE(key []byte) bool
	// Next goes to the next user, at first to the first.
	Next() bool
	// User describes the user it is at; its key is valid until the next move.
	User() User
	Err() error
	// Close gives back what the walk holds. What Users was given may have ended.
	Close() error
}

// A User is who has rows in a span, or who may have.
type User struct {
	Key     []byte       // as the layout makes it
	Did     activity.Set // kinds of the table's schema
	Records int64        // about how many, to cut work into pieces; 0 if not known
	// Sure says that the user has rows of every kind in Did. Else only the rows
	// themselves tell.
	Sure bool
}

// A Loader is a table that loads go into, by files or by puts.
type Loader interface {
	Table
	// Extend adds what is new in a job's schema, from the next load on.
	Extend(s *behaviour.Schema) error
	// Ledgers are those of all loads, the oldest first.
	Ledgers(ctx context.Context) ([]*manifest.Load, error)
	// NextLoad is the number of the next load.
	NextLoad() int
	// Recover finishes loads that were killed when the table had begun to take
	// them in, and returns their ledgers. It removes what else killed loads left
	// behind, but for cells that were put. Only the holder of the table's lock
	// may call it.
	Recover(ctx context.Context) ([]*manifest.Load, error)
	// TakeIn makes a load's files and ledger part of the table, all at once. Of a
	// load of puts there is no file but the roll; its cells are there already.
	TakeIn(ctx context.Context, load *manifest.Load, files []manifest.File) error
	// Plans are loads in pieces that are not committed.
	Plans(ctx context.Context) ([]*manifest.Plan, error)
	// EndPlan forgets a plan, and the files of its pieces that are not part of the
	// table. Only the holder of the table's lock may call it.
	EndPlan(ctx context.Context, id string) error
}

// A Stager is a table that takes HFiles in.
type Stager interface {
	Loader
	// FileOptions says how the table's files must be written. It fails with
	// ErrUnfit where the table takes no files that we can write.
	FileOptions(ctx context.Context) (hfile.Options, error)
	// FileName names the file of a load and region, without its ending.
	FileName(load, region int) string
	// Stage begins a file of a load. It belongs to the table once TakeIn has
	// been given it.
	Stage(ctx context.Context, name string) (dfs.Pending, error)
	// Staged opens a file that was staged and committed, to read it back.
	Staged(ctx context.Context, name string) (dfs.File, error)
}

// A Putter is a table that takes cells one by one. They are seen as soon as they
// are put; putting a cell again changes nothing.
type Putter interface {
	Loader
	// Begun are delivered files whose cells were begun to be put by a load that
	// no ledger tells of.
	Begun(ctx context.Context) ([]manifest.Input, error)
	// RollName names the roll of a load; id tells loads apart by what they put.
	RollName(id uint64) string
	// Stage begins a file that is to lie beside the table's ledgers. One that was
	// there before is replaced when it is committed.
	Stage(ctx context.Context, name string) (dfs.Pending, error)
	// Begin remembers that cells of these delivered files are about to be put, and
	// the roll of them all, nil if there is none, until TakeIn has been given a
	// ledger that holds them.
	Begin(ctx context.Context, inputs []manifest.Input, roll *manifest.File) error
	// Alone says whether all that is in the table came by loads, as far as that can be
	// told.
	Alone(ctx context.Context) (bool, error)
	// BeginPiece is Begin for a piece of a plan, whose worker does not hold the table's
	// lock; alone is what Alone said when it was planned.
	BeginPiece(ctx context.Context, plan string, piece int, inputs []manifest.Input, roll *manifest.File, alone bool) error
	// Writer returns what puts cells.
	Writer(ctx context.Context) (Writer, error)
}

// A Writer puts cells, many together. It may be used by many goroutines at once.
type Writer interface {
	// Put takes one cell. It copies what it keeps, and waits while too much is
	// under way. Its error may be that of an earlier Put.
	Put(ctx context.Context, c *cell.Cell) error
	// Flush returns when all cells that were put are in the table, or with the
	// first error.
	Flush(ctx context.Context) error
	// Close gives back what the writer holds. What was not flushed may be lost.
	Close() error
}

// A Store is a place where a table is, or can be made.
type Store interface {
	Address() string
	// Lock keeps other loads away; it fails with dfs.ErrLocked if one runs. Only with the lock
	// files may be staged: those of a table without a manifest are refused otherwise.
	Lock(ctx context.Context) (dfs.Lock, error)
	// Open opens the table; it fails with ErrNoTable if there is none.
	Open(ctx context.Context) (Loader, error)
	// New returns a table that will be there once it has taken a load in.
	New(ctx context.Context, p Plan) (Loader, error)
	// Quarantine is the name of the file for bad records of a delivered file.
	Quarantine(path string) string
	// Plans is the folder of what plans keep until they are committed.
	Plans() string
	// Close gives back what the store and its tables hold open.
	Close() error
}

// A Plan is what a new table is made with.
type Plan struct {
	Layout      string
	Compression string
	Schema      *behaviour.Schema
	// Splits chooses the regions, of a table whose regions nobody else has made.
	Splits func(context.Context) (split.Points, error)
}
