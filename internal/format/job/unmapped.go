package job

import (
	"cmp"
	"context"
	"encoding/json"
	"path"
	"slices"
	"strings"

	"usertrail/internal/format/manifest"
	"usertrail/internal/store/dfs"
)

const (
	// moreFolders is the largest number of folders that Found.Unmapped lists.
	moreFolders = 100
	// mostTexts is the largest number of texts that an UnmappedFiles counts.
	mostTexts = 1024
	// shownTexts is the largest number of texts that a last line has.
	shownTexts = 10
)

// An UnmappedText counts the files in whose path a text is in the place of {behaviour}.
type UnmappedText struct {
	Text    string `json:"text"`
	Files   int    `json:"files"`
	Example string `json:"example"` // the path of the first file, below the root
}

// UnmappedFiles counts files of the requested days that match a path except for the text of {behaviour}: it names no behaviour of
// the job. If there are more than mostTexts texts, it counts the first of them.
//
// The zero value is empty. Its JSON is the list of the commonest texts.
type UnmappedFiles struct {
	texts map[string]*UnmappedText
	// More is set if folders were not listed because there are too many. They may have more such files.
	More bool
}

// Files returns the number of files.
func (u *UnmappedFiles) Files() int {
	n := 0
	for _, t := range u.texts {
		n += t.Files
	}
	return n
}

// List returns at most n texts, the commonest first.
func (u *UnmappedFiles) List(n int) []UnmappedText {
	var out []UnmappedText
	for _, t := range u.texts {
		out = append(out, *t)
	}
	slices.SortFunc(out, func(a, b UnmappedText) int { return cmp.Or(cmp.Compare(b.Files, a.Files), cmp.Compare(a.Text, b.Text)) })
	return out[:min(len(out), n)]
}

// Texts returns the number of texts.
func (u *UnmappedFiles) Texts() int { return len(u.texts) }

// Merge adds the files of other days. If the path has no date, the files are the same on every day.
func (u *UnmappedFiles) Merge(o *UnmappedFiles) {
	for _, t := range o.texts {
		if had, ok := u.texts[t.Text]; ok && had.Example == t.Example {
			had.Files = max(had.Files, t.Files)
			continue
		}
		u.add(*t)
	}
	u.More = u.More || o.More
}

func (u *UnmappedFiles) add(t UnmappedText) {
	had, ok := u.texts[t.Text]
	switch {
	case ok:
		had.Files += t.Files
		had.Example = min(had.Example, t.Example)
	case len(u.texts) < mostTexts:
		if u.texts == nil {
			u.texts = map[string]*UnmappedText{}
		}
		u.texts[t.Text] = &t
	}
}

// IsZero reports whether u has no file.
func (u UnmappedFiles) IsZero() bool { return len(u.texts) == 0 }

// MarshalJSON writes the commonest texts.
func (u UnmappedFiles) MarshalJSON() ([]byte, error) { return json.Marshal(u.List(shownTexts)) }

// UnmarshalJSON reads a list of texts.
func (u *UnmappedFiles) UnmarshalJSON(b []byte) error {
	var list []UnmappedText
	if err := json.Unmarshal(b, &list); err != nil {
		return err
	}
	*u = UnmappedFiles{}
	for _, t := range list {
		u.add(t)
	}
	return nil
}

// Unmapped returns the files that match a path of the job except for the text of {behaviour}. It lists at most moreFolders folders,
// which Find has found and not listed. It skips folders that it cannot list, because no requested file is in them.
func (f *Found) Unmapped(ctx context.Context) (UnmappedFiles, error) {
	if f.other == nil {
		return UnmappedFiles{}, nil
	}
	err := f.other.list(ctx)
	return f.other.files, err
}

// others collects the files and folders that match a glob except for the text of {behaviour}.
type others struct {
	job    *Job
	finder *finder
	files  UnmappedFiles
	todo   []otherFolder
	listed int             // folders of todo
	seen   map[string]bool // files, if the job has several paths
}

// An otherFolder is a folder that may have such files.
type otherFolder struct {
	glob     *glob
	dir, rel string
	depth    int
	at       place
	text     string // of {behaviour}; "" if the path so far has none
}

// newOthers returns the others of a finder of a job.
func newOthers(j *Job, f *finder) *others {
	o := &others{job: j, finder: f}
	if len(j.Pattern.globs) > 1 {
		o.seen = map[string]bool{}
	}
	return o
}

// list lists the folders in the order in which they were found, so that no text gets all of the folders that are listed.
func (o *others) list(ctx context.Context) error {
	for ; o.listed < len(o.todo); o.listed++ {
		d := o.todo[o.listed]
		s := &d.glob.segments[d.depth]
		infos, err := o.finder.look(ctx, d.dir, s)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil || len(infos) == 0 {
			continue
		}
		if out, err := o.finder.leavesOut(ctx, d.dir, d.rel, s, infos); out || err != nil {
			continue
		}
		for _, info := range infos {
			o.add(info, d)
		}
	}
	return nil
}

// add adds a file or folder of d whose name matches except for the text of {behaviour}.
func (o *others) add(info dfs.Info, d otherFolder) {
	s := &d.glob.segments[d.depth]
	last := d.depth == len(d.glob.segments)-1
	if info.Lost || info.Special || info.Dir == last {
		return
	}
	name := dfs.Base(info.Name)
	next, text, ok := s.matchOther(name, d.at, d.text, o.job.Pattern.paths)
	if !ok {
		return
	}
	if _, ok := next.within(o.finder.span); !ok {
		return
	}
	below, rel := join(d.dir, name), path.Join(d.rel, name)
	if !last {
		if o.files.More = o.files.More || len(o.todo) == moreFolders; !o.files.More {
			o.todo = append(o.todo, otherFolder{d.glob, below, rel, d.depth + 1, next, text})
		}
		return
	}
	if _, _, ok := o.job.Pattern.Match(below); ok || text == "" || o.seen[below] {
		return
	}
	if o.seen != nil {
		o.seen[below] = true
	}
	if m := o.job.Marker; m != nil {
		if _, _, ok := m.pattern.Match(below); ok {
			return
		}
	}
	o.files.add(UnmappedText{string(manifest.ClipText([]byte(text))), 1, strings.ToValidUTF8(rel, "\uFFFD")})
}

// matchOther is match for names whose text of {behaviour} names no behaviour. text is the text in the path so far, or "". It returns
// the text in the path with name.
func (s *segment) matchOther(name string, at place, text string, paths []string) (place, string, bool) {
	if s.any == nil {
		next, ok := s.match(name, at, paths)
		return next, text, ok
	}
	first := s.pieces[0].kind
	if s.hides(name) || first == behaviourName && (strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_")) {
		return at, "", false
	}
	groups := s.any.FindStringSubmatch(name)
	if groups == nil {
		return at, "", false
	}
	for i, t := range s.placeholders() {
		found := groups[i+1]
		if t != behaviourName {
			if !agree(at.part(t), number(found, t), t) {
				return at, "", false
			}
			continue
		}
		if at.kind >= 0 && found == paths[at.kind] {
			continue
		}
		if slices.Contains(paths, found) || text != "" && found != text {
			return at, "", false
		}
		text = found
	}
	return at, text, at.real()
}
