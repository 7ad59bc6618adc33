package manifest

import (
	"context"
	"errors"
	"fmt"
	"io"
	iofs "io/fs"

	"usertrail/internal/store/dfs"
)

// WriteLedger writes the ledger of the load that ref names, in the table's directory dir. It
// sets the ledger's size and digest in ref. If the file exists, the error wraps fs.ErrExist.
func WriteLedger(ctx context.Context, fs dfs.FS, dir string, ref *LoadRef, l *Load) error {
	d, err := newDocument(l)
	if err != nil {
		return fmt.Errorf("%s: %w", ref.Name, err)
	}
	size := new(counter)
	if err := dfs.WriteNewBy(ctx, fs, dfs.Join(dir, ref.Name), func(to io.Writer) error { return d.write(io.MultiWriter(to, size)) }); err != nil {
		return err
	}
	ref.Size, ref.SHA256 = int64(*size), d.sum
	return nil
}

// Follows reports whether the ledger of last can be the one before l. It returns false only if l is of another table, or of another state
// of the table.
func (l *Load) Follows(last LoadRef) bool {
	return l.Previous == "" || last.SHA256 == "" || l.Previous == last.SHA256
}

// A counter counts the bytes that are written to it.
type counter int64

func (c *counter) Write(b []byte) (int, error) {
	*c += counter(len(b))
	return len(b), nil
}

// errOther is wrapped if a ledger is in the place of another one.
var errOther error = damage{"ledger"}

// An Advised is an error with the next step.
type Advised struct {
	Err  error
	Step string
}

func (a *Advised) Error() string { return a.Err.Error() + ": " + a.Step }

// Unwrap returns the error without the next step.
func (a *Advised) Unwrap() error { return a.Err }

// ReadLedger reads the ledger that ref names. If the ledger is not the one that was written
// with the manifest, the error wraps ErrDamaged.
func ReadLedger(ctx context.Context, fs dfs.FS, dir string, ref *LoadRef) (*Load, error) {
	l := new(Load)
	name := dfs.Join(dir, ref.Name)
	sum, err := read(ctx, fs, name, l)
	switch {
	case errors.Is(err, iofs.ErrNotExist):
		err = fmt.Errorf("%w, and the manifest or its copy names it", err)
	case err != nil:
	case l.Number != ref.Number:
		err = fmt.Errorf("%s: %w: it is the ledger of load %d", name, errOther, l.Number)
	case ref.SHA256 != "" && ref.SHA256 != sum:
		err = fmt.Errorf("%s: %w: its checksum is not the one in the manifest", name, errOther)
	}
	switch {
	case errors.Is(err, errOther), errors.Is(err, errSum):
		return nil, &Advised{fmt.Errorf("ledger of load %d: %w", ref.Number, err), "put it back from a copy of the table"}
	case err != nil:
		return nil, fmt.Errorf("ledger of load %d: %w", ref.Number, err)
	}
	return l, nil
}

// FindLedger reads the ledger called name in the table's directory dir. It also returns the
// entry that a manifest would have for the ledger. No manifest names the ledger.
func FindLedger(ctx context.Context, fs dfs.FS, dir, name string) (*Load, LoadRef, error) {
	l := new(Load)
	path := dfs.Join(dir, name)
	sum, err := read(ctx, fs, path, l)
	if err != nil {
		return nil, LoadRef{}, err
	}
	info, err := fs.Stat(ctx, path)
	if err != nil {
		return nil, LoadRef{}, err
	}
	ref := RefOf(l, name)
	ref.Size, ref.SHA256 = info.Size, sum
	return l, ref, nil
}
