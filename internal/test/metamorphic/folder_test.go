package metamorphic_test

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// A folderReplay is the expected outcome of the replay of a table's folder of quarantine files.
type folderReplay struct {
	paths   []string            // of the delivered files, in the order of their quarantine files
	next    *table              // with the records of the files that are certainly replayed
	loads   int                 // the number of these files
	loaded  int                 // the number of their records
	other   int                 // files of other jobs
	idle    int                 // files that may be replayed, or only counted
	refused int                 // files that are only counted, because none of their records is corrected
	left    bool                // a record certainly stays
	either  bool                // a record may stay
	stays   map[string][]string // by path: see outcome
	unsure  []string            // see outcome
}

// statuses returns the expected statuses.
func (f *folderReplay) statuses() []int {
	switch {
	case f.left:
		return []int{65}
	case f.loads > 0 && (f.either || f.idle > 0):
		return []int{0, 65}
	case f.loads > 0:
		return []int{0}
	case f.idle+f.refused > 0:
		return []int{65}
	}
	return []int{99}
}

// replayFolder returns the outcome of a replay of the files of some paths. It returns nil if an outcome is uncertain.
func (m *model) replayFolder(name string, paths []string) *folderReplay {
	was := m.tables[name]
	defer func() { m.tables[name] = was }()
	f := &folderReplay{paths: paths, next: was, stays: map[string][]string{}}
	for _, path := range paths {
		lines := was.bad[path]
		edited := slices.ContainsFunc(lines, func(l badLine) bool { return l.raw != l.wrote })
		o := m.replay(&Step{Table: name, File: path})
		f.unsure = append(f.unsure, o.unsure...)
		switch {
		case m.Logs == daily && m.job.kind(kindOf(path)) == nil:
			f.other++
			continue
		case len(o.refusals) > 0 || o.next == nil && len(o.statuses) > 1:
			return nil
		case o.next == nil: // the table does not have the delivered file
			f.left = f.left || edited
			if !edited {
				f.refused++
			}
			continue
		case o.idle:
			f.idle++
			continue
		}
		f.loads++
		f.next, m.tables[name] = o.next, o.next
		f.stays[path] = o.stays
		f.left = f.left || slices.Equal(o.statuses, []int{65})
		f.either = f.either || len(o.statuses) > 1
		if o.counts == nil {
			return nil
		}
		f.loaded += o.counts.loaded
	}
	return f
}

// folder replays all quarantine files of a table. The files of jobs that do not have their behaviours are only counted.
func (x *run) folder(s *Step) error {
	t := x.table(s.Table)
	if t == nil || x.inHBase(s.Table) || x.unfit(t, x.layoutFor(s)) != nil {
		return nil
	}
	if err := x.jobFile(s); err != nil {
		return err
	}
	files, err := x.quarantineFiles(s.Table)
	if err != nil {
		return err
	}
	var paths []string
	for path := range files {
		if t.bad[path] == nil || t.bad[path+again] != nil || strings.HasSuffix(path, again) {
			return nil // the model does not know the lines
		}
		paths = append(paths, path)
	}
	slices.SortFunc(paths, func(a, b string) int { return cmp.Compare(files[a], files[b]) })
	want := x.replayFolder(s.Table, paths)
	if want == nil || len(paths) == 0 {
		return nil
	}
	got, err := x.command(s, "bulkload", "", slices.Concat([]string{"replay", x.address(s.Table + "/quarantine")}, quiet)...)
	if err != nil {
		return err
	}
	if err := got.want(want.statuses()); err != nil {
		return fmt.Errorf("replay of a folder: %w", err)
	}
	if got.number("loaded") != want.loaded || got.number("other_jobs") != want.other {
		return fmt.Errorf("replay of a folder: %d records are loaded, and %d files are of other jobs; want %d and %d", got.number("loaded"), got.number("other_jobs"), want.loaded, want.other)
	}
	next := want.next.clone()
	next.loads += max(0, got.number("loads")-want.loads)
	x.tables[s.Table] = next
	var errs []error
	for _, path := range want.unsure {
		errs = append(errs, x.believe(s.Table, path))
	}
	for _, path := range paths {
		errs = append(errs, x.lost(s.Table, path, want.stays[path], got.Status))
	}
	return errors.Join(errs...)
}
