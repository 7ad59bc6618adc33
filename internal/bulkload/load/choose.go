package load

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"usertrail/internal/behaviour"
	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/delivered"
	"usertrail/internal/format/job"
	"usertrail/internal/format/manifest"
)

// choose fits the job to the table, and chooses the files to load and the mode.
func (l *Load) choose(ctx context.Context) error {
	err := l.To.Fit(l.cfg.Job)
	if err != nil {
		return err
	}
	if l.Known, err = l.To.Learn(ctx, &l.cfg.Resources); err != nil {
		return err
	}
	files, err := l.chooseFiles(ctx)
	if err != nil {
		return err
	}
	if l.Result.Unread, err = l.unreadFields(l.found.Inputs, l.To.Info().Dropped); err != nil {
		return err
	}
	if l.Files, err = l.dropGrowing(ctx, files); err != nil {
		return err
	}
	for _, f := range l.Files {
		l.Result.Bytes += f.Size
	}
	if err := l.fits(len(l.Files), func(i int) string { return l.Files[i].Path }); err != nil {
		return err
	}
	l.Result.Choice, err = l.To.SetMode(ctx, l.cfg.Mode, l.Result.Bytes)
	return err
}

// unreadFields is Search.UnreadFields for files, and for loaded files that have another name now.
func (l *Load) unreadFields(files []job.Input, dropped *behaviour.Date) ([]bulkload.UnreadField, error) {
	loads := l.Known.Loads()
	return l.Search.UnreadFields(loads, l.Search.WithCopies(loads, files), dropped)
}

// fits returns an error if a load of n files needs more memory. path returns the path of each.
func (l *Load) fits(n int, path func(i int) string) error {
	var paths int64
	for i := range n {
		paths += int64(len(path(i)))
	}
	return l.cfg.FitFiles(n, paths)
}

// chooseFiles returns the files to load. It leaves out a file that differs from the file that was loaded
// under its name.
func (l *Load) chooseFiles(ctx context.Context) ([]*delivered.File, error) {
	var out []*delivered.File
	var refused []error
	for _, in := range l.found.Inputs {
		f := &delivered.File{Input: in, Part: l.Search.Part(in)}
		whole, err := l.loaded(ctx, f)
		if err == nil && !whole {
			err = l.To.FitsBegun(ctx, l.cfg.FS, in, l.Known.Begun(in.Rel))
		}
		switch {
		case errors.Is(err, bulkload.ErrRequest):
			refused = append(refused, err)
			continue
		case delivered.OwnFault(err):
			l.leaveOut(in, err)
			continue
		case err != nil:
			return nil, err
		case whole:
			l.Result.Already++
			continue
		}
		if f.Number, err = l.Known.Number(in.Rel); err != nil {
			return nil, err
		}
		out = append(out, f)
	}
	return out, bulkload.Joined(refused)
}

// loaded reports whether the requested part of f was loaded before. It sets the parts of f that are in the
// table. Its error wraps ErrChanged if the file differs from the loaded file.
func (l *Load) loaded(ctx context.Context, f *delivered.File) (bool, error) {
	olds, err := l.earlier(ctx, f.Input)
	if err != nil {
		return false, err
	}
	h, err := l.historyOf(f, olds, l.To.Info().Dropped)
	if err != nil {
		return false, err
	}
	f.Covered, f.Partly, f.StaysOut = h.covered, h.partly, h.out
	if i := slices.IndexFunc(olds, func(old *manifest.Input) bool { return old.Read > 0 }); i >= 0 {
		f.Loaded = olds[i].SHA256
	}
	if !h.whole {
		for why, records := range h.out {
			l.staysOut(f, why, records)
		}
	}
	switch {
	case !h.held:
	case h.allOlder:
		l.older++
	case !h.asked:
		l.elsewhere++
	}
	return h.held, nil
}

// earlier returns the entries of the same file in earlier loads. Its error wraps ErrChanged if the file differs from the
// loaded file.
func (l *Load) earlier(ctx context.Context, in job.Input) ([]*manifest.Input, error) {
	var olds []*manifest.Input
	for _, old := range l.Known.Inputs(in.Rel) {
		same, err := l.sameFile(ctx, in, old)
		if err != nil {
			return nil, err
		}
		if same {
			olds = append(olds, old)
		}
	}
	return olds, nil
}

// fitsOther returns an error if the job's behaviour with other: true would accept records that an
// earlier load of f loaded as another behaviour. in is the file in that load.
func (l *Load) fitsOther(f *delivered.File, in *manifest.Input) error {
	other, old := l.cfg.Job.Other(), in.Part
	if old != nil && old.Other == other && old.WithoutTexts().Covers(f.Part.WithoutTexts()) {
		return nil // the load requested all records of these dates
	}
	if other == "" || f.Kind >= 0 || old == nil || old.Other == other && in.SameTexts(l.by) {
		return nil
	}
	lost := old.Other
	if !in.SameTexts(l.by) && in.TextsBy != "" && len(old.Behaviours) > 0 {
		lost = old.Behaviours[0]
	}
	for _, name := range old.Behaviours {
		if _, ok := l.cfg.Job.Format.KindOf[name]; !ok || name == other {
			lost = name
		}
	}
	for text, name := range old.Texts {
		if _, ok := l.cfg.Job.Format.KindOf[text]; !ok && slices.Contains(old.Behaviours, name) {
			lost = text
		}
	}
	if lost == "" {
		return nil
	}
	return fmt.Errorf("%w: %s: an earlier load took records of it by %q without %s taking the others, so that some would be in the table twice: keep all behaviours and texts of the earlier job, and give other: true to a behaviour with a new name and id",
		bulkload.ErrRequest, f.Path, lost, other)
}

// sameFile reports whether in is the same file as old, the file of the same name in an earlier load. Its
// error wraps ErrChanged if in is another file and must not be loaded. A file may replace one that had no
// records.
func (l *Load) sameFile(ctx context.Context, in job.Input, old *manifest.Input) (bool, error) {
	if old.Offsets != nil {
		return false, nil
	}
	err := delivered.SameAs(ctx, l.cfg.FS, in, old)
	if errors.Is(err, bulkload.ErrChanged) && old.Read == 0 {
		return false, nil
	}
	return err == nil, err
}

// dropGrowing returns the files that are certainly whole. It leaves out the others.
func (l *Load) dropGrowing(ctx context.Context, files []*delivered.File) ([]*delivered.File, error) {
	whys, err := l.found.Growing(ctx, l.cfg.FS, files)
	if err != nil {
		return nil, err
	}
	var out []*delivered.File
	for i, f := range files {
		if whys[i] != nil {
			l.leaveOut(f.Input, whys[i])
		} else {
			out = append(out, f)
		}
	}
	return out, nil
}

// leaveOut records that nothing of a file is loaded, and why.
func (l *Load) leaveOut(in job.Input, err error) {
	l.addLeftOut(in.Path, in.Rel, l.Search.Part(in), err)
}

// addLeftOut records that nothing of a part of a file or folder is loaded, and why. rel is its path below the root.
func (l *Load) addLeftOut(name, rel string, part *manifest.Part, err error) {
	l.Failures.Add(name, err)
	l.LeftOut = append(l.LeftOut, manifest.LeftOut{
		Path: rel, File: name, Part: part, Error: err.Error(),
		TooBad: errors.Is(err, bulkload.ErrTooBad), Growing: errors.Is(err, bulkload.ErrGrowing), Refused: errors.Is(err, bulkload.ErrRequest),
	})
}
