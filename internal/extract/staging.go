package extract

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	iofs "io/fs"
	"slices"
	"strings"
	"sync"

	"usertrail/internal/extract/userlist"
	"usertrail/internal/format/manifest"
	"usertrail/internal/run/breakpoint"
	"usertrail/internal/store/dfs"
	"usertrail/internal/table"
)

// Names in a staging directory. Spark and Hive pass over names that begin with
// an underscore.
const (
	questionName = "_question.json"
	donePrefix   = "_done-"
	ManifestName = "_manifest.json"
	SuccessName  = "_SUCCESS"
)

// A staging is where an answer grows: a hidden directory beside OUT.
//
//	.OUT.lock                       held while an extract runs; it stays where
//	                                the process was killed
//	.OUT.partial/_question.json     what is being answered
//	.OUT.partial/part-00000.parquet
//	.OUT.partial/_done-00000.json   the part is whole, and this is in it
//
// In an answer that is partitioned the files of a part lie one directory deeper:
//
//	.OUT.partial/date=2014-09-01/part-00000.parquet
type staging struct {
	finished
	fs    dfs.FS
	dir   string
	to    string
	held  dfs.Lock
	piece bool // it holds a piece of an answer
}

// finished are the parts that are.
type finished struct {
	mu    sync.Mutex
	parts []partRecord // by number once the answer is whole
}

// A partRecord says that a part is finished.
type partRecord struct {
	Files  []manifest.TrailPart `json:"files"`
	Number int                  `json:"number"`
	Users  int64                `json:"users"`
	Events int64                `json:"events"`
	Last   manifest.Key         `json:"last"`            // key up to which users are in it, or were read and do not come out
	Counts counts               `json:"counts"`          // of all users that were read, up to that one
	Found  []byte               `json:"found,omitempty"` // by their rows, since the part before
}

// asked is everything that decides an answer's bytes.
type asked struct {
	manifest.Question
	Table   string `json:"table"`
	Version string `json:"table_version"`
	Plan    string `json:"plan,omitempty"` // by which it is cut into pieces
	// Unrolled means that the rolls are not used. Rows that another program put into HBase
	// without rolls are then in the result; with the rolls they are not.
	Unrolled bool `json:"unrolled,omitempty"`
}

// asks is what q asks of its table.
func (q *question) asks() asked {
	return asked{Question: q.manifest(), Table: q.info.Address, Version: q.info.Version, Unrolled: table.IsUnrolled(q.table)}
}

// openStaging takes the lock, and what an earlier run of the same question has
// finished. It looks at OUT once it has the lock: the run that held the lock may have made
// it.
func openStaging(ctx context.Context, c *Config, q *question, plan string) (*staging, error) {
	p := placeOf(c.FS, c.Out)
	lock, err := p.lock(ctx)
	if err != nil {
		return nil, err
	}
	s := &staging{fs: c.FS, to: p.out, dir: p.dir, held: lock}
	if err := CheckOut(ctx, c); err != nil {
		s.close()
		return nil, err
	}
	a := q.asks()
	a.Plan = plan
	if err := s.begin(ctx, p, a); err != nil {
		s.close()
		return nil, fmt.Errorf("begin --out %s: %w", c.Out, err)
	}
	return s, nil
}

// begin continues where a run with the same query stopped. If another query left files,
// begin removes them.
func (s *staging) begin(ctx context.Context, p *place, question any) error {
	want, err := manifest.Seal(question)
	if err != nil {
		return err
	}
	have, err := dfs.ReadFile(ctx, s.fs, dfs.Join(s.dir, questionName))
	switch {
	case err != nil && !errors.Is(err, iofs.ErrNotExist):
		return err
	case string(have) != string(want):
		if err := p.wipe(ctx); err != nil {
			return err
		}
		return dfs.WriteFile(ctx, s.fs, dfs.Join(s.dir, questionName), want)
	}
	if err := s.fs.Sweep(ctx, s.dir); err != nil {
		return err
	}
	list, err := s.fs.List(ctx, s.dir)
	if err != nil {
		return err
	}
	return s.resume(ctx, list)
}

// resume takes the parts that are finished with all before them, and whose files still
// are as they were written. It removes the rest.
func (s *staging) resume(ctx context.Context, list []dfs.Info) error {
	list, err := deeper(ctx, s.fs, list)
	if err != nil {
		return err
	}
	have := map[string]bool{}
	for _, f := range list {
		have[f.Name] = true
	}
	for n := 0; have[dfs.Join(s.dir, doneName(n))]; n++ {
		r, err := s.finishedPart(ctx, n)
		if err != nil {
			return err
		}
		if r == nil {
			break
		}
		s.parts = append(s.parts, *r)
	}
	for _, f := range list {
		base := dfs.Base(f.Name)
		var n int
		_, err := fmt.Sscanf(strings.TrimPrefix(strings.TrimPrefix(base, donePrefix), "part-"), "%05d", &n)
		if err == nil && n >= len(s.parts) || base == ManifestName || base == SuccessName {
			if err := s.fs.Remove(ctx, f.Name); err != nil {
				return err
			}
		}
	}
	return nil
}

// finishedPart reads the record of part n; nil if it, or a file of the part, is not as it
// was written.
func (s *staging) finishedPart(ctx context.Context, n int) (*partRecord, error) {
	b, err := dfs.ReadFile(ctx, s.fs, dfs.Join(s.dir, doneName(n)))
	if err != nil {
		return nil, err
	}
	r := new(partRecord)
	if err := manifest.Unseal(b, r); err != nil || r.Number != n {
		return nil, nil //nolint:nilerr // the part is made again
	}
	for _, f := range r.Files {
		err := dfs.CheckFile(ctx, s.fs, dfs.Join(s.dir, f.Name), f.Size, f.Sum)
		if errors.Is(err, dfs.ErrDamaged) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
	}
	return r, nil
}

// deeper returns list with the contents of the directories on it.
func deeper(ctx context.Context, fs dfs.FS, list []dfs.Info) ([]dfs.Info, error) {
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

func (s *staging) writers(workers int) int { return workers }

func (s *staging) whole() bool { return !s.piece }

// last is the last part that is finished with all before it.
func (f *finished) last() partRecord {
	if len(f.parts) == 0 {
		return partRecord{}
	}
	return f.parts[len(f.parts)-1]
}

func (f *finished) count() int { return len(f.parts) }

// add may be called by many goroutines.
func (f *finished) add(r partRecord) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.parts = append(f.parts, r)
}

func (s *staging) create(ctx context.Context, name string) (dfs.Pending, error) {
	return s.fs.Create(ctx, dfs.Join(s.dir, name))
}

// done records that a part is whole. It may be called by many goroutines.
func (s *staging) done(ctx context.Context, r partRecord) error {
	b, err := manifest.Seal(r)
	if err != nil {
		return err
	}
	if err := dfs.WriteFile(ctx, s.fs, dfs.Join(s.dir, doneName(r.Number)), b); err != nil {
		return err
	}
	s.add(r)
	return nil
}

// all are the parts in order.
func (f *finished) all() []partRecord {
	slices.SortFunc(f.parts, func(a, b partRecord) int { return cmp.Compare(a.Number, b.Number) })
	return f.parts
}

// sketch is what an answer is as far as the question tells: all but its counts and
// its parts.
func (q *question) sketch() *manifest.Extract {
	return &manifest.Extract{
		Version: manifest.Version, Table: q.info.Address, Zone: q.info.Schema.Zone, Question: q.manifest(),
		TableVersion: q.info.Version, Unrolled: table.IsUnrolled(q.table),
		Columns: q.allColumns(), Fields: q.columns(), Users: int64(q.users.Len()), Sequence: q.funnel(),
	}
}

// fill makes a sketch the answer that has some parts.
func fill(m *manifest.Extract, c *counts, parts []partRecord) {
	m.Found, m.Active = c.Found, c.Active
	if m.Question.Users == userlist.Everyone {
		m.Users = c.Found
	}
	c.reach(len(m.Sequence))
	for i := range m.Sequence {
		m.Sequence[i].Users = c.Steps[i]
	}
	for _, p := range parts {
		m.Kept += p.Users
		m.Events += p.Events
		m.Parts = append(m.Parts, p.Files...)
	}
}

// lost writes the users of a list who were not found.
func (s *staging) lost(ctx context.Context, q *question) (missed, error) {
	return q.search.write(ctx, s.fs, s.dir, q.info.Layout)
}

// publish ends the answer and gives it its name.
func (s *staging) publish(ctx context.Context, m *manifest.Extract, overwrite bool) error {
	if err := s.finish(ctx, m); err != nil {
		return err
	}
	for n := range s.parts {
		if err := s.fs.Remove(ctx, dfs.Join(s.dir, doneName(n))); err != nil {
			return fmt.Errorf("publish: %w", err)
		}
	}
	if err := s.fs.Remove(ctx, dfs.Join(s.dir, questionName)); err != nil {
		return fmt.Errorf("publish: %w", err)
	}
	return s.rename(ctx, overwrite)
}

// finish writes what tells that the answer is whole.
func (s *staging) finish(ctx context.Context, m *manifest.Extract) error {
	if err := manifest.Write(ctx, s.fs, dfs.Join(s.dir, ManifestName), m); err != nil {
		return fmt.Errorf("publish: %w", err)
	}
	if err := dfs.WriteFile(ctx, s.fs, dfs.Join(s.dir, SuccessName), nil); err != nil {
		return fmt.Errorf("publish: %w", err)
	}
	return nil
}

// rename gives the answer its name.
func (s *staging) rename(ctx context.Context, overwrite bool) error {
	breakpoint.Reach(breakpoint.Publish)
	if overwrite {
		if err := s.replace(ctx); err != nil {
			return err
		}
	} else if err := s.fs.Publish(ctx, s.dir, s.to); err != nil {
		return fmt.Errorf("publish: %w", err)
	}
	breakpoint.Reach(breakpoint.Published)
	return nil
}

// replace moves an older result aside, and removes it when the new one has been published.
// If publishing fails, replace moves the older result back. It also moves back a directory
// that is not a result: OUT may have changed since it was checked.
func (s *staging) replace(ctx context.Context) error {
	p := placeOf(s.fs, s.to)
	if err := p.checkOld(ctx); err != nil {
		return fmt.Errorf("publish: %w", err)
	}
	old := beside(s.to, oldEnding)
	if err := removeBut(ctx, s.fs, old, ManifestName); err != nil {
		return fmt.Errorf("publish: %w", err)
	}
	err := s.fs.Publish(ctx, s.to, old)
	switch {
	case err == nil:
		err = replaceable(ctx, s.fs, old)
	case errors.Is(err, iofs.ErrNotExist):
		err = nil
	}
	if err == nil {
		err = s.fs.Publish(ctx, s.dir, s.to)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("publish: %w", err), s.putBack(context.WithoutCancel(ctx), old))
	}
	return removeBut(ctx, s.fs, old, ManifestName)
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

// putBack gives the answer that was moved aside its name again, unless it was not
// moved, or the new one came after all.
func (s *staging) putBack(ctx context.Context, old string) error {
	err := s.fs.Publish(ctx, old, s.to)
	if errors.Is(err, iofs.ErrNotExist) || errors.Is(err, iofs.ErrExist) {
		return nil
	}
	return err
}

// close lets go of the lock.
func (s *staging) close() {
	if s.held != nil {
		s.held.Drop()
		s.held = nil
	}
}

// beside is a hidden name beside a directory.
func beside(dir, ending string) string { return dfs.Join(dfs.Dir(dir), "."+dfs.Base(dir)+ending) }

func doneName(n int) string { return fmt.Sprintf("%s%05d.json", donePrefix, n) }
