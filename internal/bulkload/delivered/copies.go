package delivered

import (
	"usertrail/internal/format/job"
	"usertrail/internal/format/manifest"
)

// WithCopies returns files, and each loaded file of the job that is not among them and of which a loaded file among them is a copy. Such
// a file has the name of its load and the path of the copy. Someone may have renamed the file after the load.
func (s *Search) WithCopies(loads []*manifest.Load, files []job.Input) []job.Input {
	type content struct{ sha256, behaviour string }
	byName, copies := map[string]*job.Input{}, map[content]*job.Input{}
	for i := range files {
		byName[files[i].Rel] = &files[i]
	}
	for _, of := range loads {
		for i := range of.Inputs {
			if in := &of.Inputs[i]; byName[in.Path] != nil {
				copies[content{in.SHA256, in.Behaviour}] = byName[in.Path]
			}
		}
	}
	out := files
	for _, of := range loads {
		for i := range of.Inputs {
			name, copied := of.Inputs[i].Path, copies[content{of.Inputs[i].SHA256, of.Inputs[i].Behaviour}]
			if copied == nil || byName[name] != nil {
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
