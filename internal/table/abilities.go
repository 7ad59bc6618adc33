package table

import (
	"context"
	"reflect"
	"time"

	"usertrail/internal/activity"
	"usertrail/internal/cell"
	"usertrail/internal/format/manifest"
	"usertrail/internal/split"
	"usertrail/internal/store/dfs"
)

// A Wrapper is a decorator: a Table that passes calls on to another one. As looks for abilities
// behind it. A decorator that changes an ability implements the ability itself. A decorator
// that hides all abilities is no Wrapper.
type Wrapper interface {
	// Unwrap returns the decorated table.
	Unwrap() Table
}

// As returns t as a T, if t has this ability. It looks at t first, and then at the tables that
// t decorates. If T is itself a Table, such as a Stager, only t counts: the rows and users of a
// decorated table may differ from the rows and users of t.
func As[T any](t Table) (T, bool) {
	within := !reflect.TypeFor[T]().Implements(reflect.TypeFor[Table]())
	for t != nil {
		if able, ok := t.(T); ok {
			return able, true
		}
		w, ok := t.(Wrapper)
		if !ok || !within {
			break
		}
		t = w.Unwrap()
	}
	var none T
	return none, false
}

// The following interfaces are abilities that only some tables have. As finds them. Loader,
// Stager and Putter are abilities, too. tabletest.Abilities tests which table has which.

// Described is a table with a manifest. Known returns the manifest of any table.
type Described interface {
	// Manifest returns the manifest. The caller must not change it.
	Manifest() *manifest.Table
}

// Metered is a table that counts its reads. SpentBy returns the reads of any table.
type Metered interface{ Spent() Spent }

// Throttled is a table, or a Store, whose requests may wait to protect its servers. HeldBy and
// StoreHeld return the waits of any table and of any store.
type Throttled interface{ Held() Held }

// Changing is a table whose committed state can change while it is open. The function Unchanged
// asks any table.
type Changing interface {
	// Unchanged returns nil, or an error that wraps ErrChanged or ErrUnsettled.
	Unchanged(ctx context.Context) error
}

// Expiring is a table whose cells expire.
type Expiring interface {
	// TTL returns how long the table keeps a cell, counted from its timestamp; 0 means no limit.
	TTL(ctx context.Context) (time.Duration, error)
}

// Hiding is a table that may hold cells that deletes hide.
type Hiding interface {
	// Hidden calls emit for the hidden cells of a range.
	Hidden(ctx context.Context, r split.Region, emit func(*cell.Cell) error) error
}

// HidingSampled is a table that can check a sample of the newest load for deletes.
type HidingSampled interface {
	// HiddenSample returns the number of hidden cells in the sample, and the row of one of them.
	HiddenSample(ctx context.Context) (cells int64, row []byte, err error)
}

// StagedReader is a table whose files can be read, also before TakeIn.
type StagedReader interface {
	// Staged opens a file of the table.
	Staged(ctx context.Context, name string) (dfs.File, error)
}

// Filed is a table that consists of files. Each file can be checked by itself.
type Filed interface {
	StagedReader
	// Files returns the table's HFiles, each with its roll. The caller must not change them.
	Files() []manifest.File
}

// FaultFinder is a table that can check the files of its catalog that no extract reads.
type FaultFinder interface {
	Faults(ctx context.Context) ([]Fault, error)
}

// FileChecker is a table that can check that its files exist.
type FileChecker interface {
	// CheckFiles returns an error that wraps ErrDamaged if a file is missing or has another
	// size.
	CheckFiles(ctx context.Context) error
}

// CheckFiles checks the files of a FileChecker. It does nothing for another table.
func CheckFiles(ctx context.Context, t Table) error {
	if c, ok := As[FileChecker](t); ok {
		return c.CheckFiles(ctx)
	}
	return nil
}

// BegunByPuts is a table that records the loads of puts that have begun and not ended.
type BegunByPuts interface {
	// Begun returns the delivered files of these loads, like the method of Putter.
	Begun(ctx context.Context) ([]manifest.Input, error)
}

// HandedOver is a table that records the files of a load while they are handed to its regions.
type HandedOver interface {
	// Handover returns the record, or nil if there is none.
	Handover(ctx context.Context) (*manifest.Handover, error)
}

// LeftBehind is a table that records the loads that have begun and not ended.
type LeftBehind interface {
	// Left returns the files and rolls whose rows may be in the table although no ledger
	// holds them.
	Left(ctx context.Context) (*manifest.Begun, error)
}

// Losing is a table that may have a part of a killed load whose other HFiles are gone.
type Losing interface {
	// Lost returns the delivered files of such loads.
	Lost(ctx context.Context) ([]string, error)
}

// An Exporter is a table that returns its cells in order, load by load.
type Exporter interface {
	Loader
	// Export calls emit for the cells that some loads wrote to a range. A cell is valid
	// until emit returns.
	Export(ctx context.Context, loads []int, r split.Region, emit func(*cell.Cell) error) error
}

// Daily is implemented by Users that know the days on which a user has rows. Users that
// read the rows do not implement it.
type Daily interface {
	// Days returns what the current user did on each day of the span. The order is not
	// defined. If several loads added records of a day, the day may occur several times.
	// The result is valid until the next move.
	Days() []activity.Set
}

// Proving is a Store whose Open checks that the newest loads have rows in the table.
type Proving interface {
	// Unproved makes Open accept a table without this check. The caller compares rows and
	// catalog itself.
	Unproved()
}
