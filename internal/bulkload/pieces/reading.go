package pieces

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/delivered"
	"usertrail/internal/bulkload/load"
	"usertrail/internal/store/dfs"
)

// errUnread ends an attempt to plan that needs delivered files to be read first. Plan reads
// the files without the table's lock, and plans again.
var errUnread = errors.New("delivered files have to be read first")

// A listing is a delivered file as it was listed.
type listing struct {
	path     string
	size     int64
	modified time.Time
}

// A fileState holds the results of reading a delivered file.
type fileState struct {
	sha  string  // digest
	cuts []int64 // beginnings of its ranges
}

// A reading is a request for the digest or the ranges of a delivered file.
type reading struct {
	file *delivered.File
	size int64 // of ranges; 0 requests the digest
}

// readings are the readings of all attempts of one Plan.
type readings struct {
	cfg    *load.Config
	known  map[listing]*fileState
	unread []reading // files that must be read before the next attempt
}

func listingOf(f *delivered.File) listing { return listing{f.Path, f.Size, f.Modified} }

// see returns the known results for a file. They are empty if the file has not been read.
func (r *readings) see(f *delivered.File) *fileState {
	if s := r.known[listingOf(f)]; s != nil {
		return s
	}
	return new(fileState)
}

// ask requests a reading of a file: its digest if size is 0, else its ranges of size bytes.
func (r *readings) ask(f *delivered.File, size int64) { r.unread = append(r.unread, reading{f, size}) }

// all returns errUnread if a reading is pending.
func (r *readings) all() error {
	if len(r.unread) > 0 {
		return errUnread
	}
	return nil
}

// mostRounds limits how often delivered files are read for one plan. Two rounds
// are usual: digests, then ranges.
const mostRounds = 6

// ahead does the readings that the previous attempt to plan has requested. Rounds count from 1.
func (r *readings) ahead(ctx context.Context, round int) error {
	if round > mostRounds {
		return fmt.Errorf("%s: %w: it changes while it is read", r.unread[0].file.Path, bulkload.ErrGrowing)
	}
	for _, u := range r.unread {
		s := r.see(u.file)
		r.known[listingOf(u.file)] = s
		var err error
		if u.size == 0 {
			s.sha, err = delivered.Digest(ctx, r.cfg.FS, u.file.Path)
		} else if s.cuts, err = r.cuts(ctx, u.file, u.size); err != nil {
			err = fmt.Errorf("split %s into ranges: %w", u.file.Path, err)
		}
		if err != nil {
			return err
		}
	}
	r.unread = nil
	return nil
}

// cuts returns the beginnings of the ranges of a file, the first at 0. The ranges have about one length, of
// at most size bytes.
func (r *readings) cuts(ctx context.Context, in *delivered.File, size int64) ([]int64, error) {
	f, err := dfs.OpenRegular(ctx, r.cfg.FS, in.Path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	cuts := []int64{0}
	count := (in.Size + size - 1) / size
	for i := int64(1); i < count; i++ {
		at := in.Size/count*i + in.Size%count*i/count
		last := cuts[len(cuts)-1]
		if at <= last {
			continue // a record is longer than a range
		}
		if err := ctx.Err(); err != nil {
			return nil, context.Cause(ctx)
		}
		from, sure, err := r.cfg.Job.Format.Begins(f, in.Size, at)
		if err != nil {
			return nil, err
		}
		if sure && from < in.Size {
			cuts = append(cuts, from)
		}
	}
	return slices.Compact(cuts), nil
}
