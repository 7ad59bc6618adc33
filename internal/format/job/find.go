package job

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"syscall"
	"time"
	"unicode/utf8"

	"usertrail/internal/behaviour"
	"usertrail/internal/format/manifest"
	"usertrail/internal/format/record"
	"usertrail/internal/store/dfs"
)

// An Input is a delivered file.
type Input struct {
	Path     string // the name for opening the file
	Rel      string // the path below the pattern's root, with slashes
	Date     *behaviour.Date
	Kind     int // -1 if a column names it
	Size     int64
	Modified time.Time
	Lost     bool // it is a link that leads nowhere
}

// File returns the description of in for the record reader.
func (in Input) File() record.File {
	return record.File{Path: in.Path, Date: in.Date, Kind: in.Kind}
}

// A Missing is a day without a file for a behaviour, or without any file if a column names the
// behaviours.
type Missing struct {
	Date behaviour.Date
	Kind int    // -1 if a column names the behaviours
	Path string // the expected path, with wildcards
}

// A Found is the result of Find.
type Found struct {
	Inputs  []Input   // in order of Rel, each file once
	Missing []Missing // in order of date and kind
	// NotUTF8 are files that cannot be loaded because their path is not valid UTF-8. A table stores the path of a delivered file as text.
	NotUTF8 []Unusable
	// Written are folders, below the root, that are left out because they are tables or results of extract. A wildcard or
	// placeholder matches each of them, or a folder above it.
	Written []string
	// Lost are links in the places of folders that may have requested files. They lead to nothing, or to themselves.
	Lost []Unusable

	other *others
}

// An Unusable is a file or folder that cannot be loaded.
type Unusable struct {
	Rel   string         // the path below the root
	Dates behaviour.Span // the requested days that its path may name
}

// Find lists the files of the requested days and kinds. If kinds is empty, it lists all kinds.
// If paths have no date, it lists all files. If the folder before the first placeholder or
// wildcard does not exist or is a link that leads nowhere, the error wraps ErrNoInput. Other folders and files may be missing.
//
// Find lists each folder once, and only folders that can hold requested files. A wildcard or
// placeholder at the beginning of a name does not match names that begin with . or _, and files
// that are still being copied are skipped. Find also skips folders that are tables or results of extract, because their files may
// look like logs. It does not skip them if the path names them and has no wildcard or placeholder before them. Find reports
// Missing only if every path has the date.
func (j *Job) Find(ctx context.Context, files dfs.FS, span behaviour.Span, kinds []int) (Found, error) {
	f := finder{files: files, span: span, wanted: make([]bool, len(j.Schema.Kinds)), seen: map[string]bool{}, written: map[string]bool{}}
	for i := range f.wanted {
		f.wanted[i] = len(kinds) == 0 || slices.Contains(kinds, i)
	}
	f.other = newOthers(j, &f)
	f.globs, f.paths = j.Pattern.globs, j.Pattern.paths
	for i := range f.globs {
		f.glob = &f.globs[i]
		if _, err := files.Stat(ctx, f.glob.base); err != nil {
			if nowhere(err) {
				return Found{}, fmt.Errorf("job: %w: the folder of the logs: %v: correct path under logs in the job, or mount the folder", ErrNoInput, err)
			}
			return Found{}, fmt.Errorf("job: find logs: %w", advised(err))
		}
		if err := f.walk(ctx, f.glob.base, f.glob.lead, 0, f.glob.start()); err != nil {
			return Found{}, fmt.Errorf("job: find logs: %w", err)
		}
	}
	slices.SortFunc(f.found.Inputs, func(a, b Input) int { return cmp.Compare(a.Rel, b.Rel) })
	f.found.Missing = j.Pattern.missing(span, f.wanted, f.found.Inputs)
	found := f.found
	found.other, f.found, f.seen = f.other, Found{}, nil // other holds f
	return found, nil
}

// advised adds the next step to err if the user may not list a folder.
func advised(err error) error {
	if errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("%w: run as a user who may list this folder", err)
	}
	return err
}

// start returns the place before any segment of g is matched.
func (g *glob) start() place { return place{kind: g.kind} }

// A finder walks the folders of one glob after the other.
type finder struct {
	files   dfs.FS
	span    behaviour.Span
	wanted  []bool // for each kind
	globs   []glob // nil for markers, which have one
	glob    *glob
	paths   []string
	seen    map[string]bool // paths found
	written map[string]bool // whether a folder is a table or a result of extract; nil for markers, for which no folder is left out
	found   Found
	other   *others // nil for markers
}

// walk scans dir, called rel below the root, for names that match the segment at depth, and
// walks the folders below them.
func (f *finder) walk(ctx context.Context, dir, rel string, depth int, at place) error {
	s := &f.glob.segments[depth]
	last := depth == len(f.glob.segments)-1
	infos, err := f.look(ctx, dir, s)
	if err != nil {
		return advised(err)
	}
	if depth > 0 && len(infos) > 0 {
		if out, err := f.leavesOut(ctx, dir, rel, s, infos); out || err != nil {
			return err
		}
	}
	for _, info := range infos {
		name := dfs.Base(info.Name)
		next, ok := s.match(name, at, f.paths)
		if !ok && f.other != nil && s.any != nil {
			f.other.add(info, otherFolder{f.glob, dir, rel, depth, at, ""})
		}
		if !ok || last && info.Dir || !f.wants(next) {
			continue
		}
		below, relBelow := join(dir, name), path.Join(rel, name)
		switch {
		case last:
			f.add(info, below, relBelow, next)
		case info.Dir:
			if err := f.walk(ctx, below, relBelow, depth+1, next); err != nil {
				return err
			}
		case info.Lost && !slices.ContainsFunc(f.found.Lost, func(u Unusable) bool { return u.Rel == relBelow }):
			f.found.Lost = append(f.found.Lost, f.unusable(relBelow, next))
		}
	}
	return nil
}

// nowhere reports whether err, an error of Stat, means that the name does not exist, or that a link leads nowhere: to nothing, to itself,
// through a file, or to a name that is too long.
func nowhere(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ELOOP) || errors.Is(err, dfs.ErrNotDir) || errors.Is(err, syscall.ENAMETOOLONG)
}

// leadsNowhere reports whether name is a link to nothing, or to itself. err is the error of Stat. If name does not exist,
// leadsNowhere returns false and no error.
func leadsNowhere(ctx context.Context, files dfs.FS, name string, err error) (bool, error) {
	switch {
	case !nowhere(err):
		return false, err
	case errors.Is(err, syscall.ELOOP):
		return true, nil
	case errors.Is(err, fs.ErrNotExist):
		return dfs.IsLink(ctx, files, name)
	}
	infos, fail := files.List(ctx, dfs.Dir(name))
	if fail == nil && slices.ContainsFunc(infos, func(in dfs.Info) bool { return in.Lost && dfs.Base(in.Name) == dfs.Base(name) }) {
		return true, nil
	}
	return false, err
}

// leavesOut reports whether dir, called rel below the root, is a table or a result of extract. look has returned infos for dir and s.
func (f *finder) leavesOut(ctx context.Context, dir, rel string, s *segment, infos []dfs.Info) (bool, error) {
	out, known := f.written[dir]
	if known || f.written == nil {
		return out, nil
	}
	var err error
	if s.expr == nil {
		if infos, err = f.stat(ctx, dir, manifest.ExtractName, manifest.TableName); err != nil {
			return false, err
		}
	}
	if out, err = manifest.Written(ctx, f.files, infos); err != nil {
		return false, err
	}
	f.written[dir] = out
	if out {
		f.found.Written = append(f.found.Written, rel)
	}
	return out, nil
}

// look returns the files in dir that s may match. It returns none if the file or folder does
// not exist. A link that leads nowhere is a file, except a marker.
func (f *finder) look(ctx context.Context, dir string, s *segment) ([]dfs.Info, error) {
	if s.expr == nil {
		name := join(dir, s.name)
		info, err := f.files.Stat(ctx, name)
		if err == nil {
			return []dfs.Info{info}, nil
		}
		lost, err := leadsNowhere(ctx, f.files, name, err)
		if lost && f.written != nil {
			return []dfs.Info{{Name: name, Lost: true}}, nil
		}
		return nil, err
	}
	infos, err := f.files.List(ctx, dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return infos, err
}

// stat returns those files in dir with one of the given names that exist.
func (f *finder) stat(ctx context.Context, dir string, names ...string) ([]dfs.Info, error) {
	var infos []dfs.Info
	for _, name := range names {
		info, err := f.files.Stat(ctx, join(dir, name))
		if nowhere(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		infos = append(infos, info)
	}
	return infos, nil
}

// wants reports whether a file at or below p may be a requested file.
func (f *finder) wants(p place) bool {
	_, ok := p.within(f.span)
	return (p.kind < 0 || f.wanted[p.kind]) && ok
}

// unusable returns the Unusable called rel at a place that f wants.
func (f *finder) unusable(rel string, at place) Unusable {
	dates, _ := at.within(f.span)
	return Unusable{rel, dates}
}

func (f *finder) add(info dfs.Info, name, rel string, at place) {
	g, at := f.first(name, at)
	if f.seen[name] || !f.wants(at) {
		return
	}
	f.seen[name] = true
	if !utf8.ValidString(rel) {
		f.found.NotUTF8 = append(f.found.NotUTF8, f.unusable(rel, at))
		return
	}
	in := g.input(at)
	in.Path, in.Rel, in.Size, in.Modified, in.Lost = name, rel, info.Size, info.Modified, info.Lost
	f.found.Inputs = append(f.found.Inputs, in)
}

// first returns the first glob that matches a file, and the file's place in it. f.glob matches the file at a place. So the date and
// the kind of a file do not depend on the requested days and kinds.
func (f *finder) first(name string, at place) (*glob, place) {
	for i := range f.globs {
		g := &f.globs[i]
		if g == f.glob {
			break
		}
		if p, ok := g.match(name, f.paths); ok {
			return g, p
		}
	}
	return f.glob, at
}

// input returns the Input that the path of a file at p describes.
func (g *glob) input(p place) Input {
	in := Input{Kind: p.kind}
	if g.dated {
		d := p.date()
		in.Date = &d
	}
	return in
}

// namesKind reports whether the path of every file names its kind.
func (p *Pattern) namesKind() bool {
	return !slices.ContainsFunc(p.globs, func(g glob) bool { return !g.kinded && g.kind < 0 })
}

// missing lists the days of span that have no input for a wanted kind, or no input if a column names
// the kinds. It lists none if a path does not have the day.
func (p *Pattern) missing(span behaviour.Span, wanted []bool, inputs []Input) []Missing {
	if !p.Dated() {
		return nil
	}
	if !p.namesKind() {
		return p.missingDays(span, inputs)
	}
	type dayKind struct {
		date behaviour.Date
		kind int
	}
	have := map[dayKind]bool{}
	for _, in := range inputs {
		have[dayKind{*in.Date, in.Kind}] = true
	}
	var out []Missing
	for d := span.From; d <= span.To; d++ {
		for kind, asked := range wanted {
			if asked && !have[dayKind{d, kind}] {
				out = append(out, Missing{d, kind, p.globs[0].at(d, p.paths[kind])})
			}
		}
	}
	return out
}

// missingDays lists the days of span that have no input.
func (p *Pattern) missingDays(span behaviour.Span, inputs []Input) []Missing {
	have := map[behaviour.Date]bool{}
	for _, in := range inputs {
		have[*in.Date] = true
	}
	var out []Missing
	for d := span.From; d <= span.To; d++ {
		if !have[d] {
			out = append(out, Missing{d, -1, p.globs[0].at(d, "")})
		}
	}
	return out
}
