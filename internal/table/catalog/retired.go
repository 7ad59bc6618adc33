package catalog

import (
	"context"
	"errors"
	"fmt"
	iofs "io/fs"
	"slices"
	"time"

	"usertrail/internal/behaviour"
	"usertrail/internal/format/manifest"
	"usertrail/internal/store/dfs"
	"usertrail/internal/table/runlog"
)

// Replace makes m the manifest. Some files of m were made from files of the previous manifest.
// Files that m no longer names stay for keepFor, so that readers that opened the table before
// can read them. The first Sweep after that time removes them. Until then a drop can be undone.
//
// Replace writes the list of retired files before the manifest. If the process is killed
// between the two, both name the files, and files that the manifest names are not retired. If
// keepFor is 0, Replace lists no files, so that the list needs no disk space, and the next Sweep writes
// the number of m into the list. Replace sets m.Retired and m.RewrittenSHA256.
func (c *Catalog) Replace(ctx context.Context, m *manifest.Table, keepFor time.Duration) error {
	m.SetRewritten(c.Manifest())
	if err := c.retire(ctx, m, keepFor); err != nil {
		return err
	}
	if err := manifest.Write(ctx, c.fs, dfs.Join(c.dir, ManifestName), m); err != nil {
		return fmt.Errorf("replace files of %s: %w", c.dir, unwritable(err))
	}
	runlog.FromContext(ctx).Rewrote(m.Rewritten)
	c.set(m)
	return nil
}

// retire lists the files that the manifest names and m does not name. It sets m.Retired.
func (c *Catalog) retire(ctx context.Context, m *manifest.Table, keepFor time.Duration) error {
	before, err := c.retired(ctx)
	if err != nil {
		return err
	}
	was := c.Manifest()
	m.Retired = keepFor > 0
	after := before.kept(time.Time{}, was)
	if keepFor > 0 {
		now := time.Now().UTC().Truncate(time.Second)
		for _, name := range gone(was, m) {
			after.files = append(after.files, manifest.RetiredFile{Name: name, Since: now, Until: now.Add(keepFor)})
		}
		if m.DroppedBefore != nil && (was.DroppedBefore == nil || *was.DroppedBefore < *m.DroppedBefore) {
			after.undrop = undropOf(was, m)
		}
		after.dropped = m.DroppedBefore
	}
	if before.same(after) && before.rewritten <= m.Rewritten {
		return nil
	}
	after.of(m)
	if m.Rewritten > was.Rewritten {
		if err := c.beginReplacing(ctx); err != nil {
			return err
		}
	}
	return c.setRetired(ctx, after)
}

// undropOf returns the entries that restore the manifest before a drop.
func undropOf(before, after *manifest.Table) *manifest.Undrop {
	u := &manifest.Undrop{Before: *after.DroppedBefore}
	had, has := namesOf(before), namesOf(after)
	for _, f := range before.Files {
		if !has[f.Roll] {
			u.Files = append(u.Files, f)
		}
	}
	for _, f := range after.Files {
		if !had[f.Roll] {
			u.Made = append(u.Made, f.Name)
		}
	}
	if before.DroppedBefore != nil {
		u.Earlier = &manifest.Earlier{DroppedBefore: *before.DroppedBefore, Dropped: before.Dropped}
	}
	return u
}

// Undrop returns the entries that restore the days of the last drop. It returns nil if their
// files are no longer kept.
func (c *Catalog) Undrop(ctx context.Context) (*manifest.Undrop, error) {
	r, err := c.retired(ctx)
	return r.kept(time.Now(), c.Manifest()).undrop, err
}

// ForgetRetired removes all retired files.
func (c *Catalog) ForgetRetired(ctx context.Context, folder string) error {
	r, err := c.retired(ctx)
	if err != nil {
		return err
	}
	var none retired
	none.of(c.Manifest())
	return c.sweep(ctx, folder, r, none)
}

// gone returns the files that the manifest before names and the manifest after does not name.
func gone(before, after *manifest.Table) []string {
	named := namesOf(after)
	var out []string
	for i := range before.Files {
		for _, name := range before.Files[i].Names() {
			if !named[name] {
				out = append(out, name)
			}
		}
	}
	return out
}

func namesOf(m *manifest.Table) map[string]bool {
	out := map[string]bool{}
	for i := range m.Files {
		for _, name := range m.Files[i].Names() {
			out[name] = true
		}
	}
	return out
}

// A retired is the content of retired.json.
type retired struct {
	rewritten int    // of the manifest for which the list was written
	digest    string // of the replacements until then
	files     []manifest.RetiredFile
	undrop    *manifest.Undrop
	dropped   *behaviour.Date // before this date, all days were dropped
}

// of makes r the list for m.
func (r *retired) of(m *manifest.Table) {
	r.rewritten, r.digest, r.dropped = m.Rewritten, m.RewrittenSHA256, m.DroppedBefore
}

// empty reports whether no list is needed. After a compact or drop, a list without files shows that an older manifest is an older one.
func (r retired) empty() bool { return r.rewritten == 0 && len(r.files) == 0 && r.undrop == nil }

// same reports whether r and o list the same. They may be of different manifests.
func (r retired) same(o retired) bool {
	return slices.Equal(r.files, o.files) && r.undrop == o.undrop && sameDate(r.dropped, o.dropped)
}

func (c *Catalog) retired(ctx context.Context) (retired, error) {
	r := new(manifest.Retired)
	err := read(ctx, c.fs, dfs.Join(c.dir, retiredName), r)
	switch {
	case errors.Is(err, iofs.ErrNotExist):
		return retired{}, nil
	case errors.Is(err, manifest.ErrDamaged):
		return retired{}, fmt.Errorf("%w: %s", err, adviceRetired)
	}
	return retired{r.Rewritten, r.RewrittenSHA256, r.Files, r.Undrop, r.Dropped()}, err
}

// kept returns the files whose time has not passed. It leaves out files that m names: the
// process that listed them was killed before it replaced the manifest. A drop can be undone
// while m lacks the dropped days and all its files are kept.
func (r retired) kept(now time.Time, m *manifest.Table) retired {
	named := namesOf(m)
	out := retired{undrop: r.undrop, files: slices.DeleteFunc(slices.Clone(r.files), func(f manifest.RetiredFile) bool {
		return named[f.Name] || !f.Until.After(now)
	})}
	out.of(m)
	if u := out.undrop; u != nil && (m.DroppedBefore == nil || *m.DroppedBefore != u.Before || !out.has(u.Files)) {
		out.undrop = nil
	}
	return out
}

// has reports whether all files are retired.
func (r retired) has(files []manifest.File) bool {
	there := map[string]bool{}
	for _, f := range r.files {
		there[f.Name] = true
	}
	return !slices.ContainsFunc(files, func(f manifest.File) bool {
		return slices.ContainsFunc(f.Names(), func(name string) bool { return !there[name] })
	})
}

func (r retired) names() []string {
	var out []string
	for _, f := range r.files {
		out = append(out, f.Name)
	}
	return out
}

// setRetired replaces the list.
func (c *Catalog) setRetired(ctx context.Context, after retired) error {
	name := dfs.Join(c.dir, retiredName)
	if after.empty() {
		return c.fs.Remove(ctx, name)
	}
	return manifest.Write(ctx, c.fs, name, &manifest.Retired{
		Version: manifest.Version, Rewritten: after.rewritten, RewrittenSHA256: after.digest,
		Files: append([]manifest.RetiredFile{}, after.files...), Undrop: after.undrop, DroppedBefore: after.dropped,
	})
}

// fitRetired replaces the list before by the list after, which fits the manifest. It writes nothing if they are equal.
func (c *Catalog) fitRetired(ctx context.Context, before, after retired) error {
	if before.same(after) && before.rewritten == after.rewritten && before.digest == after.digest {
		return nil
	}
	return c.setRetired(ctx, after)
}

// fitList makes the list of retired files fit the manifest, which may be of before the last drop in the list. It keeps the files.
func (c *Catalog) fitList(ctx context.Context) error {
	r, err := c.retired(ctx)
	if err != nil || r.empty() { // a lost list stays lost, so that checkRetired reports it
		return err
	}
	return c.fitRetired(ctx, r, r.kept(time.Time{}, c.Manifest()))
}

func sameDate(a, b *behaviour.Date) bool {
	return a == nil && b == nil || a != nil && b != nil && *a == *b
}
