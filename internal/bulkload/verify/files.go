package verify

import (
	"context"
	"errors"
	"fmt"
	iofs "io/fs"
	"sync"

	"github.com/cespare/xxhash/v2"
	"golang.org/x/sync/errgroup"

	"usertrail/internal/cell"
	"usertrail/internal/format/hfile"
	"usertrail/internal/format/manifest"
	"usertrail/internal/run/progress"
	"usertrail/internal/store/dfs"
	"usertrail/internal/table"
)

// readFiles counts the cells of all files that can hold compared cells, and compares each
// file with its entry in the manifest.
func (r *run) readFiles(ctx context.Context, t table.Filed) error {
	var checks []*check
	var bytes int64
	for _, f := range t.Files() {
		if f.Span.Overlaps(r.span) {
			checks = append(checks, &check{t: t, file: f})
			bytes += f.Size
		}
	}
	r.progress.Step("verifying", progress.Bytes, bytes)
	var mu sync.Mutex
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(r.cfg.Workers)
	for _, k := range checks {
		g.Go(func() error {
			k.ctx, k.count = ctx, r.newCount()
			if err := k.both(); err != nil {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			r.found.merge(k.count)
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	for _, k := range checks {
		r.result.addFiles(k.findings)
	}
	return nil
}

// readCatalog checks the files of the catalog that no extract reads.
func (r *run) readCatalog(ctx context.Context) error {
	t, ok := table.As[table.FaultFinder](r.table)
	if !ok {
		return nil
	}
	faults, err := t.Faults(ctx)
	for _, f := range faults {
		r.result.addFiles([]File{{Name: f.Name, Why: f.Err}})
		r.result.catalog = append(r.result.catalog, f.Err)
	}
	return err
}

func (r *Result) addFiles(files []File) {
	for _, f := range files {
		r.Files = append(r.Files, f)
		if f.Missing {
			r.MissingFiles++
		} else {
			r.DamagedFiles++
		}
	}
}

// A check is the check of one HFile and its roll.
type check struct {
	*count
	ctx      context.Context
	t        table.Filed
	file     manifest.File
	findings []File
}

// both reads both files. A problem with their content is a finding. An error means that they
// cannot be read now.
func (k *check) both() error {
	users, err := k.users()
	if err != nil {
		return err
	}
	if users == nil {
		return k.hfile(nil)
	}
	defer users.src.Close()
	if err := k.hfile(users); err != nil {
		return err
	}
	return k.note(k.file.Roll, users.finish(k.file.RollSum))
}

// note records a problem with a file. It returns an error that may be temporary, or that is only of this user.
func (k *check) note(name string, err error) error {
	switch {
	case err == nil:
	case k.ctx.Err() != nil:
		return context.Cause(k.ctx)
	case errors.Is(err, dfs.ErrUnavailable):
		return err
	case errors.Is(err, iofs.ErrPermission):
		return table.Unreadable(err)
	case errors.Is(err, iofs.ErrNotExist):
		k.findings = append(k.findings, File{Name: name, Missing: true, ofTable: true})
	default:
		k.findings = append(k.findings, File{Name: name, Why: err, ofTable: true})
	}
	return nil
}

// hfile checks the HFile. If users is not nil, it also checks that they are the users of the
// rows.
func (k *check) hfile(users *users) error {
	src, err := k.open(k.file.Name, k.progress)
	if err != nil {
		return k.note(k.file.Name, err)
	}
	defer src.Close()
	if err = k.read(src, users); err == nil {
		err = src.finish(k.file.Sum)
	}
	return k.note(k.file.Name, err)
}

// each verifies an HFile, and calls do with each cell.
func (k *check) each(h *hfile.Reader, do func(*cell.Cell)) error {
	cells := 0
	return h.VerifyDistinct(func(x *cell.Cell) error {
		if cells++; cells&0xfff == 0 && k.ctx.Err() != nil {
			return context.Cause(k.ctx)
		}
		do(x)
		return nil
	})
}

// read counts the cells of an HFile and compares them with the manifest.
func (k *check) read(src *source, users *users) error {
	if src.Size() != k.file.Size {
		return fmt.Errorf("it has %d bytes; %d were written", src.Size(), k.file.Size)
	}
	h, err := hfile.Open(src, src.Size())
	if err != nil {
		return err
	}
	err = k.each(h, func(x *cell.Cell) {
		if k.add(x) && users != nil {
			users.stretch(k.count)
		}
	})
	if err != nil {
		return err
	}
	if k.sum.Tally != k.file.Tally {
		return fmt.Errorf("it holds %s; written were %s", k.sum.Tally, k.file.Tally)
	}
	if users != nil {
		users.end(k, h)
	}
	return nil
}

// A source is an open file that hashes its bytes while they are read in order.
type source struct {
	dfs.File
	hash     *xxhash.Digest
	at       int64 // the number of hashed bytes
	progress *progress.Progress
}

// open opens one of the table's files. It reports the bytes read to p, which may be nil.
func (k *check) open(name string, p *progress.Progress) (*source, error) {
	f, err := k.t.Staged(k.ctx, name)
	if err != nil {
		return nil, err
	}
	return &source{File: f, hash: xxhash.New(), progress: p}, nil
}

// ReadAt implements io.ReaderAt, for one goroutine.
func (s *source) ReadAt(b []byte, off int64) (int, error) {
	n, err := s.File.ReadAt(b, off)
	if end := off + int64(n); off <= s.at && s.at < end {
		s.hash.Write(b[s.at-off : n])
		s.progress.Add(end - s.at)
		s.at = end
	}
	return n, err
}

// finish reads the remaining bytes and compares the hash with the recorded one.
func (s *source) finish(want string) error {
	b := make([]byte, min(s.Size()-s.at, 1<<20))
	for s.at < s.Size() {
		before := s.at
		if _, err := s.ReadAt(b[:min(s.Size()-s.at, int64(len(b)))], s.at); err != nil && s.at == before {
			return fmt.Errorf("read at %d: %w", s.at, err)
		}
	}
	if got := fmt.Sprintf("%016x", s.hash.Sum64()); got != want {
		return fmt.Errorf("its bytes have the xxh64 %s; written were bytes of %s", got, want)
	}
	return nil
}
