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
)

// A filed table consists of files, each of which can be checked by itself.
type filed interface {
	Files() []manifest.File
	Staged(ctx context.Context, name string) (dfs.File, error)
}

// readFiles counts the cells of all files that can hold what is to be compared,
// and holds each of them against what the manifest says of it.
func (r *run) readFiles(ctx context.Context, t filed) error {
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

// A check is that of one HFile and its roll.
type check struct {
	*count
	ctx      context.Context
	t        filed
	file     manifest.File
	findings []File
}

// both reads both files. What is wrong with them is a finding; an error is what
// keeps them from being read now.
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

// note takes what is wrong with a file down. It returns what may be well later.
func (k *check) note(name string, err error) error {
	switch {
	case err == nil:
	case k.ctx.Err() != nil:
		return context.Cause(k.ctx)
	case errors.Is(err, dfs.ErrUnavailable):
		return err
	case errors.Is(err, iofs.ErrNotExist):
		k.findings = append(k.findings, File{Name: name, Missing: true})
	default:
		k.findings = append(k.findings, File{Name: name, Why: err})
	}
	return nil
}

// hfile checks the HFile, and that users, if there are any, are those of its rows.
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

// read counts the cells of an HFile, and holds them against what the manifest says.
func (k *check) read(src *source, users *users) error {
	if src.Size() != k.file.Size {
		return fmt.Errorf("it has %d bytes; %d were written", src.Size(), k.file.Size)
	}
	h, err := hfile.Open(src, src.Size())
	if err != nil {
		return err
	}
	cells := 0
	err = h.Verify(func(x *cell.Cell) error {
		if cells++; cells&0xfff == 0 && k.ctx.Err() != nil {
			return context.Cause(k.ctx)
		}
		if k.add(x) && users != nil {
			users.stretch(k.count)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if k.sum.Tally != k.file.Tally {
		return fmt.Errorf("it holds %s; written were %s", k.sum.Tally, k.file.Tally)
	}
	if users != nil {
		users.end(&k.file)
	}
	return nil
}

// A source is an open file whose bytes are hashed in their order, as far as they
// are read in it.
type source struct {
	dfs.File
	hash     *xxhash.Digest
	at       int64 // how much is hashed
	progress *progress.Progress
}

// open opens one of the table's files. p, which may be nil, is told how much of it
// has been read.
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

// finish reads what is left, and compares the sum with that of what was written.
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
