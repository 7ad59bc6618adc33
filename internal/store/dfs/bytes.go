package dfs

import (
	"context"
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"syscall"

	"github.com/cespare/xxhash/v2"
)

// ErrDamaged is wrapped when a file does not hold the bytes that were written to it.
var ErrDamaged = errors.New("damaged file")

// ErrDirectory is wrapped when a directory has the name of a file that was written.
var ErrDirectory = errors.New("a directory is in its place")

// ErrLoop is wrapped when a link to itself has the name of a file that was written.
var ErrLoop = errors.New("a link to itself is in its place")

// ErrNoDirectory is wrapped when something else has the name of a directory in which a file was written.
var ErrNoDirectory = errors.New("something else is in the place of this directory")

// InPlace explains the error of a directory, link to itself, pipe, socket or device in the place of a file that a run
// writes, or of something else in the place of its directory. The result wraps ErrDamaged and one of ErrDirectory, ErrLoop,
// ErrSpecial and ErrNoDirectory, and has no status of a wrong command line. InPlace returns another error as it is.
func InPlace(err error, step string) error {
	what := ErrDirectory
	switch {
	case errors.Is(err, ErrSpecial):
		what = ErrSpecial
	case errors.Is(err, syscall.ELOOP):
		what = ErrLoop
	case errors.Is(err, ErrNotDir):
		what = ErrNoDirectory
	case !errors.Is(err, syscall.EISDIR):
		return err
	}
	name := err.Error()
	if p := (*iofs.PathError)(nil); errors.As(err, &p) {
		name = p.Path
		if what == ErrNoDirectory {
			name = Dir(name)
		}
	}
	return fmt.Errorf("%s: %w: %w: %s", name, ErrDamaged, what, step)
}

// InTheWay adds the next step to the error of a directory that has the name of a file which a run creates. It returns another error as
// it is.
func InTheWay(err error) error {
	if errors.Is(err, syscall.EISDIR) {
		return fmt.Errorf("%w: a directory has the name of a new file: move it away, then type the same command again", err)
	}
	return err
}

// checkBuffer is the number of bytes that CheckBytes reads at a time.
const checkBuffer = 1 << 20

// CheckBytes reads the whole of f. It fails with ErrDamaged unless f has size bytes and
// their xxh64, in hex, is sum. A size below 0 means that the size is unknown.
func CheckBytes(ctx context.Context, f File, size int64, sum string) error {
	if size >= 0 && f.Size() != size {
		return fmt.Errorf("%w: it has %d bytes, and %d were written", ErrDamaged, f.Size(), size)
	}
	got, err := sumOf(ctx, f)
	if err != nil {
		return err
	}
	return CheckSum(got, sum)
}

// CheckSum fails with ErrDamaged unless got, the xxh64 of the bytes of a file in hex, is sum.
func CheckSum(got, sum string) error {
	if got != sum {
		return fmt.Errorf("%w: its bytes have the xxh64 %s, and bytes with %s were written", ErrDamaged, got, sum)
	}
	return nil
}

// sumOf reads the whole of f and returns its xxh64, in hex.
func sumOf(ctx context.Context, f File) (string, error) {
	h := xxhash.New()
	b := make([]byte, min(checkBuffer, f.Size()+1))
	for {
		n, err := f.Read(b)
		h.Write(b[:n])
		if err == io.EOF {
			return fmt.Sprintf("%016x", h.Sum64()), nil
		}
		if err == nil {
			err = context.Cause(ctx)
		}
		if err != nil {
			return "", err
		}
	}
}

// SumFile reads the file called name and returns what CheckFile compares: its size in bytes and
// its xxh64, in hex.
func SumFile(ctx context.Context, fs FS, name string) (size int64, sum string, err error) {
	f, err := OpenRegular(ctx, fs, name)
	if err != nil {
		return 0, "", err
	}
	defer f.Close()
	sum, err = sumOf(ctx, f)
	return f.Size(), sum, err
}

// CheckFile opens the file called name and checks it as CheckBytes does. Its errors name the
// file. If the file does not exist, or a link to itself, a pipe, a socket or a device has its name, CheckFile fails with ErrDamaged too.
func CheckFile(ctx context.Context, fs FS, name string, size int64, sum string) error {
	f, err := OpenRegular(ctx, fs, name)
	if errors.Is(Lost(err), iofs.ErrNotExist) {
		return fmt.Errorf("%s: %w: it is gone", name, ErrDamaged)
	}
	if errors.Is(err, ErrSpecial) {
		return fmt.Errorf("%s: %w: %w", name, ErrDamaged, ErrSpecial)
	}
	if err != nil {
		return err
	}
	defer f.Close()
	if err := CheckBytes(ctx, f, size, sum); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}
