package table

import (
	"context"
	"time"

	"usertrail/internal/format/manifest"
)

// A StoreOfFiles is the place of a table of files. It is a directory.
type StoreOfFiles interface {
	Store
	// OpenFiles is Open.
	OpenFiles(ctx context.Context) (OfFiles, error)
	// NewFiles is New.
	NewFiles(ctx context.Context, p Plan) (OfFiles, error)
}

// OfFiles is a table of files. Its files can be replaced by others.
type OfFiles interface {
	Stager
	Described
	FileChecker
	// Replace makes m the manifest. Files that m does not name stay for keepFor.
	Replace(ctx context.Context, m *manifest.Table, keepFor time.Duration) error
	// Rewrite adds a load to the table. by has its files, by the names of the HFiles that they replace. These stay for
	// keepFor.
	Rewrite(ctx context.Context, load *manifest.Load, by map[string]manifest.File, keepFor time.Duration) error
	// Undrop returns the entries that restore the days of the last drop; nil if their files
	// are no longer kept.
	Undrop(ctx context.Context) (*manifest.Undrop, error)
	// Ledger returns the ledger of a load.
	Ledger(ctx context.Context, ref *manifest.LoadRef) (*manifest.Load, error)
	// ForgetRetired removes all files that were replaced.
	ForgetRetired(ctx context.Context) error
	// Found makes the table from the ledgers, and the files that m lists, all at once.
	Found(ctx context.Context, ledgers []*manifest.Load, m *manifest.Table) error
	// CopyQuarantine copies the bad records of the catalog in dir.
	CopyQuarantine(ctx context.Context, dir string) error
}
