package delivered

import (
	"usertrail/internal/format/job"
	"usertrail/internal/format/manifest"
)

// WithCopies returns files, and each loaded file of the job that is not among them and of which a later load found a copy among them. Such
// a file has the name of its load and the path of the copy. Someone may have renamed the file after the load.
func (s *Search) WithCopies(loads []*manifest.Load, files []job.Input) []job.Input {
	byName := map[string]*job.Input{}
	for i := range files {
		byName[files[i].Rel] = &files[i]
	}
	out := files
	for _, of := range loads {
		for i := range of.Inputs {
			name, copied := of.Inputs[i].SameAs, byName[of.Inputs[i].Path]
			if name == "" || copied == nil || byName[name] != nil {
				continue
			}
			in := *copied
			in.Rel = name
			var ok bool
			if in.Date, in.Kind, ok = s.Job.Pattern.Match(s.Job.Pattern.Root + "/" + name); !ok || in.Date != nil && !s.Span.Has(*in.Date) {
				continue
			}
			byName[name] = &in
			out = append(out[:len(out):len(out)], in)
		}
	}
	return out
}
