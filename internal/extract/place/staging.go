package place

import (
	"context"
	"errors"
	"fmt"
	iofs "io/fs"
	"strings"

	"usertrail/internal/extract/notfound"
	"usertrail/internal/extract/output"
	"usertrail/internal/extract/query"
	"usertrail/internal/format/manifest"
	"usertrail/internal/run/breakpoint"
	"usertrail/internal/store/dfs"
)

// A Staging is a directory in which a result is made, or a piece of a result. It is an
// output.Sink.
//
//	.OUT.lock                       held while an extract runs; it remains if
//	                                the process is killed
//	.OUT.partial/_question.json     the query
//	.OUT.partial/part-00000.parquet
//	.OUT.partial/_done-00000.json   the output.Record of a complete part
//
// If the result is partitioned, the files of a part are one directory deeper:
//
//	.OUT.partial/date=2014-09-01/part-00000.parquet
type Staging struct {
	output.Records
	FS       dfs.FS
	Dir      string
	Replaced int               // the finished pieces of an earlier plan whose results were removed
	out      string            // the name of the result
	base     *manifest.Extract // the result to which this one is appended; nil if it is a result of its own
	held     dfs.Lock
}

// Open locks t, and continues after the parts that an earlier run of the same query completed.
// It checks t again when it has the lock: the run that held the lock may have made the result.
// m is the manifest of the result, without counts and parts. If this run finished a killed append of
// the dates of m, the error is a Finished.
func Open(ctx context.Context, t *Target, id query.Identity, m *manifest.Extract) (_ *Staging, err error) {
	p := At(t.FS, t.Out)
	lock, err := p.Lock(ctx)
	if err != nil {
		return nil, err
	}
	s := &Staging{FS: t.FS, Dir: p.Dir, out: p.Out, held: lock}
	defer func() {
		if err != nil {
			s.Close()
		}
	}()
	added, err := p.FinishAppend(ctx)
	if err != nil {
		return nil, fmt.Errorf("begin --out %s: %w", t.Out, err)
	}
	if err := t.Check(ctx); err != nil {
		return nil, err
	}
	if t.Append {
		s.base, err = p.Base(ctx, m)
		if errors.Is(err, manifest.ErrAppended) && added != nil && added.Span == m.Query.Span {
			err = Finished{err}
		}
		if err != nil {
			return nil, err
		}
	}
	if err := s.begin(ctx, id); err != nil {
		return nil, fmt.Errorf("begin --out %s: %w", t.Out, err)
	}
	return s, nil
}

// Piece returns a Staging in the directory called name of p, and continues after the parts of
// the same piece. id identifies the piece.
func (p *Place) Piece(ctx context.Context, name string, id any) (*Staging, error) {
	s := p.Staging(name)
	return s, s.begin(ctx, id)
}

// Staging returns a Staging in the directory called name of p, as it is.
func (p *Place) Staging(name string) *Staging {
	return &Staging{FS: p.FS, Dir: p.Name(name), out: p.Out}
}

// SortDir returns the directory for sorting.
func (s *Staging) SortDir() string { return dfs.Join(s.Dir, SortName) }

// NotFound returns the file for the users that were not found. Their IDs are sorted in so many
// bytes of memory.
func (s *Staging) NotFound(memory int64) *notfound.File {
	return &notfound.File{FS: s.FS, Dir: s.Dir, Sort: s.SortDir(), Memory: memory, Step: moveAway}
}

// moveAway is the next step after the error of something else in the place of a file or directory of a Staging.
const moveAway = "move it away, then type the same command again"

// begin continues where a run with the same query stopped. If another query left files,
// begin removes them.
func (s *Staging) begin(ctx context.Context, id any) error {
	want, err := manifest.Seal(id)
	if err != nil {
		return err
	}
	have, err := dfs.ReadFile(ctx, s.FS, dfs.Join(s.Dir, QueryName))
	switch {
	case err != nil && !errors.Is(err, iofs.ErrNotExist):
		return s.inPlace(err)
	case string(have) != string(want):
		return s.inPlace(s.restart(ctx, want))
	}
	if err := s.FS.Sweep(ctx, s.Dir); err != nil {
		return err
	}
	list, err := s.FS.List(ctx, s.Dir)
	if err != nil {
		return err
	}
	return s.resume(ctx, list)
}

// inPlace explains the error of something else in the place of the directory, or of a file in it. A link to nothing in the place
// of the directory is such an error only when a file is written.
func (s *Staging) inPlace(err error) error {
	if errors.Is(err, dfs.ErrNotDir) {
		return fmt.Errorf("%s: %w: %s", s.Dir, dfs.ErrNotDir, moveAway)
	}
	return dfs.InPlace(err, moveAway)
}

// restart writes the query into an empty directory.
func (s *Staging) restart(ctx context.Context, query []byte) error {
	name := dfs.Join(s.Dir, QueryName)
	if _, err := s.FS.Stat(ctx, s.Dir); errors.Is(err, iofs.ErrNotExist) {
		return dfs.WriteScratch(ctx, s.FS, name, query)
	}
	var err error
	if s.Replaced, err = wipe(ctx, s.FS, s.Dir); err != nil {
		return err
	}
	return dfs.WriteFile(ctx, s.FS, name, query) // after a power cut, no removed file may be next to this query
}

// resume takes the parts that are complete with all parts before them, and whose files are
// still as they were written. It removes the other parts.
func (s *Staging) resume(ctx context.Context, list []dfs.Info) error {
	list, err := Deeper(ctx, s.FS, list)
	if err != nil {
		return err
	}
	have := map[string]bool{}
	for _, f := range list {
		have[f.Name] = true
	}
	count := 0
	for ; have[dfs.Join(s.Dir, DoneName(count))]; count++ {
		r, err := s.finishedPart(ctx, count)
		if err != nil {
			return err
		}
		if r == nil {
			break
		}
		s.Add(*r)
	}
	for _, f := range list {
		base := dfs.Base(f.Name)
		var n int
		_, err := fmt.Sscanf(strings.TrimPrefix(strings.TrimPrefix(base, donePrefix), "part-"), "%05d", &n)
		if err == nil && n >= count || base == ManifestName || base == SuccessName {
			if err := s.FS.Remove(ctx, f.Name); err != nil {
				return err
			}
		}
	}
	return nil
}

// finishedPart reads the record of part n. It returns nil if the record or a file of the part is
// not as it was written.
func (s *Staging) finishedPart(ctx context.Context, n int) (*output.Record, error) {
	b, err := dfs.ReadFile(ctx, s.FS, dfs.Join(s.Dir, DoneName(n)))
	if errors.Is(dfs.Lost(err), iofs.ErrNotExist) || errors.Is(err, dfs.ErrSpecial) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	r := new(output.Record)
	if err := manifest.Unseal(b, r); err != nil || r.Number != n {
		return nil, nil //nolint:nilerr // the part is made again
	}
	for _, f := range r.Files {
		err := dfs.CheckFile(ctx, s.FS, dfs.Join(s.Dir, f.Name), f.Size, f.Sum)
		if errors.Is(err, dfs.ErrDamaged) {
			return nil, nil
		}
		if err != nil {
			return nil, dfs.InPlace(err, moveAway)
		}
	}
	return r, nil
}

// Deeper returns list with the contents of the directories on it.
func Deeper(ctx context.Context, fs dfs.FS, list []dfs.Info) ([]dfs.Info, error) {
	var out []dfs.Info
	for _, f := range list {
		if !f.Dir {
			out = append(out, f)
			continue
		}
		below, err := fs.List(ctx, f.Name)
		if err != nil {
			return nil, err
		}
		out = append(out, below...)
	}
	return out, nil
}

// Create implements output.Sink.
func (s *Staging) Create(ctx context.Context, name string) (dfs.Pending, error) {
	f, err := s.FS.Create(ctx, dfs.Join(s.Dir, name))
	return f, dfs.InPlace(err, moveAway)
}

// Done implements output.Sink.
func (s *Staging) Done(ctx context.Context, r output.Record) error {
	b, err := manifest.Seal(r)
	if err != nil {
		return err
	}
	if err := dfs.WriteScratch(ctx, s.FS, dfs.Join(s.Dir, DoneName(r.Number)), b); err != nil {
		return dfs.InPlace(err, moveAway)
	}
	s.Add(r)
	return nil
}

// Publish completes the result, and renames it to OUT or appends it.
func (s *Staging) Publish(ctx context.Context, m *manifest.Extract, overwrite bool) error {
	if s.base != nil {
		return s.Append(ctx, s.base, m)
	}
	if err := s.Finish(ctx, m); err != nil {
		return err
	}
	for n := range s.All() {
		if err := s.FS.Remove(ctx, dfs.Join(s.Dir, DoneName(n))); err != nil {
			return fmt.Errorf("publish: %w", err)
		}
	}
	if err := s.FS.Remove(ctx, dfs.Join(s.Dir, QueryName)); err != nil {
		return fmt.Errorf("publish: %w", err)
	}
	return s.Rename(ctx, overwrite)
}

// Finish writes the manifest, and then the file _SUCCESS, which marks the result as complete.
func (s *Staging) Finish(ctx context.Context, m *manifest.Extract) error {
	if err := manifest.Write(ctx, s.FS, dfs.Join(s.Dir, ManifestName), m); err != nil {
		return fmt.Errorf("publish: %w", err)
	}
	if err := dfs.WriteFile(ctx, s.FS, dfs.Join(s.Dir, SuccessName), nil); err != nil {
		return fmt.Errorf("publish: %w", err)
	}
	return nil
}

// Rename renames the finished directory to OUT.
func (s *Staging) Rename(ctx context.Context, overwrite bool) error {
	breakpoint.Reach(breakpoint.Publish)
	if overwrite {
		if err := s.replace(ctx); err != nil {
			return err
		}
	} else if err := s.FS.Publish(ctx, s.Dir, s.out); err != nil {
		return fmt.Errorf("publish: %w", err)
	}
	breakpoint.Reach(breakpoint.Published)
	return nil
}

// replace moves an older result aside, and removes it when the new one has been published.
// If publishing fails, replace moves the older result back. It also moves back a directory
// that is not a result: OUT may have changed since it was checked.
func (s *Staging) replace(ctx context.Context) error {
	p := At(s.FS, s.out)
	if err := p.checkOld(ctx); err != nil {
		return fmt.Errorf("publish: %w", err)
	}
	old := manifest.Aside(s.out)
	if err := removeBut(ctx, s.FS, old, ManifestName); err != nil {
		return fmt.Errorf("publish: %w", err)
	}
	err := s.FS.Publish(ctx, s.out, old)
	switch {
	case err == nil:
		err = replaceable(ctx, s.FS, old)
	case errors.Is(err, iofs.ErrNotExist):
		err = nil
	}
	if err == nil {
		breakpoint.Reach(breakpoint.Aside)
		err = s.FS.Publish(ctx, s.Dir, s.out)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("publish: %w", err), s.putBack(context.WithoutCancel(ctx), old))
	}
	return removeBut(ctx, s.FS, old, ManifestName)
}

// removeBut removes a directory. It removes the file called last after all others. If the
// process dies in between, the file still identifies the rest.
func removeBut(ctx context.Context, fs dfs.FS, dir, last string) error {
	list, err := fs.List(ctx, dir)
	if err != nil && !errors.Is(err, iofs.ErrNotExist) {
		return err
	}
	for _, f := range list {
		if dfs.Base(f.Name) == last {
			continue
		}
		if err := fs.Remove(ctx, f.Name); err != nil {
			return err
		}
	}
	return fs.Remove(ctx, dir)
}

// putBack renames the result that was moved aside back to OUT. It does nothing if the result was
// not moved, or if the new one has the name.
func (s *Staging) putBack(ctx context.Context, old string) error {
	err := s.FS.Publish(ctx, old, s.out)
	if errors.Is(err, iofs.ErrNotExist) || errors.Is(err, iofs.ErrExist) {
		return nil
	}
	return err
}

// Close releases the lock.
func (s *Staging) Close() {
	if s.held != nil {
		s.held.Drop()
		s.held = nil
	}
}

// DoneName returns the name of the record of part n.
func DoneName(n int) string { return fmt.Sprintf("%s%05d.json", donePrefix, n) }
