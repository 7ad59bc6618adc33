package delivered

import (
	"context"
	"fmt"
	"slices"

	"usertrail/internal/behaviour"
	"usertrail/internal/bulkload"
	"usertrail/internal/format/job"
	"usertrail/internal/format/manifest"
	"usertrail/internal/store/dfs"
)

// A Search finds the delivered files of some days and behaviours.
type Search struct {
	FS    dfs.FS
	Job   *job.Job
	Span  behaviour.Span
	Kinds []int             // requested behaviours of the job, in order of behaviour ID
	names []string          // of Kinds; all parts share it, because a load may have many files
	texts map[string]string // Texts of a Part of a file whose column names the behaviours
	// Unsettled, if not nil, returns the files that may still be written, with the reason, by
	// Path.
	Unsettled func(files []job.Input) (map[string]error, error)
}

// NewSearch returns a search for files of a span. types names the requested behaviours; if it is empty,
// all behaviours of the job are requested. It returns ErrRequest if the span is empty or the job has no
// such behaviour.
func NewSearch(fs dfs.FS, j *job.Job, span behaviour.Span, types []string) (*Search, error) {
	if span.From > span.To {
		return nil, fmt.Errorf("%w: --from %s comes after --to %s", bulkload.ErrRequest, span.From, span.To)
	}
	kinds, err := j.Schema.Select(types)
	if err != nil {
		return nil, fmt.Errorf("%w: --types: the job has %w", bulkload.ErrRequest, err)
	}
	names := make([]string, len(kinds))
	for i, k := range kinds {
		names[i] = j.Schema.Kinds[k].Name
	}
	return &Search{FS: fs, Job: j, Span: span, Kinds: kinds, names: names, texts: textsOf(j, kinds)}, nil
}

// textsOf returns the behaviours that the texts of a column name, except the own names of kinds.
func textsOf(j *job.Job, kinds []int) map[string]string {
	out := map[string]string{}
	for text, k := range j.Format.KindOf {
		if name := j.Schema.Kinds[k].Name; name != text || !slices.Contains(kinds, k) {
			out[text] = name
		}
	}
	return out
}

// A Found lists the files that a Search found.
type Found struct {
	job.Found
	Refused   []Refused
	unsettled map[string]error // by Path: why a file may still be written
}

// A Refused is a file or folder that was found and cannot be read.
type Refused struct {
	Path  string
	Rel   string         // the path below the root, as text
	Err   error          // has the path and the next step
	Dates behaviour.Span // the requested days that its path may name
}

// RefusedOf returns the files with names that are not UTF-8, and the folders that are links to nothing. root is the folder of the
// job's pattern.
func RefusedOf(found *job.Found, root string) []Refused {
	var out []Refused
	for _, u := range found.NotUTF8 {
		name := fmt.Sprintf("%q", root+"/"+u.Rel)
		out = append(out, Refused{name, fmt.Sprintf("%q", u.Rel), fmt.Errorf("%w: %s: the name of a delivered file must be UTF-8, since the table remembers it: rename the file", bulkload.ErrRequest, name), u.Dates})
	}
	for _, u := range found.Lost {
		name := dfs.Join(root, u.Rel)
		out = append(out, Refused{name, u.Rel, fmt.Errorf("%s: it is in the place of a folder of logs, and is a link to nothing or to itself: mount the disk to which the link leads, or remove the link; then load again", name), u.Dates})
	}
	return out
}

// Find lists the requested files. If a required file is missing, it returns an error and the files. If
// it cannot list the files, it returns an error and nil.
func (s *Search) Find(ctx context.Context) (*Found, error) {
	list, err := s.Job.Find(ctx, s.FS, s.Span, s.Kinds)
	if err != nil {
		return nil, err
	}
	found := &Found{Found: list, Refused: RefusedOf(&list, s.Job.Pattern.Root)}
	return found, s.Job.CheckRequired(list.Missing, s.Kinds)
}

// Part returns the requested part of a file. It returns nil for the whole file if the file's path has
// its date and behaviour.
func (s *Search) Part(f job.Input) *manifest.Part {
	if f.Date != nil && f.Kind >= 0 {
		return nil
	}
	p := new(manifest.Part)
	if f.Date == nil {
		span := s.Span
		p.Span = &span
	}
	if i := slices.Index(s.Kinds, f.Kind); i >= 0 {
		p.Behaviours = s.names[i : i+1 : i+1]
	}
	if f.Kind < 0 {
		p.Behaviours, p.Texts, p.Other = s.names, s.texts, s.Job.Other()
	}
	return p
}
