package catalog

import (
	"context"
	"errors"
	"fmt"
	iofs "io/fs"
	"regexp"
	"strings"

	"usertrail/internal/dfs"
)

// ours matches the names of files that runs write into a catalog, from the catalog's
// directory. A family may have any name.
var ours = regexp.MustCompile(`^(?:` + strings.Join([]string{
	`lock|begun\.json|handover\.json|retired\.json`,
	`runs/\d{8}T\d{6}\.\d{3}Z-\d+-[0-9a-z]+\.json`,
	`loads/\d{6,}\.json`,
	`[^/]+/r?\d{6,}-\d{4,}\.(?:hfile|roll)`,
	`[^/]+/(?:puts|lost)-[0-9a-f]{16}\.roll`,
	`tmp/(?:.+/)?(?:run-\d{3,}|merge)-\d{5,}`,
	`quarantine/[^/]+\.jsonl`,
	`plans/[0-9a-f]+/(?:plan\.json|pieces\.jsonl|\d{5,}(?:\.json|\.lock|\.begun\.json|-\d{4,}\.bad))`,
	`pieces/[0-9a-f]+/(?:staging/.+/)?\d{5,}(?:-\d{4,})?(?:-\d+)*\.(?:hfile|roll)`,
	`staging/(?:.+/)?\d{6,}-\d{4,}(?:-\d+)*\.hfile`,
	`convert/(?:plan|\d{6,})\.json`,
	`forgotten/\d{6,}/.+`,
}, "|") + `)$`)

// CheckForeign returns an error that wraps fs.ErrExist if dir has no manifest and holds a
// file that no run wrote there. A load would sweep such a file. What is left of a first load
// that was killed is no such file.
func CheckForeign(ctx context.Context, fs dfs.FS, dir string) error {
	_, err := fs.Stat(ctx, dfs.Join(dir, ManifestName))
	if err == nil {
		return nil
	}
	var name string
	if errors.Is(err, iofs.ErrNotExist) {
		name, err = foreign(ctx, fs, dir, "")
	}
	if absent(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("table %s: %w", dir, err)
	}
	if name != "" {
		return fmt.Errorf("table %s: %w: the directory holds %s, and no table: name another directory, or move the file away", dir, iofs.ErrExist, name)
	}
	return nil
}

// foreign returns the name of the first file in a folder of the catalog in dir, or below it,
// that no run wrote there; "" if there is none.
func foreign(ctx context.Context, fs dfs.FS, dir, folder string) (string, error) {
	list, err := fs.List(ctx, dfs.Join(dir, folder))
	if err != nil {
		return "", err
	}
	for _, f := range list {
		name := strings.TrimPrefix(folder+"/"+dfs.Base(f.Name), "/")
		if f.Dir {
			name, err = foreign(ctx, fs, dir, name)
		} else if ours.MatchString(name) {
			continue
		}
		if err != nil && !errors.Is(err, iofs.ErrNotExist) { // removed meanwhile
			return "", err
		}
		if name != "" {
			return name, nil
		}
	}
	return "", nil
}
