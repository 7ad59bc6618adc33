package catalog

import (
	"context"
	"errors"
	"fmt"
	iofs "io/fs"
	"slices"
	"time"

	"usertrail/internal/dfs"
	"usertrail/internal/manifest"
)

// Replace makes m the manifest, of which files were made of those of the manifest before.
// What m no longer names stays for keepFor, for readers that opened the table before;
// the Sweep after that removes it.
//
// The retired files are written down first. Killed between the two, they are named by
// both, and what the manifest names is not retired.
func (c *Catalog) Replace(ctx context.Context, m *manifest.Table, keepFor time.Duration) error {
	before, err := c.retired(ctx)
	if err != nil {
		return err
	}
	now := time.Now().UTC().Truncate(time.Second)
	after := before.kept(time.Time{}, c.Manifest())
	for _, name := range gone(c.Manifest(), m) {
		after = append(after, manifest.RetiredFile{Name: name, Since: now, Until: now.Add(keepFor)})
	}
	if err := c.setRetired(ctx, before, after); err != nil {
		return err
	}
	if err := manifest.Write(ctx, c.fs, dfs.Join(c.dir, ManifestName), m); err != nil {
		return fmt.Errorf("replace files of %s: %w", c.dir, err)
	}
	c.set(m)
	return nil
}

// gone are the files that a manifest names and the one after it does not.
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

// retired is what retired.json lists.
type retired []manifest.RetiredFile

func (c *Catalog) retired(ctx context.Context) (retired, error) {
	r := new(manifest.Retired)
	err := manifest.Read(ctx, c.fs, dfs.Join(c.dir, retiredName), r)
	if errors.Is(err, iofs.ErrNotExist) {
		return nil, nil
	}
	return r.Files, err
}

// kept are the files whose time has not come. Those that m names are not retired: who
// listed them was killed before they were replaced.
func (r retired) kept(now time.Time, m *manifest.Table) retired {
	named := namesOf(m)
	return slices.DeleteFunc(slices.Clone(r), func(f manifest.RetiredFile) bool {
		return named[f.Name] || !f.Until.After(now)
	})
}

func (r retired) names() []string {
	var out []string
	for _, f := range r {
		out = append(out, f.Name)
	}
	return out
}

// setRetired makes the list another.
func (c *Catalog) setRetired(ctx context.Context, before, after retired) error {
	if slices.Equal(before, after) {
		return nil
	}
	name := dfs.Join(c.dir, retiredName)
	if len(after) == 0 {
		return c.fs.Remove(ctx, name)
	}
	return manifest.Write(ctx, c.fs, name, &manifest.Retired{Version: manifest.Version, Files: after})
}
