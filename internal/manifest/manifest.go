// Package manifest is what runs have finished, as JSON files that appear whole:
//
//	TABLE/manifest.json       Table: what lies in a table of files. It names
//	                          every HFile, roll and ledger; what it does not
//	                          name is not there. A load is done when this file
//	                          has been replaced.
//	TABLE/loads/000001.json   Load: the ledger of one load, which delivered files
//	                          it took and what became of each record. Written
//	                          before the manifest that names it, never changed.
//	TABLE/loading.json        Loading: the load that is being made.
//	TABLE/begun.json          Begun: the delivered files of an unfinished load of
//	                          puts.
//	TABLE/handover.json       Handover: files that are being handed to HBase.
//	TABLE/plans/ID/plan.json  Plan: a load in pieces that are not committed.
//	TABLE/plans/ID/00003.json Report: what came of piece 3.
//	TABLE/convert/plan.json   Conversion: a table that is being made of another one.
//	TABLE/convert/000001.json Converted: what is made of it already.
//	TABLE/retired.json        Retired: files that the manifest has named, and that
//	                          readers may still read.
//	OUT/_manifest.json        Extract: the question, and each part of the answer.
//
// The first field of each is sha256, a checksum of the others: the SHA-256 of the file
// without that field and without white space between tokens. Read verifies it.
//
// Nothing in them comes from a clock but the times of delivered files and until when
// files are retired, so the same input gives the same bytes.
package manifest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"usertrail/internal/dfs"
)

// Version is written into every manifest; another is refused.
const Version = 1

var (
	// ErrDamaged is returned for a manifest that cannot be one of ours.
	ErrDamaged = errors.New("damaged manifest")
	// ErrNewer is returned for a file that a newer release wrote.
	ErrNewer = errors.New("a newer usertrail wrote it")
)

// Read reads the JSON file called name into v. It refuses other versions, files whose
// checksum is wrong, and names in the file that are not below the folder which the file
// describes. A file without a checksum was written by an older version, or by hand.
func Read(ctx context.Context, fs dfs.FS, name string, v interface{ version() int }) error {
	_, err := read(ctx, fs, name, v)
	return err
}

// read is Read, and returns the digest of the file's content.
func read(ctx context.Context, fs dfs.FS, name string, v interface{ version() int }) (sum string, err error) {
	b, err := dfs.ReadFile(ctx, fs, name)
	if err != nil {
		return "", err
	}
	err = json.Unmarshal(b, v)
	if err == nil && v.version() > Version {
		return "", fmt.Errorf("%s: %w: it has version %d, and this program knows %d: upgrade this program", name, ErrNewer, v.version(), Version)
	}
	if err == nil {
		sum, err = unsealed(b)
	}
	if err != nil {
		return "", fmt.Errorf("%s: %w: %w", name, damaged(v), err)
	}
	if v.version() != Version {
		return "", fmt.Errorf("%s: %w: it has version %d, this program knows %d", name, damaged(v), v.version(), Version)
	}
	if c, ok := v.(interface{ check() error }); ok {
		if err := c.check(); err != nil {
			return "", fmt.Errorf("%s: %w", name, err)
		}
	}
	return sum, nil
}

// A damage is an ErrDamaged of another file than a manifest.
type damage struct{ what string }

func (d damage) Error() string { return "damaged " + d.what }

func (d damage) Is(target error) bool { return target == ErrDamaged }

// damaged is the error of a file that is to be read into v.
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
	}
	return ErrDamaged
}

// Write writes v, which is a struct, as the JSON file called name, whole or not at all.
func Write(ctx context.Context, fs dfs.FS, name string, v any) error {
	b, _, err := encode(v)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return dfs.WriteFile(ctx, fs, name, b)
}

// encode returns v as JSON with its checksum, and the digest of its content.
func encode(v any) (b []byte, sum string, err error) {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false) // people read conditions here
	e.SetIndent("", " ")
	if err := e.Encode(v); err != nil {
		return nil, "", err
	}
	return sealed(out.Bytes())
}
