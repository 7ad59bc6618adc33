// Package inspect describes the content of any file or directory that usertrail writes. It is
// not part of the data flow. Users look at files with it, and tests draw files with it.
//
// The content of a path determines its kind, not the ending of its name:
//
//	table        a directory with a manifest.json, or that file
//	extract      a directory with a _manifest.json, or that file
//	hfile        the trailer of an HFile
//	roll         the trailer of a roll
//	trail part   a Parquet, Arrow, csv or jsonl file whose first columns are the columns of
//	             trails
//	manifest     the JSON of a table's manifest, away from its ledgers
//	ledger       the JSON of one load
//	quarantine   lines of JSON, each a bad record
//	names        the _not-found.txt of an extract, next to its manifest
//
// A Report holds all metadata, and only the first rows of the data, so it is always small.
// All blocks of an HFile are read and checked. Other files are checked only in the parts that
// are shown. Damage is an error that names the place, never a panic.
//
// Equal files have equal reports. This package starts no goroutine and writes nothing.
package inspect

import (
	"context"
	"errors"
	"fmt"
	"syscall"

	"usertrail/internal/format/manifest"
	"usertrail/internal/run/exit"
	"usertrail/internal/store/dfs"
	"usertrail/internal/table"
	"usertrail/internal/table/catalog"
)

// ErrUnknown is wrapped by the error for a file that usertrail does not write.
var ErrUnknown = exit.New(exit.Usage, "not something that usertrail writes")

// A Kind is the sort of file or directory at a path.
type Kind string

// The kinds.
const (
	KindTable      Kind = "table"
	KindExtract    Kind = "extract"
	KindHFile      Kind = "hfile"
	KindRoll       Kind = "roll"
	KindTrailPart  Kind = "trail part"
	KindManifest   Kind = "manifest"
	KindLedger     Kind = "ledger"
	KindQuarantine Kind = "quarantine"
	KindNames      Kind = "users not found"
)

// known lists the kinds for an error message.
const known = "a table, an extract, an HFile, a roll, a trail part, a manifest, a ledger or a quarantine file"

// Names of the manifests in their directories.
const (
	tableManifest   = "manifest.json"
	extractManifest = "_manifest.json"
)

// Options limit the output.
type Options struct {
	// Rows is the number of first rows, cells, blocks, users or bad records that are read,
	// and the number of lines of a long list that Text prints. 0 means 10, and a negative
	// number means none.
	Rows int
}

func (o Options) withDefaults() Options {
	if o.Rows == 0 {
		o.Rows = 10
	}
	o.Rows = max(o.Rows, 0)
	return o
}

// A Report is the result of Path. One of the pointers is set: Table for kinds table and
// manifest, otherwise the pointer with the name of the kind. The field names of its JSON form
// do not change.
type Report struct {
	Kind Kind   `json:"kind"`
	Path string `json:"path"`
	Size int64  `json:"size"` // bytes of the file; for a table or extract, of all its files

	Table      *Table      `json:"table,omitempty"`
	Extract    *Extract    `json:"extract,omitempty"`
	HFile      *HFile      `json:"hfile,omitempty"`
	Roll       *Roll       `json:"roll,omitempty"`
	TrailPart  *TrailPart  `json:"trail_part,omitempty"`
	Ledger     *Ledger     `json:"ledger,omitempty"`
	Quarantine *Quarantine `json:"quarantine,omitempty"`
	Names      *Names      `json:"users_not_found,omitempty"`

	rows       int   // Options.Rows, for Text
	damage     error // of a table, for Damage
	incomplete error // a result has no _SUCCESS, for Damage
}

// Path reports the kind and contents of path in fs. The error wraps ErrUnknown if
// usertrail does not write such files, and fs.ErrNotExist if path does not exist.
func Path(ctx context.Context, fs dfs.FS, path string, o Options) (Report, error) {
	o = o.withDefaults()
	l := look{ctx: ctx, fs: fs, path: path, rows: o.Rows}
	info, err := fs.Stat(ctx, path)
	switch {
	case errors.Is(err, syscall.ELOOP):
		return Report{}, fmt.Errorf("inspect: %w: %w: move the link away, or name another file or directory", ErrUnknown, err)
	case errors.Is(err, dfs.ErrNotDir):
		return Report{}, fmt.Errorf("inspect: %w: a name before the last one is a file: name another file or directory", err)
	case err != nil:
		return Report{}, fmt.Errorf("inspect: %w", err)
	}
	r := Report{Path: path, Size: info.Size, rows: o.Rows}
	if info.Dir {
		err = l.dir(&r)
	} else {
		err = l.file(&r)
	}
	if err != nil {
		return Report{}, fmt.Errorf("inspect %s: %w", path, err)
	}
	return r, nil
}

// again adds the next step to an error about a damaged part of a result.
func again(err error) error {
	if err == nil || exit.Of(err) != exit.Failed {
		return err
	}
	return fmt.Errorf("%w: %s", err, manifest.Again(nil))
}

// A look is one call of Path. Its context lives only during the call.
type look struct {
	ctx  context.Context
	fs   dfs.FS
	path string
	rows int
}

// dir reports a directory.
func (l *look) dir(r *Report) error {
	for _, m := range []struct {
		name string
		look func(r *Report, dir, name string) error
	}{{tableManifest, l.table}, {extractManifest, l.extract}} {
		name := dfs.Join(l.path, m.name)
		there, err := l.exists(name)
		if err != nil {
			return err
		}
		if there {
			return m.look(r, l.path, name)
		}
	}
	if found, err := l.quarantines(r); found || err != nil {
		return err
	}
	if err := catalog.CheckBare(l.ctx, l.fs, l.path); errors.Is(err, table.ErrNoManifest) {
		return err
	}
	return fmt.Errorf("%w: a directory with neither %s nor %s nor quarantine files in it", ErrUnknown, tableManifest, extractManifest)
}

// file reports a file.
func (l *look) file(r *Report) error {
	f, err := dfs.OpenRegular(l.ctx, l.fs, l.path)
	if errors.Is(err, dfs.ErrSpecial) {
		return fmt.Errorf("%w: %w", ErrUnknown, err)
	}
	if err != nil {
		return err
	}
	defer f.Close()
	if m, err := l.namesOf(); err != nil {
		return err
	} else if m != nil {
		return l.names(r, f, m)
	}
	if r.Kind, err = detect(f); err != nil {
		return err
	}
	switch r.Kind {
	case KindTable:
		return l.tableFile(r)
	case KindExtract:
		return l.extract(r, dfs.Dir(l.path), l.path)
	case KindHFile:
		return table.Corrupt(l.hfile(r, f))
	case KindRoll:
		return table.Corrupt(l.roll(r, f))
	case KindTrailPart:
		return again(l.trailPart(r, f))
	case KindLedger:
		return l.ledger(r)
	default:
		return l.quarantine(r, f)
	}
}
