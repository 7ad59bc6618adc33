// Package manifest defines the JSON files in which runs record finished work. Each file appears
// complete or not at all:
//
//	TABLE/manifest.json       Table: the content of a table. It names every HFile,
//	                          roll and ledger. A file that it does not name does not
//	                          belong to the table. A load is done when this file has
//	                          been replaced.
//	TABLE/loads/000001.json   Load: the ledger of one load, with its delivered files
//	                          and the outcome of each record. Written before the
//	                          manifest that names it, never changed.
//	TABLE/loading.json        Loading: the load that is being made.
//	TABLE/begun.json          Begun: the delivered files of an unfinished load of
//	                          puts.
//	TABLE/handover.json       Handover: files that are being handed to HBase.
//	TABLE/plans/ID/plan.json  Plan: a load in pieces that are not committed.
//	TABLE/plans/ID/00003.json Report: the result of piece 3.
//	TABLE/pieces/000001-ID.json
//	                          Loading: the load that the plan ID became.
//	TABLE/convert/plan.json   Conversion: a table that is being made from another one.
//	TABLE/convert/000001.json Converted: a finished part of the conversion.
//	TABLE/retired.json        Retired: files that the manifest has named, and that
//	                          readers may still read.
//	OUT/_manifest.json        Extract: the query, and each part of the result.
//
// The first field of each file is sha256, a checksum of the other fields: the SHA-256 of the
// file without that field and without white space between tokens. Read verifies it.
//
// The only times in these files are the times of delivered files and the times of retired
// files. The same input gives the same bytes.
package manifest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"syscall"

	"usertrail/internal/run/exit"
	"usertrail/internal/store/dfs"
)

// Version is written into every manifest, except into tables with NamesVersion or RereadVersion, and ledgers with
// RereadLedgerVersion.
const Version = 1

// firstVersion is the version that the first release wrote.
const firstVersion = 1

// NamesVersion is the version of a table with a behaviour whose name is not a word. Releases that
// know only Version refuse such names.
const NamesVersion = 2

// RereadVersion is the version of a table whose loads added values to records of earlier loads, and
// RereadLedgerVersion is the version of the ledgers of these loads. Releases that do not know them would call the table
// damaged, and would rebuild another manifest.
const (
	RereadVersion       = 3
	RereadLedgerVersion = 2
)

var (
	// ErrDamaged is returned for a file that cannot have been written by this package.
	ErrDamaged = errors.New("damaged manifest")
	// ErrNewer is returned for a file that a newer release wrote.
	ErrNewer = exit.New(exit.Usage, "a newer usertrail wrote it")
)

// A Versioned is a struct of this package that a JSON file holds.
type Versioned interface{ version() int }

// Read reads the JSON file called name into v. It rejects versions that it does not know, files with a wrong
// checksum, and file names that leave the folder which the file describes. A file without a
// checksum was written by an older version or by hand.
func Read(ctx context.Context, fs dfs.FS, name string, v Versioned) error {
	_, err := read(ctx, fs, name, v)
	return err
}

// read does Read and returns the digest of the file's content.
func read(ctx context.Context, fs dfs.FS, name string, v Versioned) (sum string, err error) {
	f, err := dfs.OpenRegular(ctx, fs, name)
	if err != nil {
		return "", unread(name, v, err)
	}
	defer f.Close()
	from := &dfs.Source{R: bufio.NewReaderSize(f, int(min(f.Size()+1, bufferSize)))}
	sum, err = unsealInto(from, v)
	if from.Err != nil {
		return "", unread(name, v, fmt.Errorf("read %s: %w", name, from.Err))
	}
	newest := Version
	switch v.(type) {
	case *Table:
		newest = RereadVersion
	case *Load:
		newest = RereadLedgerVersion
	}
	if (err == nil || errors.Is(err, errSum)) && v.version() > newest {
		return "", fmt.Errorf("%s: %w: it has version %d, and this program knows %d: upgrade this program", name, ErrNewer, v.version(), newest)
	}
	if err != nil {
		return "", fmt.Errorf("%s: %w: %w", name, damaged(v), err)
	}
	if v.version() < firstVersion {
		return "", fmt.Errorf("%s: %w: it has version %d, which no release wrote; this program knows %d", name, damaged(v), v.version(), newest)
	}
	if c, ok := v.(interface{ check() error }); ok {
		if err := c.check(); err != nil {
			return "", fmt.Errorf("%s: %w", name, err)
		}
	}
	if f, ok := v.(referrer); ok {
		if err := restore(f); err != nil {
			return "", fmt.Errorf("%s: %w: %w", name, damaged(v), err)
		}
	}
	return sum, nil
}

// unread returns the error of a file that could not be read into v.
func unread(name string, v any, err error) error {
	switch {
	case dfs.Base(name) == TableName: // without a manifest it is no table: another status
	case errors.Is(err, syscall.EISDIR):
		return fmt.Errorf("%s: %w: %w", name, damaged(v), dfs.ErrDirectory)
	case errors.Is(err, syscall.ELOOP):
		return fmt.Errorf("%s: %w: %w", name, damaged(v), dfs.ErrLoop)
	case errors.Is(err, dfs.ErrSpecial):
		return fmt.Errorf("%s: %w: a pipe, socket or device is in its place", name, damaged(v))
	}
	return err
}

// unsealInto reads JSON into v, and returns its checksum.
func unsealInto(from io.Reader, v any) (string, error) {
	l, _ := v.(*Load)
	raw := ""
	if l != nil {
		raw = "table"
	}
	text, sum, err := unseal(from, v, raw)
	if l != nil {
		l.encoded = text
	}
	return sum.sum, err
}

// A damage is an ErrDamaged of a file that is not a manifest.
type damage struct{ what string }

func (d damage) Error() string { return "damaged " + d.what }

func (d damage) Is(target error) bool { return target == ErrDamaged }

// damaged returns the error for a file that is read into v.
func damaged(v any) error {
	switch v.(type) {
	case *Load:
		return damage{"ledger"}
	case *Plan, *Conversion:
		return damage{"plan"}
	case *Report, *Converted:
		return damage{"report"}
	case *Retired:
		return damage{"list of retired files"}
	case *Loading:
		return damage{"record of a load"}
	case *Begun:
		return damage{"record of unfinished loads"}
	case *Handover:
		return damage{"record of a handover"}
	}
	return ErrDamaged
}

// Write writes the struct v, or the struct that it points to, as the JSON file called name. The file appears complete or not at
// all.
func Write(ctx context.Context, fs dfs.FS, name string, v any) error {
	d, err := newDocument(v)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return dfs.WriteBy(ctx, fs, name, d.write)
}
