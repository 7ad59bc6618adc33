package quarantine

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	iofs "io/fs"
	"log/slog"

	"github.com/cespare/xxhash/v2"

	"usertrail/internal/store/dfs"
)

// A keeper writes the lines that leave a quarantine file, and that the user may have corrected, to a file next to it. A replay of the
// folder does not read that file. Its name ends in a checksum of the lines: the same lines have one file, and no line is ever
// overwritten.
type keeper struct {
	ctx  context.Context
	fs   dfs.FS
	log  *slog.Logger
	from string // the quarantine file
	temp string // the name of the file until its checksum is known
	to   dfs.Pending
	w    *bufio.Writer
	sum  *xxhash.Digest
	n    int64 // lines
}

// newKeeper returns the keeper of the quarantine file called from. The first line creates the file. The caller must call end.
func newKeeper(ctx context.Context, fs dfs.FS, log *slog.Logger, from string) *keeper {
	return &keeper{ctx: ctx, fs: fs, log: log, from: from, temp: dfs.Join(dfs.Dir(from), dfs.PendingName(dfs.Base(from))), sum: xxhash.New()}
}

// add adds a line if the user may have corrected it.
func (k *keeper) add(line []byte, r *Record) error {
	if !r.Corrected() {
		return nil
	}
	if k.to == nil {
		to, err := k.fs.Create(k.ctx, k.temp)
		if err != nil {
			return inPlace(k.ctx, k.fs, k.from, err)
		}
		k.to, k.w = to, bufio.NewWriter(to)
	}
	k.n++
	_, _ = k.sum.Write(line) // it never fails
	_, err := k.w.Write(line)
	return err
}

// commit makes the file visible, if there are lines, and logs its name.
func (k *keeper) commit() error {
	if k.to == nil {
		return nil
	}
	if err := k.w.Flush(); err != nil {
		return err
	}
	if err := k.to.Commit(); err != nil {
		return err
	}
	name := fmt.Sprintf("%s.kept-%016x", k.from, k.sum.Sum64())
	if err := k.fs.Publish(k.ctx, k.temp, name); err != nil && !errors.Is(err, iofs.ErrExist) { // a file of this name has the same lines
		return err
	}
	k.log.Warn("corrected lines were moved out of a quarantine file", "lines", k.n, "from", k.from, "to", name)
	return nil
}

// end removes what is unfinished.
func (k *keeper) end() {
	if k.to != nil {
		k.to.Abort()
		_ = k.fs.Remove(context.WithoutCancel(k.ctx), k.temp) // a later load removes what stays
	}
}
